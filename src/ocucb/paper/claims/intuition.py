"""The intuition for the index: its level of confidence, and at the critical number of samples it knows k_{i,1/2}."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats, Integers
from ocucb.lab.chart import Chart, Line
from ocucb.lab.problem import Problem, linear_gaps, mixed_gaps, moss_trap, worst_case
from ocucb.lab.shard import Shard, play
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Table, Wrong
from ocucb.paper.evidence import ALARM, at_least, proportion
from ocucb.policies import OCUCBn
from ocucb.theory.gaps import effective_arms, gaps
from ocucb.theory.index import shared_pulls

RHO = 0.5
FACTOR = 4.0
TYPICALLY = 0.75
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


def all_arms(means: npt.ArrayLike, rho: float) -> Floats:
    """Return K for every arm: all arms as rivals, as MOSS counts them."""
    return np.full(np.size(means), float(np.size(means)))


class Case(NamedTuple):
    """A problem with its largest number of rounds."""

    problem: Problem
    n: int


def cases(effort: Effort) -> list[Case]:
    """Return problems, most with enough rounds for nearly every arm to reach its critical number in nearly every run.

    In moss_trap an arm needs 4096 samples, and at quick size many runs end before: that counts against the statement.
    """
    several = Problem((0.0, 0.0, 0.0, -0.1, -0.1, -0.4, -0.8), name="three best arms")
    far = Problem((0.0, -0.05) + (-1.0,) * 40, name="40 far arms")
    lines = effort.pick((4, 8, 16), (4, 8, 16, 32, 64, 128))
    return [
        Case(worst_case(10, 0.3), 6000),
        Case(worst_case(50, 0.5), 2000),
        Case(mixed_gaps(), 10_000),
        Case(several, 10_000),
        Case(far, 40_000),
        Case(moss_trap(16), effort.pick(40_000, 200_000)),
        *(Case(linear_gaps(arms), 100 * arms**2) for arms in lines),
    ]


def at_critical(choices: Integers, gap: Floats, arm: int) -> float:
    """Return Σ_j min{T_i, √(T_i T_j)} when T_i first reaches Δ_i^-2, or nan if it does not.

    Not before each arm has been pulled once, as indices begin only then.
    """
    pulled = np.flatnonzero(choices == arm)
    critical = math.ceil(1.0 / gap[arm] ** 2 * (1.0 - 1e-12))
    if pulled.size < critical:
        return math.nan
    pulls = np.bincount(choices[: max(int(pulled[critical - 1]) + 1, gap.size)], minlength=gap.size)
    return float(shared_pulls(pulls, RHO)[arm])


def ratios(case: Case, eta: float, seed: int, runs: int, effective: Callable[[npt.ArrayLike, float], Floats]) -> Floats:
    """Return Δ_i² Σ_j min{T_i, √(T_i T_j)} / k_i of the first arm of each gap: one row per run, one column per gap."""
    means = case.problem.means
    gap = gaps(means)
    arms = [int(np.flatnonzero(gap == one)[0]) for one in np.unique(gap[gap > 0.0])]
    scale = (gap**2 / effective(means, RHO))[arms]
    found = np.empty((runs, len(arms)))
    for run in range(runs):
        choices = play(Shard(case.problem, OCUCBn(eta, RHO), case.n, (case.n,), seed, run, 1, trace=case.n)).choices[0]
        found[run] = [at_critical(choices, gap, arm) for arm in arms]
    return found * scale


def index_learns(effort: Effort, effective: Callable[[npt.ArrayLike, float], Floats] = effective_arms) -> Finding:
    """Measure the index's denominator against k_i/Δ_i² at the critical number of samples."""
    runs, rows = effort.pick(40, 300), []
    hits: dict[str, int] = {}
    outside = missed = 0
    pooled, nearest = [], []
    for eta, case in itertools.product((1.1, 2.0), cases(effort)):
        name = case.problem.name
        found = ratios(case, eta, effort.seed, runs, effective)
        outside += int(((found < 1.0 / FACTOR) | (found > FACTOR)).sum())  # nan, not reached, is neither
        missed += int(np.isnan(found).sum())
        inside = ((found >= 1.0 / FACTOR) & (found <= FACTOR)).sum(axis=0).tolist()
        hits |= {f"{name}, η = {eta:g}, gap number {k}": one for k, one in enumerate(inside, 1)}
        reached = found[~np.isnan(found)]
        pooled.append(reached)
        nearest.append((eta, case.problem, np.nanquantile(found[:, 0], (0.05, 0.5, 0.95))))
        shown = [f"{x:.2f}" for x in np.quantile(reached, LEVELS)]
        rows.append((name, f"{eta:g}", *shown, f"{100.0 * np.isnan(found).mean():.1f} %", f"{min(inside)} of {runs}"))
    conclusion = at_least([proportion(one, runs, len(hits)) for one in hits.values()], [TYPICALLY] * len(hits))
    worst = min(hits, key=lambda label: hits[label])
    low, median, high = np.quantile(np.concatenate(pooled), (0.05, 0.5, 0.95))
    linear = [(problem.arms, middle[1]) for eta, problem, middle in nearest if eta == 2.0 and "linear" in problem.name]
    return Finding(
        conclusion,
        f"The ratio is within a factor {FACTOR:g} of 1 in {hits[worst]} of {runs} runs or more, for each of "
        f"{len(hits)} gaps ({worst}). Over all: {missed} did not reach Δ_i^-2, {outside} did and were outside; median "
        f"{median:.2f}, 5 % below {low:.2f}, 5 % above {high:.2f}. With linear gaps the nearest arm's median, η = 2, "
        f"goes from {linear[0][1]:.2f} at K = {linear[0][0]} to {linear[-1][1]:.2f} at K = {linear[-1][0]}: arms of "
        "larger gaps get 2η log(·)/Δ_j² pulls rather than Δ_j^-2, so '≈' leaves out a factor of up to √(2η log(·)).",
        false_alarm=ALARM,
        counterexample=(
            f"{worst}: within a factor {FACTOR:g} in {hits[worst]} of {runs} runs"
            if conclusion is Conclusion.FAILS
            else ""
        ),
        tables=(
            Table(
                "Δ_i² Σ_j min{T_i, √(T_i T_j)} / k_(i,1/2) when T_i reaches Δ_i^-2: quantiles over runs and gaps",
                ("problem", "η", *(f"{100 * level:g} %" for level in LEVELS), "not reached", "fewest in reach"),
                tuple(rows),
            ),
        ),
        charts=(_growth(nearest),),
    )


