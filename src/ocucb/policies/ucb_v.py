"""UCB-V: upper confidence bounds as wide as an arm's rewards vary."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.checks import above, warn_of_lost_guarantee
from ocucb.compiled import Parameters, kernel
from ocucb.policies.policy import Policy, Rule, Trend, WithArms


@kernel
def level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return parameters[0] * math.log(t)


@kernel
def variance_bound(mean: float, pulls: float, level: float, spread: Parameters) -> float:
    share = level / pulls
    return mean + spread[0] * math.sqrt(2.0 * share) + spread[1] * share


@dataclass(frozen=True)
class UCBV(Policy):
    """UCB with the empirical variance V of each arm's rewards, which lie in a range of width b.

    index = mean + √(2 V L / T) + 3 c b L / T,  L = ζ log t

    Parameters
    ----------
    zeta : factor ζ of the level, greater than 0; the paper's theorems need more than 1.
    c : weight of the term that does not shrink with the variance, greater than 0.

    J.-Y. Audibert, R. Munos, C. Szepesvári, "Exploration-exploitation tradeoff using variance estimates in multi-armed
    bandits", 2009.
    """

    name: ClassVar[str] = "ucb-v"
    formula: ClassVar[str] = "index = mean + √(2 V L/T) + 3 c b L/T, L = ζ log t"
    source: ClassVar[str] = "Audibert, Munos & Szepesvári 2009"

    zeta: float = 1.2
    c: float = 1.0

    def __post_init__(self) -> None:
        zeta = above("zeta", self.zeta, 0.0, "use zeta=1.2")
        c = above("c", self.c, 0.0, "use c=1")
        if zeta <= 1.0:
            warn_of_lost_guarantee(f"zeta = {zeta:g}: up to 1 UCB-V explores too little for logarithmic regret")
        elif c < 1.0:
            warn_of_lost_guarantee(f"c = {c:g}: below 1 the bound on the regret of UCB-V does not hold")

    def rule(self) -> Rule:
        return Rule(
            parameters=(self.zeta,),
            level=level,
            trend=Trend.RISES,
            with_arms=WithArms.UNREAD,
            shared=True,
            variance_bound=variance_bound,
            range_weight=3.0 * self.c,
        )
