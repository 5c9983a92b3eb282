"""What a simulated round costs, in units of drawing one Gaussian reward from the tape in the same process, on one core.

OCUCB-n(1.1, 0.5) and others; unit Gaussian noise, one best arm, all other gaps 0.3. "draws" is the cost of a round
divided by that of a draw; both are the fastest of several measurements, taken in turn. A draw is part of every round,
so 1 is the least possible. The last lines compare two threads with one on the policies of the main job, and on drawing
alone, which shares nothing between threads: what this machine can give.

    python -m benchmarks.episode
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import ocucb
from benchmarks.table import write
from ocucb.compiled import QUANTILE, address, kernel, reals
from ocucb.lab.problem import mixed_gaps, worst_case
from ocucb.lab.shard import Shard, play
from ocucb.lab.tape import arm_key, reward

SIZES = [(10**4, 10), (10**4, 100), (10**4, 1000), (10**6, 10), (10**6, 100), (10**6, 1000)]
REPEATS = 7
# At most so many draws, where a figure is promised.
PROMISED: dict[str, list[int | None]] = {
    "ocucb-n": [7, 25, 150, 2, 4, 12],
    "moss": [6, 8, 25, None, None, None],
    "ocucb": [6, 8, 25, None, None, None],
}


@kernel
def draw(quantile: int, family: int, count: int) -> float:
    """Draw rewards of one arm, and do nothing else."""
    total = 0.0
    key = arm_key(1, 2, 3)
    for s in range(count):
        total += reward(quantile, key, s, 0.0, reals(family))
    return total


def draw_cost() -> float:
    """Return the nanoseconds of one draw."""
    family = ocucb.Gaussian().family()
    parameters = np.array(family.parameters)
    arguments = address(family.quantile, QUANTILE), parameters.ctypes.data, 10**6
    draw(*arguments)
    start = time.perf_counter()
    draw(*arguments)
    return (time.perf_counter() - start) * 1e3


def round_cost(policy: ocucb.Policy, horizon: int, arms: int) -> float:
    """Return the nanoseconds of one simulated round."""
    runs = max(1, 10**5 // horizon)
    shard = Shard(worst_case(arms, 0.3), policy, horizon, (horizon,), seed=5, first=0, runs=runs)
    start = time.perf_counter()
    play(shard)
    return (time.perf_counter() - start) * 1e9 / (runs * horizon)


def policies(horizon: int) -> dict[str, ocucb.Policy]:
    """Return the policies that are measured."""
    return {
        "ocucb-n": ocucb.OCUCBn(),
        "ucb": ocucb.UCB(),
        "ada-ucb": ocucb.AdaUCB(),
        "moss": ocucb.MOSS(horizon),
        "ocucb": ocucb.OCUCB(horizon),
    }


def threads(workers: int) -> float:
    """Return the seconds that the main job's policies take with so many threads."""
    shards = [
        Shard(mixed_gaps(), policy, 10**5, (10**5,), seed=1, first=8 * block, runs=8)
        for policy in policies(10**5).values()
        for block in range(8)
    ]
    start = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(play, shards))
    return time.perf_counter() - start


def draws(workers: int) -> float:
    """Return the seconds that drawing alone takes with so many threads."""
    family = ocucb.Gaussian().family()
    parameters = np.array(family.parameters)
    arguments = address(family.quantile, QUANTILE), parameters.ctypes.data, 10**6
    start = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda _: draw(*arguments), range(40)))
    return time.perf_counter() - start


def gain(job: Callable[[int], float]) -> str:
    """Say how much faster two threads are than one."""
    pairs = [(job(1), job(2)) for _ in range(REPEATS)]
    one, two = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
    return f"{one:.2f} s / {two:.2f} s = {one / two:.2f} times as fast as one"


def main() -> None:
    """Measure and write the table."""
    play(Shard(worst_case(10, 0.3), ocucb.OCUCBn(), 100, (100,), 1, 0, 1))
    rows = []
    for name in policies(1):
        for place, (horizon, arms) in enumerate(SIZES):
            both = [(draw_cost(), round_cost(policies(horizon)[name], horizon, arms)) for _ in range(REPEATS)]
            one, cost = min(pair[0] for pair in both), min(pair[1] for pair in both)
            limit = str(PROMISED[name][place] or "") if name in PROMISED else ""
            rows.append([name, f"{horizon:,}", f"{arms:,}", f"{cost:.1f}", f"{one:.1f}", f"{cost / one:.2f}", limit])
    header = ["policy", "n", "K", "round, ns", "draw, ns", "draws", "at most"]
    write("episode", __doc__ or "", header, rows)
    print("two threads:", gain(threads))
    print("two threads, drawing alone:", gain(draws))


if __name__ == "__main__":
    main()
