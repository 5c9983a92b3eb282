"""Claim 13: the lower bound of Appendix A, by every policy of the package and by the best of all policies.

The steps of its proof are checked in `lower_bound_testing` and `lower_bound_regret`.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from ocucb.compiled import Floats
from ocucb.lab.chart import Chart, Line
from ocucb.lab.fastest import play_where_fastest
from ocucb.lab.problem import Problem
from ocucb.lab.shard import Shard
from ocucb.noise import Gaussian
from ocucb.paper import evidence
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Table, Wrong
from ocucb.paper.claims import lower_bound_regret, lower_bound_testing
from ocucb.paper.evidence import ALARM, Interval
from ocucb.policies import POLICIES, Policy
from ocucb.theory import Alternative, gaps, lai_robbins_slope, lower_bound, lower_bound_alternative

# SciPy publishes no types.
_special: Any = importlib.import_module("scipy.special")

Means = tuple[float, ...]


class Sides(NamedTuple):
    """The right-hand side of statement 1, and for each suboptimal arm its alternative with that of statement 2."""

    first: float
    alternatives: list[Alternative]


def printed(means: Means, n: int) -> Sides:
    """Return the right-hand sides of Appendix A."""
    arms = np.flatnonzero(gaps(means)).tolist()
    return Sides(float(lower_bound(means, n)), [lower_bound_alternative(means, arm, n) for arm in arms])


def lai_robbins(means: Means, n: int) -> Sides:
    """Return Σ (2/Δ) log n for both: the bound for n without end, read as if it held for each n."""

    def side(values: Sequence[float]) -> float:
        return lai_robbins_slope(values, Gaussian()) * math.log(n)

    others = [other.means for other in printed(means, n).alternatives]
    return Sides(side(means), [Alternative(other, np.asarray(side(other.tolist()))) for other in others])


# Means and horizons that meet the condition, most of them narrowly.
SMALL: list[tuple[Means, int]] = [
    ((0.0, -0.9), 10),
    ((0.0, -0.5), 100),
    ((0.0, -0.7, -0.7), 40),
    ((0.0, 0.0, -0.6), 60),
    ((0.0, -0.4, -0.8), 100),
]
LARGE: list[tuple[Means, int]] = [
    ((0.0, -0.2), 2000),
    ((0.0, -0.2, -0.4, -0.8, -0.8), 1000),
    ((0.0, -0.1, -1.0, -1.0), 3000),
    ((0.0, *[-0.3] * 5), 500),
]


def build(name: str, n: int) -> Policy:
    """Return a policy of the package, made for n rounds if it needs to know them."""
    knows = any(field.name == "horizon" for field in fields(POLICIES[name]))
    return POLICIES.from_dict({"name": name, "parameters": {"horizon": n} if knows else {}})


class Trial(NamedTuple):
    """A policy's regret on means and on every alternative, each divided by what the theorem asks for."""

    first: Interval
    seconds: list[Interval]

    def conclusion(self) -> Conclusion:
        every = [self.first, *self.seconds]
        if any(ratio.low >= 1.0 for ratio in every):
            return Conclusion.HOLDS
        return Conclusion.FAILS if all(ratio.high < 1.0 for ratio in every) else Conclusion.OPEN

    def words(self) -> str:
        return f"{self.first.value:.3g}; {max(ratio.value for ratio in self.seconds):.3g}"


def measure(policy: Policy, means: Means, n: int, sides: Sides, runs: int, seed: int, of: int) -> Trial:
    """Return the measured regrets over the right-hand sides."""

    def ratio(values: Means, bound: float) -> Interval:
        regret = play_where_fastest(Shard(Problem(values), policy, n, (n,), seed, 0, runs)).regret[:, 0]
        return Interval(*(end / bound for end in evidence.mean_interval(regret, of)))

    seconds = [ratio(tuple(other.means.tolist()), float(other.bound)) for other in sides.alternatives]
    return Trial(ratio(means, sides.first), seconds)


