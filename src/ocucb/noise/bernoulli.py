"""Bernoulli noise: a reward is 0 or 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.compiled import Parameters, kernel
from ocucb.noise import beta_tail
from ocucb.noise.binary import entropy, gain
from ocucb.noise.noise import Family, Noise


@kernel
def divergence(p: float, q: float, family: Parameters) -> float:
    return entropy(p, 1.0 - p, q, 1.0 - q, q - p)


@kernel
def upper(mean: float, pulls: float, level: float, family: Parameters) -> float:
    return min(1.0, mean + gain(mean, 1.0 - mean, level / pulls))


@kernel
def posterior(mean: float, pulls: float, level: float, family: Parameters) -> float:
    """Return the quantile of Beta(1 + S, 1 + F), S successes and F failures."""
    return beta_tail.quantile(1.0 + mean * pulls, 1.0 + (1.0 - mean) * pulls, level)


@kernel
def switch(mean: float, pulls: float, level: float, family: Parameters) -> float:
    if level < 0.0:
        return mean + 0.5 * math.sqrt(-2.0 * level / pulls)
    return upper(mean, pulls, level, family)


@kernel
def quantile(mean: float, uniform: float, family: Parameters) -> float:
    return 1.0 if uniform > 1.0 - mean else 0.0


@dataclass(frozen=True)
class Bernoulli(Noise):
    """Rewards 0 or 1.

    d(p, q) = p log(p/q) + (1 - p) log((1 - p)/(1 - q));  posterior under a uniform prior: Beta(1 + S, 1 + F)

    >>> round(Bernoulli().upper(0.5, 0.1), 12)
    0.712878631456
    """

    name: ClassVar[str] = "bernoulli"
    formula: ClassVar[str] = "d(p, q) = p log(p/q) + (1 - p) log((1 - p)/(1 - q))"
    whole: ClassVar[bool] = True

    def family(self) -> Family:
        return Family(divergence, upper, posterior, switch, quantile)

    def support(self) -> tuple[float, float]:
        return 0.0, 1.0

    def expected(self) -> str:
        return "0 or 1 (use Bounded(0, 1) for rewards in between)"
