"""Gaussian noise of a scale that nobody knows in advance: each arm's is estimated from its rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ocucb.compiled import Floats, Parameters, kernel
from ocucb.noise import normal, student_tail
from ocucb.noise.mixture import HEAVY, LIGHT, dilution, mixed
from ocucb.noise.noise import Evidence, Family, Noise


@kernel
def divergence(p: float, q: float, family: Parameters) -> float:
    z = (q - p) / family[0]
    return 0.5 * math.log1p(z * z)


@kernel
def upper(mean: float, pulls: float, level: float, family: Parameters) -> float:
    """Return the bound; infinite for two pulls or fewer, which leave no degree of freedom."""
    if level <= 0.0:
        return mean
    if pulls <= 2.0:
        return math.inf
    return mean + family[0] * math.sqrt(math.expm1(2.0 * level / (pulls - 2.0)))


@kernel
def posterior(mean: float, pulls: float, level: float, family: Parameters) -> float:
    """Return the quantile of mean + spread t/√ν, t of Student's law with ν = T - 3 degrees of freedom."""
    if pulls <= 3.0:
        return math.inf
    return mean + family[0] * student_tail.upper_quantile_over_root(pulls - 3.0, level)


@kernel
def switch(mean: float, pulls: float, level: float, family: Parameters) -> float:
    return upper(mean, pulls, abs(level), family)


@kernel
def quantile(mean: float, uniform: float, family: Parameters) -> float:
    return mean + family[0] * normal.quantile(uniform)


@kernel
def evidence_by(mean: float, count: float, null: float, weight: float, spread: float) -> float:
    """Return the evidence against a mean, by a mixture of effects (mean - null)/scale over N(0, 1/weight)."""
    z = (mean - null) / spread
    square = z * z
    if square > 1e300:
        return (0.5 * count - 0.5) * math.log1p(count / weight)
    gain = square * count / (count + weight) / (1.0 + square * weight / (count + weight))
    return 0.5 * count * math.log1p(gain) - dilution(count, weight)


@kernel
def evidence(mean: float, count: float, null: float, family: Parameters) -> float:
    """Return the evidence against a mean, by both priors; none if all rewards were equal."""
    spread = family[0]
    if spread <= 0.0:
        return 0.0
    heavy = evidence_by(mean, count, null, HEAVY, spread)
    return mixed(heavy, evidence_by(mean, count, null, LIGHT, spread))


@dataclass(frozen=True)
class GaussianUnknownScale(Noise):
    """Rewards N(mean, scale²) of any scale, another for each arm: revenue, or whatever nobody can scale in advance.

    d(p, q) = log(1 + (q - p)²/S²)/2, with T - 2 in place of T, where S² is the mean of (reward - mean)² over the arm's
    rewards; posterior under a uniform prior on mean and variance: mean + S t/√ν, t of Student's law with ν = T - 3

    Normal rewards never repeat, but revenue is 0 nine times in ten. An arm whose least or largest reward came twice, or
    was the only one, may have others that it has not shown yet. It is taken as if one more reward had come, as far from
    its mean as any two rewards of the bandit are from each other: S² = (S² + R²/(n + 1)) n/(n + 1) for n rewards and
    that range R, which is 1 while all rewards of all arms are equal. So equal first rewards write no arm off. Until an
    arm has three pulls (four for the posterior) its index is infinite.

    W. Cowan, J. Honda, M. N. Katehakis, "Normal Bandits of Unknown Means and Variances", 2015; J. Honda and
    A. Takemura, "Optimality of Thompson Sampling for Gaussian Bandits Depends on Priors", 2014, show that under the
    Jeffreys prior Thompson sampling can fail.

    >>> round(GaussianUnknownScale().upper(0.0, 0.5), 12)
    1.310832494432
    """

    name: ClassVar[str] = "gaussian-unknown-scale"
    formula: ClassVar[str] = "d(p, q) = log(1 + (q - p)²/S²)/2, S the spread of the arm's rewards, T - 2 for T"
    summary: ClassVar[str] = "numbers whose scale nobody knows in advance"
    interval_method: ClassVar[str] = "none, without each arm's spread"

    def family(self) -> Family:
        # One arm's parameters: its spread. Alone, and when the lab draws rewards, that is 1.
        return Family(divergence, upper, posterior, switch, quantile, (1.0,), spreads=True)

    def evidence(self) -> Evidence:
        return Evidence(evidence, spreads=True)

    def standard_deviation(self, mean: float) -> float:
        return 1.0

    def interval_ends(self, means: Floats, counts: Floats) -> tuple[Floats, Floats]:
        return np.full(means.shape, -math.inf), np.full(means.shape, math.inf)

    def upper(self, mean: float, x: float) -> float:
        """Return the largest q >= mean with d(mean, q) <= x, for a spread of 1."""
        return mean + math.sqrt(math.expm1(2.0 * x)) if x > 0.0 else mean
