"""Claim 4: the number of effective arms, k_{i,ρ} = Σ_j min{1, Δ_i^{2ρ}/Δ_j^{2ρ}}.

As in claim 1 the formula stands here in decimal arithmetic, as printed, beside the package's own function. Means are
multiples of 2^-20, so gaps are exact in binary and in decimals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from typing import NamedTuple

import numpy as np

from ocucb.lab.chart import Chart, Line
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Nature, Table, Wrong
from ocucb.paper.claims.index import DIGITS, UNIT, E, GameSetting, against
from ocucb.theory import effective_arms

# (gap of the arm, gaps of all arms, ρ) -> k
Effective = Callable[[Decimal, Sequence[Decimal], Decimal], Decimal]

ERROR = Decimal(10) ** -35  # far above what 40 digits lose in a sum of some dozen terms, each 1 at most


def printed(own: Decimal, gaps: Sequence[Decimal], rho: Decimal) -> Decimal:
    """Return Σ_j min{1, (Δ_i/Δ_j)^{2ρ}}, where an arm j of gap 0 has the ratio ∞."""
    return sum((Decimal(1) if gap == 0 else min(Decimal(1), (own / gap) ** (2 * rho)) for gap in gaps), Decimal(0))


def without_minimum(own: Decimal, gaps: Sequence[Decimal], rho: Decimal) -> Decimal:
    """Return the sum with the ratios themselves where the gap is not 0."""
    return sum((Decimal(1) if gap == 0 else (own / gap) ** (2 * rho) for gap in gaps), Decimal(0))


def complement(own: Decimal, gaps: Sequence[Decimal], rho: Decimal) -> Decimal:
    """Return the sum with 2(1 - ρ) for 2ρ."""
    return printed(own, gaps, 1 - rho)


def upside_down(own: Decimal, gaps: Sequence[Decimal], rho: Decimal) -> Decimal:
    """Return the sum with Δ_j/Δ_i for Δ_i/Δ_j."""
    return sum((min(Decimal(1), (gap / own) ** (2 * rho)) if gap else Decimal(0) for gap in gaps), Decimal(0))


def some_gaps(effort: Effort, of: int) -> list[list[float]]:
    """Return gaps of 2 to 10 arms, the first 0, the others multiples of 2^-20 spread evenly or over orders of size."""
    random = np.random.default_rng([effort.seed, 4, of])
    chosen = []
    for number in range(effort.pick(16, 400)):
        count = int(random.integers(1, 10))
        even = random.uniform(0.0, 2.0, count)
        wide = 2.0 ** -random.uniform(0.0, 16.0, count)
        chosen.append([0.0, *(np.ceil((even if number % 2 else wide) * 2.0**20) * 2.0**-20).tolist()])
    return chosen


class CountsByRho(NamedTuple):
    """k of one arm at each ρ."""

    gap: Decimal
    gaps: list[Decimal]
    values: list[Decimal]

    def words(self) -> str:
        return f"gaps {[float(gap) for gap in self.gaps]}, arm of gap {float(self.gap):g}"


RHOS = [Decimal(part) / 8 for part in range(9)]


def tabulate(effort: Effort, effective: Effective) -> list[CountsByRho]:
    """Return k of every arm with a gap, for ρ = 0, 1/8, ..., 1."""
    rows = []
    for floats in some_gaps(effort, 0):
        gaps = [Decimal(gap) for gap in floats]
        rows += [CountsByRho(own, gaps, [effective(own, gaps, rho) for rho in RHOS]) for own in gaps[1:]]
    return rows


def run_range(effort: Effort, *, effective: Effective = printed) -> Finding:
    """Look for a k outside [1, K], and compare the package's function with the formula."""
    with localcontext(DIGITS):
        rows = tabulate(effort, effective)
        least = min(min(row.values) for row in rows)
        share, most, worst = max((max(row.values) / len(row.gaps), max(row.values), row) for row in rows)
        furthest = max(
            abs(Decimal(ours) / theirs - 1) / Decimal((6 * len(row.gaps) + 2) * UNIT)
            for row in rows
            for ours, theirs in zip(_package(row), row.values, strict=True)
        )
    table = Table(
        "Effective arms of arms with a gap",
        ("arms with a gap", "least k", "largest k/K", "package, in units of its rounding"),
        ((f"{len(rows):,}", f"{float(least):.6g}", f"{float(share):.6g}", f"{float(furthest):.2g}"),),
    )
    outcome = (
        f"Over {len(rows):,} arms and ρ = 0, 1/8, ..., 1 the least k is {float(least):.6g} (an arm with a gap and a "
        f"best arm count 1 each) and the largest k/K is {float(share):.6g}. The package's function is within "
        f"{float(furthest):.2g} of what rounding can do, (6K + 2) 2⁻⁵³ relatively."
    )
    fails = not (least >= 1 and share <= 1 and furthest <= 1)
    example = f"{worst.words()}: k = {float(most):.6g} with K = {len(worst.gaps)}" if fails else ""
    return Finding(Conclusion.FAILS if fails else Conclusion.HOLDS, outcome, 0.0, example, (table,))