def run_policies(effort: Effort, *, sides: Callable[[Means, int], Sides] = printed) -> Finding:
    """Measure the regret of every policy on means and on their alternatives, and ask for one statement or the other."""
    cases = effort.pick(SMALL, SMALL + LARGE)
    runs = effort.pick(300, 1000)
    of = len(POLICIES) * sum(1 + int(np.count_nonzero(gaps(means))) for means, _ in cases)
    rows, conclusions, example = [], [], ""
    least = math.inf
    for name in POLICIES:
        trials = [measure(build(name, n), means, n, sides(means, n), runs, effort.seed, of) for means, n in cases]
        rows.append((name, *(trial.words() for trial in trials)))
        for trial, (means, n) in zip(trials, cases, strict=True):
            conclusions.append(trial.conclusion())
            least = min(least, max(trial.first.value, *(ratio.value for ratio in trial.seconds)))
            if trial.conclusion() is Conclusion.FAILS:
                example = example or (
                    f"{name}, n = {n}, means {means}: regret over right-hand side at most {trial.first.high:.3g} in "
                    f"statement 1 and {max(ratio.high for ratio in trial.seconds):.3g} in statement 2"
                )
    worst = (
        Conclusion.FAILS
        if Conclusion.FAILS in conclusions
        else Conclusion.OPEN
        if Conclusion.OPEN in conclusions
        else Conclusion.HOLDS
    )
    table = Table(
        "Regret over right-hand side: statement 1; statement 2 at the alternative where it is largest",
        ("policy", *(f"gaps {', '.join(f'{gap:g}' for gap in gaps(means))}; n = {n}" for means, n in cases)),
        tuple(rows),
    )
    held = conclusions.count(Conclusion.HOLDS)
    outcome = (
        f"The intervals show that one of the two statements holds in {held} of {len(conclusions)} pairs of a "
        f"policy and means ({runs:,} runs each). The larger of the two ratios is {least:.3g} or more."
    )
    return Finding(worst, outcome, ALARM, example, (table,))


# The best of all policies, for two arms


def trade_off(gap: float, n: int, points: int) -> tuple[Floats, Floats]:
    """Return weights w, and for each what w R_μ + (1 - w) R_μ' is at least, for any policy and two arms.

    A policy that knows everything but which of μ, μ' it has learns from the second arm only, so it might as well play
    that first, up to a stopping time τ: R_μ = Δ E[τ], R_μ' = Δ E'[n - τ]. The best τ comes by backward induction on
    the posterior probability of μ'. The cost to come is concave in it, so chords over a grid lie below; the expectation
    of a function made of chords is exact, by normal distribution functions. So, rounding apart, it is a true bound.
    """
    odds = np.linspace(-math.log(n) - 12.0, math.log(n) + 12.0, points)
    likely = np.concatenate([[0.0], _special.expit(odds), [1.0]])
    unlikely = np.concatenate([[1.0], _special.expit(-odds), [0.0]])
    ends = (np.concatenate([[-np.inf], odds, [np.inf]]) - odds[:, np.newaxis]) / (2.0 * gap)
    # How much of μ and of μ' goes from a point of the grid to between two neighbours, shared among these by chords.
    means = unlikely[1:-1, np.newaxis] * np.diff(_special.ndtr(ends + gap))
    other = likely[1:-1, np.newaxis] * np.diff(_special.ndtr(ends - gap))
    apart = np.where(likely[1:] < 0.5, np.diff(likely), -np.diff(unlikely))
    step = np.zeros((points, points + 2))
    step[:, :-1] += (likely[1:] * means - unlikely[1:] * other) / apart
    step[:, 1:] += (unlikely[:-1] * other - likely[:-1] * means) / apart
    cost = np.zeros(points + 2)
    for left in range(1, n + 1):
        onward = np.concatenate([[1.0 + cost[0]], unlikely[1:-1] + step @ cost, [cost[-1]]])
        cost = np.minimum(left * likely, onward)
    return unlikely[1:-1], gap * cost[1:-1]


def least_other(weights: Floats, costs: Floats, regret: float) -> float:
    """Return what R_μ' is at least for a policy with R_μ of at most `regret`."""
    return float(np.max((costs - weights * regret) / (1.0 - weights)))


class Corner(NamedTuple):
    """The best policy with the regret of statement 1: its regret on the alternative over statement 2's side.

    factor : the gap over the smallest that meets the condition, √(2 log(n)/n).
    """

    n: int
    factor: float
    ratio: float
    rough: float
    line: Line
    words: str


