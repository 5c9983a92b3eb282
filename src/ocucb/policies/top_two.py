"""TopTwo: the best arm so far against the one that is hardest to tell from it."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import ClassVar

from ocucb.checks import real
from ocucb.compiled import Parameters, call_divergence, kernel
from ocucb.errors import ParameterError
from ocucb.policies.policy import Chances, Policy, Rule

FIRST = 1.0  # above every score of a challenger
LAST = -sys.float_info.max


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
    if leads:
        return FIRST if coin < parameters[0] else LAST
    if mean == best:
        return -math.log(pulls)
    pooled = (best_pulls * best + pulls * mean) / (best_pulls + pulls)
    evidence = best_pulls * float(call_divergence(divergence, (best, pooled, family)))
    evidence += pulls * float(call_divergence(divergence, (mean, pooled, family)))
    return -(evidence + math.log(pulls))


@dataclass(frozen=True)
class TopTwo(Policy):
    """Top-two sampling: to know soon which arm is best, whatever it costs in rewards. See `Bandit.best`.

    with probability β the leader, that of the largest mean; else the challenger, of the smallest W + log T, where
    W = T' d(mean', m) + T d(mean, m), with m the mean of all rewards of both: the evidence that the leader is better

    Parameters
    ----------
    beta : probability of the leader, between 0 and 1. At 1/2 it needs at most twice the rounds of the best share.

    D. Russo, "Simple Bayesian Algorithms for Best Arm Identification", 2016; M. Jourdan, R. Degenne, D. Baudry,
    R. de Heide, E. Kaufmann, "Top Two Algorithms Revisited", 2022, who call this one EB-TCI.
    """

    name: ClassVar[str] = "top-two"
    formula: ClassVar[str] = "with probability β the largest mean, else the smallest evidence against it + log T"
    source: ClassVar[str] = "Russo 2016; Jourdan et al. 2022"

    beta: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 < real("beta", self.beta, "use beta=0.5") < 1.0:
            raise ParameterError(f"beta must be between 0 and 1, and neither, got {self.beta:g}; use beta=0.5")

    def rule(self) -> Rule:
        return Rule(score=score, reads_divergence=True, parameters=(self.beta,), chances=Chances(coin=self.beta))
