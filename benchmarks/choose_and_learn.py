"""What one `choose` + `learn` costs from Python, for 10 to a million arms, beside a plain scan in NumPy.

After a warm-up of 20 pulls per arm; one best arm, all other gaps 0.3; unit Gaussian rewards drawn beforehand. A cost is
the median of 31 blocks of 2000 rounds, in processor time. Seven processes measure, one after the other, each all sizes;
the table has the medians of what they found, a second table all of it. The scan is measured in one process only.

    python -m benchmarks.choose_and_learn
"""

from __future__ import annotations

import gc
import json
import math
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

import ocucb
from benchmarks.table import append, write

ARMS = (10, 10**4, 10**6)
AT_MOST = {10**4: 1.7, 10**6: 4.0}  # times as long as with ten arms
WARM_UP = 20
BLOCKS = 31
BLOCK = 2000
PROCESSES = 7


def means_of(arms: int) -> np.ndarray:
    """Return the means of the arms: one best, the others 0.3 below."""
    means = np.full(arms, -0.3)
    means[0] = 0.0
    return means


def warm(arms: int) -> ocucb.Bandit:
    """Return a bandit that has pulled every arm 20 times."""
    bandit = ocucb.Bandit(ocucb.OCUCBn(), arms=arms)
    rng, slots = np.random.default_rng(1), np.arange(arms)
    for mean in [means_of(arms)] * WARM_UP:
        # What `learn_many` of the bandit calls, once it has looked at a million labels.
        bandit._selector.learn_many(slots, mean + rng.standard_normal(arms))
    return bandit


def per_call(step: Callable[[float], None], block: int) -> float:
    """Return the median microseconds of a step, over blocks."""
    noise = np.random.default_rng(2).standard_normal((BLOCKS, block)).tolist()
    spent = []
    for row in noise:
        start = time.thread_time()
        for draw in row:
            step(draw)
        spent.append((time.thread_time() - start) / block)
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
    """Return the memory a bandit with its arms takes, labels included; what is compiled is not its own."""
    bandit_step(ARMS[0])
    gc.collect()
    tracemalloc.start()
    bandit = ocucb.Bandit(ocucb.OCUCBn(), arms=arms)
    bandit.learn(bandit.choose(), 0.0)
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return used / arms


def measure_in_process() -> list[float]:
    """Return the microseconds of a round with each number of arms, as a process of its own measures them."""
    command = [sys.executable, "-m", "benchmarks.choose_and_learn", "measure"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(cost) for cost in json.loads(done.stdout)]


def main() -> None:
    """Measure and write the tables."""
    if sys.argv[1:] == ["measure"]:
        print(json.dumps([per_call(bandit_step(arms), BLOCK) for arms in ARMS]))
        return
    found = np.array([measure_in_process() for _ in range(PROCESSES)])
    ratios = found / found[:, :1]
    rows = []
    for k, arms in enumerate(ARMS):
        ours = float(np.median(found[:, k]))
        scan = per_call(numpy_step(arms), max(1, min(BLOCK, 20_000 // arms)))
        memory = f"{bytes_per_arm(arms):.0f}" if arms > ARMS[0] else ""
        limit = f"{AT_MOST[arms]:g}" if arms in AT_MOST else ""
        ratio = f"{np.median(ratios[:, k]):.2f}"
        rows.append([f"{arms:,}", f"{ours:.2f}", ratio, limit, f"{scan:,.1f}", f"{scan / ours:,.0f}", memory])
    header = ["arms", "choose + learn, µs", "ratio to 10 arms", "at most", "NumPy scan, µs", "scan / ours"]
    write("choose_and_learn", __doc__ or "", [*header, "bytes per arm"], rows)
    numbers = [str(process + 1) for process in range(PROCESSES)]
    all_rows = [[f"{arms:,}, µs", *(f"{cost:.2f}" for cost in found[:, k])] for k, arms in enumerate(ARMS)]
    all_rows += [[f"{arms:,}, ratio", *(f"{cost:.2f}" for cost in ratios[:, k])] for k, arms in enumerate(ARMS) if k]
    append("choose_and_learn", ["process", *numbers], all_rows)


if __name__ == "__main__":
    main()
