"""Bounded noise: a reward is anywhere in a known interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.checks import above, real
from ocucb.compiled import Parameters, kernel
from ocucb.noise import bernoulli
from ocucb.noise.binary import entropy, gain
from ocucb.noise.noise import Family, Noise


@kernel
def fraction(mean: float, family: Parameters) -> float:
    """Return where in the interval a mean lies, in [0, 1] whatever the rounding."""
    return min(max((mean - family[0]) / (family[1] - family[0]), 0.0), 1.0)


@kernel
def divergence(p: float, q: float, family: Parameters) -> float:
    low, high = family[0], family[1]
    width = high - low
    # The distance to each end, not 1 less the other's: exact where it is small.
    return entropy((p - low) / width, (high - p) / width, (q - low) / width, (high - q) / width, (q - p) / width)


@kernel
def upper(mean: float, pulls: float, level: float, family: Parameters) -> float:
    low, high = family[0], family[1]
    width = high - low
    share = gain(fraction(mean, family), min(max((high - mean) / width, 0.0), 1.0), level / pulls)
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


@dataclass(frozen=True)
class Bounded(Noise):
    """Rewards anywhere in [low, high]. Their law need not be known: Bernoulli's divergence covers them all.

    d(p, q) = Bernoulli's, with p and q rescaled to [0, 1];  simulated rewards are low or high, the hardest case

    Parameters
    ----------
    low, high : the ends of the interval.

    >>> Bounded(-1.0, 1.0).expected()
    'a number between -1 and 1'
    """

    name: ClassVar[str] = "bounded"
    formula: ClassVar[str] = "Bernoulli's d(p, q), with p and q rescaled from [low, high] to [0, 1]"

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        low = real("low", self.low, "give the smallest possible reward")
        high = above("high", self.high, low, "low and high are the smallest and the largest possible reward")
        real("high - low", high - low, "use a narrower range")

    def family(self) -> Family:
        return Family(divergence, upper, posterior, switch, quantile, (float(self.low), float(self.high)))

    def support(self) -> tuple[float, float]:
        return float(self.low), float(self.high)

    def expected(self) -> str:
        return f"a number between {self.low:g} and {self.high:g}"
