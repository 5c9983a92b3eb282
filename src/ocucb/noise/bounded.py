"""Bounded noise: a reward is anywhere in a known interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ocucb.checks import above, real
from ocucb.compiled import Floats, Parameters, kernel
from ocucb.noise import bernoulli
from ocucb.noise.binary import largest_gain, relative_entropy
from ocucb.noise.noise import Evidence, Family, Noise

HOEFFDING = math.sqrt(math.log(2.0 / 0.05) / 2.0)


@kernel
def fraction(mean: float, family: Parameters) -> float:
    """Return where in the interval a mean lies, in [0, 1] whatever the rounding."""
    return min(max((mean - family[0]) / (family[1] - family[0]), 0.0), 1.0)


@kernel
def divergence(p: float, q: float, family: Parameters) -> float:
    low, high = family[0], family[1]
    width = high - low
    # The distance to each end, not 1 less the other's: exact where it is small.
    return relative_entropy(
        (p - low) / width, (high - p) / width, (q - low) / width, (high - q) / width, (q - p) / width
    )


@kernel
def upper(mean: float, pulls: float, level: float, family: Parameters) -> float:
    low, high = family[0], family[1]
    width = high - low
    share = largest_gain(fraction(mean, family), min(max((high - mean) / width, 0.0), 1.0), level / pulls)
    return min(max(mean, high), mean + width * share)


@kernel
def posterior(mean: float, pulls: float, level: float, family: Parameters) -> float:
    share = bernoulli.posterior(fraction(mean, family), pulls, level, family)
    return min(family[1], family[0] + (family[1] - family[0]) * share)


@kernel
def switch(mean: float, pulls: float, level: float, family: Parameters) -> float:
    if level < 0.0:
        return mean + 0.5 * (family[1] - family[0]) * math.sqrt(-2.0 * level / pulls)
    return upper(mean, pulls, level, family)


@kernel
def quantile(mean: float, uniform: float, family: Parameters) -> float:
    """Return low or high: of all laws on the interval with this mean, the one of largest variance."""
    return family[1] if uniform > 1.0 - fraction(mean, family) else family[0]


@kernel
def evidence(mean: float, count: float, null: float, family: Parameters) -> float:
    return bernoulli.evidence(fraction(mean, family), count, fraction(null, family), family)


@dataclass(frozen=True)
class Bounded(Noise):
    """Rewards anywhere in [low, high]. Their law need not be known: Bernoulli's divergence covers them all.

    d(p, q) = Bernoulli's, with p and q rescaled to [0, 1];  simulated rewards are low or high, the hardest case

    Parameters
    ----------
    low : the smallest reward.
    high : the largest reward.

    >>> Bounded(-1.0, 1.0).expected()
    'a number between -1 and 1'
    """

    name: ClassVar[str] = "bounded"
    formula: ClassVar[str] = "Bernoulli's d(p, q), with p and q rescaled from [low, high] to [0, 1]"
    summary: ClassVar[str] = "numbers in a known range"
    interval_method: ClassVar[str] = "Hoeffding's interval, for any law on the range"

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        low = real("low", self.low, "give the smallest possible reward")
        high = above("high", self.high, low, "low and high are the smallest and the largest possible reward")
        real("high - low", high - low, "use a narrower range")

    def family(self) -> Family:
        low, high = self.support()
        return Family(divergence, upper, posterior, switch, quantile, (low, high), width=high - low)

    def evidence(self) -> Evidence:
        return Evidence(evidence, (float(self.low), float(self.high)))

    def standard_deviation(self, mean: float) -> float:
        return math.sqrt(max(mean - self.low, 0.0)) * math.sqrt(max(self.high - mean, 0.0))

    def interval_ends(self, means: Floats, counts: Floats) -> tuple[Floats, Floats]:
        half = HOEFFDING * (float(self.high) - float(self.low)) / np.sqrt(counts)
        return means - half, means + half

    def support(self) -> tuple[float, float]:
        return float(self.low), float(self.high)

    def expected(self) -> str:
        return f"a number between {self.low:g} and {self.high:g}"