def corner(n: int, factor: float, constants: tuple[float, float], points: int) -> Corner:
    """Put the best policy to the test. With two arms k = k' = 2 and Δ' = Δ, so both sums are the same one term."""
    gap = factor * math.sqrt(2.0 * math.log(n) / n)
    one, two = (constant * 2.0 * math.log(factor) / gap for constant in constants)
    fine, coarse = trade_off(gap, n, points), trade_off(gap, n, points // 2)
    ratio = least_other(*fine, one) / two
    curve = [(x, least_other(*fine, x * one) / two) for x in np.geomspace(0.1, 30.0, 60).tolist()]
    shown = [(x, y) for x, y in curve if y > 0.01]
    words = (
        f"n = {n}, gap {gap:.6g}: the best policy with a regret of {one:.4g} on the means, statement 1's side, has "
        f"{ratio * two:.4g} on the alternative, below statement 2's {two:.4g}"
    )
    line = Line(f"n = {n}, gap {gap:.2g}", [x for x, _ in shown], [y for _, y in shown])
    return Corner(n, factor, ratio, least_other(*coarse, one) / two, line, words)


def run_two_arms(effort: Effort, *, constants: tuple[float, float] = (0.25, 0.5)) -> Finding:
    """Ask of the best of all policies for two arms whether it can stay below both right-hand sides.

    That it cannot is shown by any grid, as each gives a bound. That it can is believed where the bound falls short by
    more than twice what a grid half as fine changes.
    """
    corners = [
        corner(n, factor, constants, effort.pick(300, 1200))
        for n in effort.pick((10, 30, 100, 300), (10, 30, 100, 300, 1000, 3000))
        for factor in (1.02, 1.2, 1.5, 2.0, 4.0)
        if factor**2 * 2.0 * math.log(n) <= n
    ]
    table = Table(
        "A policy with the regret of statement 1 on the means: its regret on the alternative over statement 2's side",
        ("n", "k log(n)/(nΔ²)", "at least", "by half as many points"),
        tuple((f"{one.n}", f"{one.factor**-2:.3g}", f"{one.ratio:.4g}", f"{one.rough:.4g}") for one in corners),
    )
    excluded = Line("the theorem: not below and left of this", [0.1, 1.0, 1.0], [1.0, 1.0, 0.01], bound=True)
    chart = Chart(
        "The best that any policy can do with two arms",
        "regret on the means over statement 1's side",
        "regret on the alternative over statement 2's side",
        (*[one.line for one in corners if one.factor == 2.0][-4:], excluded),
        "log",
        "log",
    )
    least = min(one.ratio for one in corners)
    example = next((one.words for one in corners if one.ratio + 2.0 * abs(one.ratio - one.rough) < 1.0), "")
    conclusion = Conclusion.FAILS if example else Conclusion.HOLDS if least >= 1.0 else Conclusion.OPEN
    outcome = (
        f"{len(corners)} pairs of gap and n, and all policies whatever: one that stays below statement 1's side has at "
        f"least {least:.3g} times statement 2's side on the alternative."
    )
    return Finding(conclusion, outcome, 0.0, example, (table,), (chart,))


CHECKS: tuple[Check, ...] = (
    Check(
        "every policy",
        ("app:lower",),
        "Under Gaussian noise, for means that meet the condition, any strategy has regret of at least (1/4) Σ (1/Δ_i) "
        "log(nΔ_i²/(k_i log n)), or, where a suboptimal arm i is raised by 2Δ_i for some i, at least (1/2) times the "
        "same sum there.",
        "All policies of the package, made for n where they need it, on means that meet the condition, narrowly or "
        "well, and on the alternative of every suboptimal arm.",
        run_policies,
        Wrong("both sides are Σ (2/Δ) log n, the bound of Lai and Robbins read at finite n", {"sides": lai_robbins}),
    ),
    Check(
        "best policy, two arms",
        ("app:lower",),
        "The same, for two arms and any strategy.",
        "The best trade-off between the two regrets that any policy can make, by backward induction; chords under a "
        "concave cost make it a bound from below.",
        run_two_arms,
        Wrong(
            "the constants are 2, as in the bound of Lai and Robbins, in place of 1/4 and 1/2", {"constants": (2, 2)}
        ),
    ),
    *lower_bound_testing.CHECKS,
    *lower_bound_regret.CHECKS,
)
