"""Geometric noise: a reward counts how often something was tried before it ended."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import ocucb
from ocucb.checks import whole
from ocucb.compiled import Floats, Parameters, kernel
from ocucb.noise import Family, Noise
from ocucb.noise.beta_tail import quantile as beta_quantile
from ocucb.noise.noise import LARGEST_FLOAT, Z

HALVINGS = 60


@kernel
def times_log(x: float, ratio: float) -> float:
    """Return x log(ratio), which is 0 at x = 0."""
    return x * math.log(ratio) if x > 0.0 else 0.0


@kernel
def divergence(p: float, q: float, family: Parameters) -> float:
    p, q = p - family[0], q - family[0]
    if q <= 0.0:
        return 0.0 if p <= 0.0 else math.inf
    return times_log(p, p / q) + (1.0 + p) * math.log((1.0 + q) / (1.0 + p))


@kernel
def upper(mean: float, pulls: float, level: float, family: Parameters) -> float:
    """Halve an interval for log(1 + q) in which it must lie."""
    if not level > 0.0:
        return mean
    p = max(mean - family[0], 0.0)
    low = math.log1p(p)
    high = min(level / pulls + times_log(1.0 + p, 1.0 + p) - times_log(p, p), 700.0)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if divergence(p + family[0], math.expm1(middle) + family[0], family) * pulls <= level:
            low = middle
        else:
            high = middle
    return max(mean, math.expm1(low) + family[0])


@kernel
def posterior(mean: float, pulls: float, level: float, family: Parameters) -> float:
    """Under a uniform prior the chance c of going on is Beta(1 + S, 1 + T); the mean is c/(1 - c)."""
    going_on = beta_quantile(1.0 + (mean - family[0]) * pulls, 1.0 + pulls, level)
    return family[0] + going_on / max(1.0 - going_on, 1e-300)


@kernel
def switch(mean: float, pulls: float, level: float, family: Parameters) -> float:
    return upper(mean, pulls, abs(level), family)


@kernel
def quantile(mean: float, uniform: float, family: Parameters) -> float:
    p = mean - family[0]
    if p <= 0.0:
        return family[0]
    return family[0] + math.floor(math.log1p(-uniform) / -math.log1p(1.0 / p))


@ocucb.register
@dataclass(frozen=True)
class Geometric(Noise):
    """Rewards that count tries: first, first + 1, ..., each as likely to be the last as any other.

    d(p, q) = p log(p/q) + (1 + p) log((1 + q)/(1 + p)), for means p and q less `first`

    Parameters
    ----------
    first : the smallest count, 0 if the last try is not counted and 1 if it is.
    """

    name: ClassVar[str] = "geometric"
    formula: ClassVar[str] = "d(p, q) = p log(p/q) + (1 + p) log((1 + q)/(1 + p))"
    summary: ClassVar[str] = "tries until something ends"
    interval_method: ClassVar[str] = "the score interval, whose variance is q(1 + q)"
    whole: ClassVar[bool] = True

    first: int = 0

    def __post_init__(self) -> None:
        whole("first", self.first, 0, "use 0 or 1", high=1)

    def family(self) -> Family:
        return Family(divergence, upper, posterior, switch, quantile, (float(self.first),))

    def standard_deviation(self, mean: float) -> float:
        return math.sqrt((mean - self.first) * (mean - self.first + 1.0))

    def support(self) -> tuple[float, float]:
        return float(self.first), LARGEST_FLOAT

    def expected(self) -> str:
        return f"a whole number, {self.first} or more"

    def interval_ends(self, means: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """Solve (p - q)² = z² q (1 + q)/n for q. With few rewards there is no upper end."""
        p, share = means - self.first, Z**2 / counts
        middle = 2.0 * p + share
        root = np.sqrt(np.maximum(middle**2 - 4.0 * (1.0 - share) * p**2, 0.0))
        width = np.maximum(2.0 * (1.0 - share), 1e-300)
        high = np.where(share < 1.0, (middle + root) / width, math.inf)
        return self.first + 2.0 * p**2 / (middle + root), self.first + high
