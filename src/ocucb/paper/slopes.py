"""How fast regret rises with log n at the end of long runs, against a slope that is claimed for n without end.

No n decides a limit. What n can show is the slope itself: regret that still rises faster than claimed over the last
decades contradicts the claim, unless the rise slows down later; regret divided by log n cannot show as much, because
the rounds before anything was learned weigh on it for long.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ocucb.compiled import Floats
from ocucb.lab.chart import Chart, Line
from ocucb.lab.problem import Problem
from ocucb.paper.claim import Conclusion, Finding, Table
from ocucb.paper.evidence import ALARM, Interval, at_most, mean_interval
from ocucb.paper.regrets import format_interval, format_power, regrets
from ocucb.policies import Policy


@dataclass(frozen=True)
class ClaimedSlope:
    """A policy on a problem, and the slope claimed for it. A label with no `drawn` stands in the table only."""

    label: str
    policy: Policy
    problem: Problem
    claimed: float
    drawn: bool = True


def slope(regret: Floats, checkpoints: Sequence[int], of: int = 1) -> Interval:
    """Return by how much regret rises per unit of log n, from the first checkpoint to the last."""
    return mean_interval((regret[:, -1] - regret[:, 0]) / math.log(checkpoints[-1] / checkpoints[0]), of)


def find_slopes(rows: Sequence[ClaimedSlope], checkpoints: Sequence[int], runs: int, seed: int) -> Finding:
    """Judge "over the last two decades regret rises by no more than is claimed per unit of log n".

    checkpoints : powers of ten, four or more. Since the claim is about n without end, it fails or stays open.
    """
    played = [regrets(row.policy, row.problem, checkpoints, runs, seed) / row.claimed for row in rows]
    late = [slope(share[:, -3:], checkpoints[-3:], len(rows)) for share in played]
    failed = at_most(late, [1.0] * len(rows)) is Conclusion.FAILS
    worst = max(range(len(rows)), key=lambda i: late[i].low)
    levels = [float(share[:, -1].mean()) / math.log(checkpoints[-1]) for share in played]
    window = f"from n = {format_power(checkpoints[-3])} to {format_power(checkpoints[-1])}"
    values = [interval.value for interval in late]
    return Finding(
        Conclusion.FAILS if failed else Conclusion.OPEN,
        f"Per unit of log n, {window}, regret rises by {min(values):.2f} to {max(values):.2f} times what is claimed, "
        f"known to ±{max(interval.high - interval.value for interval in late):.2f}; R(n)/log n itself is still at "
        f"{min(levels):.2f} to {max(levels):.2f} times the claim. Nothing here contradicts the claim; but no n "
        "decides a limit, because the slope may still change."
        if not failed
        else f"Per unit of log n, {window}, regret rises by up to {format_interval(late[worst])} times what is "
        "claimed.",
        ALARM,
        f"{rows[worst].label}, {rows[worst].problem.name}, {window}: regret rises by {format_interval(late[worst])} "
        f"times the claimed {rows[worst].claimed:.3g} per unit of log n."
        if failed
        else "",
        (_table(rows, played, late, checkpoints),),
        (_chart(rows, played, checkpoints),),
    )


def _table(
    rows: Sequence[ClaimedSlope], played: Sequence[Floats], late: Sequence[Interval], checkpoints: Sequence[int]
) -> Table:
    ends = checkpoints[-2:]
    return Table(
        "Regret and its slope, in units of the slope claimed",
        (
            "policy",
            "problem",
            "claimed",
            f"slope {format_power(checkpoints[-3])} to {format_power(checkpoints[-1])}",
            *(f"R(n)/log n at {format_power(n)}" for n in ends),
        ),
        tuple(
            (
                row.label,
                row.problem.name,
                f"{row.claimed:.2f}",
                format_interval(interval),
                *(f"{share[:, i].mean() / math.log(checkpoints[i]):.2f}" for i in (-2, -1)),
            )
            for row, share, interval in zip(rows, played, late, strict=True)
        ),
    )


def _chart(rows: Sequence[ClaimedSlope], played: Sequence[Floats], checkpoints: Sequence[int]) -> Chart:
    lines = []
    for row, share in zip(rows, played, strict=True):
        if row.drawn:
            levels = [mean_interval(share[:, i] / math.log(n)) for i, n in enumerate(checkpoints)]
            low, value, high = (list(ends) for ends in zip(*levels, strict=True))
            lines.append(Line(f"{row.label}, {row.problem.name}", list(checkpoints), value, low, high))
    lines.append(Line("claimed in the limit", [checkpoints[0], checkpoints[-1]], [1.0, 1.0], bound=True))
    return Chart("Regret over log n", "n", "R(n) / log n, in units of the claim", tuple(lines), x_scale="log")
