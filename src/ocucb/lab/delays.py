"""Delays: how many rounds after its choice a reward comes, or that it never does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ocucb.checks import at_least, real, whole
from ocucb.compiled import Parameters, QuantileFunction, kernel
from ocucb.errors import ParameterError

KINDS = 'use "fixed(100)", "uniform(0, 200)" or "geometric(50)"'


@kernel
def fixed_quantile(unused: float, level: float, parameters: Parameters) -> float:
    return parameters[0]


@kernel
def uniform_quantile(unused: float, level: float, parameters: Parameters) -> float:
    return parameters[0] + math.floor(level * (parameters[1] - parameters[0] + 1.0))


@kernel
def geometric_quantile(unused: float, level: float, parameters: Parameters) -> float:
    return math.floor(-math.log(level) / math.log1p(1.0 / parameters[0]))


QUANTILES: dict[str, QuantileFunction] = {
    "fixed": fixed_quantile,
    "uniform": uniform_quantile,
    "geometric": geometric_quantile,
}


@dataclass(frozen=True)
class Delay:
    """Rounds between a choice and its reward: fixed(rounds), uniform(low, high) or geometric(mean).

    A reward that is 0 rounds late is known before the next choice. Until it comes the pull is pending, as online.

    Parameters
    ----------
    kind : "fixed", "uniform" or "geometric".
    parameters : the rounds; for uniform the least and the most; for geometric the mean.
    lost : probability that a reward never comes, less than 1.
    """

    kind: str
    parameters: tuple[float, ...]
    lost: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in QUANTILES:
            raise ParameterError(f"a delay must be fixed, uniform or geometric, got {self.kind!r}; {KINDS}")
        expected = 2 if self.kind == "uniform" else 1
        if len(self.parameters) != expected:
            raise ParameterError(
                f"{self.kind} must have {expected} numbers of rounds, got {len(self.parameters)}; {KINDS}"
            )
        if self.kind == "geometric":
            given: tuple[Any, ...] = (at_least("the mean delay", self.parameters[0], 0.0, KINDS),)
        else:
            given = tuple(float(whole("a delay", one, 0, KINDS)) for one in self.parameters)
        if given[0] > given[-1]:
            raise ParameterError(f"uniform must go from low to high, got {given[0]:g} and {given[1]:g}; {KINDS}")
        lost = real("lost", self.lost, "use lost=0.1 for one reward in ten")
        if not 0.0 <= lost < 1.0:
            raise ParameterError(
                f"lost must be 0 or more and less than 1, got {lost:g}; if no reward ever comes, nothing is learned"
            )
        object.__setattr__(self, "parameters", given)
        object.__setattr__(self, "lost", lost)

    def least(self) -> float:
        """Return the rounds that every reward is late."""
        return self.parameters[0] if self.kind != "geometric" else 0.0

    def __str__(self) -> str:
        numbers = [str(int(one)) if one.is_integer() else repr(one) for one in self.parameters]
        return f"{self.kind}({', '.join([*numbers, *([f'lost={self.lost!r}'] if self.lost else [])])})"
