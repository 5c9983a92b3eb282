"""Other libraries beside ocucb: UCB on the same problem, one choice and one reward at a time, from Python.

Ten Bernoulli arms, one of mean 0.6, the others 0.3. Each library runs in an environment of its own under .cache/peers,
made on first use; one that will not install or run is reported. The last row is the lab's simulator on one core, which
needs no Python between rounds, on Gaussian arms with the same gaps.

    python -m benchmarks.peers
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import ocucb
from benchmarks.table import write
from ocucb.lab.problem import worst_case
from ocucb.lab.shard import Shard, play

FOLDER = Path(__file__).parent.parent / ".cache" / "peers"
ROUNDS = 5000

# What a library needs, and how it makes a step of one choice and one reward.
PEERS = {
    "SMPyBandits": (
        ["SMPyBandits", "scipy<1.12", "numpy<2", "matplotlib<3.9", "pandas<2.3"],
        """
from SMPyBandits.Policies import UCB
policy = UCB(10)
policy.startGame()
def step():
    arm = policy.choice()
    policy.getReward(arm, reward(arm))
    return arm
""",
    ),
    "MABWiser": (
        ["mabwiser"],
        """
from mabwiser.mab import MAB, LearningPolicy
policy = MAB(list(range(10)), LearningPolicy.UCB1(alpha=1.0))
policy.fit(list(range(10)), [reward(arm) for arm in range(10)])
def step():
    arm = policy.predict()
    policy.partial_fit([arm], [reward(arm)])
    return arm
""",
    ),
    "river": (
        ["river"],
        """
from river import bandit
policy = bandit.UCB(delta=1.0, burn_in=1)
def step():
    arm = policy.pull(range(10))
    policy.update(arm, reward(arm))
    return arm
""",
    ),
}

SCRIPT = """
import random, time, warnings
warnings.simplefilter("ignore")
luck = random.Random(1)
def reward(arm):
    return float(luck.random() < (0.6 if arm == 0 else 0.3))
{setup}
for _ in range(50):
    step()
start = time.perf_counter()
best = sum(step() == 0 for _ in range({rounds}))
print((time.perf_counter() - start) / {rounds} * 1e6, best / {rounds})
"""

OURS = """
import ocucb
policy = ocucb.Bandit(ocucb.UCB(alpha=2.0), arms=10)
def step():
    arm = policy.choose()
    policy.learn(arm, reward(arm))
    return arm
"""


def run(python: Path, setup: str) -> tuple[float, float]:
    """Return the microseconds of a round and the share of the best arm."""
    script = SCRIPT.format(setup=setup, rounds=ROUNDS)
    done = subprocess.run([python, "-c", script], capture_output=True, text=True, timeout=300, check=True)
    cost, share = done.stdout.split()[-2:]
    return float(cost), float(share)


def environment(name: str, needs: list[str]) -> Path:
    """Return the interpreter of a library's own environment, made if it is not there."""
    home = FOLDER / name
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", home], check=True, timeout=120)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", *needs], check=True, timeout=600, capture_output=True
        )
        (home / "ready").touch()
    return python


def simulated() -> float:
    """Return the microseconds of a simulated round."""
    shard = Shard(worst_case(10, 0.3), ocucb.UCB(), 10**5, (10**5,), seed=1, first=0, runs=5)
    play(shard)
    start = time.perf_counter()
    play(shard)
    return (time.perf_counter() - start) / (5 * 10**5) * 1e6


def main() -> None:
    """Measure and write the table."""
    ours, share = run(Path(sys.executable), OURS)
    rows = [["ocucb, online", f"{ours:.1f}", "1.0", f"{share:.2f}"]]
    for name, (needs, setup) in PEERS.items():
        try:
            cost, share = run(environment(name, needs), setup)
            rows.append([name, f"{cost:.1f}", f"{cost / ours:.1f}", f"{share:.2f}"])
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as problem:
            words = (problem.stderr or b"") if isinstance(problem.stderr, str | bytes) else b""
            text = words.decode() if isinstance(words, bytes) else words
            rows.append([name, "does not run", text.strip().splitlines()[-1][:60] if text.strip() else "timed out", ""])
    lab = simulated()
    rows.append(["ocucb, simulated", f"{lab:.3f}", f"{lab / ours:.3f}", ""])
    write("peers", __doc__ or "", ["library", "round, µs", "ratio to ocucb", "best arm's share"], rows)


if __name__ == "__main__":
    main()
