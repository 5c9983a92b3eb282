"""Lemma lil: how likely a walk stays under the boundary of the iterated logarithm for ever."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats
from ocucb.lab.chart import Chart, Line
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Table, Wrong
from ocucb.paper.claims import iterated_logarithm_proof
from ocucb.paper.evidence import ALARM, Interval, at_least, at_most, exact, proportion
from ocucb.paper.walks import GAUSSIAN, NAMES, RADEMACHER, UNIFORM, lattice_survival, leaping_peaks, running_peaks
from ocucb.theory.concentration import (
    crossing_bound,
    iterated_logarithm_boundary,
    log_survival_ceiling,
    log_survival_floor,
    log_survival_floor_printed,
)

Boundary = Callable[[Floats, float], Floats]

ETAS = (1.1, 1.25, 1.5, 2.0, 3.0, 5.0)
NOISES = (GAUSSIAN, RADEMACHER, UNIFORM)
RATIOS = np.linspace(0.05, 0.95, 19)  # of block lengths, as shares of the way from 1 to η
PURPOSE = 200


def without_first_blocks(eta: float) -> float:
    """Return the logarithm of the proof's product from a late block on, with no price for the blocks before it."""
    late = 10**9
    return log_survival_floor_printed(eta, late) + eta * late


def divided_boundary(n: Floats, eta: float) -> Floats:
    """Return the boundary with η where the law of the iterated logarithm has 1/η."""
    return iterated_logarithm_boundary(n, 1.0 / eta)


def _survival(noise: int, horizon: int, runs: int, seed: int) -> list[Interval]:
    """Return P(S_n is under its boundary for all n <= horizon) for each η."""
    n = np.arange(1, horizon + 1)
    if noise == RADEMACHER:
        return [exact(float(lattice_survival(iterated_logarithm_boundary(n, eta))[-1])) for eta in ETAS]
    weights = 1.0 / iterated_logarithm_boundary(n, 1.0)
    peaks = running_peaks(noise, weights, [horizon], runs, seed, PURPOSE + noise)[:, 0]
    stayed = [int(np.count_nonzero(peaks <= math.sqrt(eta))) for eta in ETAS]
    return [proportion(count, runs, of=2 * len(ETAS)) for count in stayed]


def check_survival(effort: Effort, *, statement: Callable[[float], float] = log_survival_floor_printed) -> Finding:
    """Enclose P(S_n stays under its boundary for all n) and compare it with the proof's bound."""
    horizon, runs = effort.pick(2048, 32_768), effort.pick(10_000, 50_000)
    claimed = [math.exp(statement(eta)) for eta in ETAS]
    proved = [math.exp(log_survival_floor(eta)) for eta in ETAS]
    rest = [max(log_survival_floor(eta, horizon + 1, 1.0 + share * (eta - 1.0)) for share in RATIOS) for eta in ETAS]
    measured = {noise: _survival(noise, horizon, runs, effort.seed) for noise in NOISES}
    # Under the boundary to the horizon, then for ever: positively associated, so at least the product.
    for_ever = {
        noise: [Interval(now.low * math.exp(log), math.nan, now.high) for now, log in zip(stays, rest, strict=True)]
        for noise, stays in measured.items()
    }
    conclusion = at_least([interval for noise in NOISES for interval in for_ever[noise]], claimed * len(NOISES))
    least = [min(for_ever[noise][i].low for noise in NOISES) for i in range(len(ETAS))]
    most = [min(for_ever[noise][i].high for noise in NOISES) for i in range(len(ETAS))]
    worst = max(range(len(ETAS)), key=lambda i: claimed[i] / most[i])
    broken = (
        f"η = {ETAS[worst]:g}: claimed {claimed[worst]:.3g}, but at most {most[worst]:.3g} stay up to n = {horizon}."
    )
    return Finding(
        conclusion,
        f"For each of these steps and η the probability for all n is at least {_least_ratio(least, claimed):.3g} times "
        f"the proof's bound. At η = 1.5 it lies between {least[2]:.2g} and {most[2]:.2g}; the printed bound is "
        f"{claimed[2]:.2g}, and what the proof's steps do prove is {proved[2]:.2g}. For all 1-subgaussian steps and "
        "all η > 1 it is the proof that speaks.",
        ALARM,
        broken if conclusion is Conclusion.FAILS else "",
        (_survival_table(measured, least, claimed, proved, horizon),),
        (_survival_picture(measured, least, claimed, proved, horizon),),
    )


