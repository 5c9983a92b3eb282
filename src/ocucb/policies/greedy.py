"""Greedy: the best mean so far, and no exploration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ocucb.compiled import Parameters, kernel
from ocucb.policies.policy import Policy, Rule, Trend, WithArms


@kernel
def level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return 0.0


@dataclass(frozen=True)
class Greedy(Policy):
    """Greedy play: the baseline that never explores after its first look at each arm.

    L = 0, so that the index of an arm is its mean

    It has no parameters.

    A baseline without a paper.
    """

    name: ClassVar[str] = "greedy"
    formula: ClassVar[str] = "0: the index is the mean"
    source: ClassVar[str] = "baseline"

    def rule(self) -> Rule:
        return Rule(level=level, trend=Trend.FALLS, with_arms=WithArms.UNREAD, shared=True)
