"""Claim 13, the second half of the proof of Appendix A: from the probability of playing the wrong arm to regret.

`lower_bound_testing` has the notation, and the whole proof put right.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ocucb.paper.claim import Check, Effort, Finding, Nature, Table, Wrong
from ocucb.paper.claims.lower_bound_testing import TestingInstance, conclusion_of, instances
from ocucb.theory import effective_arms, gaps, lower_bound_alternative


def half(k: Fraction) -> Fraction:
    """Return the probability over y: δ/y, which is 1/2 by definition."""
    return Fraction(1, 2)


def all_but_one(k: Fraction) -> Fraction:
    """Return the probability over y that data processing ensures: 1 - 1/k."""
    return 1 - 1 / k


def total(one: TestingInstance, itself: bool) -> Fraction:
    """Return Σ_j min{1/Δ_i, 1/Δ_j}, with or without arm i itself."""
    return sum((one.smaller(j) for j in range(len(one.gap)) if itself or j != one.arm), Fraction(0))


def run_factor(effort: Effort, *, probability: Callable[[Fraction], Fraction] = half, itself: bool = True) -> Finding:
    """Compare q n Δ_i / 2 with (1/2) Σ_j min{1/Δ_i, 1/Δ_j} log n, both over log n and as exact fractions.

    itself : whether arm i has a place in the sum.
    """
    ratios, example = [], ""
    for one in instances(effort):
        gap = one.gap[one.arm]
        k = gap * total(one, True)
        left, right = probability(k) * k / (2 * gap), total(one, itself) / 2  # y n Δ_i = k log(n) / Δ_i
        ratios.append(left / right)
        if left != right:
            example = example or f"{one.words()}: k = {k}, left {left} log n, right {right} log n"
    row = f"{len(ratios):,}", f"{min(ratios)}", f"{max(ratios)}"
    table = Table("Left over right, exactly", ("instances", "least", "largest"), (row,))
    outcome = (
        f"{len(ratios):,} instances, as exact fractions: the left-hand side is from {min(ratios)} to {max(ratios)} "
        "times the right-hand side."
    )
    return Finding(conclusion_of(example), outcome, 0.0, example, (table,))


def no_logarithm(one: TestingInstance) -> float:
    """Return the last sum as printed: Σ_{j: Δ'_j > 0} (1/Δ'_j) (n Δ'_j / (k'_j log n))."""
    means = lower_bound_alternative(one.means(), one.arm, one.n).means
    gap = gaps(means)
    below = gap > 0.0
    return float(np.sum(one.n / (effective_arms(means, 0.5)[below] * math.log(one.n))))


def logarithm_of_square(one: TestingInstance) -> float:
    """Return the sum of statement 2: Σ_{j: Δ'_j > 0} (1/Δ'_j) log(n Δ'_j² / (k'_j log n))."""
    return 2.0 * float(lower_bound_alternative(one.means(), one.arm, one.n).bound)


def gaps_of_the_means(one: TestingInstance) -> float:
    """Return the sum of statement 2 with the gaps of μ in place of those of μ'."""
    gap = gaps(one.means())
    below = gap > 0.0
    effective = effective_arms(one.means(), 0.5)[below]
    return float(np.sum(np.log(one.n * gap[below] ** 2 / (effective * math.log(one.n))) / gap[below]))


def run_last(
    effort: Effort, *, last: Callable[[TestingInstance], float] = no_logarithm, itself: bool = True
) -> Finding:
    """Compare Σ_j min{1/Δ_i, 1/Δ_j} log n with the last sum of the display, the 1/2 before both left out."""
    least = math.inf
    worst: dict[int, float] = {}
    broken = []  # with whether n is handy, as the example to show should be
    for one in instances(effort):
        left, right = float(total(one, itself)) * math.log(one.n), last(one)
        least = min(least, abs(left - right) / left)
        worst[one.n] = max(worst.get(one.n, -math.inf), right / left)
        if left < right:
            words = f"{one.words()}: left {left / 2:.6g}, right {right / 2:.6g}"
            broken.append((one.n <= 10_000, right / left, words))
    table = Table(
        "The right-hand side over the left, at worst",
        ("n", "right over left"),
        tuple((f"{n:,}", f"{ratio:.4g}") for n, ratio in sorted(worst.items())),
    )
    outcome = (
        f"{len(instances(effort)):,} instances: the right-hand side is at most {max(worst.values()):.4g} times the "
        f"left. They never differ by less than {least:.2g} of the left, so rounding decides nothing."
    )
    example = max(broken)[2] if broken else ""
    return Finding(conclusion_of(example), outcome, 0.0, example, (table,))


CHECKS: tuple[Check, ...] = (
    Check(
        "factor",
        ("app:lower",),
        "P'(T_i < n/2) ≥ δ makes the regret δ n Δ_i / 2 = (1/2) Σ_j min{1/Δ_i, 1/Δ_j} log n at least.",
        "Both sides of the equation as exact fractions of log n. As δ = y/2, the left is k log(n)/(4Δ_i): with δ the "
        "constant is 1/4, not 1/2.",
        run_factor,
        None,
    ),
    Check(
        "factor, put right",
        ("app:lower",),
        "Corrected: (1 - 1/k) y n Δ_i / 2 = (1/2) Σ_{j≠i} min{1/Δ_i, 1/Δ_j} log n. The probability is that of the "
        "corrected step before, and the sum without i is all that the last line needs.",
        "The same.",
        run_factor,
        Wrong("the probability is δ = y/2", {"probability": half}),
        {"probability": all_but_one, "itself": False},
        "factor",
        nature=Nature.IDENTITY,
    ),
    Check(
        "last line",
        ("app:lower",),
        "The regret is then at least (1/2) Σ_{j: Δ'_j > 0} (1/Δ'_j) (n Δ'_j / (k'_j log n)).",
        "Both sides for every suboptimal arm of many means and horizons that meet the condition.",
        run_last,
        None,
    ),
    Check(
        "last line, with logarithm and square",
        ("app:lower",),
        "Corrected: at least (1/2) Σ_{j: Δ'_j > 0} (1/Δ'_j) log(n Δ'_j² / (k'_j log n)), which is statement 2; the sum "
        "without i is enough for it.",
        "The same.",
        run_last,
        Wrong("the gaps of μ in place of those of μ'", {"last": gaps_of_the_means}),
        {"last": logarithm_of_square, "itself": False},
        "last line",
    ),
)
