"""Exponential noise: a reward is a waiting time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.compiled import Parameters, kernel
from ocucb.noise import gamma_tail
from ocucb.noise.excess import fall, share
from ocucb.noise.noise import LARGEST, Family, Noise


@kernel
def divergence(p: float, q: float, family: Parameters) -> float:
    if p == q:
        return 0.0
    if p <= 0.0 or q <= 0.0:
        return math.inf  # a mean of 0 is certainty, which no other exponential law shares
    return share(q, p, p - q) / q


@kernel
def upper(mean: float, pulls: float, level: float, family: Parameters) -> float:
    """Return the bound; for mean 0, from which every other law is infinitely far, 0."""
    if mean <= 0.0:
        return mean
    s = fall(max(level, 0.0) / pulls)
    if s < 700.0:
        return mean + mean * math.expm1(s)
    root = math.exp(0.5 * s)  # the square alone might overflow
    return mean * root * root


@kernel
def posterior(mean: float, pulls: float, level: float, family: Parameters) -> float:
    """Return the quantile of 1/rate, rate ~ Gamma(1 + T, rate S), S the sum of the rewards; for S = 0, 0."""
    if mean <= 0.0:
        return 0.0
    return mean * pulls / gamma_tail.quantile(1.0 + pulls, level, -1.0)


@kernel
def switch(mean: float, pulls: float, level: float, family: Parameters) -> float:
    return upper(mean, pulls, abs(level), family)


@kernel
def quantile(mean: float, uniform: float, family: Parameters) -> float:
    return -mean * math.log1p(-uniform)


@dataclass(frozen=True)
class Exponential(Noise):
    """Rewards that are exponential waiting times.

    d(p, q) = p/q - 1 - log(p/q);  posterior under a flat prior on the rate 1/mean: Gamma(1 + T, rate S)

    >>> round(Exponential().upper(1.0, 0.5), 12)
    3.314445823669
    """

    name: ClassVar[str] = "exponential"
    formula: ClassVar[str] = "d(p, q) = p/q - 1 - log(p/q)"

    def family(self) -> Family:
        return Family(divergence, upper, posterior, switch, quantile)

    def support(self) -> tuple[float, float]:
        return 0.0, LARGEST

    def expected(self) -> str:
        return "a finite number, 0 or more"