def _growth(nearest: list[tuple[float, Problem, Floats]]) -> Chart:
    lines = []
    for eta in dict.fromkeys(eta for eta, _, _ in nearest):
        linear = [(p.arms, q) for one, p, q in nearest if one == eta and p.name.startswith("linear")]
        arms, (low, middle, high) = [float(k) for k, _ in linear], np.array([q for _, q in linear]).T
        lines.append(Line(f"η = {eta:g}", arms, middle.tolist(), low.tolist(), high.tolist()))
    ends = [lines[0].x[0], lines[0].x[-1]]
    lines += [Line(f"factor {FACTOR:g}", ends, [FACTOR] * 2, bound=True), Line("1", ends, [1.0] * 2, bound=True)]
    return Chart(
        "Linear gaps, the arm nearest to the best: median, 5 % and 95 %", "K", "ratio", tuple(lines), "log", "log"
    )


def alternative_sum(gap: Floats, arm: int) -> float:
    """Return Σ_{j: Δ'_j > 0} Δ_i/Δ'_j, Δ'_j = Δ_i + Δ_j: n δ/log n of the intuition in units of Δ_i^-2."""
    others = np.delete(gap, arm)
    return float(np.sum(gap[arm] / (gap[arm] + others)))


def level_of_confidence(
    effort: Effort, effective: Callable[[npt.ArrayLike, float], Floats] = effective_arms
) -> Finding:
    """Compare Σ_j Δ_i/Δ'_j with k_{i,1/2} over many gaps: between a quarter of it and all of it."""
    rng = np.random.default_rng([effort.seed, 12])
    low, high, example = math.inf, 0.0, ""
    for _ in range(effort.pick(1_000, 50_000)):
        gap = np.concatenate(([0.0], 10.0 ** rng.uniform(-rng.uniform(0.0, 6.0), 0.0, int(rng.integers(1, 100)))))
        arm = int(rng.integers(1, gap.size))
        ratio = alternative_sum(gap, arm) / float(effective(-gap, RHO)[arm])
        if ratio < low:
            example = f"{gap.size} arms, Δ_i = {gap[arm]:.4g}, gaps up to {gap.max():.4g}: {ratio:.4g}"
        low, high = min(low, ratio), max(high, ratio)
    fails = low < 0.25 or high > 1.0
    return Finding(
        Conclusion.FAILS if fails else Conclusion.HOLDS,
        f"Σ_j Δ_i/Δ'_j is from {low:.3f} to {high:.3f} times k_(i,1/2).",
        counterexample=example if fails else "",
    )


CHECKS: tuple[Check, ...] = (
    Check(
        "confidence level",
        ("intuition for regret bound",),
        "δ = O((log(n)/n) Σ_j 1/(Δ'_j Δ_i)) = O(log(n) k_(i,1/2)/(n Δ_i²)).",
        "Δ'_j = Δ_i + Δ_j, between max{Δ_i, Δ_j} and twice that, so the sums agree up to a factor 2, and without arm i "
        "itself, which is at most half of k_i, up to 4. Computed for gaps over up to six decades.",
        level_of_confidence,
        Wrong("K in place of k_(i,1/2).", {"effective": all_arms}),
    ),
    Check(
        "intuition",
        ("eq:aucb",),
        "When T_i nears the critical number of samples Δ_i^-2, Σ_j min{T_i, √(T_i T_j)} is about k_(i,1/2)/Δ_i².",
        "Runs of OCUCB-n with ρ = 1/2. '≈' is no theorem, so asked is: are the two sides within a factor 4 of each "
        "other, for each gap of each problem, in at least three runs of four? A factor 4 in samples is a factor 2 in "
        "gaps, the resolution of the proof (Δ_i/2, 2Δ_J), and moves log B_i by less than 1.4. A run in which T_i does "
        "not reach Δ_i^-2 counts against.",
        index_learns,
        Wrong("All K arms counted as rivals, as by MOSS, in place of k_(i,1/2).", {"effective": all_arms}),
    ),
)
