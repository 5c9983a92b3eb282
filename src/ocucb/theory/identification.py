"""How soon the best arm can be known: the characteristic time of a problem.

A. Garivier and E. Kaufmann, "Optimal Best Arm Identification with Fixed Confidence", 2016. Notation as there:
arm 1 is the best, m_x is the mean of a best arm with weight 1 and another with weight x.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats
from ocucb.errors import ParameterError
from ocucb.noise import Noise

HALVINGS = 200


class CharacteristicTime(NamedTuple):
    """T*(μ), and the shares of rounds that attain it, one per arm."""

    time: float
    shares: Floats


def characteristic_time(means: npt.ArrayLike, noise: Noise) -> CharacteristicTime:
    """Return T*(μ): with an error of at most δ, no rule needs fewer rounds on average than about T*(μ) log(1/δ).

    1/T*(μ) = max_w min_{a ≠ 1} w_1 d(μ_1, m) + w_a d(μ_a, m), m the mean of both by these weights

    With x_a the weight of arm a for weight 1 of the best, g_a(x) = d(μ_1, m_x) + x d(μ_a, m_x) is the same y for all
    arms, and Σ_a d(μ_1, m)/d(μ_a, m) = 1 there (Theorem 5); both are found by bisection.

    >>> from ocucb import Gaussian
    >>> round(characteristic_time([0.5, 0.0], Gaussian()).time, 9)  # 8/gap²
    32.0
    """
    given = np.asarray(means, dtype=np.float64)
    best = int(np.argmax(given)) if given.ndim == 1 and given.size else 0
    if given.ndim != 1 or given.size < 2 or np.count_nonzero(given == given.max()) > 1:
        raise ParameterError(
            f"means must have one best arm of two or more, got {means!r}; equal arms are never told apart"
        )
    others = np.delete(given, best)
    high = min(noise.divergence(float(given[best]), float(other)) for other in others)
    high = high if np.isfinite(high) else _reachable(float(given[best]), others, noise)
    low = 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if _balance(float(given[best]), others, middle, noise) < 1.0 else (low, middle)
    weights = np.array([_weight(float(given[best]), float(other), low, noise) for other in others])
    total = 1.0 + float(weights.sum())
    return CharacteristicTime(total / low, np.insert(weights, best, 1.0) / total)


def _reachable(best: float, others: Floats, noise: Noise) -> float:
    """Return an upper end for y where the divergence from the best arm has none: the balance is passed there."""
    high = 1.0
    while _balance(best, others, high, noise) < 1.0 and high < 1e12:
        high *= 2.0
    return high


def _pooled(best: float, other: float, x: float) -> float:
    return (best + x * other) / (1.0 + x)


def _evidence(best: float, other: float, x: float, noise: Noise) -> float:
    """Return g(x)."""
    m = _pooled(best, other, x)
    return noise.divergence(best, m) + x * noise.divergence(other, m)


def _weight(best: float, other: float, y: float, noise: Noise) -> float:
    """Return the x with g(x) = y."""
    low, high = 0.0, 1.0
    while _evidence(best, other, high, noise) < y and high < 1e15:
        high *= 2.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if _evidence(best, other, middle, noise) < y else (low, middle)
    return low


def _balance(best: float, others: Floats, y: float, noise: Noise) -> float:
    """Return Σ_a d(μ_1, m)/d(μ_a, m) at y."""
    total = 0.0
    for other in others.tolist():
        m = _pooled(best, other, _weight(best, other, y, noise))
        against = noise.divergence(other, m)
        total += noise.divergence(best, m) / against if against > 0.0 else np.inf
    return total
