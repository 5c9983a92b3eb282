"""Thompson sampling: an arm is played with the probability that it is the best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.compiled import Parameters, call_bound, kernel
from ocucb.policies.policy import Policy, Rule


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
    # The posterior's quantile at a uniform level is a draw from it.
    return float(call_bound(posterior, (mean, pulls, -math.log(uniform), family)))


@dataclass(frozen=True)
class ThompsonSampling(Policy):
    """Thompson sampling: draws a mean for each arm from its posterior and plays the largest.

    θ_i ~ N(mean, σ²/T) for Gaussian noise, Beta(1 + S, 1 + F) for Bernoulli, and so on by noise family

    It has no parameters.

    W. R. Thompson, "On the Likelihood that One Unknown Probability Exceeds Another", 1933.
    """

    name: ClassVar[str] = "thompson-sampling"
    formula: ClassVar[str] = "largest draw from the posterior"
    source: ClassVar[str] = "Thompson 1933"

    def rule(self) -> Rule:
        return Rule(score=score, samples=True)
