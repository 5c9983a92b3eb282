"""What every noise family is: a frozen record that gives its divergence, its bounds and its rewards."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ocucb.compiled import BoundFunction, DivergenceFunction, Parameters, QuantileFunction

LARGEST = sys.float_info.max


class Family(NamedTuple):
    """The compiled side of a noise family.

    divergence  (p, q, family) -> d(p, q) between the laws of means p and q
    upper       (mean, pulls, level, family) -> the largest q >= mean with pulls * d(mean, q) <= level
    posterior   (mean, pulls, level, family) -> the q that the mean exceeds with posterior probability exp(-level)
    switch      like upper; a negative level asks for the subgaussian bound at -level, where the family has one
    quantile    (mean, uniform, family) -> a reward of that mean, for a uniform in (0, 1)
    parameters  the floats that all of them receive as `family`
    """

    divergence: DivergenceFunction
    upper: BoundFunction
    posterior: BoundFunction
    switch: BoundFunction
    quantile: QuantileFunction
    parameters: Parameters = ()


@dataclass(frozen=True)
class Noise(ABC):
    """How rewards are spread around an arm's mean. Immutable, comparable, printable."""

    name: ClassVar[str]
    formula: ClassVar[str]
    whole: ClassVar[bool] = False  # rewards are integers

    @abstractmethod
    def family(self) -> Family:
        """Return what the compiled selectors need."""

    def support(self) -> tuple[float, float]:
        """Return the smallest and the largest possible reward."""
        return -LARGEST, LARGEST

    def expected(self) -> str:
        """Say in words what a reward must be."""
        return "a finite number"

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

    def to_dict(self) -> dict[str, Any]:
        """Return the name and parameters as plain data."""
        plain = {key: value.item() if isinstance(value, np.generic) else value for key, value in asdict(self).items()}
        return {"name": self.name, "parameters": plain}
