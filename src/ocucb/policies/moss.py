"""MOSS: the minimax optimal strategy in the stochastic case."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.checks import above, warn_of_lost_guarantee, whole
from ocucb.compiled import Parameters, kernel
from ocucb.policies.policy import UNKNOWN_HORIZON, Policy, Rule, Trend, WithArms


@kernel
def level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    horizon, c = parameters[0], parameters[1]
    return c / 2.0 * math.log(max(1.0, horizon / (arms * pulls)))


@dataclass(frozen=True)
class MOSS(Policy):
    """Minimax optimal for a known horizon: no confidence is left to an arm that had its fair share of the rounds.

    L = (c/2) log⁺(n/(K T)),  log⁺ x = max{0, log x}

    Parameters
    ----------
    horizon : the number of rounds n.
    c : width of the confidence interval, greater than 0; 4 as in the paper, 2 in Lattimore's experiments.

    J.-Y. Audibert and S. Bubeck, "Minimax Policies for Adversarial and Stochastic Bandits", 2009.
    """

    name: ClassVar[str] = "moss"
    formula: ClassVar[str] = "(c/2) log⁺(n/(K T))"
    source: ClassVar[str] = "Audibert & Bubeck 2009"

    horizon: int
    c: float = 4.0

    def __post_init__(self) -> None:
        whole("horizon", self.horizon, 1, UNKNOWN_HORIZON)
        if above("c", self.c, 0.0, "use c=4 as in the paper, or c=2 for less exploration") < 2.0:
            warn_of_lost_guarantee(
                f"c = {self.c:g}: below 2 no minimax bound covers MOSS; its paper proves one for c = 4"
            )

    def rule(self) -> Rule:
        return Rule(
            parameters=(self.horizon, self.c),
            level=level,
            trend=Trend.FALLS,
            with_arms=WithArms.FALLS,
            horizon=self.horizon,
        )
