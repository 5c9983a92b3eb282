"""UCB-Tuned: UCB1 with an upper bound on each arm's variance in place of the largest possible one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.compiled import Parameters, kernel
from ocucb.policies.policy import Policy, Rule, Trend, WithArms


@kernel
def level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return math.log(t)


@kernel
def variance_bound(mean: float, pulls: float, level: float, spread: Parameters) -> float:
    share = level / pulls
    relative = spread[0] / spread[1]
    variance = min(0.25, relative * relative + math.sqrt(2.0 * share))
    return mean + spread[1] * math.sqrt(share * variance)


@dataclass(frozen=True)
class UCBTuned(Policy):
    """UCB with the empirical variance V of each arm's rewards, which lie in a range of width b; nothing to tune.

    index = mean + b √((L/T) min{1/4, V/b² + √(2 L/T)}),  L = log t

    P. Auer, N. Cesa-Bianchi, P. Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem", 2002, section 4.
    """

    name: ClassVar[str] = "ucb-tuned"
    formula: ClassVar[str] = "index = mean + b √((L/T) min{1/4, V/b² + √(2 L/T)}), L = log t"
    source: ClassVar[str] = "Auer et al. 2002"

    def rule(self) -> Rule:
        return Rule(
            level=level,
            trend=Trend.RISES,
            with_arms=WithArms.UNREAD,
            shared=True,
            variance_bound=variance_bound,
        )
