"""Priors: laws from which the means of a random problem are drawn, anew for each run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocucb.checks import above, at_least, real
from ocucb.compiled import QUANTILE, Floats, Parameters, QuantileFunction, address, call_quantile, kernel, reals
from ocucb.errors import ParameterError
from ocucb.lab.tape import problem_key
from ocucb.noise import beta_tail, normal
from ocucb.noise.noise import LARGEST_FLOAT
from ocucb.uniforms import uniform

EVEN = "uniform"
KINDS = f'use "{EVEN}", "beta", "normal" or "list"'


@kernel
def uniform_quantile(unused: float, level: float, parameters: Parameters) -> float:
    return parameters[0] + (parameters[1] - parameters[0]) * level


@kernel
def beta_quantile(unused: float, level: float, parameters: Parameters) -> float:
    return beta_tail.quantile(parameters[0], parameters[1], -math.log(level))


@kernel
def normal_quantile(unused: float, level: float, parameters: Parameters) -> float:
    return parameters[0] + parameters[1] * normal.quantile(level)


@kernel
def list_quantile(unused: float, level: float, parameters: Parameters) -> float:
    return parameters[1 + int(level * parameters[0])]


QUANTILES: dict[str, QuantileFunction] = {
    EVEN: uniform_quantile,
    "beta": beta_quantile,
    "normal": normal_quantile,
    "list": list_quantile,
}


@kernel
def draw_means(quantile: int, parameters: int, seed: int, first: int, means: Floats) -> None:
    """Draw the means of the runs first, first + 1, ..., a row each."""
    for row in range(means.shape[0]):
        key = problem_key(seed, first + row)
        for arm in range(means.shape[1]):
            means[row, arm] = call_quantile(quantile, (0.0, uniform(key, arm), reals(parameters)))


@dataclass(frozen=True)
class Prior:
    """A law of means: uniform(low, high), beta(a, b), normal(mean, scale), or list(...), each entry as likely.

    Parameters
    ----------
    kind : "uniform", "beta", "normal" or "list".
    parameters : of the law; for a list its entries.
    """

    kind: str
    parameters: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.kind not in QUANTILES:
            raise ParameterError(f"a prior must be uniform, beta, normal or list, got {self.kind!r}; {KINDS}")
        given = tuple(real(f"parameters of {self.kind}", one, KINDS) for one in self.parameters)
        if self.kind == "list" and not given:
            raise ParameterError("a list of means must have an entry, got none; use values=[0.1, 0.5]")
        if self.kind != "list" and len(given) != 2:
            raise ParameterError(f"{self.kind} must have two parameters, got {len(given)}; use {self.kind}(0, 1)")
        _CHECKS[self.kind](given)
        object.__setattr__(self, "parameters", given)

    def mean(self) -> float:
        """Return the expected mean of an arm."""
        first, second = self.parameters[0], self.parameters[-1]
        if self.kind == "list":
            return math.fsum(self.parameters) / len(self.parameters)
        return {EVEN: 0.5 * (first + second), "beta": first / (first + second), "normal": first}[self.kind]

    def support(self) -> tuple[float, float]:
        """Return the smallest and the largest mean."""
        if self.kind == "beta":
            return 0.0, 1.0
        if self.kind == "normal":
            return -LARGEST_FLOAT, LARGEST_FLOAT
        return min(self.parameters), max(self.parameters)

    def draw(self, seed: int, first: int, runs: int, arms: int) -> Floats:
        """Return the means of the runs first, first + 1, ..., a row each: a function of seed, run and arm."""
        size = (float(len(self.parameters)),) if self.kind == "list" else ()
        parameters = np.array(size + self.parameters)
        means = np.empty((runs, arms))
        draw_means(address(QUANTILES[self.kind], QUANTILE), parameters.ctypes.data, seed, first, means)
        return means

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(f'{one:g}' for one in self.parameters)})"


def _check_uniform(given: tuple[float, ...]) -> None:
    if given[0] >= given[1]:
        raise ParameterError(f"uniform must go from low to high, got {given[0]:g} and {given[1]:g}; use uniform(0, 1)")


def _check_beta(given: tuple[float, ...]) -> None:
    for one in given:
        at_least("parameters of beta", one, 1.0, "use beta(1, 1), which is uniform")


def _check_normal(given: tuple[float, ...]) -> None:
    above("the scale of normal", given[1], 0.0, "use normal(0, 1)")


_CHECKS: dict[str, Callable[[tuple[float, ...]], Any]] = {
    EVEN: _check_uniform,
    "beta": _check_beta,
    "normal": _check_normal,
    "list": lambda given: None,
}
