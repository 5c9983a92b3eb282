"""The random times of the proof of Theorem 1: when an arm has settled, and when optimism prevails."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ocucb.checks import above, at_least, within
from ocucb.compiled import Floats, Integers
from ocucb.errors import ParameterError
from ocucb.theory.gaps import effective_arms, gaps
from ocucb.theory.optimists import optimistic_arms


def expected_confidence(means: npt.ArrayLike, n: float, rho: float, *, shrink: bool = False) -> Floats:
    """Return the confidence that the theorem gives each arm; e or log n for an arm of gap 0.

    b_i = max{ n Δ_i² log(n) / k_{i,ρ}, log(n), e }   (eq. def:bt)

    shrink : n Δ_i² in place of n Δ_i² log(n), for the index with t in place of t log t (docs/theorem.md).

    >>> expected_confidence([0.0, -1.0], 100, rho=0.5).round(4).tolist()
    [4.6052, 230.2585]
    """
    return _confidence(gaps(means), n, effective_arms(means, rho), shrink)


def tape_confidence(
    means: npt.ArrayLike, n: float, optimistic: npt.ArrayLike, eta: float, rho: float, *, shrink: bool = False
) -> Floats:
    """Return the confidence that the optimists of a tape give each arm.

    B_i = max{ n Δ_i² log(n) / K_{i,ρ}, log(n), e }   (eq. def:bt); `shrink` as for `expected_confidence`

    >>> tape_confidence([0.0, -1.0], 100, [False, False], eta=2.0, rho=0.5).round(4).tolist()
    [4.6052, 460.517]
    """
    return _confidence(gaps(means), n, optimistic_arms(means, optimistic, eta, rho), shrink)


def settling_time(
    sample_means: npt.ArrayLike, mean: float, gap: float, confidences: npt.ArrayLike, eta: float
) -> Integers:
    """Return the number of samples from which on an arm's index stays in the lower half of its gap.

    τ_i = min{ s >= 1/Δ_i² : sup_{s' >= s} mean_{i,s'} + √(2η log(B_i)/s') <= μ_i + Δ_i/2 }   (eq. def:bt)

    A tape of N samples shows it if it is at most N, or else gives N + 1 for "later"; what comes after the tape's end
    may delay it further.

    Parameters
    ----------
    sample_means : the average of the arm's first s = 1, 2, ... samples.
    confidences : B_i, or several, each of which gets its answer.

    >>> settling_time([1.0, 0.5, 0.3, 0.2, 0.1, 0.0], 0.0, 4.0, [1.5, 3.0], eta=1.0).tolist()
    [1, 2]
    """
    tape = np.asarray(sample_means, dtype=np.float64)
    if tape.ndim != 1 or not np.isfinite(tape).all():
        raise ParameterError(f"sample_means must be the averages of one arm, got shape {tape.shape}")
    above("gap", gap, 0.0, "an optimal arm need not settle")
    levels = np.asarray(confidences, dtype=np.float64)
    if not (levels >= 1.0).all():
        raise ParameterError(f"confidences must be 1 or more, got {confidences!r}")
    s = np.arange(1, tape.size + 1)
    # Room for the confidence, in units of √(1/s); its smallest value from s on rises with s.
    room = np.sqrt(s) * (mean + gap / 2.0 - tape)
    least = np.minimum.accumulate(room[::-1])[::-1]
    settled = 1 + np.searchsorted(least, np.sqrt(2.0 * eta * np.log(levels)))
    return np.asarray(np.minimum(np.maximum(settled, math.ceil(1.0 / gap**2)), tape.size + 1))


def optimism_time(largest: npt.ArrayLike, best: float, gap: float, first: int = 1) -> int:
    """Return the round from which on some index is nearly as large as the best mean.

    τ_Δ = min{ t : inf_{s >= t} max_j γ_j(s) >= μ_1 - Δ/2 }   (eq. def:taudelta)

    Rounds before `first` have no indices and count for nothing: if no later round is bad, the answer is 1. If the last
    round given is bad, the answer is the one after it.

    Parameters
    ----------
    largest : max_j γ_j(s) for s = first, first + 1, ..., n.
    best : μ_1.

    >>> optimism_time([0.0, 1.0, 0.2, 0.9, 0.8], best=1.0, gap=0.5), optimism_time([2.0], best=1.0, gap=0.5, first=4)
    (4, 1)
    """
    values = np.asarray(largest, dtype=np.float64)
    if values.ndim != 1 or np.isnan(values).any():
        raise ParameterError(f"largest must be one number per round, got shape {values.shape}")
    bad = np.flatnonzero(values < best - at_least("gap", gap, 0.0, "give Δ") / 2.0)
    return first + int(bad[-1]) + 1 if bad.size else 1


def settling_bound(gap: float, confidences: npt.ArrayLike, eta: float) -> Floats:
    """Bound the expectation of τ_i given its confidence B_i, with all constants.

    E[τ_i | B_i] <= 1 + (8/Δ_i²)( η log B_i + √(πη log B_i) + 1 )   (Lemma tail and Lemma tau, O_η(1) made explicit)

    For s >= 8η log(B)/Δ², P{τ > s} <= exp(-z²/2) with z = √s Δ/2 - √(2η log B), by Ville's inequality for the
    supermartingale exp(λS_s - λ²s/2) with λ = z/√s. Summed over s, this is the right-hand side. B_i >= e.

    >>> settling_bound(2.0, [np.e], eta=1.0).round(6).tolist()
    [8.544908]
    """
    log = np.log(np.asarray(confidences, dtype=np.float64))
    width = above("eta", eta, 0.0, "Theorem 1 needs eta > 1") * log
    return np.asarray(1.0 + 8.0 / above("gap", gap, 0.0, "give Δ_i") ** 2 * (width + np.sqrt(np.pi * width) + 1.0))


def stopping_sum(means: npt.ArrayLike, n: float, rho: float, *, shrink: bool = False) -> float:
    """Return the right-hand side of the lemma on τ_Δ, without its constant.

    Σ_{i: Δ_i > 0} √( 1 + log(b_i)/Δ_i² )   (Lemma stopping); `shrink` as for `expected_confidence`

    >>> round(stopping_sum([0.0, -1.0], 100, rho=0.5), 6)
    2.537558
    """
    within("rho", rho, 0.0, 1.0, "use rho=0.5")
    gap, confidence = gaps(means), expected_confidence(means, n, rho, shrink=shrink)
    below = gap > 0.0
    return float(np.sum(np.sqrt(1.0 + np.log(confidence[below]) / gap[below] ** 2)))


def _confidence(gap: Floats, n: float, effective: Floats, shrink: bool) -> Floats:
    log = math.log(at_least("n", n, 1.0, "give the number of rounds"))
    return np.asarray(np.maximum(n * gap**2 * (1.0 if shrink else log) / effective, max(log, math.e)))
