"""KL-UCB: the same confidence for every arm, growing with the logarithm of time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.checks import at_least
from ocucb.compiled import Parameters, kernel
from ocucb.policies.policy import Policy, Rule, Trend, WithArms


@kernel
def level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    log_t = math.log(t)
    return max(0.0, log_t + parameters[0] * math.log(log_t))


@dataclass(frozen=True)
class KLUCB(Policy):
    """KL-UCB: anytime and asymptotically optimal, the reference for Bernoulli and other exponential families.

    L = log t + c log log t, and 0 where that is negative

    Parameters
    ----------
    c : weight of the second logarithm, 0 or more. The theory uses 3; its authors recommend 0 in practice.

    A. Garivier and O. Cappé, "The KL-UCB Algorithm for Bounded Stochastic Bandits and Beyond", 2011.
    O. Cappé, A. Garivier, O.-A. Maillard, R. Munos, G. Stoltz, "Kullback-Leibler Upper Confidence Bounds for Optimal
    Sequential Allocation", 2013.
    """

    name: ClassVar[str] = "kl-ucb"
    formula: ClassVar[str] = "log t + c log log t"
    source: ClassVar[str] = "Garivier & Cappé 2011; Cappé et al. 2013"

    c: float = 0.0

    def __post_init__(self) -> None:
        at_least("c", self.c, 0.0, "use c=0 in practice, or c=3 as in the theory")

    def rule(self) -> Rule:
        return Rule(parameters=(self.c,), level=level, trend=Trend.RISES, with_arms=WithArms.UNREAD, shared=True)