def _package(row: CountsByRho) -> list[float]:
    """Return the package's k at each ρ.

    Over each step from one gap to the next larger it rounds a quotient, which the exponent, 2 at most, doubles, a power
    (2 units), a sum and a product: 6 units a step, and a sum and an addition at the end.
    """
    means = [-float(gap) for gap in row.gaps]
    at = means.index(-float(row.gap))
    return [float(effective_arms(means, float(rho))[at]) for rho in RHOS]


def run_falls(effort: Effort, *, effective: Effective = printed) -> Finding:
    """Look for a k that grows from one ρ to the next by more than 40 digits lose."""
    with localcontext(DIGITS):
        rows = tabulate(effort, effective)
        steps = [[b - a for a, b in zip(row.values, row.values[1:], strict=False)] for row in rows]
        rise, worst = max(((max(step), row) for step, row in zip(steps, rows, strict=True)), key=lambda pair: pair[0])
        level = sum(all(abs(change) <= ERROR for change in step) for step in steps)
        falls = sum(all(change < -ERROR for change in step) for step in steps)
    some = {row.gap: row for row in rows if len(row.gaps) == len(rows[-1].gaps)}
    chart = Chart(
        "Effective arms against ρ",
        "ρ",
        "k",
        tuple(
            Line(f"gap {float(gap):.3g}", [float(rho) for rho in RHOS], [float(k) for k in some[gap].values])
            for gap in sorted(some)[:5]
        ),
    )
    outcome = (
        f"Of {len(rows):,} arms, k falls from each eighth to the next for {falls} and stands still, at K, for {level}: "
        f"those than which no arm is worse. {len(rows) - falls - level} do neither."
    )
    fails = rise > ERROR
    example = (
        f"{worst.words()}: k = {[round(float(k), 4) for k in worst.values]} at ρ = 0, 1/8, ..., 1" if fails else ""
    )
    return Finding(Conclusion.FAILS if fails else Conclusion.HOLDS, outcome, 0.0, example, charts=(chart,))


def run_equal(effort: Effort, *, effective: Effective = printed) -> Finding:
    """Compare k with K where all gaps are equal."""
    sizes = effort.pick((2, 3, 10, 100), (2, 3, 10, 100, 1000))
    rows, wrong, right = [], "", 0
    with localcontext(DIGITS):
        for arms in sizes:
            for gap in ("0.001", "0.3", "1"):
                gaps = [Decimal(0)] + [Decimal(gap)] * (arms - 1)
                values = {effective(gaps[1], gaps, rho) for rho in RHOS}
                means = [0.0] + [-float(gap)] * (arms - 1)
                ours = {float(k) for rho in RHOS for k in effective_arms(means, float(rho))[1:]}
                best = [float(effective_arms(means, rho)[0]) for rho in (0.0, 0.5, 1.0)]
                if values == {Decimal(arms)} and ours == {float(arms)}:
                    right += 1
                else:
                    wrong = wrong or f"K = {arms}, all gaps {gap}: k = {float(min(values)):g}"
                shown = ", ".join(f"{float(k):g}" for k in sorted(values))
                rows.append((f"{arms}", gap, shown, ", ".join(f"{k:g}" for k in best)))
    table = Table(
        "All gaps equal",
        ("K", "gap", "k of an arm with a gap, all ρ", "k of the best arm, by convention: ρ = 0, 1/2, 1"),
        tuple(rows),
    )
    outcome = (
        f"In {right} of {len(rows)} cases k = K to the last digit for every arm with a gap and nine values of ρ, in "
        "the formula and in the package. For the best arm the formula reads 0/0."
    )
    return Finding(Conclusion.FAILS if wrong else Conclusion.HOLDS, outcome, 0.0, wrong, (table,))


def ties_count(best: int) -> int:
    """Return k of a best arm when 0/0 counts as 1: the arms of gap 0, itself among them."""
    return best


def ties_do_not_count(best: int) -> int:
    """Return k of a best arm when 0/0 counts as 0."""
    return 0


