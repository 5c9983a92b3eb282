"""OCUCB: the Optimally Confident UCB algorithm for a known horizon, the ancestor of OCUCB-n."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.checks import above, warn_of_lost_guarantee, whole
from ocucb.compiled import Parameters, kernel
from ocucb.policies.policy import UNKNOWN_HORIZON, Policy, Rule, Trend, WithArms


@kernel
def level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    horizon, alpha, psi = parameters[0], parameters[1], parameters[2]
    return alpha / 2.0 * math.log(max(1.0, psi * horizon / t))


@dataclass(frozen=True)
class OCUCB(Policy):
    """Optimally Confident UCB: bold early, and less and less so as the horizon comes near.

    L = (α/2) log(ψ n/t), and 0 where that is negative

    Parameters
    ----------
    horizon : the number of rounds n.
    alpha : width of the confidence interval, greater than 0; the theorem needs more than 2.
    psi : stretches the horizon, greater than 0; the theorem needs 2 or more.

    T. Lattimore, "Optimally Confident UCB: Improved Regret for Finite-Armed Bandits", 2015.
    """

    name: ClassVar[str] = "ocucb"
    formula: ClassVar[str] = "(α/2) log(ψ n/t)"
    source: ClassVar[str] = "Lattimore 2015"

    horizon: int
    alpha: float = 3.0
    psi: float = 2.0

    def __post_init__(self) -> None:
        whole("horizon", self.horizon, 1, UNKNOWN_HORIZON)
        if above("alpha", self.alpha, 0.0, "use alpha=3") <= 2.0:
            warn_of_lost_guarantee(f"alpha = {self.alpha:g}: the regret bounds of OCUCB need alpha > 2")
        if above("psi", self.psi, 0.0, "use psi=2") < 2.0:
            warn_of_lost_guarantee(f"psi = {self.psi:g}: the regret bounds of OCUCB need psi of 2 or more")

    def rule(self) -> Rule:
        return Rule(
            parameters=(self.horizon, self.alpha, self.psi),
            level=level,
            trend=Trend.FALLS,
            with_arms=WithArms.UNREAD,
            shared=True,
            horizon=self.horizon,
        )
