"""What one `choose` + `learn` costs from Python, for 10 to a million arms, beside a plain scan in NumPy.

After a warm-up of 20 pulls per arm; one best arm, all other gaps 0.3; unit Gaussian rewards drawn beforehand. Each
cost is the median of several blocks, all in one process, so the ratios hold on a busy machine too.

    python -m benchmarks.choose_and_learn
"""

from __future__ import annotations

import gc
import math
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

import ocucb
from benchmarks.table import write

WARM_UP = 20
BLOCKS = 15
BLOCK = 2000


def means_of(arms: int) -> np.ndarray:
    """Return the means of the arms: one best, the others 0.3 below."""
    means = np.full(arms, -0.3)
    means[0] = 0.0
    return means


def warm(arms: int) -> ocucb.Bandit:
    """Return a bandit that has pulled every arm 20 times."""
    bandit = ocucb.Bandit(ocucb.OCUCBn(), arms=arms)
    rng = np.random.default_rng(1)
    for mean in [means_of(arms)] * WARM_UP:
        bandit.learn_many(range(arms), mean + rng.standard_normal(arms))
    return bandit


def per_call(step: Callable[[float], None], block: int) -> float:
    """Return the median microseconds of a step, over blocks."""
    noise = np.random.default_rng(2).standard_normal((BLOCKS, block)).tolist()
    spent = []
    for row in noise:
        start = time.perf_counter()
        for draw in row:
            step(draw)
        spent.append((time.perf_counter() - start) / block)
    return float(np.median(spent)) * 1e6


def bandit_step(arms: int) -> Callable[[float], None]:
    """Return one choice and one reward of the bandit."""
    bandit, means = warm(arms), means_of(arms).tolist()

    def step(draw: float) -> None:
        arm = bandit.choose()
        bandit.learn(arm, means[arm] + draw)

    step(0.0)
    return step


def numpy_step(arms: int) -> Callable[[float], None]:
    """Return the same round, with every index computed by NumPy (and the effective arms by sorting, not K²)."""
    means = means_of(arms)
    rng = np.random.default_rng(1)
    pulls = np.full(arms, float(WARM_UP))
    totals = WARM_UP * means + rng.standard_normal((WARM_UP, arms)).sum(axis=0)

    def step(draw: float) -> None:
        t = pulls.sum() + 1.0
        order = np.argsort(pulls)
        powers = np.sqrt(pulls[order])
        effective = np.empty(arms)
        effective[order] = (np.cumsum(powers) + powers * np.arange(arms - 1, -1, -1)) / powers
        level = 1.1 * np.log(np.maximum(np.maximum(math.e, np.log(t)), t * np.log(t) / (pulls * effective)))
        arm = int(np.argmax(totals / pulls + np.sqrt(2.0 * level / pulls)))
        pulls[arm] += 1.0
        totals[arm] += means[arm] + draw

    return step


def bytes_per_arm(arms: int) -> float:
    """Return the memory a bandit with its arms takes, labels included."""
    gc.collect()
    tracemalloc.start()
    bandit = ocucb.Bandit(ocucb.OCUCBn(), arms=arms)
    bandit.learn(bandit.choose(), 0.0)
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return used / arms


def main() -> None:
    """Measure and write the table."""
    rows = []
    first = 0.0
    for arms in (10, 10**4, 10**6):
        ours = per_call(bandit_step(arms), BLOCK)
        first = first or ours
        scan = per_call(numpy_step(arms), max(1, min(BLOCK, 20_000 // arms)))
        memory = f"{bytes_per_arm(arms):.0f}" if arms > 10 else ""
        rows.append([f"{arms:,}", f"{ours:.2f}", f"{ours / first:.2f}", f"{scan:,.1f}", f"{scan / ours:,.0f}", memory])
    header = ["arms", "choose + learn, µs", "ratio to 10 arms", "NumPy scan, µs", "scan / ours", "bytes per arm"]
    write("choose_and_learn", __doc__ or "", header, rows)


if __name__ == "__main__":
    main()