def run_best(effort: Effort, *, convention: Callable[[int], int] = ties_count) -> Finding:
    """Compare the package's k of a best arm with the limit of k as the gap of an arm beside best ones goes to 0."""
    rows, wrong = [], ""
    with localcontext(DIGITS):
        near, nearer = Decimal(10) ** -4, Decimal(10) ** -30
        for best in (2, 3, 5):
            for rho in RHOS[effort.pick(4, 1) :: effort.pick(4, 1)]:
                others = [Decimal(0)] * (best - 1) + [Decimal("0.2"), Decimal("0.5"), Decimal(1)]
                limit = printed(nearer, [nearer, *others], rho)
                ours = float(effective_arms([0.0, *(-float(gap) for gap in others)], float(rho))[0])
                # Each of three larger gaps adds (ε/Δ)^{2ρ}, Δ = 0.2 or more, to what counts 1.
                rest = 3 * (5 * nearer) ** (2 * rho) + ERROR
                if not (ours == convention(best) and abs(limit - convention(best)) <= rest):
                    wrong = wrong or (
                        f"{best} best arms, ρ = {rho}: the limit is {float(limit):.6g}, the convention "
                        f"{convention(best)}, the package's {ours:g}"
                    )
                shown = float(printed(near, [near, *others], rho)), float(limit), ours
                rows.append((f"{best}", f"{rho}", *(f"{k:.6g}" for k in shown)))
    table = Table(
        "An arm whose gap goes to 0, beside others of gap 0 and gaps 0.2, 0.5, 1",
        ("arms of gap 0 in the end", "ρ", "k at gap 10⁻⁴", "k at gap 10⁻³⁰", "package, gap 0"),
        tuple(rows),
    )
    outcome = (
        "For an arm of gap 0 the formula has terms 0/0. Counting them as 1 makes k the number of best arms: "
        + ("not what small gaps tend to. " if wrong else "what small gaps tend to, for each ρ > 0, and the package's. ")
        + "At ρ = 0 every power is 1, and k = K."
    )
    return Finding(Conclusion.FAILS if wrong else Conclusion.HOLDS, outcome, 0.0, wrong, (table,))


def moss_type(pulls: Sequence[int], means: Sequence[Decimal], t: int, eta: Decimal, rho: Decimal) -> list[Decimal]:
    """Return the index with the level η log max{e, log t, t log t / (K T)}, which knows no effective arms."""
    return _moss(pulls, means, t, eta, len(pulls))


def moss_without_arms(
    pulls: Sequence[int], means: Sequence[Decimal], t: int, eta: Decimal, rho: Decimal
) -> list[Decimal]:
    """Return the same with T for K T."""
    return _moss(pulls, means, t, eta, 1)


def _moss(pulls: Sequence[int], means: Sequence[Decimal], t: int, eta: Decimal, arms: int) -> list[Decimal]:
    log = Decimal(t).ln()
    levels = [eta * max(E, log, t * log / (arms * count)).ln() for count in pulls]
    return [mean + (2 * level / count).sqrt() for mean, level, count in zip(means, levels, pulls, strict=True)]


def run_moss(effort: Effort, *, index: Callable[..., list[Decimal]] = moss_type) -> Finding:
    """Compare OCUCB-n at ρ = 0 with an index of MOSS type."""
    settings = (GameSetting(2, 1.1, 0.0), GameSetting(5, 1.5, 0.0), GameSetting(10, 1.1, 0.0))
    return against(effort, index, settings, effort.pick(150, 4000))


CHECKS: tuple[Check, ...] = (
    Check(
        "range",
        ("thm:main",),
        "The number of effective arms lies between 1 and K.",
        "The formula to 40 digits for random gaps, evenly spread and over five orders of size, and beside it the "
        "package's function.",
        run_range,
        Wrong("the minimum with 1 is left out", {"effective": without_minimum}),
    ),
    Check(
        "falls with rho",
        ("thm:main",),
        "The number of effective arms never grows with ρ.",
        "The formula to 40 digits at ρ = 0, 1/8, ..., 1 for the same gaps.",
        run_falls,
        Wrong("the exponent is 2(1 - ρ)", {"effective": complement}),
    ),
    Check(
        "equal gaps",
        ("thm:main",),
        "If all suboptimal arms have the same mean, every arm is effective: k = K for every ρ.",
        "The formula in exact decimals and the package's function in binary, which must both give K to the last digit.",
        run_equal,
        Wrong("the ratio of gaps is upside down", {"effective": upside_down}),
        nature=Nature.IDENTITY,
    ),
    Check(
        "best arm",
        ("thm:main",),
        "The definition is used for arms with a gap only (but see the condition of the lower bound). For a best arm it "
        "reads 0/0; the package counts that as 1.",
        "The package's value is compared with the limit of k as the gap of an arm goes to 0 beside other best arms.",
        run_best,
        Wrong("0/0 counts as 0", {"convention": ties_do_not_count}),
        nature=Nature.IDENTITY,
    ),
    Check(
        "rho = 0",
        ("thm:main", "eq:aucb"),
        "At ρ = 0 the algorithm is essentially MOSS.",
        "Three games of OCUCB-n at ρ = 0 against the index whose level is η log max{e, log t, t log t / (K T)}: MOSS's "
        "n/(K T) with t log t for the horizon, as claim 1 compares its games.",
        run_moss,
        Wrong("T in place of K T, as KL-UCB+ has it", {"index": moss_without_arms}),
        nature=Nature.IDENTITY,
    ),
)
