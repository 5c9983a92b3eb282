"""Where Lemma conc2 is tried, and what is claimed there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from ocucb.compiled import Floats
from ocucb.theory.confidence import alpha_mean_bound, alpha_mean_floor, beta_mean_floor

Part: TypeAlias = Literal["alpha", "beta"]
Factor: TypeAlias = Callable[[float, float], float]
Total: TypeAlias = Callable[[float, Sequence[float]], float]

LIMIT = {"alpha": 50.0, "beta": 90.0}
NAME = {"alpha": "α", "beta": "β"}
BETA_TO_ALPHA = 1.7633  # β/α = 1/W(α) ≤ 1/W(1), since α ≥ D(1) = d wherever it is not 0
ETAS = (1.01, 1.05, 1.2, 1.5, 2.0, 4.0, 16.0, 256.0, 4096.0)


class GridPoint(NamedTuple):
    """Where the lemma is tried, with d = 1."""

    gap: float
    eta: float
    rho: float
    cap: float

    def __str__(self) -> str:
        cap = "∞" if math.isinf(self.cap) else f"{self.cap:g}"
        return f"d = 1, Δ = {self.gap:g}, η = {self.eta:g}, ρ = {self.rho:g}, λ = {cap}"


class Sandwich(NamedTuple):
    """Two numbers with Δ E[α], or Δ E[β], between them: the first for Gaussian, the second for all noise."""

    floor: float
    bound: float


def points(rhos: Sequence[float], etas: Sequence[float] = ETAS) -> Iterator[GridPoint]:
    """Yield a wide grid: Δ from 10 to 1e-10, λ from 1 to infinity, with λΔ² around 1 and far below."""
    for gap in (1.0, 10.0, 0.1, 1e-2, 1e-4, 1e-7, 1e-10):
        caps = {1.0, math.inf} | {ratio / gap**2 for ratio in (1e-8, 1e-4, 1e-2, 1.0, 100.0) if ratio > gap**2}
        yield from (GridPoint(gap, eta, rho, cap) for eta in etas for rho in rhos for cap in sorted(caps))


@cache  # most checks of the lemma look at the same points
def sandwich(part: Part, point: GridPoint) -> Sandwich:
    """Bound Δ E[α] or Δ E[β] from both sides."""
    gap, eta, rho, cap = point
    bound = gap * _mean_bound(gap, min(2.0, eta), rho, cap)
    if part == "alpha":
        return Sandwich(gap * alpha_mean_floor(gap, eta, rho, [cap], samples(gap)), bound)
    return Sandwich(gap * beta_mean_floor(gap, rho, [cap], samples(gap)), BETA_TO_ALPHA * bound)


@cache
def _mean_bound(gap: float, eta: float, rho: float, cap: float) -> float:
    """Return what E[α] is at most; η beyond 2 is taken as 2, as `alpha_mean_bound` does."""
    return alpha_mean_bound(gap, eta, rho, [cap])


@cache
def samples(gap: float) -> Floats:
    """Return numbers s of samples at which bounds from below look."""
    return np.unique(np.floor(np.geomspace(1.0, 2.0 + 10.0 / gap**2, 60)))


def printed_a(eta: float, rho: float) -> float:
    """Return what (a) puts into O(.)."""
    return printed_b(eta, rho) / (2.0 * rho - 1.0)


def corrected_a(eta: float, rho: float) -> float:
    """Return the same, but not vanishing for large η."""
    return corrected_b(eta, rho) / (2.0 * rho - 1.0)


def printed_b(eta: float, rho: float) -> float:
    """Return what (b) puts into O(.)."""
    return 1.0 / ((eta - 1.0) * (eta - 1.0))


def corrected_b(eta: float, rho: float) -> float:
    """Return the same, but not vanishing for large η."""
    return max(1.0, printed_b(eta, rho))


def quarter_sum(gap: float, caps: Sequence[float]) -> float:
    """Return Σ min{1/Δ, λ_i^(1/4)}: a wrong exponent."""
    return float(np.sum(np.minimum(1.0 / gap, np.asarray(caps, dtype=float) ** 0.25)))
