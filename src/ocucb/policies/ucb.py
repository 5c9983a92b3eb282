"""UCB: the classic, and its asymptotically optimal form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from ocucb.checks import above, warn_of_lost_guarantee
from ocucb.compiled import Parameters, kernel
from ocucb.policies.policy import Policy, Rule, Trend, WithArms


@kernel
def level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return parameters[0] / 2.0 * math.log(t)


@kernel
def level_asymptotic(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return math.log(1.0 + t * math.log(t) ** 2)


@dataclass(frozen=True)
class UCB(Policy):
    """Upper confidence bounds, the policy that all others here refine.

    L = (α/2) log t,  or for α = "asymptotic"  L = log(1 + t log² t)

    Parameters
    ----------
    alpha : width of the confidence interval, greater than 0; below 2 the regret need not be logarithmic.
        With Gaussian noise of scale 1/2, which covers rewards in [0, 1], alpha = 8 is UCB1.
        "asymptotic" takes the form whose regret is asymptotically optimal for Gaussian noise.

    P. Auer, N. Cesa-Bianchi, P. Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem", 2002.
    T. Lattimore and C. Szepesvári, "Bandit Algorithms", chapter 8, for the asymptotic form.
    """

    name: ClassVar[str] = "ucb"
    formula: ClassVar[str] = '(α/2) log t; for α = "asymptotic": log(1 + t log² t)'
    source: ClassVar[str] = "Auer et al. 2002; Lattimore & Szepesvári, ch. 8"

    alpha: float | Literal["asymptotic"] = 2.0

    def __post_init__(self) -> None:
        if self.alpha == "asymptotic":
            return
        if above("alpha", self.alpha, 0.0, 'use alpha=2, or alpha="asymptotic"') < 2.0:
            warn_of_lost_guarantee(f"alpha = {self.alpha:g}: below 2 UCB explores too little for logarithmic regret")

    def rule(self) -> Rule:
        if self.alpha == "asymptotic":
            return Rule(level=level_asymptotic, trend=Trend.RISES, with_arms=WithArms.UNREAD, shared=True)
        return Rule(parameters=(self.alpha,), level=level, trend=Trend.RISES, with_arms=WithArms.UNREAD, shared=True)
