"""The regret decomposition, run by run, and how soon optimism prevails."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats, Integers
from ocucb.lab.chart import Chart, Line
from ocucb.lab.problem import Problem
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Table, Wrong
from ocucb.paper.evidence import ALARM, Interval, at_most
from ocucb.paper.runs import (
    Run,
    RunSetting,
    optimism_times,
    optimistic_prefixes,
    settings,
    unlucky_settings,
    worst_runs,
)
from ocucb.policies import Greedy, Policy
from ocucb.theory.gaps import gaps
from ocucb.theory.optimists import NEVER, optimist_gap, optimists
from ocucb.theory.stopping import optimism_time, settling_time, stopping_sum, tape_confidence

Algorithm: TypeAlias = Callable[[RunSetting], tuple[Policy, RunSetting]]


class Times(NamedTuple):
    """The random times of one run: τ_i of each arm (0 if Δ_i = 0), and τ_Δ as a function of Δ."""

    gap: Floats
    settled: Integers
    optimism: Callable[[float], int]


class Parts(NamedTuple):
    """The three terms of the decomposition."""

    settling: float
    middle: float
    near: float


def printed(times: Times, optimist: float) -> Parts:
    """Return the terms as the paper has them, for Δ_J = optimist."""
    gap = times.gap
    near = gap[(gap > 0.0) & (gap < optimist / 4.0)].tolist()
    return Parts(
        float((gap * times.settled).sum()),
        2.0 * optimist * times.optimism(optimist / 4.0),
        sum(one * times.optimism(one) for one in near),
    )


def far_arms_only(times: Times, optimist: float) -> Parts:
    """Return the terms with τ_i charged only to arms of gap 2Δ_J or more, for which T_i(n) <= τ_i."""
    far = times.gap >= 2.0 * optimist
    return printed(times, optimist)._replace(settling=float((times.gap * times.settled)[far].sum()))


def settling_only(times: Times, optimist: float) -> Parts:
    """Return the first sum alone, as if optimism always prevailed."""
    return printed(times, optimist)._replace(middle=0.0, near=0.0)


def random_times(run: Run) -> tuple[Times, list[float]]:
    """Return the random times of a run, and every Δ_J that more samples than its n might leave."""
    setting, means = run.setting, np.array(run.setting.problem.means)
    gap, largest = gaps(means), run.indices.max(axis=1)
    optimistic = optimists(run.tape, means, setting.eta)
    levels = tape_confidence(means, setting.n, optimistic, setting.eta, setting.rho, shrink=setting.shrink)
    settled = np.zeros(gap.size, dtype=np.int64)
    for i in np.flatnonzero(gap).tolist():
        settled[i] = settling_time(run.tape[i], means[i], gap[i], levels[i], setting.eta)

    def optimism(below: float) -> int:
        return optimism_time(largest, float(means[0]), below, first=gap.size + 1)

    candidates = [*np.flatnonzero(optimistic).tolist(), gap.size]
    return Times(gap, settled, optimism), sorted({optimist_gap(means, first) for first in candidates})


def decomposition(
    effort: Effort,
    terms: Callable[[Times, float], Parts] = printed,
    *,
    shrink: bool = False,
    tried: Callable[[int, bool], tuple[RunSetting, ...]] = settings,
) -> Finding:
    """Compare regret and right-hand side in each run."""
    rows, count, example, largest = [], 0, "", 0.0
    late = broken = needed = 0
    for setting in tried(effort.pick(1500, 10_000), shrink):
        shown: tuple[float, Parts, float] = (0.0, Parts(1.0, 0.0, 0.0), 0.0)
        for run in worst_runs(setting, setting.policy, effort.seed, effort.pick(100, 2000), effort.pick(4, 60)):
            times, optimists_gaps = random_times(run)
            regret = float(run.total @ times.gap)
            for optimist in optimists_gaps:
                parts = terms(times, optimist)
                late += parts.middle > 2.0 * optimist
                count += 1
                needed += regret > parts.settling
                if regret / sum(parts) > shown[0] / sum(shown[1]):
                    shown = regret, parts, optimist
                far = (times.gap >= 2.0 * optimist) & (times.gap > 0.0)
                broken += regret > sum(parts) or bool((run.total > times.settled)[far].any())
        ratio = shown[0] / sum(shown[1])
        if ratio > max(1.0, largest):
            example = (
                f"{setting}, seed {effort.seed}, Δ_J = {shown[2]:g}: regret {shown[0]:.1f}, sum {sum(shown[1]):.1f}"
            )
        largest = max(largest, ratio)
        rows.append((str(setting), *(f"{x:.1f}" for x in (shown[0], *shown[1])), f"{ratio:.3f}"))
    return Finding(
        Conclusion.FAILS if broken else Conclusion.HOLDS,
        f"In {broken} of {count} pairs of a run and a Δ_J the regret exceeds the sum, or an arm of gap 2Δ_J or more "
        f"its τ_i; the regret is at most {largest:.3f} of the sum. In {late} of them τ_(Δ_J/4) is later than round 1, "
        f"and in {needed} the first sum alone is not enough.",
        counterexample=(example or "an arm of gap 2Δ_J or more was pulled more than τ_i times") if broken else "",
        tables=(
            Table(
                "The run nearest to the bound",
                ("setting", "regret", "Σ Δ_i τ_i", "2Δ_J τ_(Δ_J/4)", "near arms", "regret / sum"),
                tuple(rows),
            ),
        ),
    )


SHAPES = {"3 arms, equal gaps": (0.0, 1.0, 1.0), "one near arm": (0.0, 1.0, 8.0, 8.0)}
MORE_SHAPES = {"6 arms": (0.0,) + (1.0,) * 5}  # at full size
CONSTANT = 8.0  # fixed after a look at quick runs of seed 0, where 3 was too narrow for the error; then left alone


def bounded_mean(values: Floats, least: float, most: float, of: int) -> Interval:
    """Return an interval for the expectation of values between two limits, however heavy their tail.

    A. Maurer, M. Pontil, "Empirical Bernstein Bounds and Sample Variance Penalization", 2009, theorem 4.
    """
    log, size = math.log(2.0 * of / ALARM), values.size
    reach = math.sqrt(2.0 * float(values.var(ddof=1)) * log / size) + 7.0 * (most - least) * log / (3.0 * (size - 1))
    middle = float(values.mean())
    return Interval(max(least, middle - reach), middle, min(most, middle + reach))


def with_gaps(means: npt.ArrayLike, n: float, rho: float, *, shrink: bool = False) -> float:
    """Return Σ_{i: Δ_i > 0} (Δ_i + √(1 + log(b_i)/Δ_i²)): room for the first round."""
    return stopping_sum(means, n, rho, shrink=shrink) + float(gaps(means).sum())


def no_small_gaps(effort: Effort) -> tuple[float, ...]:
    """Return no gaps below 1: the large ones decide."""
    return ()


def small_gaps(effort: Effort) -> tuple[float, ...]:
    """Return gaps below 1, which take many rounds."""
    return effort.pick((0.25,), (0.5, 0.25, 0.125, 0.0625))


def ocucb(setting: RunSetting) -> tuple[Policy, RunSetting]:
    """Return the policy of a setting, and the setting whose η its index has."""
    return setting.policy, setting


def greedy(setting: RunSetting) -> tuple[Policy, RunSetting]:
    """Return greedy play, whose index is the mean: η = 0."""
    return Greedy(), RunSetting(setting.problem, 0.0, setting.rho, setting.n)


def left_sides(setting: RunSetting, seed: int, runs: int, algorithm: Algorithm) -> tuple[Floats, Floats]:
    """Return Δ_J τ_(Δ_J/4), and Σ Δ_i τ_(Δ_i) over the arms nearer than Δ_J/4, of every run."""
    gap = np.array(setting.problem.gaps)
    policy, seen = algorithm(setting)
    times = optimism_times(seen, policy, np.concatenate((-gap / 8.0, -gap / 2.0)), seed, runs)
    members = optimistic_prefixes(gap.size, setting.n, setting.eta, seed, runs) == setting.n
    members[:, :NEVER] = False
    first = np.where(members.any(axis=1), members.argmax(axis=1), gap.size - 1)  # without one, Δ_J is the largest gap
    near = (gap > 0.0) & (gap < gap[first][:, np.newaxis] / 4.0)
    return gap[first] * times[np.arange(runs), first], np.asarray((near * gap * times[:, gap.size :]).sum(axis=1))


def optimism(
    effort: Effort,
    right: Callable[..., float] = stopping_sum,
    algorithm: Algorithm = ocucb,
    small: Callable[[Effort], tuple[float, ...]] = no_small_gaps,
    *,
    shrink: bool = False,
) -> Finding:
    """Measure both left-hand sides over gaps from large to small."""
    runs, etas, scales = effort.pick(700, 3000), (1.1, 2.0), (64.0, 8.0, 1.0, *small(effort))
    measured: list[Interval] = []
    cases, rows, lines = [], [], []
    shapes = {**SHAPES, **effort.pick({}, MORE_SHAPES)}
    for eta, (name, shape) in itertools.product(etas, shapes.items()):
        first = len(measured)
        for scale in scales:
            problem = Problem(tuple(-scale * gap for gap in shape), name=name)
            setting = RunSetting(problem, eta, 0.5, max(64, round(64.0 / scale**2)), shrink)
            sums = right(problem.means, setting.n, setting.rho, shrink=shrink)
            sides = left_sides(setting, effort.seed, runs, algorithm)
            for part, left, least in zip("ab", sides, (scale * shape[NEVER] / sums, 0.0), strict=True):
                most = scale * max(shape) * (setting.n + 1.0) / sums if left.any() else 0.0
                measured.append(bounded_mean(left / sums, least, most, 2 * len(scales) * len(etas) * len(shapes)))
                cases.append(f"{setting}, smallest gap {scale:g}, part ({part}), right side {sums:.4g}")
            found = [f"{one.value:.3f} (to {one.high:.2f})" for one in measured[-2:]]
            rows.append((f"{eta:g}", name, f"{scale:g}", *found))
        line = [one.value for one in measured[first::2]]
        lines.append(Line(f"η = {eta:g}, {name}", [1.0 / scale for scale in scales], line))
    conclusion = at_most(measured, [CONSTANT] * len(measured))
    worst = max(range(len(cases)), key=lambda k: measured[k].low)
    return Finding(
        conclusion,
        f"Left over right side, in {len(measured)} cases: up to {max(one.value for one in measured):.2f}, with its "
        f"error up to {max(one.high for one in measured):.2f}. Decided is whether {CONSTANT:g} will do on this grid, "
        "not O_η(1) beyond.",
        false_alarm=ALARM,
        counterexample=(
            f"{cases[worst]}: left side at least {measured[worst].low:.4g} times the right"
            if conclusion is Conclusion.FAILS
            else ""
        ),
        tables=(Table("Left over right side", ("η", "problem", "smallest gap", "part (a)", "part (b)"), tuple(rows)),),
        charts=(Chart("Part (a)", "1 / smallest gap", "left over right side", tuple(lines), "log", "log"),),
    )


CHECKS: tuple[Check, ...] = (
    Check(
        "decomposition",
        ("eq:decompose", "eq:def:taudelta"),
        "The regret is at most the expectation of Σ Δ_i τ_i + 2Δ_J τ_(Δ_J/4) + Σ_(Δ_i < Δ_J/4) Δ_i τ_(Δ_i).",
        "Stronger, run by run: Σ Δ_i T_i(n) is at most that sum, and T_i(n) <= τ_i if Δ_i >= 2Δ_J. Runs of OCUCB-n of "
        "the largest regret; τ_i and Φ from the tape's first n samples, τ_Δ from the indices of rounds K + 1 to n, "
        "each n + 1 if later, all of which can only make the sum smaller. As later samples may take arms out of Φ, "
        "every Δ_J that could be left is tried.",
        decomposition,
        Wrong("τ_i charged only to arms of gap 2Δ_J or more, where T_i(n) <= τ_i.", {"terms": far_arms_only}),
    ),
    Check(
        "decomposition, its last two sums",
        ("eq:decompose", "eq:def:taudelta"),
        "The same where optimism does not prevail, so that arms are pulled after they have settled.",
        "That happens so seldom that in usual runs the last two sums are hardly ever needed. But the decomposition "
        "holds on every tape: here the rewards of the best arm lie 1.5 to 5 below its mean all along, and the arms "
        "that seem better are pulled far beyond τ_i.",
        decomposition,
        Wrong("The first sum alone.", {"terms": settling_only}),
        subject={"tried": unlucky_settings},
    ),
    Check(
        "stopping, as printed",
        ("lem:stopping", "eq:def:taudelta"),
        "E[Δ_J τ_(Δ_J/4)] and E[Σ_(Δ_i < Δ_J/4) Δ_i τ_(Δ_i)] are O_η(1) Σ_(Δ_i > 0) √(1 + log(b_i)/Δ_i²).",
        f"Gaps of 64, 8 and 1, runs of 64 rounds. Asked: is {CONSTANT:g} a constant that will do? For large gaps none "
        "will: τ_Δ is at least 1, so the left sides grow with the gaps, while the right side falls to the number of "
        "arms. The proof has τ_(Δ_J/4) <= β, where β may be 0.",
        optimism,
        None,
    ),
    Check(
        "stopping",
        ("lem:stopping", "eq:objs", "app:lem:second-term"),
        "The same with Σ_(Δ_i > 0) (Δ_i + √(1 + log(b_i)/Δ_i²)) on the right, as τ_Δ <= 1 + β. Theorem 1 needs no "
        "more. (The appendix announces part (b) with Σ Δ_i E[J τ_i] on the right, which is larger, and ends without "
        "the square root.)",
        f"Gaps from 64 down, runs of 64/Δ_min² rounds, 64 at least. Asked: is {CONSTANT:g} a constant that will do? "
        "τ_Δ has a heavy tail, so the interval is one for bounded variables, and times beyond the run are cut off at "
        "its end. "
        "The constant was fixed after a first look at quick runs of seed 0: the stated rate is that of other seeds.",
        optimism,
        Wrong("Greedy play: an index without confidence, which may stay too low for ever.", {"algorithm": greedy}),
        subject={"right": with_gaps, "small": small_gaps},
        corrects="stopping, as printed",
    ),
)
