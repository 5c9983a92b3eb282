"""Optimistic arms: those whose means never fall below what the law of the iterated logarithm allows.

Arms are sorted as in the paper, μ_1 >= μ_2 >= ..., and numbered from 0: the paper's "i > 2" is an arm of number 2 or
more. The definition speaks of all samples without end. On a tape of N samples it speaks of the first N, which can only
make more arms optimistic.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ocucb.checks import above, within
from ocucb.compiled import Floats
from ocucb.errors import ParameterError
from ocucb.theory.concentration import iterated_logarithm_boundary
from ocucb.theory.gaps import gaps

Booleans = npt.NDArray[np.bool_]

NEVER = 2  # arms 0 and 1 are never optimistic


def boundary(samples: npt.ArrayLike, eta: float) -> Floats:
    """Return how far below its mean the average of s samples of an optimistic arm may lie.

    √( 2η_1 log max{e, log s} / s ),  η_1 = (1 + η)/2   (eq. def:O)

    >>> boundary([1, 4], eta=3.0).tolist()
    [2.0, 1.0]
    """
    middle = (1.0 + above("eta", eta, 1.0, "Theorem 1 needs eta > 1")) / 2.0
    return np.asarray(iterated_logarithm_boundary(samples, middle) / np.asarray(samples, dtype=np.float64))


def optimists(sample_means: npt.ArrayLike, means: npt.ArrayLike, eta: float) -> Booleans:
    """Say which arms are optimistic on a tape.

    Φ = { i > 2 : mean_{i,s} + √(2η_1 log max{e, log s}/s) >= μ_i for all s }   (eq. def:O)

    sample_means : the average of the first s = 1, 2, ... samples, one row per arm.

    >>> optimists([[-9.0], [0.0], [0.0], [-9.0]], [0.0, 0.0, 0.0, 0.0], eta=2.0).tolist()
    [False, False, True, False]
    """
    tape, mu = np.asarray(sample_means, dtype=np.float64), sorted_means(means)
    if tape.ndim != 2 or len(tape) != len(mu):
        raise ParameterError(f"sample_means must have one row for each of {len(mu)} arms, got shape {tape.shape}")
    never_below = (tape + boundary(np.arange(1, tape.shape[1] + 1), eta) >= mu[:, np.newaxis]).all(axis=1)
    return np.asarray(never_below & (np.arange(len(mu)) >= NEVER))


def first_optimist(optimistic: npt.ArrayLike) -> int:
    """Return the optimistic arm of the largest mean, or the number of arms if there is none.

    J = min Φ;  K + 1 if Φ is empty   (after Lemma chase; here one less, as arms are numbered from 0)

    >>> first_optimist([False, False, False, True, True]), first_optimist([False, False])
    (3, 2)
    """
    members = np.flatnonzero(np.asarray(optimistic, dtype=np.bool_))
    return int(members[0]) if members.size else int(np.size(optimistic))


def optimist_gap(means: npt.ArrayLike, first: int) -> float:
    """Return the gap of the first optimist, or the largest gap if there is none.

    Δ_J;  max_i Δ_i if Φ is empty   (after Lemma chase)

    >>> optimist_gap([0.0, -0.25, -0.5], 2), optimist_gap([0.0, -0.25], 2)
    (0.5, 0.25)
    """
    gap = gaps(sorted_means(means))
    if not NEVER <= first <= gap.size:
        raise ParameterError(f"first must be an arm from {NEVER} on, or {gap.size} for none, got {first}")
    return float(gap[min(first, gap.size - 1)])


def chase_constant(eta: float) -> float:
    """Return a constant for which the chase lemma is true.

    c_η = ( (√(2η) - √(2η_1)) / (1 + √(2η)) )²   (Lemma chase, "small enough" made explicit)

    As log B_j >= 1 and log B_j >= log max{e, log T_j}, the proof needs no more than
    √(2η) - √(2η_1) >= √(2η c) + √c.

    >>> round(chase_constant(2.0), 6), round(chase_constant(1e9), 4)
    (0.007977, 0.0858)
    """
    inner = math.sqrt(1.0 + above("eta", eta, 1.0, "Theorem 1 needs eta > 1"))  # √(2η_1)
    outer = math.sqrt(2.0 * eta)
    # (η - 1) / (outer + inner) is outer - inner, without cancellation for η near 1.
    return ((eta - 1.0) / (outer + inner) / (1.0 + outer)) ** 2


def shares(means: npt.ArrayLike, arm: int, rho: float) -> Floats:
    """Return how much each arm counts as a rival of `arm`.

    min{ 1, Δ_i^{2ρ} / Δ_j^{2ρ} }   (eq. def:K)

    >>> shares([0.0, -0.5, -1.0], 1, rho=0.5).tolist()
    [1.0, 1.0, 0.5]
    """
    exponent = 2.0 * within("rho", rho, 0.0, 1.0, "rho=0.5 is the canonical choice")
    gap = gaps(means)
    if not 0 <= arm < gap.size:
        raise ParameterError(f"arm must be one of 0 to {gap.size - 1}, got {arm}")
    return np.asarray((gap[arm] / np.maximum(gap, gap[arm])) ** exponent if gap[arm] > 0.0 else (gap == 0.0) * 1.0)


def optimistic_arms(means: npt.ArrayLike, optimistic: npt.ArrayLike, eta: float, rho: float) -> Floats:
    """Return the number of effective arms that the proof can count on, for each arm.

    K_{i,ρ} = 1 + c_η Σ_{j in Φ, j ≠ i} min{ 1, Δ_i^{2ρ} / Δ_j^{2ρ} }   (eq. def:K)

    >>> optimistic_arms([0.0, -1.0, -1.0, -1.0], [False, False, True, True], 2.0, 0.5).round(4).tolist()
    [1.0, 1.016, 1.008, 1.008]
    """
    mu, members = sorted_means(means), np.asarray(optimistic, dtype=np.bool_)
    if members.shape != mu.shape:
        raise ParameterError(f"optimistic must say yes or no for each of {mu.size} arms, got shape {members.shape}")
    sums = [shares(mu, i, rho)[members & (np.arange(mu.size) != i)].sum() for i in range(mu.size)]
    return 1.0 + chase_constant(eta) * np.array(sums)


def optimist_tail(counted: npt.ArrayLike, probability: float) -> float:
    """Bound how likely the optimists' share is at most half of what is expected of it.

    P{ Σ_{j in Φ} w_j <= (p/2) Σ_j w_j } <= exp( -(p Σ_j w_j)² / (2 Σ_j w_j²) )   (appendix "Tail Bound on K", step (a))

    True where each counted arm is optimistic with probability p or more, independently; so arms 1 and 2 of the paper,
    which never are, must not be among those counted.

    >>> round(optimist_tail([1.0, 1.0, 1.0], 0.5), 6)
    0.687289
    """
    w = np.asarray(counted, dtype=np.float64)
    p = within("probability", probability, 0.0, 1.0, "give a bound on P(i in Φ)")
    if w.ndim != 1 or not (np.isfinite(w) & (w >= 0.0)).all():
        raise ParameterError(f"counted must be a list of shares between 0 and 1, got {counted!r}")
    total, squares = float(w.sum()), float((w * w).sum())
    return math.exp(-((p * total) ** 2) / (2.0 * squares)) if squares > 0.0 else 1.0


def sorted_means(means: npt.ArrayLike) -> Floats:
    """Return means as an array, if they are sorted as the paper assumes.

    >>> sorted_means([1.0, 0.5, 0.5]).tolist()
    [1.0, 0.5, 0.5]
    """
    values = np.asarray(means, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all() or (np.diff(values) > 0.0).any():
        raise ParameterError(f"means must be finite and sorted from the largest down, got {means!r}")
    return values
