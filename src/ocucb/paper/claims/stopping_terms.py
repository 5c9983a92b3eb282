"""The proof of Lemma stopping, between Lemma conc2 and Lemma tau: sums over arms that hold whatever happens.

eq:easy-1, eq:hard-1 and eq:hard-2 are orders between expectations. What is behind them are inequalities with constants
that hold for every value of J, of the τ_i and of β, or for every distribution of these; so drawn ones can refute them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ocucb.compiled import Floats
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Nature, Table, Wrong

ROUNDING = 1e-9
KINDS = {"equal": 0.0, "near": 0.7, "spread": 4.0, "one, and twice as far": 0.0}


class Outcome(NamedTuple):
    """Gaps in order, the number J of the first optimist (K + 1 for none), its gap, and τ_i of each arm with a gap."""

    gap: Floats
    first: int
    width: float
    settled: Floats

    def __str__(self) -> str:
        gaps, times = (", ".join(f"{one:.4g}" for one in values) for values in (self.gap, self.settled))
        return f"gaps {gaps}, J = {self.first}, τ {times}"

    @property
    def roots(self) -> Floats:
        """√τ_i, and 0 for best arms."""
        return np.asarray(np.where(self.gap > 0.0, np.sqrt(self.settled), 0.0))

    @property
    def smallest(self) -> float:
        """Δ_min."""
        return float(self.gap[self.gap > 0.0].min())

    @property
    def far(self) -> Floats:
        """Which arms are in A_1: gaps above 2Δ_J."""
        return np.asarray(self.gap > 2.0 * self.width)

    @property
    def middle(self) -> Floats:
        """Which arms are in A_2: gaps from Δ_J to 2Δ_J."""
        return np.asarray((self.gap >= self.width) & (self.gap <= 2.0 * self.width))


def outcomes(effort: Effort, purpose: int) -> Iterator[tuple[str, Outcome]]:
    """Draw gaps of several kinds, J, and τ_i ≥ 1/Δ_i², often equal to it; Δ_J is never 0."""
    rng = np.random.default_rng([effort.seed, purpose])
    for kind, width in KINDS.items():
        for _ in range(effort.pick(400, 20_000)):
            arms, best = int(rng.integers(3, 12)), int(rng.integers(1, 3))
            above = 10.0 ** (rng.uniform(-2.0, 1.0) - width * rng.uniform(0.0, 1.0, arms - best))
            gap = np.sort(np.concatenate((np.zeros(best), above)))
            first = int(rng.integers(3, arms + 2))
            if kind.startswith("one"):  # where arms of A_2 count least: all but J at its end
                gap[first:] *= 2.0
            late = 10.0 ** (rng.uniform(0.0, 2.0, arms) * rng.integers(0, 2))
            settled = np.where(gap > 0.0, np.ceil(late * np.maximum(gap, 1e-9) ** -2.0), 0.0)
            if gap[min(first, arms) - 1] > 0.0:
                yield kind, Outcome(gap, first, float(gap[min(first, arms) - 1]), settled)


def judge(effort: Effort, purpose: int, ratio: Callable[[Outcome], float], says: str) -> Finding:
    """Find the largest ratio of left to right over the outcomes, and say where it exceeds 1."""
    worst, example, most, count = 0.0, "", dict.fromkeys(KINDS, 0.0), 0
    for kind, one in outcomes(effort, purpose):
        value = ratio(one)
        count += 1
        most[kind] = max(most[kind], value)
        if value > worst:
            worst, example = value, f"{one}: {_number(value)} times"
    fails = worst > 1.0 + ROUNDING
    return Finding(
        Conclusion.FAILS if fails else Conclusion.HOLDS,
        f"In {count:,} outcomes the left side is at most {_number(worst)} times the right: {says}.",
        counterexample=example if fails else "",
        tables=(Table("Left over right, the largest", tuple(KINDS), (tuple(map(_number, most.values())),)),),
    )


def _number(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.4g}"


def check_easy(effort: Effort, *, factor: float = 2.0) -> Finding:
    """Compare Σ_i min{1/Δ_J, √λ_i} with J/Δ_min for best arms and factor Σ √τ_i for the others."""

    def ratio(one: Outcome) -> float:
        limits = np.where(one.gap >= 2.0 * one.width, one.roots, math.inf)
        left = float(np.minimum(1.0 / one.width, limits).sum())
        best = int((one.gap == 0.0).sum())
        return left / (best / one.smallest + factor * float(one.roots.sum()))

    return judge(effort, 191, ratio, f"#{{Δ_i = 0}}/Δ_min + {factor:g} Σ √τ_i")


def drawn_wait(one: Outcome) -> float:
    """Return a β, which may be anything: some number made of the outcome's own, from 0 to 10⁶."""
    return float(10.0 ** (6.0 * math.modf(float(one.settled.sum()) * 0.7548776662)[0])) - 1.0


