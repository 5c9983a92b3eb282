"""Maillard sampling: an arm is played with a probability that falls exponentially with the evidence against it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.checks import whole
from ocucb.compiled import Parameters, call_divergence, kernel
from ocucb.errors import ParameterError
from ocucb.policies.policy import Chances, Policy, Rule


@kernel
def score(
    t: float,
    arms: float,
    pulls: float,
    mean: float,
    leads: bool,
    best: float,
    best_pulls: float,
    coin: float,
    uniform: float,
    parameters: Parameters,
    divergence: int,
    upper: int,
    posterior: int,
    family: Parameters,
) -> float:
    # The largest of log-weights to which a Gumbel variable is added falls on an arm with its share of the weights.
    gumbel = -math.log(-math.log(uniform))
    counted = pulls - parameters[0]
    if leads or counted <= 0.0:
        return gumbel
    return gumbel - counted * float(call_divergence(divergence, (mean, best, family)))


@dataclass(frozen=True)
class MaillardSampling(Policy):
    """Maillard sampling, KL-MS: as good as Thompson sampling, and with probabilities in closed form.

    P(i) proportional to exp(-(T - s) d(mean, best mean)), s = 0 for KL-MS and 1 for Exp-KL-MS

    Parameters
    ----------
    subtracted : how many pulls s are taken off, 0 or 1.

    O.-A. Maillard, thesis, 2013; J. Bian and K.-S. Jun, "Maillard Sampling: Boltzmann Exploration Done Optimally",
    2022; H. Qin, K.-S. Jun, C. Zhang, "Kullback-Leibler Maillard Sampling for Multi-armed Bandits with Bounded
    Rewards", 2023, and on exponential families, where s = 1, 2025.
    """

    name: ClassVar[str] = "maillard-sampling"
    formula: ClassVar[str] = "P(i) ∝ exp(-(T - s) d(mean, best mean))"
    source: ClassVar[str] = "Bian & Jun 2022; Qin, Jun & Zhang 2023, 2025"

    subtracted: int = 0

    def __post_init__(self) -> None:
        remedy = "use 0 for KL-MS, or 1 for Exp-KL-MS"
        if whole("subtracted", self.subtracted, 0, remedy) > 1:
            raise ParameterError(f"subtracted must be 0 or 1, got {self.subtracted}; {remedy}")

    def rule(self) -> Rule:
        chances = Chances(coin=1.0, weights=True)
        return Rule(score=score, reads_divergence=True, parameters=(float(self.subtracted),), chances=chances)
