"""Poisson noise: a reward is a count."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.compiled import Parameters, kernel
from ocucb.noise import gamma_tail, normal
from ocucb.noise.excess import rise, share
from ocucb.noise.noise import LARGEST, Family, Noise

FEW = 12.0  # a mean up to which counting up from 0 is quicker


@kernel
def divergence(p: float, q: float, family: Parameters) -> float:
    if q < 0.0:
        return math.inf
    return share(p, q, q - p)


@kernel
def upper(mean: float, pulls: float, level: float, family: Parameters) -> float:
    x = max(level, 0.0) / pulls
    if x == 0.0:
        return mean
    if x > 1e18 * mean:
        return x  # the limit at mean 0, already right to the last digit
    return mean + mean * rise(x / mean)


@kernel
def posterior(mean: float, pulls: float, level: float, family: Parameters) -> float:
    """Return the quantile of Gamma(1 + S, rate T), S the sum of the rewards."""
    return gamma_tail.quantile(1.0 + mean * pulls, level, 1.0) / pulls


@kernel
def switch(mean: float, pulls: float, level: float, family: Parameters) -> float:
    return upper(mean, pulls, abs(level), family)


@kernel
def settle(count: float, mean: float, level: float) -> float:
    """Return the smallest count k with P(X <= k) >= exp(-level), starting nearby: X <= k if Gamma(k + 1) > mean."""
    while gamma_tail.quantile(count + 1.0, level, 1.0) < mean:
        count += 1.0
    while count >= 1.0 and gamma_tail.quantile(count, level, 1.0) >= mean:
        count -= 1.0
    return count


@kernel
def quantile(mean: float, uniform: float, family: Parameters) -> float:
    """Return the exact quantile: counted out for small means, else from its expansion in 1/sqrt(mean)."""
    level = -math.log(uniform)
    if mean <= FEW:
        count = 0.0
        term = math.exp(-mean)
        total = term
        while total < uniform and term > 1e-20:
            count += 1.0
            term *= mean / count
            total += term
        return settle(count, mean, level) if uniform > 0.9999 else count
    z = normal.quantile(uniform)
    y = z * z
    root = math.sqrt(mean)
    bend = (3.0 * y * y + 7.0 * y - 16.0) / (810.0 * mean)
    real = max(0.0, mean + (root * z + (2.0 + y) / 6 - z * (2.0 + y) / (72.0 * root) + bend))
    count = real - real % 1.0
    error = (1.0 + abs(z) * y * y) / (50.0 * mean * root) + 4e-16 * mean  # of the expansion, and of rounding
    if mean > 1e15 or error < real - count < 1.0 - error:
        return count
    return settle(count, mean, level)


@dataclass(frozen=True)
class Poisson(Noise):
    """Rewards that count events: 0, 1, 2, ...

    d(p, q) = q - p + p log(p/q);  posterior under a flat prior: Gamma(1 + S, rate T)

    >>> Poisson().upper(0.0, 2.5)
    2.5
    """

    name: ClassVar[str] = "poisson"
    formula: ClassVar[str] = "d(p, q) = q - p + p log(p/q)"
    whole: ClassVar[bool] = True

    def family(self) -> Family:
        return Family(divergence, upper, posterior, switch, quantile)

    def support(self) -> tuple[float, float]:
        return 0.0, LARGEST

    def expected(self) -> str:
        return "a whole number, 0 or more"
