"""Claim 13, the first half of the proof of Appendix A: its assumption, and what two hypotheses do to probabilities.

Throughout, arm i has the gap Δ_i, y = k_i log(n) / (n Δ_i²) is at most 1 by assumption, and arm i is pulled no more
than (1/4) log(1/y) / Δ_i² times in expectation (eq. lower1), or else statement 1 holds. The laws of n rounds under μ
and μ' then have relative entropy 2Δ_i² E[T_i] ≤ (1/2) log(1/y).

The steps fail as printed, and yet the theorem is true with its printed constants, for n ≥ 2 and a condition that is
asked of arms with a gap:

1. Let p = P(T_i ≥ n/2) and q = P'(T_i < n/2). By Markov's inequality p ≤ y log(1/y) / (2 k_i log n).
2. The event tells no more than all of the rounds, so (1 - p) log(1/q) - h(p) ≤ (1/2) log(1/y), with h the entropy of a
   coin. That makes q ≥ (1 - 1/k_i) y: see `data_processing`.
3. R_μ' ≥ q n Δ_i / 2 ≥ (1/2) Σ_{j≠i} min{1/Δ_i, 1/Δ_j} log n.
4. Δ'_j = Δ_i + Δ_j ≥ max{Δ_i, Δ_j}, and Δ'_j² ≤ k'_j log n, so log n ≥ log(n Δ'_j² / (k'_j log n)). For a best arm j of
   μ, Δ'_j ≤ 1 and k'_j ≥ 2. For another, Δ'_j ≤ 2 and k'_j ≥ 3, and n ≥ 5, as an arm of the largest gap has k = K ≥ 3.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ocucb.compiled import Floats
from ocucb.lab.chart import Chart, Line
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Nature, Table, Wrong
from ocucb.theory import effective_arms, gaps, lower_bound_condition

GAPS = (
    ("1",),
    ("1/2",),
    ("1/10",),
    ("0", "1/2"),
    ("1/2", "1/2"),
    ("1/10", "1"),
    ("1/5", "2/5", "4/5", "4/5"),
    ("0", "0", "3/10", "9/10"),
    ("1/20", *["1"] * 5),
    ("9/10", *["1/10"] * 5),
    ("1/4",) * 19,
)
HORIZONS = (2, 3, 5, 10, 30, 100, 1000, 10**4, 10**6, 10**9, 10**12)


class TestingInstance(NamedTuple):
    """Means by their gaps, a best arm first; a horizon; and a suboptimal arm."""

    gap: tuple[Fraction, ...]
    n: int
    arm: int

    def words(self) -> str:
        return f"gaps {', '.join(map(str, self.gap))}; n = {self.n:,}; arm of gap {self.gap[self.arm]}"

    def means(self) -> list[float]:
        return [-float(gap) for gap in self.gap]

    def smaller(self, other: int) -> Fraction:
        """Return min{1/Δ_i, 1/Δ_j}."""
        return 1 / max(self.gap[self.arm], self.gap[other])


def problems(effort: Effort) -> list[tuple[Fraction, ...]]:
    """Return gaps, a best arm first: those above, and random multiples of 1/50."""
    random = np.random.default_rng([effort.seed, 13])
    drawn = [random.integers(0, 51, random.integers(1, 12)).tolist() for _ in range(effort.pick(12, 500))]
    fixed = [tuple(map(Fraction, gap)) for gap in GAPS]
    chance = [tuple(Fraction(part, 50) for part in parts) for parts in drawn if any(parts)]
    return [(Fraction(0), *gap) for gap in fixed + chance]


@lru_cache(maxsize=1)
def instances(effort: Effort) -> tuple[TestingInstance, ...]:
    """Return every suboptimal arm of every problem and horizon that meet the condition."""
    return tuple(
        TestingInstance(gap, n, arm)
        for gap, n in itertools.product(problems(effort), HORIZONS)
        if lower_bound_condition([-float(one) for one in gap], n)
        for arm, one in enumerate(gap)
        if one > 0
    )


def conclusion_of(example: str) -> Conclusion:
    """Return that a statement with a counterexample fails, and one without holds."""
    return Conclusion.FAILS if example else Conclusion.HOLDS


# The assumption


def every_arm(gap: Fraction) -> bool:
    """Say whether the condition is asked of an arm: of all."""
    return True


def suboptimal(gap: Fraction) -> bool:
    """Say whether the condition is asked of an arm: of those with a gap."""
    return gap > 0


def run_assumption(effort: Effort, *, asked: Callable[[Fraction], bool] = every_arm) -> Finding:
    """Look, for each set of means, for the first n = 2, 4, 8, ... up to 2^60 that meets the condition."""
    rounds = 2.0 ** np.arange(1, 61)
    rows, never = [], ""
    for gap in problems(effort):
        means = [-float(one) for one in gap]
        scale = gaps(means) ** 2 / effective_arms(means, 0.5)
        inside = scale * (rounds / np.log(rounds))[:, np.newaxis]
        meets = (inside >= 1.0)[:, [asked(one) for one in gap]].all(axis=1)
        words = ", ".join(map(str, gap))
        rows.append((words, f"{rounds[meets][0]:,.0f}" if meets.any() else "none"))
        if not meets.any():
            never = never or f"gaps {words}: the best arm has nΔ²/(k log n) = 0 at every n, and 1 or more is asked"
    met = sum(first != "none" for _, first in rows)
    table = Table("The first power of 2 that meets the condition", ("gaps", "n"), tuple(rows[: len(GAPS)]))
    outcome = f"Of {len(rows)} sets of means, {met} meet the condition at some n."
    return Finding(conclusion_of(never), outcome, 0.0, never, (table,))


# From relative entropy to probability


def two_points(log: Floats, k: float, log_n: float, share: float) -> Floats:
    """Lemma 2.6 of Tsybakov: P(A) + P'(not A) ≥ (1/2) exp(-KL). Return the bound's logarithm; `log` is log(1/y)."""
    return math.log(0.5) - 2.0 * share * log


def data_processing(log: Floats, k: float, log_n: float, share: float) -> Floats:
    """(1 - p) log(1/q) ≤ KL + h(p), p at most what Markov's inequality gives. Return the logarithm of the bound on q.

    It is log((1 - 1/k) y) at least, for share = 1/4. With L = log(1/y), a = k log n, p = L e^-L/(2a) and
    λ = -log(1 - 1/k) ≥ 1/k that reads p(L + λ) + h(p) ≤ L/2 + λ. As h(p) ≤ p log(e/p), the left is at most
    p(2L + λ + 1 + log 2a) + e^-L L log(1/L)/(2a). Here pλ ≤ λ/(2ea) ≤ 0.14λ, and the last term is at most
    1/(2ea) ≤ 0.27λ. What is left, over L, is e^-L (2L + 1 + log 2a)/(2a) ≤ (1 + log 2a)/(2a), below 1/2 if 2a ≥ 5.4. If
    not, n ≤ 3 and L ≤ 0.37; then (1 + log 2a)/(2a) ≤ 0.73, and 0.59λ/L ≥ 0.55 makes up for it.
    """
    p = 2.0 * share * log * np.exp(-log) / (k * log_n)
    entropy = -p * np.log(np.where(p > 0.0, p, 1.0)) - (1.0 - p) * np.log1p(-p)
    return np.asarray(-(2.0 * share * log + entropy) / (1.0 - p))


def all_of_it(k: float) -> float:
    """Return the logarithm of the share of y that is wanted: all, that is 2δ."""
    return 0.0


def all_but_one(k: float) -> float:
    """Return the logarithm of the share of y that is wanted: 1 - 1/k."""
    return math.log1p(-1.0 / k)


def run_testing(
    effort: Effort,
    *,
    ensured: Callable[[Floats, float, float, float], Floats] = two_points,
    wanted: Callable[[float], float] = all_of_it,
    share: float = 0.25,
) -> Finding:
    """Compare the probability that is ensured with the one that is wanted, for y in (0, 1], k and n.

    share : the constant of eq. lower1, so that KL ≤ 2 share log(1/y).
    """
    far = np.geomspace(1000, 1e12, effort.pick(20, 200)).astype(int).tolist()
    least, example, cases, short = math.inf, "", 0, [1.0, 0.0]
    for n in (100, *range(2, effort.pick(40, 1000)), *far):
        log_n = math.log(n)
        for k in np.geomspace(2.0, n / log_n, effort.pick(20, 60)).tolist():
            widest = max(math.log(n / (k * log_n)), 0.0)  # Δ ≤ 1, so y ≥ k log(n)/n
            log = np.concatenate([[0.0], widest * np.geomspace(1e-20, 1.0, effort.pick(200, 800))])
            bound = ensured(log, k, log_n, share)
            margin = bound + log - wanted(k)
            cases += log.size
            least = min(least, k * float(margin.min()))
            if (margin < 0.0).any():
                bad = np.flatnonzero(margin < 0.0)
                short = [min(short[0], math.exp(-log[bad].max())), max(short[1], math.exp(-log[bad].min()))]
                at = int(bad[np.argmin(np.abs(log[bad] - 1.0))])
                y = math.exp(-log[at])
                example = example or (
                    f"n = {n}, k = {k:g}, Δ = {math.sqrt(k * log_n / (n * y)):.6g}, so y = {y:.6g}: "
                    f"{math.exp(bound[at]):.6g} is ensured, {math.exp(wanted(k)) * y:.6g} is wanted"
                )
    outcome = f"{cases:,} triples of n, k and y. " + (
        f"Less is ensured than wanted for some y between {short[0]:.3g} and {short[1]:.3g}."
        if example
        else f"The logarithm of what is ensured exceeds that of what is wanted by {least:.4g}/k or more."
    )
    return Finding(conclusion_of(example), outcome, 0.0, example, charts=(_chart(ensured, wanted, share),))


def _chart(
    ensured: Callable[[Floats, float, float, float], Floats], wanted: Callable[[float], float], share: float
) -> Chart:
    y = np.geomspace(0.01, 1.0, 60)
    bound = np.exp(ensured(-np.log(y), 3.0, math.log(1000.0), share))
    lines = (
        Line("ensured", y.tolist(), bound.tolist()),
        Line("wanted", y.tolist(), (math.exp(wanted(3.0)) * y).tolist(), bound=True),
    )
    title = "What is ensured and what is wanted, k = 3, n = 1000"
    return Chart(title, "y = k log(n) / (nΔ²)", "probability", lines, "log", "log")


# Markov's inequality


def run_markov(effort: Effort, *, share: float = 0.25) -> Finding:
    """Compare 2E[T_i]/n ≤ 2 share log(1/y)/(nΔ²) with 2 share log(n)/(nΔ²), and that with δ = k log(n)/(2nΔ²)."""
    first = second = math.inf
    example = ""
    for one in instances(effort):
        k = float(effective_arms(one.means(), 0.5)[one.arm])
        log_n = math.log(one.n)
        square = float(one.gap[one.arm]) ** 2
        log = math.log(one.n * square / (k * log_n))
        first, second = min(first, log_n - log), min(second, k / (4.0 * share))
        if log > log_n or 4.0 * share * log > k * log_n:
            left, right = 2.0 * share * log / (one.n * square), k * log_n / (2.0 * one.n * square)
            example = example or f"{one.words()}: 2E[T]/n may be {left:.6g}, above δ = {right:.6g}"
    count = len(instances(effort))
    table = Table(
        "Both inequalities of the step",
        ("instances", "least log(n) - log(1/y)", "least ratio of δ to the bound before it"),
        ((f"{count:,}", f"{first:.4g}", f"{second:.4g}"),),
    )
    outcome = (
        f"{count:,} instances. log(1/y) is below log n by {first:.3g} or more, as Δ² ≤ 1 < k log n, and δ is "
        f"{second:.3g} times the bound before it, or more (k is 2 or more)."
    )
    return Finding(conclusion_of(example), outcome, 0.0, example, (table,))


CHECKS: tuple[Check, ...] = (
    Check(
        "assumption",
        ("app:lower",),
        "The theorem speaks of means with nΔ_i²/(k_i log n) ≥ 1 for all i.",
        "Means of many kinds, and n = 2, 4, ... up to 2⁶⁰: which meet the condition? The best arm has Δ = 0.",
        run_assumption,
        None,
        nature=Nature.IMPOSSIBLE,
    ),
    Check(
        "assumption, arms with a gap",
        ("app:lower",),
        "Corrected: nΔ_i²/(k_i log n) ≥ 1 for all i with Δ_i > 0.",
        "The same. In all other checks of this claim the condition is read so.",
        run_assumption,
        Wrong("the best arm is asked too, as printed", {"asked": every_arm}),
        {"asked": suboptimal},
        "assumption",
    ),
    Check(
        "two hypotheses",
        ("app:lower", "eq:lower1"),
        "If arm i is pulled no more than (1/4) log(1/y)/Δ² times in expectation, then by Lemma 2.6 of Tsybakov's book "
        "P(T_i ≥ n/2) + P'(T_i < n/2) ≥ y = k log(n)/(nΔ²), called 2δ.",
        "The lemma gives (1/2) exp(-KL) with KL ≤ (1/2) log(1/y), that is (1/2) √y; it is compared with y over (0, 1]. "
        "So the step does not follow for y > 1/4; whether the inequality itself can fail is another matter, see below.",
        run_testing,
        None,
    ),
    Check(
        "two hypotheses, by data processing",
        ("app:lower", "eq:lower1"),
        "Corrected: P'(T_i < n/2) ≥ (1 - 1/k) y, by the data processing inequality in place of the lemma. That is for "
        "all y ≤ 1, and enough for the theorem with its printed constants.",
        "The inequality for the event T_i < n/2, with Markov's bound on its other side, for n from 2 to 10¹², k from 2 "
        "to n/log n, y from k log(n)/n to 1. A proof for all of them stands beside the formula in the source.",
        run_testing,
        Wrong("the constant of eq. lower1 is 1 in place of 1/4", {"share": 1.0}),
        {"ensured": data_processing, "wanted": all_but_one},
        "two hypotheses",
    ),
    Check(
        "Markov",
        ("app:lower",),
        "2E[T_i]/n ≤ log(1/y)/(2nΔ²) ≤ log(n)/(2nΔ²) ≤ δ.",
        "Both inequalities for every suboptimal arm of many means and horizons that meet the condition.",
        run_markov,
        Wrong("the constant of eq. lower1 is 1 in place of 1/4", {"share": 1.0}),
    ),
)
