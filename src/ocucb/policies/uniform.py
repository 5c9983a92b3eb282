"""Uniform: every arm with the same probability, whatever was learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ocucb.compiled import Parameters, kernel
from ocucb.policies.policy import Chances, Policy, Rule


@kernel
def score(
    t: float,
    arms: float,
    pulls: float,
    mean: float,
    leads: bool,
    best: float,
    best_pulls: float,
    coin: float,
    uniform: float,
    parameters: Parameters,
    divergence: int,
    upper: int,
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
        return Rule(score=score, chances=Chances(coin=1.0, lot=True))
