"""An upper bound on the regret of OCUCB-n with no unknown constant, for given means, n, η and ρ.

docs/explicit_bound.md has its proof. For any κ in (0, 1), with the distinct gaps 0 = g_0 < g_1 < g_2 < ...,

    R(n) ≤ Σ_{i: Δ_i > 0} Δ_i (1 + N(Δ_i)) + Σ_m (g_m - g_{m-1}) W(κ g_m),

where N(Δ) bounds how often an arm of that gap is chosen though the best arm's index is at least μ_1 - κΔ, and W(x) in
how many rounds the best arm's index is below μ_1 - x. Both are sums that a machine can add up.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ocucb.checks import above, whole, within
from ocucb.compiled import Floats
from ocucb.theory.gaps import gaps
from ocucb.theory.line_crossing import blocks, line_exponent

KAPPAS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6)
ROUNDING = 1.0 + 1e-9  # more than all rounding of these sums, whose terms are positive
GROUPS = 40  # at most this many different gaps are told apart


class RegretBound(NamedTuple):
    """A number that regret does not exceed, and what it consists of.

    kappa    κ, the share of a gap by which the best arm's index may be too low; the best of a few.
    pulls    the sum over arms of what each costs until its index is low: with the best arm's index high.
    waiting  the cost of rounds in which the best arm's index is too low.
    """

    value: float
    kappa: float
    pulls: float
    waiting: float


class Index(NamedTuple):
    """What of the problem and the index the bound depends on, besides the gaps."""

    arms: int
    n: int
    eta: float
    rho: float
    shrink: bool

    def weight(self, t: npt.ArrayLike) -> Floats:
        """Return t log t, or t."""
        rounds = np.asarray(t, dtype=np.float64)
        return rounds if self.shrink else np.asarray(rounds * np.log(rounds))


def regret_bound(means: npt.ArrayLike, n: int, eta: float, rho: float = 0.5, *, shrink: bool = False) -> RegretBound:
    """Return an upper bound on the regret of OCUCB-n after n rounds, for 1-subgaussian noise.

    It holds for every ρ in [0, 1] and every η > 0, and is never above n times the largest gap.

    Parameters
    ----------
    shrink : the index has t in place of t log t.

    >>> round(regret_bound([0.0, -0.5], 100_000, eta=1.1).value)
    138
    """
    gap = gaps(means)
    index = Index(
        gap.size,
        whole("n", n, 1, "give the number of rounds"),
        above("eta", eta, 0.0, "use eta=1.1"),
        within("rho", rho, 0.0, 1.0, "use rho=0.5"),
        shrink,
    )
    trivial = index.n * float(gap.max())
    found = [RegretBound(trivial, 0.0, trivial, 0.0)]
    if trivial > 0.0 and index.n > index.arms:
        found += _with_kappas(gap, index)
    return min(found)


def _with_kappas(gap: Floats, index: Index) -> list[RegretBound]:
    """Return the bound with each κ. Where there are many gaps, each counts as the smallest or largest of a group."""
    low, high, total = _groups(gap)
    pulls = [ROUNDING * float(np.sum(total * (1.0 + settling_pulls(low, index, kappa)))) for kappa in KAPPAS]
    rounds = waiting_rounds(np.multiply.outer(KAPPAS, low), index)
    waits = (ROUNDING * np.sum(np.diff(high, prepend=0.0) * rounds, axis=1)).tolist()
    return [
        RegretBound(choosing + waiting, kappa, choosing, waiting)
        for kappa, choosing, waiting in zip(KAPPAS, pulls, waits, strict=True)
    ]


def settling_pulls(gap: npt.ArrayLike, index: Index, kappa: float) -> Floats:
    """Return N(Δ): how often an arm is chosen, after its first pull, in rounds with γ_1(t) ≥ μ_1 - κΔ.

    Σ_{s=1}^{n} exp( -((1-κ)Δ√s - √(2η log B(s)))² / 2 ), the square being 0 where the bracket is negative,
    B(s) = max{ e, log n, w(n)/(2s + (K-2)s^(1-ρ)), w(m)/(s + (K-1)s^(1-ρ)) },  m = min{n, 2s + K - 1},  w(t) = t log t

    Then γ_i(t) ≥ μ_i + (1-κ)Δ, each s = T_i(t-1) once at most, and B(s) is the most that B_i(t-1) can be.

    >>> round(float(settling_pulls(0.5, Index(2, 1000, 1.1, 0.5, False), 0.3)), 2)
    129.46
    """
    arms, n, eta, rho, _ = index
    first, last = blocks(n, 1.01, 400)
    least = first ** (1.0 - rho)
    inside = np.maximum(
        index.weight(n) / (2.0 * first + (arms - 2) * least),
        index.weight(np.minimum(n, 2.0 * last + arms - 1)) / (first + (arms - 1) * least),
    )
    width = np.sqrt(2.0 * eta * np.log(np.maximum(inside, max(math.e, math.log(n)))))
    short = np.maximum(0.0, (1.0 - kappa) * np.asarray(gap)[..., np.newaxis] * np.sqrt(first) - width)
    return np.asarray(np.sum((last - first + 1.0) * np.exp(-0.5 * short**2), axis=-1))


def waiting_rounds(short: npt.ArrayLike, index: Index) -> Floats:
    """Return W(x): in how many of the rounds K + 1, ..., n the best arm's index is below μ_1 - x, at most.

    Σ_t min{ 1, Σ_blocks exp(-E) },  E that of `line_exponent` for the boundary g(s) = sx + √(2ηs log B(s, t)),
    B(s, t) = max{ e, log t, w(t)/(s + (K-1) min{s, ((t-1-s)/(K-1))^ρ s^(1-ρ)}) },  w(t) = t log t

    The index is too low with T_1(t-1) = s only if -S_s > g(s); the other arms share t - 1 - s pulls, most of all if
    evenly (Jensen). Rounds are taken in blocks too, each at its worst.

    >>> round(float(waiting_rounds(0.15, Index(2, 1000, 1.1, 0.5, False))), 2)
    37.18
    """
    total = np.zeros(np.shape(short))
    for early, late in zip(*blocks(index.n, 1.1, 8), strict=True):
        if late > index.arms:
            first = max(early, index.arms + 1.0)
            total += (late - first + 1.0) * low_index_probability(short, index, first, late)
    return total


def low_index_probability(short: npt.ArrayLike, index: Index, early: float, late: float) -> Floats:
    """Return what P(γ_1(t) < μ_1 - x) is at most, in each of the rounds t from early to late, early > K.

    >>> round(float(low_index_probability(1.0, Index(2, 1000, 1.1, 0.5, False), 100, 100)), 4)
    0.0002
    """
    arms, _, eta, rho, _ = index
    x = np.asarray(short, dtype=np.float64)[..., np.newaxis]
    first, last = blocks(int(late) - arms, 3.0, 2)
    others = ((late - 1.0 - first) / (arms - 1)) ** rho
    inside = index.weight(early) / (last + (arms - 1) * np.minimum(last, others * last ** (1.0 - rho)))
    width = np.sqrt(2.0 * eta * np.log(np.maximum(inside, max(math.e, math.log(early)))))
    exponent = line_exponent(first, first * x + np.sqrt(first) * width, last, last * x + np.sqrt(last) * width)
    return np.asarray(np.minimum(1.0, np.exp(-exponent).sum(axis=-1)))


def _groups(gap: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the smallest and the largest gap of each group, and the sum of all its gaps; of positive gaps only."""
    values, counts = np.unique(gap[gap > 0.0], return_counts=True)
    if values.size <= GROUPS:
        return values, values, values * counts
    places = np.log(values / values[0])
    member = np.minimum(GROUPS - 1, (places / places[-1] * GROUPS).astype(np.int64))
    found = [values[member == k] for k in range(GROUPS) if (member == k).any()]
    total = [float((values * counts)[member == k].sum()) for k in range(GROUPS) if (member == k).any()]
    return np.array([one[0] for one in found]), np.array([one[-1] for one in found]), np.array(total)
