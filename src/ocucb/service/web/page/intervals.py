"""Intervals for the mean of an arm: pointwise, at 95 %, by the noise that the experiment assumes.

They hold for a number of rewards that was fixed beforehand. A policy decides by what it sees how many an arm gets, so
they are a guide for the eye and no test.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ocucb.compiled import Floats
from ocucb.noise import Bernoulli, Bounded, Exponential, Gaussian, Noise, Poisson

Z = 1.959963984540054
HOEFFDING = math.sqrt(math.log(2.0 / 0.05) / 2.0)
HOW = {
    Gaussian.name: "mean ± 1.96 scale/√n",
    Bernoulli.name: "Wilson's interval",
    Bounded.name: "Hoeffding's interval, for any law on the range",
    Poisson.name: "the score interval, whose variance is the mean",
    Exponential.name: "the score interval, whose standard deviation is the mean",
}


def intervals(noise: Noise, means: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Return both ends for each mean of so many rewards; nan where there are none.

    >>> low, high = intervals(Gaussian(2.0), np.array([1.0, np.nan]), np.array([4.0, 0.0]))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([-0.96, nan], [2.96, nan])
    """
    known = counts > 0
    low, high = np.full(means.shape, math.nan), np.full(means.shape, math.nan)
    with np.errstate(over="ignore"):
        low[known], high[known] = _ENDS[noise.name](noise, means[known], counts[known])
    least, most = noise.support()
    return np.maximum(low, least), np.minimum(high, most)


def _gaussian(noise: Noise, means: Floats, counts: Floats) -> tuple[Floats, Floats]:
    half = Z * noise.family().parameters[0] / np.sqrt(counts)
    return means - half, means + half


def _bernoulli(noise: Noise, means: Floats, counts: Floats) -> tuple[Floats, Floats]:
    share = Z**2 / counts
    centre = (means + share / 2.0) / (1.0 + share)
    half = np.sqrt(means * (1.0 - means) * share + share**2 / 4.0) / (1.0 + share)
    return centre - half, centre + half


def _bounded(noise: Noise, means: Floats, counts: Floats) -> tuple[Floats, Floats]:
    least, most = noise.support()
    half = HOEFFDING * (most - least) / np.sqrt(counts)
    return means - half, means + half


def _poisson(noise: Noise, means: Floats, counts: Floats) -> tuple[Floats, Floats]:
    centre = means + Z**2 / (2.0 * counts)
    half = Z * np.sqrt(means / counts + Z**2 / (4.0 * counts**2))
    return centre - half, centre + half


def _exponential(noise: Noise, means: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Solve |mean - q| = z q/√n for q. With few rewards there is no upper end."""
    ratio = Z / np.sqrt(counts)
    return means / (1.0 + ratio), np.where(ratio < 1.0, means / np.maximum(1.0 - ratio, 1e-300), math.inf)


_ENDS: dict[str, Callable[[Noise, Floats, Floats], tuple[Floats, Floats]]] = {
    Gaussian.name: _gaussian,
    Bernoulli.name: _bernoulli,
    Bounded.name: _bounded,
    Poisson.name: _poisson,
    Exponential.name: _exponential,
}
