"""What simulated rounds cost on a GPU, and whether the pulls are those of the CPU.

One NVIDIA GPU, float64, the same tape as on the CPU; unit Gaussian noise, one best arm, all other gaps 0.3, as in
`benchmarks/episode.py`. A figure is the second of two launches, transfers included; the first, of a few runs, compiles.
"differ" counts the runs whose pulls are not those of the CPU, of so many that were compared; "aim" is what was hoped
for. A second table compares every policy under every family with the CPU, by several processes at once, so without
speeds: five arms with means 0.6, 0.5, 0.5, 0.4 and 0.3, 1,000 rounds. "own" is a level of a user's own, 2 log t.

    python -m benchmarks.gpu                    # both
    python -m benchmarks.gpu speed              # the first
    python -m benchmarks.gpu agreement          # the second
    python -m benchmarks.gpu agreement poisson  # of some families
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context

import numpy as np

import ocucb
from benchmarks.table import write
from ocucb.compiled import Parameters
from ocucb.compiled.cuda import check_gpu
from ocucb.lab.gpu_shards import play_together
from ocucb.lab.problem import Problem, worst_case
from ocucb.lab.runners.local import cores
from ocucb.lab.shard import Shard, play
from ocucb.policies import (
    IMED,
    KLLUCB,
    KLUCB,
    MOSS,
    OCUCB,
    UCB,
    UCBV,
    AdaUCB,
    BayesUCB,
    EpsilonGreedy,
    EpsilonThompson,
    ExpTS,
    ExpTSPlus,
    Gittins,
    Greedy,
    KLUCBHPlus,
    KLUCBPlus,
    KLUCBPlusPlus,
    KLUCBSwitch,
    MaillardSampling,
    MOSSAnytime,
    ThompsonSampling,
    TopTwo,
    UCBTuned,
    Uniform,
)
from ocucb.suitability import check_suitable

# Policy, n, K, runs on the GPU, runs compared with the CPU's, and the steps a second that were aimed at.
SIZES: list[tuple[ocucb.Policy, int, int, int, int, float]] = [
    (ocucb.OCUCBn(), 10**4, 10, 10**5, 10**5, 2e10),
    (ocucb.OCUCBn(), 10**6, 10, 10**5, 10**4, 5e10),
    (ocucb.OCUCBn(), 10**4, 100, 10**5, 2 * 10**4, 4e9),
    (ocucb.OCUCBn(), 10**4, 1000, 10**4, 10**4, 3e8),
    (ocucb.OCUCBn(), 2 * 10**4, 10**4, 1000, 1000, 0.0),
    (UCB(), 10**4, 10, 10**5, 10**5, 0.0),
    (AdaUCB(), 10**4, 10, 10**5, 10**5, 0.0),
    (MOSS(10**4), 10**4, 10, 10**5, 10**5, 0.0),
    (ThompsonSampling(), 10**4, 10, 10**5, 10**4, 5e9),
]
COMPARED = 10**5  # runs with five arms


def own_level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    """Return a level as a user may write it."""
    return parameters[0] * np.log(t)  # type: ignore[no-any-return]


def policies() -> list[ocucb.Policy]:
    """Return every policy of the table, some with several parameters, and a level of a user's own."""
    return [
        *(ocucb.OCUCBn(shrink=shrink) for shrink in ("none", "t", "log-plus", "all")),
        *(ocucb.OCUCBn(eta="annealed"), ocucb.OCUCBn(rho=1.0), OCUCB(1000), UCB(), AdaUCB(), MOSS(1000), MOSSAnytime()),
        *(KLUCB(), KLUCBPlus(), KLUCBHPlus(1000), KLUCBPlusPlus(1000), KLUCBSwitch(1000), BayesUCB(), Gittins(1000)),
        *(Greedy(), UCBV(), UCBTuned(), ocucb.LevelPolicy("own", own_level, {"factor": 2.0}, trend="rises"), IMED()),
        *(ThompsonSampling(), MaillardSampling(), ExpTS(), ExpTSPlus(), EpsilonThompson(), TopTwo(), KLLUCB()),
        *(Uniform(), EpsilonGreedy(0.1)),
    ]


def families() -> list[ocucb.Noise]:
    """Return every family of the table; Gaussian noise also with a scale that is no power of two."""
    laws: list[ocucb.Noise] = [ocucb.Gaussian(), ocucb.Gaussian(0.3), ocucb.GaussianUnknownScale(), ocucb.Bernoulli()]
    return [*laws, ocucb.Bounded(0.0, 1.0), ocucb.Poisson(), ocucb.Exponential()]


