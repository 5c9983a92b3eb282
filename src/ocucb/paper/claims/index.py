"""Claim 1: the index of eq. (1), its sum written in two ways, and the order of the confidence levels.

The formulas stand here once more, as the paper prints them and apart from the package, in decimal arithmetic with 40
digits. What the package computes in binary may differ from them by its rounding and by nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ocucb import Bandit
from ocucb.compiled import Floats
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Nature, Table, Wrong
from ocucb.policies import POLICIES

DIGITS = Context(prec=40)
UNIT = 2.0**-53  # what one rounding can change, relatively
E = DIGITS.exp(Decimal(1))

# (pulls, means, t, η, ρ) -> the index of every arm in round t
Index = Callable[[Sequence[int], Sequence[Decimal], int, Decimal, Decimal], list[Decimal]]


class GameSetting(NamedTuple):
    """One game to play: arms, η, ρ."""

    arms: int
    eta: float
    rho: float


class Agreement(NamedTuple):
    """How a bandit and a literal index compare over a game."""

    rounds: int
    furthest: float
    other_choices: int
    first: str


SETTINGS = (
    GameSetting(2, 1.1, 0.5),
    GameSetting(3, 2.0, 1.0),
    GameSetting(5, 1.5, 0.75),
    GameSetting(10, 1.1, 0.6),
    GameSetting(8, 1.2, 0),
)


@lru_cache(maxsize=100_000)
def power(base: int, exponent: Decimal) -> Decimal:
    """Return a whole number to a power, to 40 digits."""
    return DIGITS.power(Decimal(base), exponent)


def printed(pulls: Sequence[int], means: Sequence[Decimal], t: int, eta: Decimal, rho: Decimal) -> list[Decimal]:
    """γ_i = mean_i + √(2η log(B_i)/T_i), B_i = max{e, log t, t log t / Σ_j min{T_i, T_j^ρ T_i^(1-ρ)}}   (eq. 1)."""
    log = Decimal(t).ln()

    def value(count: int, mean: Decimal) -> Decimal:
        own = power(count, 1 - rho)
        total = sum((min(Decimal(count), power(other, rho) * own) for other in pulls), Decimal(0))
        return mean + (2 * eta * max(E, log, t * log / total).ln() / count).sqrt()

    return [value(count, mean) for count, mean in zip(pulls, means, strict=True)]


def exchanged(pulls: Sequence[int], means: Sequence[Decimal], t: int, eta: Decimal, rho: Decimal) -> list[Decimal]:
    """Return eq. (1) with the exponents exchanged: T_j^(1-ρ) T_i^ρ."""
    return printed(pulls, means, t, eta, 1 - rho)


def room(arms: int, mean: float, width: float) -> float:
    """Return how far rounding can take the package's index, mean + width, from the exact one.

    (K/2 + 10) u (|mean| + width)

    u = 2^-53, and a logarithm or a power of the C library is within 2u of the true one. T^ρ is within 2u, a sum of K
    such terms within (K + 2)u, the effective arms k, after a division by T^ρ, within (K + 5)u, and t log t / (T k)
    within (K + 10)u. Its logarithm is 1 or more, so it is within (K + 12)u; times η and over T, (K + 14)u; the root
    halves that and adds its own: (K/2 + 8)u. Rewards are multiples of 2^-20, so their sums are exact and a mean is one
    division; the last sum adds u of everything.
    """
    return (arms / 2 + 10) * UNIT * (abs(mean) + width)


def compare(setting: GameSetting, index: Index, rounds: int, seed: int) -> Agreement:
    """Let a bandit play, and compare its indices and its choice with the literal ones before every round."""
    arms, eta, rho = setting
    parameters = {"eta": eta, "rho": rho}
    bandit = Bandit(POLICIES.from_dict({"name": "ocucb-n", "parameters": parameters}), arms, seed=0)
    noise = np.random.default_rng([seed, arms]).normal(size=rounds)
    totals = [Decimal(0)] * arms
    furthest, others, first = 0.0, 0, ""
    for t in range(1, rounds + 1):
        if t > arms:
            pulls = bandit.pulls.tolist()
            means = [total / count for total, count in zip(totals, pulls, strict=True)]
            exact = index(pulls, means, t, Decimal(eta), Decimal(rho))
            errors = [
                abs(float(Decimal(ours) - theirs)) / room(arms, float(mean), float(theirs - mean))
                for ours, theirs, mean in zip(bandit.indices().tolist(), exact, means, strict=True)
            ]
            furthest = max(furthest, *errors)
            choice = exact.index(max(exact))
        else:
            pulls, choice = bandit.pulls.tolist(), t - 1
        arm = int(bandit.choose())
        if arm != choice:
            others += 1
            first = first or f"round {t}, pulls {pulls}: chosen {arm}, largest {choice}"
        reward = math.ldexp(round(math.ldexp(noise[t - 1] - 0.2 * arm, 20)), -20)
        totals[arm] += Decimal(reward)
        bandit.learn(arm, reward)
    return Agreement(rounds - arms, furthest, others, first)


def against(effort: Effort, index: Index, settings: Sequence[GameSetting], rounds: int) -> Finding:
    """Compare games with a literal index: every index within rounding, every choice the same."""
    with localcontext(DIGITS):
        games = [(setting, compare(setting, index, rounds, effort.seed)) for setting in settings]
    rows = tuple(
        (f"{s.arms}", f"{s.eta:g}", f"{s.rho:g}", f"{g.rounds}", f"{g.furthest:.3g}", f"{g.other_choices}")
        for s, g in games
    )
    table = Table(
        "OCUCB-n against the formula: differences in units of what rounding can do",
        ("arms", "η", "ρ", "rounds", "largest difference", "other choices"),
        rows,
    )
    furthest = max(game.furthest for _, game in games)
    others = sum(game.other_choices for _, game in games)
    first = next((f"K = {s.arms}, η = {s.eta:g}, ρ = {s.rho:g}, {g.first}" for s, g in games if g.first), "")
    total = sum(game.rounds for _, game in games)
    outcome = (
        f"Over {total:,} rounds the index differs by at most {furthest:.2g} of what rounding can do, (K/2 + 10) 2⁻⁵³ "
        f"(|mean| + width), and {others} choices differ."
    )
    fails = furthest > 1.0 or others > 0
    worst = f"a difference of {furthest:.3g} times what rounding can do; {first or 'no choice differs'}"
    return Finding(Conclusion.FAILS if fails else Conclusion.HOLDS, outcome, 0.0, worst if fails else "", (table,))


def run_index(effort: Effort, *, index: Index = printed) -> Finding:
    """Compare the package with eq. (1)."""
    return against(effort, index, SETTINGS, effort.pick(200, 4000))


# The sum in two ways


def same(rho: Fraction) -> Fraction:
    """Return the exponent of T_j/T_i in T_i min{1, (T_j/T_i)^ρ}."""
    return rho


def complement(rho: Fraction) -> Fraction:
    """Return the exponent 1 - ρ, which a slip of the pen would leave there."""
    return 1 - rho


def run_rewriting(effort: Effort, *, exponent: Callable[[Fraction], Fraction] = same) -> Finding:
    """Compare min{T_i, T_j^ρ T_i^(1-ρ)} with T_i min{1, (T_j/T_i)^ρ}: exactly, and in binary arithmetic."""
    counts = sorted({*range(1, 9), *(int(x) for x in np.geomspace(10, 10**9, effort.pick(18, 60)))})
    parts = effort.pick(16, 64)
    unequal, furthest, where, pairs = 0, 0.0, "", 0
    for own in counts:
        for other in counts:
            for part in range(parts + 1):
                rho = Fraction(part, parts)
                power_of = exponent(rho)
                # Both sides to the power `parts`, as exact fractions: equal powers of positive numbers, equal numbers.
                left = min(own**parts, other**part * own ** (parts - part))
                right = own**parts * min(Fraction(1), Fraction(other, own) ** int(power_of * parts))
                r, q = float(rho), float(power_of)
                one = min(own, math.pow(other, r) * math.pow(own, 1.0 - r))
                two = own * min(1.0, math.pow(other / own, q))
                furthest = max(furthest, abs(one - two) / (9 * UNIT * two))
                pairs += 1
                if left != right:
                    unequal += 1
                    where = where or f"T_i = {own}, T_j = {other}, ρ = {rho}: {one:.6g} and {two:.6g}"
    table = Table(
        "The two forms of a term of eq. (1)",
        ("cases", "exactly equal", "largest difference in binary, in units of 9 · 2⁻⁵³"),
        ((f"{pairs:,}", f"{pairs - unequal:,}", f"{furthest:.3g}"),),
    )
    outcome = (
        f"{pairs - unequal:,} of {pairs:,} cases are equal as fractions. In binary arithmetic the forms differ by at "
        f"most {furthest:.2g} of 9 · 2⁻⁵³, relatively: two powers and a product, 5 roundings, against a quotient, a "
        "power and a product, 4."
    )
    fails = unequal > 0 or furthest > 1.0
    return Finding(Conclusion.FAILS if fails else Conclusion.HOLDS, outcome, 0.0, where if fails else "", (table,))


# The order of B


def denominator(own: Floats, pulls: Floats, rho: float) -> Floats:
    """Return Σ_j min{T_i, T_j^ρ T_i^(1-ρ)} for each T_i in `own`."""
    column = own[:, np.newaxis]
    return np.asarray(np.minimum(column, pulls**rho * column ** (1.0 - rho)).sum(axis=1))


def effective_only(own: Floats, pulls: Floats, rho: float) -> Floats:
    """Return Σ_j min{1, (T_j/T_i)^ρ}: the sum with the factor T_i forgotten."""
    return np.asarray(denominator(own, pulls, rho) / own)


def run_order(effort: Effort, *, total: Callable[[Floats, Floats, float], Floats] = denominator) -> Finding:
    """Look for pulls with T_j ≤ T_i and B_j < B_i.

    T_j < T_i makes the sum of j smaller by T_i - T_j at least, as its own term and that of i show, so by 1 or more: far
    above the rounding of sums below 10⁸.
    """
    random = np.random.default_rng([effort.seed, 1])
    least, against_order, worst, example = math.inf, 0, 0.0, ""
    vectors = effort.pick(2000, 200_000)
    for _ in range(vectors):
        arms = int(random.integers(2, 50))
        pulls = np.floor(np.exp(random.uniform(0.0, random.uniform(1.0, math.log(1e6)), arms)))
        rho = float(random.choice([0.0, 0.25, 0.5, 0.75, 1.0, random.uniform()]))
        t = pulls.sum() + 1.0
        own = np.unique(pulls)
        sums = total(own, pulls, rho)
        values = np.maximum(max(math.e, math.log(t)), t * math.log(t) / sums)
        if own.size > 1:
            least = min(least, float(np.diff(sums).min()))
            worst = max(worst, float(sums.max()) * (arms + 20) * UNIT)
        if (np.diff(values) > 0.0).any():
            against_order += 1
            at = int(np.argmax(np.diff(values) > 0.0))
            example = example or (
                f"ρ = {rho:.3g}, pulls {[int(x) for x in pulls]}: T = {own[at]:g} has B = {values[at]:.6g}, "
                f"T = {own[at + 1]:g} has B = {values[at + 1]:.6g}"
            )
    table = Table(
        "B in the order of the pulls",
        ("vectors of pulls", "against the order", "least difference of two sums", "what rounding can do to a sum"),
        ((f"{vectors:,}", f"{against_order}", f"{least:.6g}", f"{worst:.2g}"),),
    )
    outcome = (
        f"{vectors:,} random vectors of 2 to 49 pulls, ρ in [0, 1]: {against_order} against the order. Sums of arms "
        f"with different pulls differ by {least:.6g} or more, and rounding moves them by less than {worst:.1g}."
    )
    fails = against_order > 0 or least <= 2.0 * worst
    return Finding(Conclusion.FAILS if fails else Conclusion.HOLDS, outcome, 0.0, example if fails else "", (table,))


CHECKS: tuple[Check, ...] = (
    Check(
        "index",
        ("eq:aucb",),
        "After one pull of each arm, OCUCB-n plays the arm with the largest γ_i(t), the empirical mean plus "
        "√(2η log(B_i)/T_i) with B_i = max{e, log t, t log t / Σ_j min{T_i, T_j^ρ T_i^(1-ρ)}}.",
        "The package's bandit plays five games. Before each round its indices and its choice are compared with the "
        "formula, evaluated as printed, double sum and all, to 40 digits.",
        run_index,
        Wrong("the exponents ρ and 1 - ρ are exchanged in the sum", {"index": exchanged}),
        nature=Nature.IDENTITY,
    ),
    Check(
        "rewriting",
        ("eq:aucb",),
        "A term of the sum, min{T_i, T_j^ρ T_i^(1-ρ)}, is T_i min{1, (T_j/T_i)^ρ}, so the sum is T_i times a number of "
        "effective arms.",
        "Both forms over pulls from 1 to 10⁹ and ρ in [0, 1]: exactly, by comparing whole powers as fractions, and in "
        "binary arithmetic against its derived rounding.",
        run_rewriting,
        Wrong("the exponent is 1 - ρ", {"exponent": complement}),
        nature=Nature.IDENTITY,
    ),
    Check(
        "order",
        ("lem:chase",),
        "An arm with no more pulls than another has a B that is no smaller.",
        "B of every arm for random vectors of pulls and ρ in [0, 1].",
        run_order,
        Wrong("the sum lacks the factor T_i: effective arms only", {"total": effective_only}),
    ),
)
