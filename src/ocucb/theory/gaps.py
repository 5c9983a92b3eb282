"""Gaps, and the number of effective arms that they leave."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ocucb.checks import within
from ocucb.compiled import Floats
from ocucb.errors import ParameterError


def gaps(means: npt.ArrayLike) -> Floats:
    """Return how far each arm is below the best.

    Δ_i = max_j μ_j - μ_i   (Theorem 1)

    >>> gaps([0.5, 0.25, 0.5]).tolist()
    [0.0, 0.25, 0.0]
    """
    values = np.asarray(means, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise ParameterError(f"means must be a list of finite numbers, got {means!r}; give one number per arm")
    return np.asarray(values.max() - values)


def effective_arms(means: npt.ArrayLike, rho: float = 0.5) -> Floats:
    """Return the number of effective arms that each arm meets.

    k_{i,ρ} = Σ_j min{1, Δ_i^{2ρ} / Δ_j^{2ρ}}   (Theorem 1)

    An arm j no worse than i counts 1, so an arm of gap 0 counts for every other. For i itself of gap 0 only the arms of
    gap 0 count, unless ρ = 0, where all do.

    >>> effective_arms([0.0, -0.1, -0.4], rho=0.5).tolist()
    [1.0, 2.25, 3.0]
    """
    exponent = 2.0 * within("rho", rho, 0.0, 1.0, "rho=0.5 is the canonical choice")
    levels, where, counts = np.unique(gaps(means), return_inverse=True, return_counts=True)
    # Σ over larger gaps of (Δ_i/Δ_j)^{2ρ}, from the largest down: ratios of neighbours neither overflow nor cancel.
    shares = np.power(levels[:-1] / levels[1:], exponent)
    larger = np.zeros(levels.size)
    for i in range(levels.size - 2, -1, -1):
        larger[i] = shares[i] * (counts[i + 1] + larger[i + 1])
    return np.asarray((np.cumsum(counts) + larger)[where])
