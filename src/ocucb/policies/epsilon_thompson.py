"""ε-exploring Thompson sampling: a draw from the posterior for few arms, for the others their means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.checks import real
from ocucb.compiled import Parameters, call_bound, kernel
from ocucb.errors import ParameterError
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
    epsilon = parameters[0] if parameters[0] > 0.0 else 1.0 / arms
    # One uniform says whether there is a draw, and where it falls.
    if uniform >= epsilon:
        return mean
    return float(call_bound(posterior, (mean, pulls, -math.log(uniform / epsilon), family)))


@dataclass(frozen=True)
class EpsilonThompson(Policy):
    """ε-exploring Thompson sampling: less exploration than Thompson sampling, less work, and minimax optimal.

    θ_i with probability ε a draw from the posterior, otherwise the mean; the largest wins

    Parameters
    ----------
    epsilon : probability ε of a draw, greater than 0 and at most 1; None for 1/K.

    T. Jin, X. Yang, X. Xiao, P. Xu, "Thompson Sampling with Less Exploration is Fast and Optimal", 2023.
    """

    name: ClassVar[str] = "epsilon-thompson"
    formula: ClassVar[str] = "for each arm with probability ε a draw from the posterior, else its mean; the largest"
    source: ClassVar[str] = "Jin, Yang, Xiao & Xu 2023"

    epsilon: float | None = None

    def __post_init__(self) -> None:
        remedy = "use epsilon=None for 1/K"
        if self.epsilon is not None and not 0.0 < real("epsilon", self.epsilon, remedy) <= 1.0:
            raise ParameterError(f"epsilon must be greater than 0 and at most 1, got {self.epsilon:g}; {remedy}")

    def rule(self) -> Rule:
        return Rule(score=score, parameters=(0.0 if self.epsilon is None else self.epsilon,))
