"""ExpTS+: the draws of ExpTS for one arm in K, for the others their means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ocucb.compiled import Parameters, kernel
from ocucb.policies.exp_ts import draw
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
    # One uniform says whether there is a draw, and where it falls.
    if uniform * arms >= 1.0:
        return mean
    return draw(mean, pulls, uniform * arms, divergence, upper, family)


@dataclass(frozen=True)
class ExpTSPlus(Policy):
    """ExpTS+: ExpTS that explores less, and so is minimax optimal as well as asymptotically.

    θ_i with probability 1/K a draw of ExpTS, otherwise the mean; the largest wins

    It has no parameters.

    T. Jin, P. Xu, X. Xiao, A. Anandkumar, "Finite-Time Regret of Thompson Sampling Algorithms for Exponential Family
    Multi-Armed Bandits", 2022.
    """

    name: ClassVar[str] = "exp-ts+"
    formula: ClassVar[str] = "for each arm with probability 1/K a draw of ExpTS, else its mean; the largest"
    source: ClassVar[str] = "Jin, Xu, Xiao & Anandkumar 2022"

    def rule(self) -> Rule:
        return Rule(reads_divergence=True, score=score)
