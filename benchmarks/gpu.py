"""What simulated rounds cost on a GPU, and whether the pulls are those of the CPU.

One NVIDIA GPU, float64, the same tape as on the CPU; unit Gaussian noise, one best arm, all other gaps 0.3, as in
`benchmarks/episode.py`; for other families five arms with means 0.6, 0.5, 0.5, 0.4 and 0.3. A figure is the second of
two launches, transfers included; the first, of a few rounds, compiles. "differ" counts the runs whose pulls are not
those of the CPU, of so many that were compared; "aim" is what was hoped for.

    python -m benchmarks.gpu
"""

from __future__ import annotations

import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

import ocucb
from benchmarks.table import write
from ocucb.compiled.cuda import check_gpu
from ocucb.lab.gpu_shards import play_together
from ocucb.lab.problem import Problem, worst_case
from ocucb.lab.shard import Shard, play
from ocucb.policies import IMED, KLUCB, MOSS, UCB, AdaUCB, BayesUCB, KLUCBSwitch, ThompsonSampling

# Policy, n, K, runs on the GPU, runs compared with the CPU's, and the steps a second that were aimed at.
SIZES: list[tuple[ocucb.Policy, int, int, int, int, float]] = [
    (ocucb.OCUCBn(), 10**4, 10, 10**5, 10**5, 2e10),
    (ocucb.OCUCBn(), 10**6, 10, 10**5, 10**4, 5e10),
    (ocucb.OCUCBn(), 10**4, 100, 10**5, 1000, 4e9),
    (ocucb.OCUCBn(), 10**4, 1000, 10**4, 100, 3e8),
    (UCB(), 10**4, 10, 10**5, 10**5, 0.0),
    (AdaUCB(), 10**4, 10, 10**5, 10**5, 0.0),
    (MOSS(10**4), 10**4, 10, 10**5, 10**5, 0.0),
    (ThompsonSampling(), 10**4, 10, 10**5, 10**4, 5e9),
]
LAWS: list[tuple[ocucb.Noise, ocucb.Policy]] = [
    (noise, policy)
    for noise in (
        ocucb.Gaussian(0.25),
        ocucb.Bernoulli(),
        ocucb.Bounded(0.0, 1.0),
        ocucb.Poisson(),
        ocucb.Exponential(),
    )
    for policy in (ocucb.OCUCBn(), KLUCB(), KLUCBSwitch(1000), BayesUCB(), IMED(), ThompsonSampling())
]


def differing(shard: Shard, pulls: np.ndarray, compared: int) -> int:
    """Return in how many of the first runs the CPU pulls otherwise."""
    parts = [replace(shard, first=first, runs=min(50, compared - first)) for first in range(0, compared, 50)]
    with ThreadPoolExecutor() as pool:
        theirs = np.concatenate([outcome.pulls for outcome in pool.map(play, parts)])
    return int((theirs != pulls[:compared]).any(axis=1).sum())


def measure(shard: Shard, compared: int) -> list[str]:
    """Return what one shard costs, and how many runs differ."""
    started = time.perf_counter()
    short = shard.problem.arms + 10
    play_together([replace(shard, runs=32, horizon=short, checkpoints=(short,))])
    compiled = time.perf_counter() - started
    started = time.perf_counter()
    [outcome] = play_together([shard])
    seconds = time.perf_counter() - started
    differ = differing(shard, outcome.pulls, compared)
    speed = shard.runs * shard.horizon / seconds
    return [f"{shard.runs:,}", f"{seconds:.2f}", f"{speed:.2e}", f"{compiled:.1f}", f"{compared:,}", str(differ)]


def main() -> None:
    """Measure and write the table."""
    warnings.simplefilter("ignore")
    check_gpu()
    rows = []
    for policy, horizon, arms, runs, compared, aim in SIZES if "--laws" not in sys.argv else []:
        shard = Shard(worst_case(arms, 0.3), policy, horizon, (horizon,), seed=5, first=0, runs=runs)
        cells = [policy.name, "gaussian", f"{horizon:,}", f"{arms:,}", *measure(shard, compared)]
        rows.append([*cells, f"{aim:.0e}" if aim else ""])
        print(rows[-1], flush=True)
    if "--sizes" not in sys.argv:
        for noise, policy in LAWS:
            problem = Problem((0.6, 0.5, 0.5, 0.4, 0.3), noise)
            shard = Shard(problem, policy, 1000, (1000,), seed=5, first=0, runs=10**5)
            rows.append([policy.name, noise.name, "1,000", "5", *measure(shard, 10**4), ""])
            print(rows[-1], flush=True)
    header = ["policy", "noise", "n", "K", "runs", "s", "steps/s", "first launch, s", "compared", "differ", "aim"]
    write("gpu", __doc__ or "", header, rows)


if __name__ == "__main__":
    main()
