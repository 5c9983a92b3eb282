"""Claim 14: the Discussion on η = 1, and on η that converges to 1."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

from ocucb.compiled import Floats
from ocucb.lab.chart import Chart, Line
from ocucb.lab.problem import worst_case
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Nature, Table, Wrong
from ocucb.paper.evidence import ALARM, at_most, mean_interval
from ocucb.paper.regrets import decades, format_interval, format_power, regrets, without_warning
from ocucb.paper.slopes import slope
from ocucb.policies import OCUCBn, Policy
from ocucb.theory import lai_robbins_slope

NEARER = 1.5  # slopes above it are nearer to twice Lai and Robbins' than to theirs


def eta_one() -> Policy:
    """Return OCUCB-n with η = 1."""
    return without_warning(OCUCBn, 1.0)


def annealed() -> Policy:
    """Return OCUCB-n with η = 1 + 3 log log t / log t."""
    return without_warning(OCUCBn, "annealed")


def eta_two() -> Policy:
    """Return OCUCB-n with η = 2."""
    return OCUCBn(2.0)


SMALL: Mapping[str, Callable[[], Policy]] = {"η = 1": eta_one, "η_t = 1 + 3 log log t/log t": annealed}


def check_small_eta(effort: Effort, *, algorithms: Mapping[str, Callable[[], Policy]] = SMALL) -> Finding:
    """Measure the slope of regret in log n, decade by decade, in units of Lai and Robbins' slope."""
    checkpoints, runs = decades(3, effort.pick(5, 7)), effort.pick(150, 300)
    problem = worst_case(10, 1.0)
    unit = lai_robbins_slope(problem.means, problem.noise)
    policies = {**{name: make() for name, make in algorithms.items()}, "η = 1.1": OCUCBn(1.1)}
    played = {name: regrets(policy, problem, checkpoints, runs, effort.seed) for name, policy in policies.items()}
    of, spans = len(algorithms), list(itertools.pairwise(checkpoints))
    steps = {
        name: [slope(regret[:, k : k + 2] / unit, ends, of) for k, ends in enumerate(spans)]
        for name, regret in played.items()
    }
    last = {name: steps[name][-1] for name in algorithms}
    failed = at_most(last.values(), [NEARER] * len(last)) is Conclusion.FAILS
    worst = max(last, key=lambda name: last[name].low)
    window = f"from n = {format_power(checkpoints[-2])} to {format_power(checkpoints[-1])}"
    ends = {name: mean_interval(regret[:, -1]).value for name, regret in played.items()}
    return Finding(
        Conclusion.FAILS if failed else Conclusion.OPEN,
        f"Regret per unit of log n over Lai and Robbins' slope, {window}: "
        + "; ".join(f"{name}: {format_interval(interval)}" for name, interval in last.items())
        + f". At n = {format_power(checkpoints[-1])} regret is "
        + ", ".join(f"{end:.0f} with {name}" for name, end in ends.items())
        + ". A limit is not decided by any n.",
        ALARM,
        f"{problem.name}, {window}, {worst}: {format_interval(last[worst])} times Lai and Robbins' slope."
        if failed
        else "",
        (
            Table(
                f"{problem.name}: regret per unit of log n, over Lai and Robbins' {unit:g}",
                ("algorithm", "runs", *(f"{format_power(first)} to {format_power(second)}" for first, second in spans)),
                tuple((name, str(runs), *map(format_interval, row)) for name, row in steps.items()),
            ),
        ),
        (_curves(played, checkpoints, unit),),
    )


def _curves(played: Mapping[str, Floats], checkpoints: Sequence[int], unit: float) -> Chart:
    lines = []
    for name, regret in played.items():
        low, value, high = zip(*(mean_interval(regret[:, k] / unit) for k in range(len(checkpoints))), strict=True)
        lines.append(Line(name, list(checkpoints), value, low, high))
    logs = [math.log(n) for n in checkpoints]
    lines.append(Line("log n", list(checkpoints), logs, bound=True))
    return Chart("Regret over Lai and Robbins' slope", "n", "regret / Σ 2/Δ", tuple(lines), x_scale="log")


CHECKS: tuple[Check, ...] = (
    Check(
        "eta to 1",
        ("improving analysis and constants",),
        "With η = 1, or with η that converges to 1 as t grows, the algorithm should be asymptotically optimal, the "
        "author anticipates.",
        "Both are played for long, and the rise of mean regret per unit of log n is divided by Lai and Robbins' slope, "
        "decade by decade; optimal means 1 in the limit. A slope that is decidedly above 1.5 over the last decade, so "
        "nearer to 2 than to 1, is called a failure; else the limit stays open. η_t is KL-UCB's 1 + 3 log log t / log "
        "t, which is 1.6 at t = 10⁵ still.",
        check_small_eta,
        Wrong("η = 2 for all time.", {"algorithms": {"η = 2": eta_two}}),
        nature=Nature.ONE_SIDED,
    ),
)
