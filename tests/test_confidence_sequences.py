"""Intervals that are right at all times at once: their martingale, ends, and rate of failure."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ocucb import (
    Bandit,
    Bernoulli,
    Bounded,
    Exponential,
    Gaussian,
    Noise,
    OCUCBn,
    ParameterError,
    Poisson,
    Policy,
    ThompsonSampling,
    TopTwo,
)
from ocucb.compiled import BOUND, Floats, address, call_bound, kernel, reals
from ocucb.confidence_sequences import ConfidenceSequences

# Untyped.
integrate: Any = importlib.import_module("scipy.integrate")
stats: Any = importlib.import_module("scipy.stats")

FALSE_ALARM = 1e-6
LEVEL = math.log(20.0)

# How likely rewards are under one mean rather than another; and the density of means in the mixture around a null.
RATIOS: dict[Noise, Callable[[float, float, float, float], float]] = {
    Gaussian(2.0): lambda total, n, q, null: ((q - null) * total - n * (q * q - null * null) / 2.0) / 4.0,
    Bernoulli(): lambda total, n, q, null: (
        total * math.log(q / null) + (n - total) * math.log((1.0 - q) / (1.0 - null))
    ),
    Poisson(): lambda total, n, q, null: total * math.log(q / null) - n * (q - null),
    Exponential(): lambda total, n, q, null: -n * math.log(q / null) - total * (1.0 / q - 1.0 / null),
}
PRIORS: dict[Noise, Callable[[float, float, float], float]] = {
    Gaussian(2.0): lambda q, null, weight: float(stats.norm.pdf(q, null, 2.0 / math.sqrt(weight))),
    Bernoulli(): lambda q, null, weight: float(stats.beta.pdf(q, weight * null, weight * (1.0 - null))),
    Poisson(): lambda q, null, weight: float(stats.gamma.pdf(q, weight * null, scale=1.0 / weight)),
    Exponential(): lambda q, null, weight: float(stats.invgamma.pdf(q, weight, scale=weight * null)),
}
RANGES = {Gaussian(2.0): (-12.0, 12.0), Bernoulli(): (0.0, 1.0), Poisson(): (0.0, 30.0), Exponential(): (1e-3, 60.0)}
ALL = [*RATIOS, Bounded(-1.0, 3.0)]


def evidence(noise: Noise, mean: float, count: float, null: float) -> float:
    found = noise.evidence()
    assert found is not None
    return found.function(mean, count, null, found.parameters)


@pytest.mark.parametrize("noise", RATIOS, ids=str)
@pytest.mark.parametrize(("mean", "count"), [(0.25, 4), (1.0, 2), (0.5, 40), (0.125, 200)])
@pytest.mark.parametrize("null", [0.2, 0.6])
def test_evidence_is_the_mixture_it_says_it_is(noise: Noise, mean: float, count: int, null: float) -> None:
    def density(q: float, weight: float) -> float:
        return PRIORS[noise](q, null, weight) * math.exp(RATIOS[noise](mean * count, count, q, null))

    low, high = RANGES[noise]
    points = [null, mean * 0.99]
    heavy, light = (
        integrate.quad(density, low, high, args=(weight,), points=points, epsrel=1e-9, limit=400)[0]
        for weight in (20.0, 1.0)
    )
    found = evidence(noise, mean, float(count), null)
    assert found == pytest.approx(math.log(0.9 * heavy + 0.1 * light), abs=2e-4)


def test_a_few_rewards_far_off_are_enough() -> None:
    """An arm that a policy soon leaves alone can be ruled out."""
    assert evidence(Gaussian(), -4.0, 4.0, 0.0) > 15.0
    assert evidence(Poisson(), 0.0, 4.0, 5.0) > 9.0


def test_bounded_evidence_is_bernoullis_rescaled() -> None:
    assert evidence(Bounded(-1.0, 3.0), 0.0, 30.0, 1.0) == evidence(Bernoulli(), 0.25, 30.0, 0.5)


def interval(noise: Noise, mean: float, count: int, confidence: float = 0.95) -> tuple[float, float]:
    found = ConfidenceSequences(noise, np.array([mean]), np.array([float(count)])).intervals(1.0 - confidence)
    return float(found.low[0]), float(found.high[0])


@pytest.mark.parametrize("noise", ALL, ids=str)
@pytest.mark.parametrize("count", [1, 7, 1000, 10**9])
@pytest.mark.parametrize("mean", [0.0, 0.125, 0.5, 1.0])
def test_ends_are_where_doubt_begins(noise: Noise, count: int, mean: float) -> None:
    if isinstance(noise, Exponential):
        mean += 1.0  # no exponential law has mean 0
    low, high = interval(noise, mean, count)
    least, most = noise.support()
    assert low <= mean <= high
    for end, limit in ((low, max(least, low - 5.0)), (high, min(most, high + 5.0))):
        if math.isfinite(end) and end not in (least, most):
            step = (end - mean) * 1e-6
            assert evidence(noise, mean, count, end - step) < LEVEL <= evidence(noise, mean, count, end + step)
            # Once doubted, a mean stays so further out.
            outside = [evidence(noise, mean, count, q) for q in np.linspace(end, limit, 50)[1:-1]]
            assert all(value >= LEVEL for value in outside)


@pytest.mark.parametrize("noise", ALL, ids=str)
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_not_much_wider_than_at_a_fixed_time(noise: Noise, share: float) -> None:
    low, high = (0.0, 1.0) if noise.subgaussian_scale() is None else noise.support()
    mean = low + share * (high - low) if math.isfinite(high - low) else share
    fixed = 2.0 * 1.96 * noise.standard_deviation(mean) / math.sqrt(1000)
    low, high = interval(noise, mean, 1000)
    assert 1.3 * fixed < high - low < 1.7 * fixed


def test_before_the_first_reward_all_is_possible() -> None:
    assert interval(Gaussian(), math.nan, 0) == (-math.inf, math.inf)
    assert interval(Bounded(-1.0, 3.0), math.nan, 0) == (-1.0, 3.0)
    assert interval(Poisson(), math.nan, 0) == (0.0, math.inf)


def rewards(noise: Noise, mean: float, shape: tuple[int, ...], seed: int) -> Floats:
    generator = np.random.default_rng(seed)
    if isinstance(noise, Gaussian):
        return generator.normal(mean, noise.scale, shape)
    if isinstance(noise, Poisson):
        return generator.poisson(mean, shape).astype(float)
    if isinstance(noise, Exponential):
        return generator.exponential(mean, shape)
    low, high = noise.support()
    return np.where(generator.random(shape) < (mean - low) / (high - low), high, low)


@kernel
def count_doubted(function: int, parameters: int, sums: Floats, mean: float, level: float) -> int:
    """Return in how many runs a mean is ever doubted."""
    doubted = 0
    for run in range(len(sums)):
        for i in range(sums.shape[1]):
            count = i + 1.0
            if call_bound(function, (sums[run, i] / count, count, mean, reals(parameters))) >= level:
                doubted += 1
                break
    return doubted


@pytest.mark.parametrize("noise", ALL, ids=str)
@pytest.mark.parametrize("mean", [0.05, 0.4])
def test_the_mean_is_in_all_intervals_of_most_runs(noise: Noise, mean: float) -> None:
    """Over all numbers of rewards at once, so under every policy. At most 1 in 10 may fail, and they do use that up."""
    runs, count, error = 600, 2000, 0.1
    sums = np.cumsum(rewards(noise, mean, (runs, count), seed=5), axis=1)
    found = noise.evidence()
    assert found is not None
    parameters = np.array(found.parameters)
    function = address(found.function, BOUND)
    failed = count_doubted(function, parameters.ctypes.data, sums, mean, math.log(1.0 / error))
    assert failed <= stats.binom.ppf(1.0 - FALSE_ALARM, runs, error)
    assert failed >= stats.binom.ppf(FALSE_ALARM, runs, 0.03)


@pytest.mark.parametrize("noise", ALL, ids=str)
@pytest.mark.parametrize("policy", [OCUCBn(), ThompsonSampling(), TopTwo()], ids=str)
def test_a_bandit_looked_at_in_every_round(noise: Noise, policy: Policy) -> None:
    """Rewards come late, one choice in ten never does. At most 1 in 10 may fail, of independent runs and arms."""
    runs, rounds, delay = 20, 150, 4
    means = (0.5, 0.4)
    failed = 0
    for run in range(runs):
        bandit = Bandit(policy, 2, noise, seed=run)
        tapes = [rewards(noise, mean, (rounds,), 1000 + 2 * run + arm) for arm, mean in enumerate(means)]
        lost = np.random.default_rng(run).random(rounds) < 0.1
        used, late, wrong = [0, 0], [], [False, False]
        for t in range(rounds):
            arm = int(bandit.choose())
            late.append((arm, float(tapes[arm][used[arm]])))
            used[arm] += 1
            if len(late) > delay:
                arm, reward = late.pop(0)
                bandit.forget(arm) if lost[t] else bandit.learn(arm, reward)
                low, high = bandit.intervals(0.9)
                for i, mean in enumerate(means):
                    wrong[i] |= not low[i] <= mean <= high[i]
        failed += sum(wrong)
    assert failed <= stats.binom.ppf(1.0 - FALSE_ALARM, 2 * runs, 0.1)


def test_arms_in_equal_states_have_equal_intervals() -> None:
    bandit = Bandit(OCUCBn(), 5, Bernoulli())
    bandit.learn_many([0, 1, 2, 3, 0, 1, 2, 3], [1, 0, 1, 1, 0, 0, 0, 1])
    low, high = bandit.intervals()
    assert (low[0], high[0]) == (low[2], high[2]) == interval(Bernoulli(), 0.5, 2)
    assert (low[4], high[4]) == (0.0, 1.0)
    assert low[1] == 0.0
    assert high[3] == 1.0


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1, math.nan, "0.9", True, 95])
def test_confidence_is_checked(confidence: Any) -> None:
    with pytest.raises(ParameterError, match=r"confidence must be .*0\.95 is usual"):
        Bandit(OCUCBn(), 2).intervals(confidence)


class OfUnknownTails(Exponential):
    """A family of which nothing is known that would be right at all times."""

    def evidence(self) -> Any:
        return None


def test_a_family_without_evidence_says_what_to_do() -> None:
    with pytest.raises(ParameterError, match=r"has no confidence sequence; define its method evidence\(\)"):
        Bandit(OCUCBn(), 2, OfUnknownTails()).intervals()