def check_first(effort: Effort, *, with_best: bool = True, counted: bool = True) -> Finding:
    """Compare Σ_i Σ_j min{1/Δ_i, √ω_j}, over the arms i nearer than Δ_J/4, with three terms; eq:hard-1.

    with_best : arms of gap 0 are among them, as printed.
    counted : each term has its J for the number of these arms.
    """

    def ratio(one: Outcome) -> float:
        far, middle = one.far, one.middle
        omega = math.sqrt((1.0 + drawn_wait(one) + float(one.settled[middle].sum())) / middle.sum())
        roots = np.where(far, one.roots, np.where(middle, omega, math.inf))
        near = one.gap[(one.gap < one.width / 4.0) & ((one.gap > 0.0) | with_best)]
        left = sum(float(np.minimum(math.inf if gap == 0.0 else 1.0 / gap, roots).sum()) for gap in near.tolist())
        number = one.first if counted else 1
        terms = float(one.roots[far].sum()) + float(middle.sum()) * omega + one.first / one.smallest
        return left / (number * terms)

    return judge(effort, 192, ratio, "J Σ_(A_1) √τ_j + J |A_2| √ω + J²/Δ_min")


def check_split(effort: Effort, *, power: float = 2.0) -> Finding:
    """Compare E[J |A_2| √ω] with a norm of J times √E[|A_2| Σ τ] + √E[|A_2| β], over drawn distributions; eq:hard-2."""
    rng = np.random.default_rng([effort.seed, 193])
    worst, example, count = 0.0, "", effort.pick(2000, 100_000)
    for _ in range(count):
        atoms = int(rng.integers(1, 6))
        weight = rng.dirichlet(np.full(atoms, 0.5))
        first, arms = rng.integers(3, 40, atoms), rng.integers(1, 30, atoms)
        settled, wait = 10.0 ** rng.uniform(0.0, 6.0, (2, atoms)) * rng.integers(0, 2, (2, atoms))
        left = float(weight @ (first * arms * np.sqrt((wait + settled) / arms)))
        parts = [math.sqrt(float(weight @ (arms * part))) for part in (settled, wait)]
        right = float(weight @ first**power) ** (1.0 / power) * sum(parts)
        if left > worst * right:
            worst = left / right
            values = f"J {first.tolist()}, |A_2| {arms.tolist()}, Σ τ {settled.round(1).tolist()}"
            example = f"{values}, β {wait.round(1).tolist()} with probabilities {weight.round(4).tolist()}"
    fails = worst > 1.0 + ROUNDING
    return Finding(
        Conclusion.FAILS if fails else Conclusion.HOLDS,
        f"Over {count:,} distributions the left side is at most {worst:.4f} times the right.",
        counterexample=f"{example}: {worst:.4g} times" if fails else "",
    )


def check_root(effort: Effort) -> Finding:
    """Find a distribution for which no constant puts √E[Y] below E[√Y]."""
    rows = [(f"{p:g}", f"{math.sqrt(1.0 / p):.4g}", "1", f"{p**-0.5:.4g}") for p in (0.1, 1e-2, 1e-4, 1e-8)]
    return Finding(
        Conclusion.FAILS,
        "If |A_2| β is 1/p² with probability p, and 0 otherwise, √E is 1/√p and E√ is 1, so that no constant will do.",
        counterexample="|A_2| β = 10⁸ with probability 10⁻⁴, else 0: √E[|A_2| β] = 100, E[√(|A_2| β)] = 1",
        tables=(Table("Y = 1/p² with probability p, else 0", ("p", "√E[Y]", "E[√Y]", "ratio"), tuple(rows)),),
    )


