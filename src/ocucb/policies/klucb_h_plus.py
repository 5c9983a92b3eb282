"""KL-UCB-H+: KL-UCB+ with the horizon in place of the time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.checks import whole
from ocucb.compiled import Parameters, kernel
from ocucb.policies.policy import UNKNOWN_HORIZON, Policy, Rule, Trend, WithArms


@kernel
def level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return math.log(max(1.0, parameters[0] / pulls))


@dataclass(frozen=True)
class KLUCBHPlus(Policy):
    """KL-UCB-H+: a level that depends on an arm's own pulls alone.

    L = log⁺(n/T),  log⁺ x = max{0, log x}

    Parameters
    ----------
    horizon : the number of rounds n.

    A. Garivier and O. Cappé, "The KL-UCB Algorithm for Bounded Stochastic Bandits and Beyond", 2011, as a heuristic.
    E. Kaufmann, "On Bayesian Index Policies for Sequential Resource Allocation", 2018, for its Bayesian reading.
    """

    name: ClassVar[str] = "kl-ucb-h+"
    formula: ClassVar[str] = "log⁺(n/T)"
    source: ClassVar[str] = "Garivier & Cappé 2011; Kaufmann 2018"

    horizon: int

    def __post_init__(self) -> None:
        whole("horizon", self.horizon, 1, UNKNOWN_HORIZON)

    def rule(self) -> Rule:
        return Rule(
            parameters=(self.horizon,), level=level, trend=Trend.FALLS, with_arms=WithArms.UNREAD, horizon=self.horizon
        )
