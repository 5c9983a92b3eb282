"""Uniform: every arm with the same probability, whatever was learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ocucb.compiled import Parameters, kernel
from ocucb.policies.policy import Policy, Rule


@kernel
def score(
    t: float,
    pulls: float,
    mean: float,
    best: float,
    coin: float,
    uniform: float,
    parameters: Parameters,
    divergence: int,
    posterior: int,
    family: Parameters,
) -> float:
    return uniform


@dataclass(frozen=True)
class Uniform(Policy):
    """Uniform play: the baseline that never learns.

    each arm with probability 1/K

    It has no parameters.

    A baseline without a paper.
    """

    name: ClassVar[str] = "uniform"
    formula: ClassVar[str] = "each arm with probability 1/K"
    source: ClassVar[str] = "baseline"

    def rule(self) -> Rule:
        return Rule(score=score)
