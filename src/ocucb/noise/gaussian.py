"""Gaussian noise of a known scale, which also serves any subgaussian or bounded reward."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ocucb.checks import above
from ocucb.compiled import Floats, Parameters, kernel
from ocucb.noise import normal
from ocucb.noise.noise import Family, Noise, Z


@kernel
def divergence(p: float, q: float, family: Parameters) -> float:
    z = (q - p) / family[0]
    return 0.5 * z * z


@kernel
def upper(mean: float, pulls: float, level: float, family: Parameters) -> float:
    return mean + family[0] * math.sqrt(2.0 * max(level, 0.0) / pulls)


@kernel
def posterior(mean: float, pulls: float, level: float, family: Parameters) -> float:
    return mean + family[0] * normal.upper_quantile(level) / math.sqrt(pulls)


@kernel
def switch(mean: float, pulls: float, level: float, family: Parameters) -> float:
    return upper(mean, pulls, abs(level), family)


@kernel
def quantile(mean: float, uniform: float, family: Parameters) -> float:
    return mean + family[0] * normal.quantile(uniform)


@dataclass(frozen=True)
class Gaussian(Noise):
    """Rewards N(mean, scale²). Also right for any reward that is subgaussian, so for any that is bounded.

    d(p, q) = (q - p)² / (2 scale²);  posterior under a flat prior: N(mean, scale²/T)

    Parameters
    ----------
    scale : standard deviation, or subgaussian scale: half the range, for bounded rewards.

    >>> Gaussian(scale=0.5).upper(0.25, 2.0)
    1.25
    """

    name: ClassVar[str] = "gaussian"
    formula: ClassVar[str] = "d(p, q) = (q - p)² / (2 scale²)"
    summary: ClassVar[str] = "around a mean, with a known scale"
    interval_method: ClassVar[str] = "mean ± 1.96 scale/√n"

    scale: float = 1.0

    def __post_init__(self) -> None:
        above("scale", self.scale, 0.0, "use scale=1, or half the range of bounded rewards")

    def family(self) -> Family:
        return Family(divergence, upper, posterior, switch, quantile, (float(self.scale),))

    def standard_deviation(self, mean: float) -> float:
        return float(self.scale)

    def interval_ends(self, means: Floats, counts: Floats) -> tuple[Floats, Floats]:
        half = Z * float(self.scale) / np.sqrt(counts)
        return means - half, means + half

    def subgaussian_scale(self) -> float:
        return float(self.scale)

    def gaussian_scale(self) -> float:
        return float(self.scale)
