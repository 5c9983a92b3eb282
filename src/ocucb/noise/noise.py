"""What every noise family is: a frozen record that gives its divergence, its bounds and its rewards."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from ocucb.compiled import BoundFunction, DivergenceFunction, Floats, Parameters, QuantileFunction
from ocucb.noise import mixture

LARGEST_FLOAT = sys.float_info.max
Z = 1.959963984540054  # the 97.5 % quantile of a standard normal


class UniformGenerator(Protocol):
    """Draws uniform numbers, as `random.Random` and `numpy.random.Generator` do."""

    def random(self) -> float:
        """Return a number in [0, 1)."""


class Family(NamedTuple):
    """The compiled side of a noise family.

    divergence  (p, q, family) -> d(p, q) between the laws of means p and q
    upper       (mean, pulls, level, family) -> the largest q >= mean with pulls * d(mean, q) <= level
    posterior   (mean, pulls, level, family) -> the q that the mean exceeds with posterior probability exp(-level)
    switch      like upper; a negative level asks for the subgaussian bound at -level, where the family has one
    quantile    (mean, uniform, family) -> a reward of that mean, for a uniform in (0, 1)
    parameters  the floats that all of them receive as `family`
    spreads     in an index, the first float they receive is the spread of the arm's rewards instead
    width       the largest possible reward less the smallest, which policies that read a variance need
    """

    divergence: DivergenceFunction
    upper: BoundFunction
    posterior: BoundFunction
    switch: BoundFunction
    quantile: QuantileFunction
    parameters: Parameters = ()
    spreads: bool = False
    width: float = math.inf


class Evidence(NamedTuple):
    """How much speaks against a mean, for confidence sequences.

    function    (mean, count, null, parameters) -> log M, M a martingale from 1 (or less) if `null` is the true mean
    parameters  the floats that it receives
    spreads     it receives the spread of the arm's rewards instead, 0 if they are all equal
    """

    function: BoundFunction
    parameters: Parameters = ()
    spreads: bool = False


@dataclass(frozen=True)
class Noise(ABC):
    """How rewards are spread around an arm's mean. Immutable, comparable, printable."""

    name: ClassVar[str]
    formula: ClassVar[str]
    summary: ClassVar[str]  # what rewards are, in a few words
    interval_method: ClassVar[str] = "mean ± 1.96 standard deviations/√n"  # how `interval` is made
    whole: ClassVar[bool] = False  # rewards are integers

    @abstractmethod
    def family(self) -> Family:
        """Return what the compiled selectors need."""

    @abstractmethod
    def standard_deviation(self, mean: float) -> float:
        """Return the standard deviation of a reward of this mean; the largest, where a mean leaves several laws."""

    def support(self) -> tuple[float, float]:
        """Return the smallest and the largest possible reward."""
        return -LARGEST_FLOAT, LARGEST_FLOAT

    def expected(self) -> str:
        """Say in words what a reward must be."""
        return "a finite number"

    def subgaussian_scale(self) -> float | None:
        """Return a σ for which rewards of any mean are σ-subgaussian, or None if there is none.

        Hoeffding's lemma: half the range, where that is finite.
        """
        low, high = self.support()
        return (high - low) / 2.0 if low > -LARGEST_FLOAT and high < LARGEST_FLOAT else None

    def gaussian_scale(self) -> float | None:
        """Return σ if rewards are N(mean, σ²), about which alone some theorems speak; else None."""
        return None

    def evidence(self) -> Evidence | None:
        """Return how much speaks against a mean, or None if nothing is known that would be right at all times.

        Unless a family knows better: Robbins' normal mixture, where rewards are subgaussian.
        """
        scale = self.subgaussian_scale()
        return None if scale is None else Evidence(mixture.subgaussian, (scale,))

    def interval(self, means: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """Return both ends of a 95 % interval for each mean of so many rewards; nan where there are none.

        It holds for a number of rewards that was fixed beforehand. A policy decides by what it sees how many an arm
        gets, so it is a guide for the eye and no test.
        """
        known = counts > 0
        low, high = np.full(means.shape, math.nan), np.full(means.shape, math.nan)
        with np.errstate(over="ignore"):
            low[known], high[known] = self.interval_ends(means[known], counts[known])
        least, most = self.support()
        return np.maximum(low, least), np.minimum(high, most)

    def interval_ends(self, means: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """Return the ends of `interval` for counts of 1 or more, before they are cut to the support."""
        deviations = np.array([self.standard_deviation(float(mean)) for mean in means], dtype=np.float64)
        half = Z * deviations / np.sqrt(counts)
        return means - half, means + half

    def divergence(self, p: float, q: float) -> float:
        """Return d(p, q)."""
        family = self.family()
        return family.divergence(p, q, family.parameters)

    def upper(self, mean: float, x: float) -> float:
        """Return the largest q >= mean with d(mean, q) <= x."""
        family = self.family()
        return family.upper(mean, 1.0, x, family.parameters)

    def quantile(self, mean: float, uniform: float) -> float:
        """Return the reward at probability `uniform` of the law of this mean."""
        family = self.family()
        return family.quantile(mean, uniform, family.parameters)

    def sample(self, mean: float, generator: UniformGenerator) -> float:
        """Draw a reward of this mean."""
        return self.quantile(mean, max(generator.random(), 2.0**-54))

    def to_dict(self) -> dict[str, Any]:
        """Return the name and parameters as plain data."""
        plain = {key: value.item() if isinstance(value, np.generic) else value for key, value in asdict(self).items()}
        return {"name": self.name, "parameters": plain}
