"""KL-UCB+: an arm's confidence shrinks with its own share of the rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.checks import at_least, warn_of_lost_guarantee
from ocucb.compiled import Parameters, kernel
from ocucb.policies.policy import Policy, Rule, Trend, WithArms


@kernel
def level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return parameters[0] * math.log(max(1.0, t / pulls))


@dataclass(frozen=True)
class KLUCBPlus(Policy):
    """KL-UCB+: anytime, with a finite-time bound; the warm-up of the OCUCB-n paper.

    L = η log⁺(t/T),  log⁺ x = max{0, log x}

    Parameters
    ----------
    eta : width of the confidence interval, 1 or more; the paper's bound needs more than 1.

    A. Garivier and O. Cappé, "The KL-UCB Algorithm for Bounded Stochastic Bandits and Beyond", 2011, as a heuristic.
    T. Lattimore, "Regret Analysis of the Anytime Optimally Confident UCB Algorithm", section 3, with its analysis.
    """

    name: ClassVar[str] = "kl-ucb+"
    formula: ClassVar[str] = "η log⁺(t/T)"
    source: ClassVar[str] = "Garivier & Cappé 2011; Lattimore 2016, section 3"

    eta: float = 1.1

    def __post_init__(self) -> None:
        if at_least("eta", self.eta, 1.0, "use eta=1.1") == 1.0:
            warn_of_lost_guarantee("eta = 1: the paper's finite-time bound for KL-UCB+ needs eta > 1")

    def rule(self) -> Rule:
        return Rule(parameters=(self.eta,), level=level, trend=Trend.RISES, with_arms=WithArms.UNREAD)
