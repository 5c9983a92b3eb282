"""ExpTS: Thompson sampling with a law of its own, made of the divergence, in the place of the posterior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ocucb.compiled import Parameters, call_bound, call_divergence, kernel
from ocucb.policies.policy import Policy, Rule

EXTREME = 1e300  # the draw of an arm with one pull: half of the law is at either end of all means
STEPS = 64  # halvings, after which a step is nothing beside the first


@kernel
def draw(mean: float, pulls: float, tail: float, divergence: int, upper: int, family: Parameters) -> float:
    """Return the mean that a draw exceeds with probability `tail`."""
    weight = pulls - 1.0
    if weight <= 0.0:
        return EXTREME if tail < 0.5 else -EXTREME
    if tail < 0.5:
        return float(call_bound(upper, (mean, weight, -math.log(2.0 * tail), family)))
    level = -math.log(2.0 * (1.0 - tail))
    # The smallest q <= mean with weight * d(mean, q) <= level. No family has it in closed form, so by bisection.
    step = float(call_bound(upper, (mean, weight, level, family))) - mean
    step = step if step > 0.0 else 1.0
    while weight * float(call_divergence(divergence, (mean, mean - step, family))) <= level and step < EXTREME:
        step *= 2.0
    inside, outside = mean, mean - step
    for _ in range(STEPS):
        middle = 0.5 * (inside + outside)
        if weight * float(call_divergence(divergence, (mean, middle, family))) <= level:
            inside = middle
        else:
            outside = middle
    return inside


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
    return draw(mean, pulls, uniform, divergence, upper, family)


@dataclass(frozen=True)
class ExpTS(Policy):
    """ExpTS: Thompson sampling that never underestimates the best arm by much, for all exponential families.

    θ_i drawn by F(x) = 1 - ½ exp(-(T - 1) d(mean, x)) above the mean, ½ exp(-(T - 1) d(mean, x)) below; largest wins

    It has no parameters.

    T. Jin, P. Xu, X. Xiao, A. Anandkumar, "Finite-Time Regret of Thompson Sampling Algorithms for Exponential Family
    Multi-Armed Bandits", 2022.
    """

    name: ClassVar[str] = "exp-ts"
    formula: ClassVar[str] = "largest draw from F(x) = 1 - ½ exp(-(T - 1) d(mean, x)), mirrored below the mean"
    source: ClassVar[str] = "Jin, Xu, Xiao & Anandkumar 2022"

    def rule(self) -> Rule:
        return Rule(score=score, reads_divergence=True, samples=True)
