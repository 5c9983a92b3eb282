"""What a simulated round costs, in units of one number of NumPy's `Generator.standard_normal(out=...)`, on one core.

OCUCB-n(1.1, 0.5) and others; unit Gaussian noise, one best arm, all other gaps 0.3. "numbers" is the cost of a round
divided by that of one number of NumPy in the same process; both are the fastest of several measurements, taken in turn.
"draw" is one reward of the tape among many drawn in a row, as a leader's are. The last lines compare two threads with
one on the policies of the main job, and on drawing alone, which shares nothing between threads: what this machine can
give. A second table has the draws of all noise families: "many" in a row, and "single" ones through an address.

    python -m benchmarks.episode
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import ocucb
from benchmarks.table import write
from ocucb.compiled import DRAWS, QUANTILE, Floats, address, call_draws, kernel, reals
from ocucb.lab.problem import mixed_gaps, worst_case
from ocucb.lab.shard import Shard, play
from ocucb.lab.tape import arm_key, drawing, reward

SIZES = [(10**4, 10), (10**4, 100), (10**4, 1000), (10**6, 10), (10**6, 100), (10**6, 1000)]
REPEATS = 7
# At most so many numbers, where a figure is promised.
PROMISED: dict[str, list[float]] = {"ocucb-n": [5, 27, 100, 1, 2.2, 8]}
COUNT = 10**5
DRAWN = [
    (ocucb.Gaussian(), 0.0),
    (ocucb.Bernoulli(), 0.4),
    (ocucb.Bounded(0.0, 1.0), 0.4),
    (ocucb.Poisson(), 0.5),
    (ocucb.Poisson(), 5.0),
    (ocucb.Poisson(), 50.0),
    (ocucb.Exponential(), 0.5),
]


@kernel
def draw_singly(quantile: int, family: int, mean: float, count: int) -> float:
    """Draw rewards of one arm, each by a call through an address."""
    total = 0.0
    key = arm_key(1, 2, 3)
    for s in range(count):
        total += reward(quantile, key, s, mean, reals(family))
    return total


@kernel
def draw(draws: int, family: int, sums: int, mean: float, count: int) -> float:
    """Draw rewards of one arm, all in one call."""
    return float(call_draws(draws, (mean, arm_key(1, 2, 3), 0, count, -1e300, reals(sums), reals(family))))


def nanoseconds(job: Callable[[], object], count: int) -> float:
    """Return the nanoseconds that each of `count` things takes in one run of a job."""
    start = time.perf_counter()
    job()
    return (time.perf_counter() - start) * 1e9 / count


def draw_cost(noise: ocucb.Noise, mean: float) -> float:
    """Return the nanoseconds of one draw among many."""
    family, total = noise.family(), np.ones(1)
    parameters = np.array([*family.parameters, 0.0])
    at = address(drawing(family.quantile), DRAWS)
    return nanoseconds(lambda: draw(at, parameters.ctypes.data, total.ctypes.data, mean, COUNT), COUNT)


def single_cost(noise: ocucb.Noise, mean: float) -> float:
    """Return the nanoseconds of one draw through an address."""
    family = noise.family()
    parameters = np.array([*family.parameters, 0.0])
    at = address(family.quantile, QUANTILE)
    return nanoseconds(lambda: draw_singly(at, parameters.ctypes.data, mean, COUNT), COUNT)


def numpy_cost(generator: np.random.Generator, out: Floats) -> float:
    """Return the nanoseconds of one number of NumPy's."""
    return nanoseconds(lambda: generator.standard_normal(out=out), len(out))


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
    start = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda _: draw_cost(ocucb.Gaussian(), 0.0), range(400)))
    return time.perf_counter() - start


def gain(job: Callable[[int], float]) -> str:
    """Say how much faster two threads are than one."""
    pairs = [(job(1), job(2)) for _ in range(REPEATS)]
    one, two = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
    return f"{one:.2f} s / {two:.2f} s = {one / two:.2f} times as fast as one"


def draw_rows() -> list[list[str]]:
    """Measure the draws of all families."""
    generator, out = np.random.default_rng(1), np.empty(COUNT)
    rows = []
    for noise, mean in DRAWN:
        costs = [
            (draw_cost(noise, mean), single_cost(noise, mean), numpy_cost(generator, out)) for _ in range(5 * REPEATS)
        ]
        rows.append([noise.name, f"{mean:g}", *(f"{min(each):.1f}" for each in zip(*costs, strict=True))])
    return rows


def main() -> None:
    """Measure and write the table."""
    play(Shard(worst_case(10, 0.3), ocucb.OCUCBn(), 100, (100,), 1, 0, 1))
    generator, out = np.random.default_rng(1), np.empty(COUNT)
    rows = []
    for name in policies(1):
        for place, (horizon, arms) in enumerate(SIZES):
            costs = [
                (
                    numpy_cost(generator, out),
                    draw_cost(ocucb.Gaussian(), 0.0),
                    round_cost(policies(horizon)[name], horizon, arms),
                )
                for _ in range(REPEATS)
            ]
            number, one, cost = (min(each) for each in zip(*costs, strict=True))
            limit = f"{PROMISED[name][place]:g}" if name in PROMISED else ""
            cells = [f"{cost:.1f}", f"{one:.1f}", f"{number:.1f}", f"{cost / number:.2f}"]
            rows.append([name, f"{horizon:,}", f"{arms:,}", *cells, limit])
    header = ["policy", "n", "K", "round, ns", "draw, ns", "NumPy's number, ns", "numbers", "at most"]
    write("episode", __doc__ or "", header, rows)
    write("draws", __doc__ or "", ["noise", "mean", "many, ns", "single, ns", "NumPy's number, ns"], draw_rows())
    print("two threads:", gain(threads))
    print("two threads, drawing alone:", gain(draws))


if __name__ == "__main__":
    main()
