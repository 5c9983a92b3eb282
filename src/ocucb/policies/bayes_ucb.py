"""Bayes-UCB: an upper quantile of each arm's posterior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.checks import at_least, whole
from ocucb.compiled import Parameters, kernel
from ocucb.errors import ParameterError
from ocucb.policies.policy import Policy, Rule, Trend, WithArms


@kernel
def level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return math.log(t) + parameters[0]


@dataclass(frozen=True)
class BayesUCB(Policy):
    """Bayes-UCB: plays the largest posterior quantile at 1 - 1/(t (log n)^c).

    L = log t + c log⁺ log n, where the posterior exceeds the index with probability exp(-L)

    Parameters
    ----------
    horizon : the number of rounds n, needed only where c is not 0.
    c : weight of the horizon, 0 or more. The theory uses 5; its authors recommend 0 in practice.

    E. Kaufmann, O. Cappé, A. Garivier, "On Bayesian Upper Confidence Bounds for Bandit Problems", 2012.
    """

    name: ClassVar[str] = "bayes-ucb"
    formula: ClassVar[str] = "posterior quantile at 1 - 1/(t (log n)^c)"
    source: ClassVar[str] = "Kaufmann, Cappé & Garivier 2012"

    horizon: int | None = None
    c: float = 0.0

    def __post_init__(self) -> None:
        if self.horizon is not None:
            whole("horizon", self.horizon, 1, "if it is unknown use horizon=None with c=0")
        if at_least("c", self.c, 0.0, "use c=0") > 0.0 and self.horizon is None:
            raise ParameterError(f"c = {self.c:g} needs a horizon, got none; give the number of rounds, or use c=0")

    def rule(self) -> Rule:
        # log log n is negative for n = 2 and nothing at all for n = 1.
        weight = self.c * math.log(max(1.0, math.log(self.horizon))) if self.horizon is not None else 0.0
        return Rule(
            parameters=(weight,),
            level=level,
            trend=Trend.RISES,
            with_arms=WithArms.UNREAD,
            shared=True,
            bound="posterior",
            horizon=self.horizon,
        )