def pairs(names: Sequence[str] = ()) -> list[tuple[ocucb.Policy, ocucb.Noise]]:
    """Return every policy under every family, or those of some names, less what makes no sense together."""
    laws = [noise for noise in families() if not names or noise.name in names]
    return [(policy, noise) for noise in laws for policy in policies() if is_suitable(policy, noise)]


def is_suitable(policy: ocucb.Policy, noise: ocucb.Noise) -> bool:
    """Tell whether a policy goes with a family."""
    try:
        check_suitable(policy, noise)
    except ocucb.OcucbError:
        return False
    return True


def differing(shard: Shard, pulls: np.ndarray, compared: int, threads: int | None = None) -> int:
    """Return in how many of the first runs the CPU pulls otherwise."""
    parts = [replace(shard, first=first, runs=min(50, compared - first)) for first in range(0, compared, 50)]
    with ThreadPoolExecutor(threads) as pool:
        theirs = np.concatenate([outcome.pulls for outcome in pool.map(play, parts)])
    return int((theirs != pulls[:compared]).any(axis=1).sum())


def measure(shard: Shard, compared: int) -> list[str]:
    """Return what one shard costs, and how many runs differ."""
    started = time.perf_counter()
    play_together([replace(shard, runs=32)])
    compiled = time.perf_counter() - started
    started = time.perf_counter()
    [outcome] = play_together([shard])
    seconds = time.perf_counter() - started
    differ = differing(shard, outcome.pulls, compared)
    speed = shard.runs * shard.horizon / seconds
    return [f"{shard.runs:,}", f"{seconds:.2f}", f"{speed:.2e}", f"{compiled:.1f}", f"{compared:,}", str(differ)]


def agreement(place: int, names: Sequence[str]) -> list[str]:
    """Return how many runs of one pair differ from the CPU's."""
    warnings.simplefilter("ignore")
    policy, noise = pairs(names)[place]
    shard = Shard(Problem((0.6, 0.5, 0.5, 0.4, 0.3), noise), policy, 1000, (1000,), seed=5, first=0, runs=COMPARED)
    [outcome] = play_together([shard])
    name = policy.name if isinstance(policy, ocucb.LevelPolicy) else str(policy)
    return [name, str(noise), f"{COMPARED:,}", str(differing(shard, outcome.pulls, COMPARED, threads=2))]


def measure_speed() -> None:
    """Measure, and write the table, also of what was measured before an interrupt."""
    header = ["policy", "noise", "n", "K", "runs", "s", "steps/s", "first launch, s", "compared", "differ", "aim"]
    rows: list[list[str]] = []
    try:
        for policy, horizon, arms, runs, compared, aim in SIZES:
            shard = Shard(worst_case(arms, 0.3), policy, horizon, (horizon,), seed=5, first=0, runs=runs)
            cells = [policy.name, "gaussian", f"{horizon:,}", f"{arms:,}", *measure(shard, compared)]
            rows.append([*cells, f"{aim:.0e}" if aim else ""])
            print(rows[-1], flush=True)
        problem = Problem(tuple(np.linspace(0.6, 0.3, 100).tolist()), ocucb.Bernoulli())
        shard = Shard(problem, ocucb.OCUCBn(), 5000, (5000,), seed=5, first=0, runs=10**4)
        rows.append(["ocucb-n", "bernoulli", "5,000", "100", *measure(shard, 10**4), ""])
        print(rows[-1], flush=True)
    finally:
        write("gpu", __doc__ or "", header, rows)


def measure_agreement(names: Sequence[str]) -> None:
    """Compare, and write the table, also of what was compared before an interrupt."""
    rows: dict[int, list[str]] = {}
    asked = pairs(names)
    slow_first = sorted(range(len(asked)), key=lambda place: asked[place][0].rule().score is None)
    with ProcessPoolExecutor(cores(), mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(agreement, place, names): place for place in slow_first}
        try:
            for future in as_completed(futures):
                rows[futures[future]] = future.result()
                print(rows[futures[future]], flush=True)
        finally:
            table = [rows[place] for place in sorted(rows)]
            write("gpu_agreement", __doc__ or "", ["policy", "noise", "compared", "differ"], table)


def main() -> None:
    """Measure what is asked for, or all."""
    warnings.simplefilter("ignore")
    check_gpu()
    asked, *names = sys.argv[1:] or ["all"]
    if asked in ("speed", "all"):
        measure_speed()
    if asked in ("agreement", "all"):
        measure_agreement(names)


if __name__ == "__main__":
    main()
