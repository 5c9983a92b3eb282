"""KL-UCB-switch: the KL bound for arms with few pulls, the subgaussian one for the others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.checks import whole
from ocucb.compiled import Parameters, kernel
from ocucb.policies.policy import UNKNOWN_HORIZON, Policy, Rule, Trend, WithArms


@kernel
def level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    horizon = parameters[0]
    size = math.log(max(1.0, horizon / (arms * pulls)))
    # T <= (n/K)^(1/5) in whole numbers: no rounding of a root where n/K is a fifth power.
    few = arms * (pulls * pulls * pulls * pulls * pulls) <= horizon
    return size if few else -size


@dataclass(frozen=True)
class KLUCBSwitch(Policy):
    """KL-UCB-switch: minimax and asymptotically optimal for rewards in [0, 1], for a known horizon.

    L = log⁺(n/(K T)),  log⁺ x = max{0, log x}
    put into the family's divergence while T <= ⌊(n/K)^(1/5)⌋, and afterwards into its subgaussian bound,
    for rewards in [0, 1]  mean + sqrt(L/(2 T))

    Parameters
    ----------
    horizon : the number of rounds n.

    A. Garivier, H. Hadiji, P. Ménard, G. Stoltz, "KL-UCB-Switch: Optimal Regret Bounds for Stochastic Bandits from Both
    a Distribution-Dependent and a Distribution-Free Viewpoints", 2022.
    """

    name: ClassVar[str] = "kl-ucb-switch"
    formula: ClassVar[str] = "log⁺(n/(K T)); KL bound while T <= ⌊(n/K)^(1/5)⌋, then the subgaussian one"
    source: ClassVar[str] = "Garivier, Hadiji, Ménard & Stoltz 2022"

    horizon: int

    def __post_init__(self) -> None:
        whole("horizon", self.horizon, 1, UNKNOWN_HORIZON)

    def rule(self) -> Rule:
        return Rule(
            parameters=(self.horizon,),
            level=level,
            trend=Trend.FALLS,
            with_arms=WithArms.FALLS,
            bound="switch",
            horizon=self.horizon,
        )
