"""The golden traces in tests/golden: recorded choices on recorded rewards, under this project's own names."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "golden"

# name in the file: our name, and what the file's name says beyond its parameters
POLICIES: dict[str, tuple[str, dict[str, Any]]] = {
    "OCUCB-n": ("ocucb-n", {"shrink": "none"}),
    "OCUCB-n t for t log t": ("ocucb-n", {"shrink": "t"}),
    "OCUCB-n log+": ("ocucb-n", {"shrink": "log-plus"}),
    "KL-UCB+": ("kl-ucb+", {}),
    "KL-UCB": ("kl-ucb", {}),
    "UCB": ("ucb", {}),
    "UCB asymptotic": ("ucb-asymptotic", {}),
    "OCUCB": ("ocucb", {}),
    "MOSS": ("moss", {}),
}
NOISES: dict[str, tuple[str, dict[str, float]]] = {
    "gaussian": ("gaussian", {"scale": 1.0}),
    "bernoulli": ("bernoulli", {}),
    "bernoulli tape, gaussian index": ("gaussian", {"scale": 1.0}),
}


@dataclass(frozen=True)
class GoldenTrace:
    """One trace: the s-th reward of arm i is tape[i][s-1], and choices are 0-based.

    smallest_margin is the smallest gap between the best index and the second best over the rounds after the first K,
    rounds with an exact tie left out.
    """

    name: str
    policy: str
    parameters: dict[str, Any]
    noise: str
    noise_parameters: dict[str, float]
    tape: list[list[float]]
    rounds: int
    choices: list[int]
    smallest_margin: float


def read(path: Path) -> GoldenTrace:
    """Read one file of tests/golden."""
    record = json.loads(path.read_text(encoding="utf-8"))
    policy, implied = POLICIES[record["policy"]]
    noise, noise_parameters = NOISES[record["noise"]]
    settings = ", ".join(f"{name}={value}" for name, value in record["parameters"].items())
    return GoldenTrace(
        name=f"{path.stem} {record['policy']}({settings}) {record['noise']}",
        policy=policy,
        parameters={**record["parameters"], **implied},
        noise=noise,
        noise_parameters=dict(noise_parameters),
        tape=record["tape"],
        rounds=record["rounds"],
        choices=record["choices"],
        smallest_margin=record["smallest_margin"],
    )


TRACES = [read(path) for path in sorted(FOLDER.glob("*.json"))]
