"""KL-UCB++: minimax and asymptotically optimal at once, for a known horizon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.checks import whole
from ocucb.compiled import Parameters, kernel
from ocucb.policies.policy import UNKNOWN_HORIZON, Policy, Rule, Trend, WithArms


@kernel
def level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    # Below 1 both logarithms are 0, so a share held at 1 gives the same level.
    share = max(1.0, parameters[0] / (arms * pulls))
    return math.log(share * (1.0 + math.log(share) ** 2))


@dataclass(frozen=True)
class KLUCBPlusPlus(Policy):
    """KL-UCB++: MOSS's level with a second logarithm, which makes it asymptotically optimal too.

    L = log⁺( y (1 + (log⁺ y)²) ),  y = n/(K T),  log⁺ x = max{0, log x}

    Parameters
    ----------
    horizon : the number of rounds n.

    P. Ménard and A. Garivier, "A Minimax and Asymptotically Optimal Algorithm for Stochastic Bandits", 2017.
    """

    name: ClassVar[str] = "kl-ucb++"
    formula: ClassVar[str] = "log⁺(y (1 + (log⁺ y)²)),  y = n/(K T)"
    source: ClassVar[str] = "Ménard & Garivier 2017"

    horizon: int

    def __post_init__(self) -> None:
        whole("horizon", self.horizon, 1, UNKNOWN_HORIZON)

    def rule(self) -> Rule:
        return Rule(
            parameters=(self.horizon,), level=level, trend=Trend.FALLS, with_arms=WithArms.FALLS, horizon=self.horizon
        )
