"""The smallest constant that works before a sum: measured regret divided by the sum, on many instances at once.

A bound R(n) <= C · sum(n) with some constant C is out of reach of any measurement. What can be decided is whether one
constant, named before anything is measured, is enough on every instance of a grid; and how the constant that is needed
moves as n and K grow over the grid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ocucb.compiled import Floats
from ocucb.lab.chart import Chart, Line
from ocucb.lab.problem import Problem
from ocucb.paper.claim import Conclusion, Finding, Table
from ocucb.paper.evidence import ALARM, Interval, at_most, mean_interval
from ocucb.paper.regrets import format_interval, format_power, growth, largest, regrets
from ocucb.policies import Policy


@dataclass(frozen=True)
class RegretInstance:
    """A policy on a problem, watched at some horizons.

    label : the policy's parameters, as a reader shall see them.
    limit : the constant asked about.
    rho : the exponent that the sum needs, for the policies that have one.
    """

    label: str
    policy: Policy
    problem: Problem
    horizons: tuple[int, ...]
    runs: int
    limit: float
    rho: float = 0.5


class Need(NamedTuple):
    """The constant that an instance needs at one horizon, as a share of the constant asked about."""

    instance: RegretInstance
    horizon: int
    share: Interval


Sums = Callable[[RegretInstance], Floats]  # the sum at each horizon of an instance
Peaks = dict[tuple[int, int], Interval]  # (K, n) -> the largest share


def find_constant(instances: Sequence[RegretInstance], sums: Sums, seed: int, limit: str) -> Finding:
    """Judge "the constant asked about, called `limit`, is enough on every instance"."""
    for instance in instances:
        for n, value in zip(instance.horizons, sums(instance), strict=True):
            if value <= 0.0:
                return _impossible(instance, n, float(value), seed)
    found = needs(instances, sums, seed)
    conclusion = at_most([need.share for need in found], [1.0] * len(found))
    top = max(found, key=lambda need: need.share.value)
    most = largest([need.share for need in found])
    over = max(found, key=lambda need: need.share.low)
    peaks = _peaks(found)
    return Finding(
        conclusion,
        f"On {len(found)} pairs of instance and horizon the largest constant needed is {most.value:.2f} times {limit}, "
        f"at most {most.high:.2f} times ({_words(top)}). {_movement(peaks)}"
        + ("" if conclusion is Conclusion.FAILS else _room(limit)),
        ALARM,
        f"{_words(over)} needs {format_interval(over.share)} times {limit}." if conclusion is Conclusion.FAILS else "",
        (_table(found, peaks, limit),),
        (_chart(peaks, limit),),
    )


def _words(need: Need) -> str:
    return f"{need.instance.label} on {need.instance.problem.name} at n = {format_power(need.horizon)}"


def needs(instances: Sequence[RegretInstance], sums: Sums, seed: int) -> list[Need]:
    """Measure the constants that instances need; their sums must be positive."""
    of = sum(len(instance.horizons) for instance in instances)
    found = []
    for instance in instances:
        regret = regrets(instance.policy, instance.problem, instance.horizons, instance.runs, seed)
        shares = regret / (instance.limit * sums(instance))
        found += [Need(instance, n, mean_interval(shares[:, i], of)) for i, n in enumerate(instance.horizons)]
    return found


def _impossible(instance: RegretInstance, n: int, value: float, seed: int) -> Finding:
    """Return the finding for a sum that is not positive: regret is, so that no constant works."""
    regret = float(regrets(instance.policy, instance.problem, (n,), instance.runs, seed).mean())
    least = min(gap for gap in instance.problem.gaps if gap > 0.0)
    means = ", ".join(f"{mean:g}" for mean in instance.problem.means[:3]) + (", ..." * (instance.problem.arms > 3))
    case = f"K = {instance.problem.arms}, means ({means}), n = {n}"
    return Finding(
        Conclusion.FAILS,
        f"For {case} the sum is {value:.4g}, and every constant makes it no larger than 0. Regret is at least "
        f"{least:g}, for one pull of each arm, and was {regret:.4g} in {instance.runs} runs.",
        0.0,
        f"{case}: sum {value:.4g}, regret at least {least:g}.",
        (
            Table(
                "Where it fails",
                ("K", "n", "sum", "regret"),
                ((str(instance.problem.arms), str(n), f"{value:.4g}", f"{regret:.4g}"),),
            ),
        ),
    )


def _peaks(found: Sequence[Need]) -> Peaks:
    groups: dict[tuple[int, int], list[Interval]] = {}
    for instance, horizon, share in found:
        groups.setdefault((instance.problem.arms, horizon), []).append(share)
    return {key: largest(groups[key]) for key in sorted(groups)}


def _room(limit: str) -> str:
    return f" For large n it may climb to {limit}. That no other n, K or means need more, no grid can decide."


def _movement(peaks: Peaks) -> str:
    """Say how the largest share moves with n at the fewest arms, and with K at the last horizon that all have."""
    arms = sorted({k for k, _ in peaks})
    horizons = [n for k, n in peaks if k == arms[0] and n >= 100]
    first, last = peaks[arms[0], horizons[0]], peaks[arms[0], horizons[-1]]
    with_n = growth(last, first, horizons[-1] / horizons[0])
    text = (
        f"At K = {arms[0]} it goes from {first.value:.2f} to {last.value:.2f} as n goes from "
        f"{format_power(horizons[0])} to {format_power(horizons[-1])}, like n^{with_n.value:.3f} (the "
        f"exponent lies between {with_n.low:.3f} and {with_n.high:.3f})"
    )
    common = max(n for _, n in peaks if all((k, n) in peaks for k in arms))
    few, many = peaks[arms[0], common], peaks[arms[-1], common]
    with_arms = growth(many, few, arms[-1] / arms[0])
    return (
        f"{text}. At n = {format_power(common)} it goes from {few.value:.2f} "
        f"to {many.value:.2f} as K goes from {arms[0]} to {arms[-1]}, like K^{with_arms.value:.3f} (between "
        f"{with_arms.low:.3f} and {with_arms.high:.3f})."
    )


def _table(found: Sequence[Need], peaks: Peaks, limit: str) -> Table:
    rows = []
    for (arms, n), peak in peaks.items():
        here = [need for need in found if need.instance.problem.arms == arms and need.horizon == n]
        top = max(here, key=lambda need: need.share.value)
        rows.append(
            (
                str(arms),
                format_power(n),
                str(len(here)),
                format_interval(peak),
                top.instance.problem.name,
                top.instance.label,
            )
        )
    return Table(
        f"Largest regret over its sum, in units of {limit}",
        ("K", "n", "instances", "share", "largest on", "by"),
        tuple(rows),
    )


def _chart(peaks: Peaks, limit: str) -> Chart:
    lines = []
    for arms in sorted({k for k, _ in peaks}):
        mine = {n: peak for (k, n), peak in peaks.items() if k == arms and n >= 100}
        lines.append(
            Line(
                f"K = {arms}",
                list(mine),
                [peak.value for peak in mine.values()],
                [max(0.0, peak.low) for peak in mine.values()],
                [peak.high for peak in mine.values()],
            )
        )
    ends = [min(n for _, n in peaks if n >= 100), max(n for _, n in peaks)]
    lines.append(Line(limit, ends, [1.0, 1.0], bound=True))
    return Chart("The constant needed", "n", f"largest regret / sum, in units of {limit}", tuple(lines), x_scale="log")