def _least_ratio(values: list[float], bounds: list[float]) -> float:
    return min(value / bound for value, bound in zip(values, bounds, strict=True))


def _survival_table(
    measured: dict[int, list[Interval]], least: list[float], claimed: list[float], proved: list[float], horizon: int
) -> Table:
    rows = tuple(
        (
            f"{eta:g}",
            *(f"{measured[noise][i].value:.4f}" for noise in NOISES),
            *(f"{bound[i]:.2g}" for bound in (least, proved, claimed)),
        )
        for i, eta in enumerate(ETAS)
    )
    names = tuple(f"{NAMES[noise]}, n ≤ {horizon}" for noise in NOISES)
    header = ("η", *names, "for all n, at least", "proof, corrected", "proof, as printed")
    return Table("P(S_n stays under its boundary)", header, rows)


def _survival_picture(
    measured: dict[int, list[Interval]], least: list[float], claimed: list[float], proved: list[float], horizon: int
) -> Chart:
    from_ = ETAS.index(1.5)  # below, the bounds would hide the rest
    x = ETAS[from_:]
    lines = [_line(f"{NAMES[noise]}, n ≤ {horizon}", x, stays[from_:]) for noise, stays in measured.items()]
    lines.append(Line("for all n, at least", x, least[from_:]))
    lines.append(Line("proof, corrected", x, proved[from_:], bound=True))
    lines.append(Line("proof, as printed", x, claimed[from_:], bound=True))
    title = "Staying under the boundary of the iterated logarithm"
    return Chart(title, "η", "probability", tuple(lines), x_scale="log", y_scale="log")


def _line(label: str, x: Sequence[float], stays: Sequence[Interval]) -> Line:
    return Line(label, x, [i.value for i in stays], [i.low for i in stays], [i.high for i in stays])


def check_monotone(effort: Effort, *, boundary: Boundary = iterated_logarithm_boundary) -> Finding:
    """See whether staying under the boundary gets likelier with η, on walks of their own for each η."""
    horizon, runs = effort.pick(512, 4096), effort.pick(8_000, 100_000)
    n = np.arange(1, horizon + 1, dtype=np.float64)
    stays = []
    for i, eta in enumerate(ETAS):
        peaks = running_peaks(GAUSSIAN, 1.0 / boundary(n, eta), [horizon], runs, effort.seed, PURPOSE + 10 + i)
        stays.append(proportion(int(np.count_nonzero(peaks <= 1.0)), runs, of=len(ETAS)))
    rises = [Interval(b.low - a.high, b.value - a.value, b.high - a.low) for a, b in pairwise(stays)]
    conclusion = at_least(rises, [0.0] * len(rises))
    fall = min(range(len(rises)), key=lambda i: rises[i].value)
    at = f"from {stays[fall].value:.4f} at η = {ETAS[fall]:g} to {stays[fall + 1].value:.4f} at η = {ETAS[fall + 1]:g}"
    grid = np.linspace(1.1, 12.0, 110)
    printed = [log_survival_floor_printed(float(eta)) for eta in grid]
    return Finding(
        conclusion,
        f"The probability rises with η; least {at}. It must, for the boundary does. The proof's own bound does not: as "
        f"printed it is largest, {math.exp(max(printed)):.2g}, at η = {grid[int(np.argmax(printed))]:.1f} and then "
        "falls like exp(-η), so p(η) is its maximum over all smaller η, or the probability itself.",
        ALARM,
        f"It goes {at}." if conclusion is Conclusion.FAILS else "",
        charts=(
            Chart(
                f"Gaussian walks under the boundary for n ≤ {horizon}, other walks for each η",
                "η",
                "probability",
                (_line("measured", ETAS, stays),),
                x_scale="log",
            ),
        ),
    )


