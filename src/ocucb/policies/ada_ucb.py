"""AdaUCB: OCUCB-n's effective arms with a known horizon, and an anytime form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.checks import whole
from ocucb.compiled import Parameters, kernel
from ocucb.policies.policy import Policy, Rule, Trend, WithArms


@kernel
def refined_logarithm(x: float) -> float:
    y = x + math.e
    return math.log(y * math.sqrt(math.log(y)))


@kernel
def level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return refined_logarithm(parameters[0] / (pulls * effective))


@kernel
def level_anytime(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return refined_logarithm(t / (pulls * effective))


@dataclass(frozen=True)
class AdaUCB(Policy):
    """AdaUCB: minimax and asymptotically optimal and never worse than UCB, for Gaussian noise and a known horizon.

    L = log( (x + e) sqrt(log(x + e)) ),  x = n/(T k),  k = Σ_j min{1, (T_j/T)^½}

    Parameters
    ----------
    horizon : the number of rounds n, or None for the anytime form with t in place of n, which no theorem covers.

    T. Lattimore, "Refining the Confidence Level for Optimistic Bandit Strategies", 2018.
    """

    name: ClassVar[str] = "ada-ucb"
    formula: ClassVar[str] = "log((x + e) √log(x + e)),  x = n/(T k), anytime t/(T k)"
    source: ClassVar[str] = "Lattimore 2018"

    horizon: int | None = None

    def __post_init__(self) -> None:
        if self.horizon is not None:
            whole("horizon", self.horizon, 1, "if it is unknown use horizon=None, the anytime form")

    def rule(self) -> Rule:
        if self.horizon is None:
            return Rule(level=level_anytime, rho=0.5, trend=Trend.RISES, with_arms=WithArms.UNREAD)
        return Rule(
            parameters=(self.horizon,),
            level=level,
            rho=0.5,
            trend=Trend.FALLS,
            with_arms=WithArms.UNREAD,
            horizon=self.horizon,
        )
