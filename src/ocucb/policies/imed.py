"""IMED: the arm whose inferiority has the least evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.compiled import Parameters, call_divergence, kernel
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
    return -(pulls * float(call_divergence(divergence, (mean, best, family))) + math.log(pulls))


@dataclass(frozen=True)
class IMED(Policy):
    """Indexed Minimum Empirical Divergence: anytime and asymptotically optimal, without confidence bounds.

    plays the smallest  T d(mean, best mean) + log T

    It has no parameters.

    J. Honda and A. Takemura, "Non-asymptotic Analysis of a New Bandit Algorithm for Semi-bounded Rewards", 2015.
    """

    name: ClassVar[str] = "imed"
    formula: ClassVar[str] = "smallest T d(mean, best mean) + log T"
    source: ClassVar[str] = "Honda & Takemura 2015"

    def rule(self) -> Rule:
        return Rule(score=score, reads_divergence=True, chances=Chances(coin=0.0))
