"""KL-LUCB: the best arm so far, and by turns the one whose upper confidence bound is the largest of the others."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import ClassVar

from ocucb.checks import above, real
from ocucb.compiled import Parameters, call_bound, kernel
from ocucb.errors import ParameterError
from ocucb.policies.policy import Chances, Policy, Rule

FIRST = sys.float_info.max


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
        return FIRST if t % 2.0 == 1.0 else -FIRST
    level = parameters[1] + math.log(arms) + parameters[0] * math.log(t)
    return float(call_bound(upper, (mean, pulls, level, family)))


@dataclass(frozen=True)
class KLLUCB(Policy):
    """KL-LUCB: to know soon which arm is best, by confidence bounds. See `Bandit.best`, and TopTwo, which is faster.

    in odd rounds the arm of the largest mean; in even ones the largest upper bound of the others, at the level
    log(k K t^α / δ), k = 2e + 1 + e/(α - 1) + (e + 1)/(α - 1)²

    Parameters
    ----------
    delta : probability δ of error that its bounds are made for, between 0 and 1.
    alpha : exponent α of the rounds, greater than 1.

    E. Kaufmann and S. Kalyanakrishnan, "Information Complexity in Bandit Subset Selection", 2013.
    """

    name: ClassVar[str] = "kl-lucb"
    formula: ClassVar[str] = "by turns the largest mean, and the largest bound of the others at log(k K t^α / δ)"
    source: ClassVar[str] = "Kaufmann & Kalyanakrishnan 2013"

    delta: float = 0.05
    alpha: float = 1.1

    def __post_init__(self) -> None:
        if not 0.0 < real("delta", self.delta, "use delta=0.05") < 1.0:
            raise ParameterError(f"delta must be between 0 and 1, and neither, got {self.delta:g}; use delta=0.05")
        above("alpha", self.alpha, 1.0, "use alpha=1.1")

    def rule(self) -> Rule:
        more = self.alpha - 1.0
        k = 2.0 * math.e + 1.0 + math.e / more + (math.e + 1.0) / more**2
        return Rule(score=score, parameters=(self.alpha, math.log(k / self.delta)), chances=Chances(coin=0.0))
