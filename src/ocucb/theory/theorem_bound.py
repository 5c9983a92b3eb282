"""The constants of the proof of Theorem 1, multiplied: a true bound, and how far the proof is from what is seen.

docs/explicit_bound.md has the derivation, step by step as in docs/theorem.md. `regret_bound` is what to use.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ocucb.checks import whole, within
from ocucb.compiled import Floats
from ocucb.theory.concentration import log_line_survival
from ocucb.theory.confidence import alpha_constant
from ocucb.theory.gaps import gaps
from ocucb.theory.optimists import NEVER, chase_constant
from ocucb.theory.stopping import expected_confidence

ROOT = 8.0**0.25  # (E[Y⁴])^(1/4) where P(Y > y) = exp(-y²/2)


def theorem_bound(means: npt.ArrayLike, n: int, eta: float, rho: float = 0.5, *, shrink: bool = False) -> float:
    """Return what regret after n rounds is at most by the proof of Theorem 1, for 1-subgaussian noise.

    Σ Δ_i M_i + 2Δ_max + 128 A (J_1/Δ_min + 2 Σ √M_i) + Σ Δ_i + 4A (J_2 Σ √M_i + J_2 Q + J_2²/Δ_min)

    Parameters
    ----------
    shrink : the index has t in place of t log t.

    >>> f"{theorem_bound([0.0, -0.5], 100_000, eta=2.0):.1e}"
    '3.6e+06'
    """
    gap = gaps(means)
    rounds = whole("n", n, 1, "give the number of rounds")
    within("rho", rho, 0.5, 1.0, "Theorem 1 is about rho from 1/2 to 1")
    positive = gap > 0.0
    if not positive.any():
        return 0.0
    scale = alpha_constant(eta)
    p = math.exp(log_line_survival(0.5 * (1.0 + eta), rounds))
    settled = settling_norms(gap, expected_confidence(means, rounds, rho, shrink=shrink), eta, p)[positive]
    gap = gap[positive]
    first, second = optimist_moments(np.size(means), p)
    least, roots, inverse = float(gap.min()), float(np.sqrt(settled).sum()), float((1.0 / gap).sum())
    shared = 4.0 * inverse**2 + 2.0 * inverse * (first / least + roots)
    octave = math.sqrt(gap.size) + math.sqrt(float(np.sum(_together(gap) * settled))) + 4.0 * math.sqrt(scale * shared)
    middle = 2.0 * float(gap.max()) + 128.0 * scale * (first / least + 2.0 * roots)
    near = float(gap.sum()) + 4.0 * scale * (second * roots + second * octave + second**2 / least)
    return float(np.sum(gap * settled)) + middle + near


def settling_norms(gap: Floats, confidences: Floats, eta: float, p: float) -> Floats:
    """Return M_i, which √E[τ_i²] does not exceed; infinite for an arm of gap 0.

    M_i = 1 + (4/Δ_i²) (√(2η(log b_i + log(1 + 3/(cp)))) + 8^(1/4))²,  c = c_η of Lemma chase

    p : what P{i in Φ} is at least.
    """
    logs = np.log(confidences) + math.log1p(3.0 / (chase_constant(eta) * p))
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 + 4.0 / gap**2 * (np.sqrt(2.0 * eta * logs) + ROOT) ** 2)


def optimist_moments(arms: int, p: float) -> tuple[float, float]:
    """Return what E[J] and √E[J²] are at most, if each arm from the third on is optimistic with probability p.

    J - 2 is geometric, cut off at K - 1: E[min{G, m}^r] = Σ_{g=1}^m (g^r - (g-1)^r) (1-p)^(g-1)

    >>> optimist_moments(3, 1.0), optimist_moments(4, 0.0)
    ((3.0, 3.0), (5.0, 5.0))
    """
    g = np.arange(1.0, max(1, arms - NEVER + 1) + 1.0)
    chances = (1.0 - p) ** (g - 1.0)
    one, two = float(chances.sum()), float(np.sum((2.0 * g - 1.0) * chances))
    return NEVER + one, math.sqrt(NEVER**2 + 2.0 * NEVER * one + two)


def _together(gap: Floats) -> Floats:
    """Return a_j: the most arms that a set {Δ <= Δ_i <= 2Δ} with j in it has, Δ being one of the gaps."""
    sizes = [(low, int(np.sum((gap >= low) & (gap <= 2.0 * low)))) for low in np.unique(gap).tolist()]
    return np.array([max(size for low, size in sizes if low <= one <= 2.0 * low) for one in gap.tolist()], dtype=float)
