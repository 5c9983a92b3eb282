"""The lazy selector against the scan of all arms: the same arm in every one of 10⁵ rounds, for every policy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ocucb import Bandit, Bernoulli, Gaussian, Noise, OCUCBn, Policy
from ocucb.compiled import QUANTILE, Floats, address, call_quantile, kernel, reals
from ocucb.policies import ThompsonSampling, Trend
from ocucb.selection import Selector
from ocucb.selection.expiry import SHORTEST
from ocucb.selection.operations import add_pull, add_reward, pick, rebuild_if_stale
from ocucb.selection.scan import DRAWN, scan
from ocucb.selection.state import arms_at, state_at
from ocucb.uniforms import stream, uniform
from samples import NOISE_SAMPLES, POLICY_SAMPLES, with_horizon

ARMS = 50
LAZY = [policy for policy in POLICY_SAMPLES if policy.rule().trend is not Trend.NEITHER]


@kernel
def disagreements(at: int, means: Floats, rounds: int, quantile: int, levels: int) -> int:
    """Play; count the rounds in which lazy selector and scan differ. Rewards are rounded to `levels` values, if any."""
    state = state_at(at)
    arms = arms_at(state.arms)
    key = np.uint64(7)
    wrong = 0
    for t in range(1, rounds + 1):
        rebuild_if_stale(state)
        arm = pick(state)
        if t > len(means) and arm != scan(state, t, DRAWN):
            wrong += 1
        add_pull(state, arm)
        draw = uniform(stream(key, arm), int(arms[arm].pulls))
        reward = call_quantile(quantile, (means[arm], draw, reals(state.family)))
        add_reward(state, arm, math.floor(reward * levels) / levels if levels > 0 else reward)
    return wrong


def play(policy: Policy, noise: Noise, rounds: int, levels: int = 0) -> tuple[int, Selector]:
    selector = Selector(policy.rule(), noise.family(), 0, ARMS)
    low, high = max(noise.support()[0], 0.0), min(noise.support()[1], 1.0)
    means = np.linspace(low + 0.4 * (high - low), low + 0.6 * (high - low), ARMS)
    quantile = address(noise.family().quantile, QUANTILE)
    return disagreements(selector.address, means, rounds, quantile, levels), selector


@pytest.mark.parametrize("policy", LAZY, ids=str)
def test_a_hundred_thousand_rounds(policy: Policy) -> None:
    rounds = 100_000 if policy.rule().bound != "posterior" else 20_000
    if policy.name == "gittins":
        rounds = 400
    wrong, selector = play(with_horizon(policy, rounds), Gaussian(), rounds)
    assert selector.rounds == rounds
    assert wrong == 0


@pytest.mark.parametrize("noise", NOISE_SAMPLES, ids=str)
@pytest.mark.parametrize("policy", LAZY, ids=str)
def test_every_noise(policy: Policy, noise: Noise) -> None:
    rounds = 400 if policy.name == "gittins" or policy.rule().bound == "posterior" else 5_000
    wrong, _ = play(with_horizon(policy, rounds), noise, rounds)
    assert wrong == 0


@pytest.mark.parametrize("levels", [1, 4])
def test_rewards_with_many_ties(levels: int) -> None:
    assert play(OCUCBn(), Gaussian(), 20_000, levels)[0] == 0
    assert play(OCUCBn(), Bernoulli(), 20_000, levels)[0] == 0


def test_it_evaluates_few_arms() -> None:
    _, selector = play(OCUCBn(), Gaussian(), 1)
    wrong, selector = play(OCUCBn(), Gaussian(), 100_000)
    scans = 100_000 * ARMS  # the comparison itself
    assert wrong == 0
    assert (selector.evaluations - scans) / 100_000 < ARMS / 4


def test_while_every_arm_is_new_bounds_of_those_behind_hold_for_long() -> None:
    bandit = Bandit(OCUCBn(), range(2000))
    for arm in range(2000):
        bandit.learn(arm, arm % 10 / 10)
    for _ in range(300):  # those at 0.9 are pulled again, and some of those at 0.8
        bandit.choose()
    behind = bandit._selector.arms[7::10]
    assert (behind["pulls"] == 1).all()
    assert ((behind["bucket"] >> 1) > SHORTEST).all()  # bounds as short as any would be evaluated soon


def test_a_bound_without_room_to_grow_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison sees a selector whose bounds are wrong: a level that falls, declared to rise."""
    rule = OCUCBn().rule()._replace(trend=Trend.FALLS)
    selector = Selector(rule, Gaussian().family(), 0, ARMS)
    quantile = address(Gaussian().family().quantile, QUANTILE)
    assert disagreements(selector.address, np.linspace(0.4, 0.6, ARMS), 20_000, quantile, 0) > 0


@pytest.mark.parametrize("noise", NOISE_SAMPLES, ids=str)
def test_the_largest_random_score_is_that_of_the_scan(noise: Noise) -> None:
    wrong, selector = play(ThompsonSampling(), noise, 3000)
    assert selector.rounds == 3000
    assert wrong == 0
