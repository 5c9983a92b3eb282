"""Epsilon-greedy: mostly the best mean so far, now and then any arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ocucb.checks import within
from ocucb.compiled import Parameters, kernel
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
    # All arms see one coin in a round, so that either all of them or none compete by lot.
    return uniform if coin < parameters[0] else mean


@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    """Epsilon-greedy play: a baseline that explores at a constant rate.

    with probability ε any arm, each as likely as the next; otherwise the arm of the largest mean

    Parameters
    ----------
    epsilon : probability of a random arm, between 0 and 1.

    A baseline; see R. Sutton and A. Barto, "Reinforcement Learning", chapter 2.
    """

    name: ClassVar[str] = "epsilon-greedy"
    formula: ClassVar[str] = "with probability ε any arm, else the largest mean"
    source: ClassVar[str] = "baseline; Sutton & Barto, ch. 2"

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        within("epsilon", self.epsilon, 0.0, 1.0, "use epsilon=0.1")

    def rule(self) -> Rule:
        return Rule(score=score, parameters=(self.epsilon,), chances=Chances(coin=self.epsilon, lot=True))
