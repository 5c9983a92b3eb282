"""MOSS-anytime: MOSS with the round in the place of the horizon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.checks import at_least
from ocucb.compiled import Parameters, kernel
from ocucb.policies.policy import Policy, Rule, Trend, WithArms


@kernel
def level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return (1.0 + parameters[0]) * math.log(max(1.0, t / (arms * pulls)))


@dataclass(frozen=True)
class MOSSAnytime(Policy):
    """MOSS without a horizon: minimax optimal in every round, up to a constant.

    L = (1 + α) log⁺(t / (K T))

    Parameters
    ----------
    alpha : how much wider α the confidence interval is than MOSS's, 0 or more.

    R. Degenne and V. Perchet, "Anytime optimal algorithms in stochastic multi-armed bandits", 2016.
    """

    name: ClassVar[str] = "moss-anytime"
    formula: ClassVar[str] = "(1 + α) log⁺(t / (K T))"
    source: ClassVar[str] = "Degenne & Perchet 2016"

    alpha: float = 1.35

    def __post_init__(self) -> None:
        at_least("alpha", self.alpha, 0.0, "use alpha=1.35")

    def rule(self) -> Rule:
        return Rule(parameters=(self.alpha,), level=level, trend=Trend.RISES, with_arms=WithArms.FALLS)