def check_threshold(effort: Effort, *, etas: Sequence[float] = (0.5, 0.75, 1.0)) -> Finding:
    """Bound the probability of staying under the boundary for ever from above, at η where the paper has no p(η)."""
    ends, runs = effort.pick((10.0, 30.0, 100.0, 300.0), (10.0, 100.0, 1e3, 1e4, 3e4)), effort.pick(1_000, 2_000)
    peaks = leaping_peaks(1.0, ends, runs, effort.seed, PURPOSE + 20)
    positive = [eta for eta in etas if eta > 1.0 and log_survival_floor(eta) > -math.inf]
    none = [eta for eta in etas if log_survival_ceiling(eta) == -math.inf]
    conclusion = Conclusion.FAILS if positive else Conclusion.HOLDS if len(none) == len(etas) else Conclusion.OPEN
    shown = sorted({*etas, 1.5, 3.0})
    stays = {eta: _shares(peaks <= math.sqrt(eta)) for eta in shown}
    lost = f"At η = {positive[0]:g} it is at least exp({log_survival_floor(positive[0]):.1f})." if positive else ""
    return Finding(
        conclusion,
        lost
        or f"For Gaussian steps the probability is 0 at η = {', '.join(f'{eta:g}' for eta in etas)}: it is below "
        f"1/1000 by log log n = {0.5 * _reach(1.0, math.log(1000.0)) ** 2:.0f} already, by a bound that falls to 0. Of "
        f"walks followed from n = 16 to log n = {ends[-1]:g}, {stays[1.0][-1].value:.1%} stayed under it at η = 1, "
        f"{stays[1.5][-1].value:.1%} at 1.5.",
        counterexample=lost,
        charts=(
            Chart(
                "Gaussian walks under the boundary, looked at from n = 16 on at times that grow by 5 %",
                "log n",
                "share still under it",
                tuple(_line(f"η = {eta:g}", ends, values) for eta, values in stays.items()),
                x_scale="log",
            ),
        ),
    )


def _shares(hits: npt.NDArray[np.bool_]) -> list[Interval]:
    """Return the share of runs, rows, in which each column holds."""
    return [proportion(int(column.sum()), column.size) for column in hits.T]


def _reach(delta: float, goal: float) -> float:
    """Return the level S_n/√n at η = 1 by which the bound on log P(no crossing) is below -goal."""
    low, high = 1.0, 1e12
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if log_survival_ceiling(1.0, delta, middle) < -goal else (middle, high)
    return high


def check_small_delta(effort: Effort) -> Finding:
    """Bound P(S_n >= √(2n log(log(n)/δ)) for some n) from below, beside δ."""
    deltas = (0.1, 0.01, 0.001, 0.0001)
    far = [0.5 * _reach(delta, math.log(2.0)) ** 2 + math.log(delta) for delta in deltas]
    rows = tuple((f"{d:g}", f"{v:,.0f}", f"{0.5 / d:g}") for d, v in zip(deltas, far, strict=True))
    table = Table("Crossings at n = 32, 64, 128, ...", ("δ", "P ≥ 1/2 by log log n =", "so P / δ is at least"), rows)
    return Finding(
        Conclusion.FAILS,
        "For Gaussian steps P is 1 for every δ. Looked at for n = 32, 64, ... only, a walk crosses with probability "
        "1/2 at least by the n of the table, and surely further on, for the sum of P(S_n ≥ boundary) over these n "
        "diverges. The test of Kolmogorov, Erdős and Feller says the same. (At n = 1 the boundary is not real.)",
        counterexample=f"Gaussian steps, δ = 0.01: P(a crossing with log log n ≤ {far[1]:,.0f}) ≥ 1/2 = 50 δ.",
        tables=(table,),
    )