def check_last_term(effort: Effort, *, factor: float = 2.0) -> Finding:
    """Compare |A_2| (N/Δ_J² + Σ_(A_1) √τ_j/Δ_J), which bounds E[|A_2| α], with terms that do not know Δ_J."""

    def ratio(one: Outcome) -> float:
        size, unlimited = float(one.middle.sum()), float((one.gap <= 2.0 * one.width).sum())
        left = size * (unlimited / one.width**2 + float(one.roots[one.far].sum()) / one.width)
        inverse = factor * float((1.0 / one.gap[one.gap > 0.0]).sum())
        return left / (inverse**2 + inverse * (one.first / one.smallest + float(one.roots.sum())))

    return judge(effort, 194, ratio, f"({factor:g}S)² + {factor:g}S (J/Δ_min + Σ √τ_j), S = Σ 1/Δ_j")


_DRAWN = (
    "Gaps of four kinds, some with two best arms, J, and τ_i from 1/Δ_i² on are drawn; the inequality must hold for "
    "each outcome, so also in expectation."
)
_LEMMA = "app:lem:second-term"

CHECKS: tuple[Check, ...] = (
    Check(
        "easy-1",
        ("eq:easy-1", "lem:stopping"),
        "E[Δ_J β] is O_η(1) E[Σ √τ_i]. Behind it: Σ_i min{1/Δ_J, √λ_i} is at most the number of best arms over Δ_min, "
        "plus 2 Σ √τ_i; those are fewer than J.",
        _DRAWN,
        check_easy,
        Wrong("1 in place of 2: arms of gaps up to 2Δ_J have no limit.", {"factor": 1.0}),
    ),
    Check(
        "hard-1, as printed",
        ("eq:hard-1", _LEMMA),
        "Σ_(i: Δ_i < Δ_J/4) Σ_j min{1/Δ_i, √ω_j} is at most J Σ_(A_1) √τ_j + J |A_2| √ω + J²/Δ_min.",
        _DRAWN,
        check_first,
        None,
        nature=Nature.IMPOSSIBLE,
    ),
    Check(
        "hard-1",
        ("eq:hard-1", _LEMMA),
        "The same for arms of gap above 0: arm 1, of gap 0, makes the left side infinite, and costs nothing.",
        _DRAWN,
        check_first,
        Wrong("Without the J for the number of arms i.", {"counted": False}),
        {"with_best": False},
        "hard-1, as printed",
    ),
    Check(
        "hard-2",
        ("eq:hard-2", _LEMMA),
        "E[J |A_2| √ω] is at most √E[J²] (√E[|A_2| Σ_(A_2) τ_j] + √E[|A_2| β]).",
        "That is the inequality of Cauchy and Schwarz, and √(x + y) ≤ √x + √y, for any joint distribution; some of "
        "few atoms are drawn.",
        check_split,
        Wrong("E[J] in place of √E[J²].", {"power": 1.0}),
    ),
    Check(
        "hard-2, its last term, as printed",
        ("eq:hard-2", _LEMMA),
        "eq:hard-2 leaves √E[|A_2| β]; the display that bounds it starts with E[√(|A_2| β)].",
        "Is the one at most a constant times the other?",
        check_root,
        None,
    ),
    Check(
        "hard-2, its last term",
        ("eq:hard-2", _LEMMA),
        "√E[|A_2| β] can be bounded itself, as β ≤ 1.8 α, and E[α given λ, J] is at most 16A_η (N/Δ_J² + "
        "Σ_(A_1) √τ_j/Δ_J), N being the number of arms with λ_j = ∞; times |A_2| that is at most 16A_η (4S² + 2S "
        "(J/Δ_min + Σ √τ_j)), S = Σ 1/Δ_j.",
        _DRAWN,
        check_last_term,
        Wrong("S in place of 2S.", {"factor": 1.0}),
        corrects="hard-2, its last term, as printed",
    ),
)
