"""Bernoulli noise: a reward is 0 or 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ocucb.compiled import Floats, Parameters, kernel
from ocucb.noise import beta_tail
from ocucb.noise.binary import largest_gain, relative_entropy
from ocucb.noise.mixture import HEAVY, LIGHT, dilution, mixed, remainder
from ocucb.noise.noise import Evidence, Family, Noise, Z


@kernel
def divergence(p: float, q: float, family: Parameters) -> float:
    return relative_entropy(p, 1.0 - p, q, 1.0 - q, q - p)


@kernel
def upper(mean: float, pulls: float, level: float, family: Parameters) -> float:
    return min(1.0, mean + largest_gain(mean, 1.0 - mean, level / pulls))


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


@kernel
def evidence_by(mean: float, count: float, null: float, weight: float, family: Parameters) -> float:
    """Return the evidence against a mean, by a mixture over Beta(weight null, weight (1 - null)).

    Each likelihood ratio is the exponential of a line, so it is convex: rewards in between 0 and 1 do no harm.
    """
    total, rest = count + weight, 1.0 - null
    high = (weight * null + count * mean) / total
    low = (weight * rest + count * (1.0 - mean)) / total
    value = total * relative_entropy(high, low, null, rest, count * (null - mean) / total)
    value -= dilution(count, weight) + 0.5 * math.log((high / null) * (low / rest))
    value += remainder(total * high) + remainder(total * low) - remainder(total)
    return value - remainder(weight * null) - remainder(weight * rest) + remainder(weight)


@kernel
def evidence(mean: float, count: float, null: float, family: Parameters) -> float:
    """Return the evidence against a mean, by both priors."""
    heavy = evidence_by(mean, count, null, HEAVY, family)
    return mixed(heavy, evidence_by(mean, count, null, LIGHT, family))


@dataclass(frozen=True)
class Bernoulli(Noise):
    """Rewards 0 or 1.

    d(p, q) = p log(p/q) + (1 - p) log((1 - p)/(1 - q));  posterior under a uniform prior: Beta(1 + S, 1 + F)

    >>> round(Bernoulli().upper(0.5, 0.1), 12)
    0.712878631456
    """

    name: ClassVar[str] = "bernoulli"
    formula: ClassVar[str] = "d(p, q) = p log(p/q) + (1 - p) log((1 - p)/(1 - q))"
    summary: ClassVar[str] = "0 or 1"
    interval_method: ClassVar[str] = "Wilson's interval"
    whole: ClassVar[bool] = True

    def family(self) -> Family:
        return Family(divergence, upper, posterior, switch, quantile, width=1.0)

    def evidence(self) -> Evidence:
        return Evidence(evidence)

    def standard_deviation(self, mean: float) -> float:
        return math.sqrt(mean * (1.0 - mean))

    def interval_ends(self, means: Floats, counts: Floats) -> tuple[Floats, Floats]:
        share = Z**2 / counts
        centre = (means + share / 2.0) / (1.0 + share)
        half = np.sqrt(means * (1.0 - means) * share + share**2 / 4.0) / (1.0 + share)
        return centre - half, centre + half

    def support(self) -> tuple[float, float]:
        return 0.0, 1.0

    def expected(self) -> str:
        return "0 or 1 (use Bounded(0, 1) for rewards in between)"