def check_crossing_rate(effort: Effort, *, eta: float = 1.5) -> Finding:
    """Ask whether P(S_n >= √(2ηn log(log(n)/δ)) for some n)/δ grows as δ falls, on walks of their own for each δ."""
    deltas, runs = (0.5, 0.2, 0.1, 0.05), effort.pick(5_000, 40_000)
    ends = effort.pick((3.0, 10.0, 30.0, 100.0), (10.0, 100.0, 1e3, 3e3))
    ratios = []
    for i, delta in enumerate(deltas):
        crossed = leaping_peaks(delta, ends, runs, effort.seed, PURPOSE + 30 + i) >= math.sqrt(eta)
        shares = [proportion(int(column.sum()), runs, of=2 * len(deltas)) for column in crossed.T]
        ratios.append([Interval(*(x / delta for x in share)) for share in shares])
    first, last = ratios[0][-1], ratios[-1][-1]
    growth = Interval(last.low - first.high, last.value - first.value, last.high - first.low)
    measured = [one[-1] for one in ratios]
    limits = [crossing_bound(eta, delta) / delta if eta > 1.0 else math.inf for delta in deltas]
    conclusion = at_most([growth, *measured], [0.0, *limits])
    change = f"{first.value:.3f} at δ = {deltas[0]:g} to {last.value:.3f} at δ = {deltas[-1]:g}"
    rows = tuple(
        (f"{delta:g}", f"{one.low:.3f} … {one.high:.3f}", f"{limit:.4g}")
        for delta, one, limit in zip(deltas, measured, limits, strict=True)
    )
    lines = tuple(_line(f"δ = {delta:g}", ends, one) for delta, one in zip(deltas, ratios, strict=True))
    return Finding(
        conclusion,
        f"At η = {eta:g}, of walks followed from n = 16 to log n = {ends[-1]:g}, P/δ goes from {change}, "
        "and is below the peeling bound of Lemma conc, which falls with δ, too.",
        ALARM,
        f"P/δ grows from {change}." if conclusion is Conclusion.FAILS else "",
        tables=(Table(f"Crossings at η = {eta:g}", ("δ", "P / δ, measured", "peeling"), rows),),
        charts=(Chart(f"Gaussian walks that have crossed, η = {eta:g}", "log n", "P / δ", lines, x_scale="log"),),
    )


CHECKS = (
    Check(
        name="survival",
        places=("lem:lil", "app:lem:lil"),
        says="For η > 1 the walk stays under √(2ηn log max{e, log n}) for all n with probability p(η) > 0 at least; "
        "the proof ends with p(η) ≥ exp(-ηk₀) Π_{k≥k₀} (1 - (k log(1+ε))^{-1-ε/(1+ε)}), η = 1 + 2ε.",
        done="The probability for n up to a horizon is computed (Rademacher) or measured (Gaussian, uniform); that for "
        "all n is at most this, and at least this times Lemma conc's product over all later blocks, for the two "
        "events are positively associated. The proof's bound, with the best k₀, is compared with both.",
        run=check_survival,
        wrong=Wrong("the first k₀ blocks cost nothing: the product alone", {"statement": without_first_blocks}),
    ),
    Check(
        name="survival rises with eta",
        places=("lem:lil", "app:lem:lil"),
        says="p is non-decreasing, which the proof calls obvious.",
        done="Gaussian walks, independent ones for each η so that nothing forces the order, up to a horizon.",
        run=check_monotone,
        wrong=Wrong("the boundary with 1/η in place of η", {"boundary": divided_boundary}),
    ),
    Check(
        name="no survival up to eta = 1",
        places=("lem:lil",),
        says="η must exceed 1: by the law of the iterated logarithm S_n over the boundary has the upper limit √(1/η).",
        done="For Gaussian steps, looked at for n = 32, 64, ... only, an upper bound on the probability of staying "
        "under it has a closed form. Walks are followed for a chart. (The law needs variance 1: for 1-subgaussian "
        "steps in general the upper limit is at most √(1/η).)",
        run=check_threshold,
        wrong=Wrong("the same said of η = 1.5", {"etas": (1.0, 1.5)}),
    ),
    Check(
        name="crossings for small delta",
        places=("sec:conc",),
        says="The display before Lemma lil: S_n reaches √(2n log(log(n)/δ)) for some n with probability O(δ).",
        done="An upper bound on the probability of no crossing at n = 32, 64, ... in closed form, for Gaussian steps.",
        run=check_small_delta,
        wrong=None,
    ),
    Check(
        name="crossings for small delta, with eta",
        places=("sec:conc",),
        says="With η > 1 under the root, √(2ηn log(log(n)/δ)), the probability is O_η(δ) for n ≥ 2.",
        done="Gaussian walks are followed at η = 1.5 for each δ: P/δ must not grow as δ falls, and must be below the "
        "peeling bound of Lemma conc.",
        run=check_crossing_rate,
        wrong=Wrong("without η, as printed: P/δ grows", {"eta": 1.0}),
        subject={"eta": 1.5},
        corrects="crossings for small delta",
    ),
    *iterated_logarithm_proof.CHECKS,
)
