"""Rewards whose scale nobody knows: spreads, bounds, what is saved and merged, and arms whose rewards are all equal."""

from __future__ import annotations

import importlib
import json
import math
import random
import statistics
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.coverage import play, policies_for
from ocucb import (
    UCB,
    Bandit,
    BayesUCB,
    GaussianUnknownScale,
    Greedy,
    OCUCBn,
    ParameterError,
    Policy,
    RewardError,
    StateError,
    ThompsonSampling,
)
from ocucb.compiled import BOUND, Floats, address, call_bound, kernel, reals
from ocucb.lab import Experiment, Problem
from ocucb.noise.student_tail import upper_quantile_over_root
from samples import NOISE_SAMPLES, POLICY_SAMPLES, suits

# Untyped.
mp: Any = importlib.import_module("mpmath")
stats: Any = importlib.import_module("scipy.stats")

NOISE = GaussianUnknownScale()
FALSE_ALARM = 1e-6
REFUSED = [policy for policy in POLICY_SAMPLES if not suits(policy, NOISE)]


@pytest.mark.parametrize("freedom", [0.3, 1.0, 2.0, 7.0, 40.0, 300.0, 5000.0])
def test_students_quantile_against_forty_digits(freedom: float) -> None:
    with mp.workdps(40):
        for level in (1e-6, 0.05, 0.69, 0.7, 1.5, 3.0, 8.0, 40.0):
            found = upper_quantile_over_root(freedom, level)
            tail = mp.betainc(freedom / 2, 0.5, 0, 1 / (1 + mp.mpf(found) ** 2), regularized=True) / 2
            wanted = mp.exp(-mp.mpf(level))
            if found < 0:
                wanted = 1 - wanted
            assert float(abs(mp.log(tail / wanted))) < 1e-11 * max(1.0, level)
    assert upper_quantile_over_root(freedom, 0.0) == -math.inf


@given(mean=st.floats(-10, 10), pulls=st.integers(3, 10**6), level=st.floats(0.01, 30), spread=st.floats(1e-3, 1e3))
def test_the_bound_is_the_largest_q_in_reach(mean: float, pulls: int, level: float, spread: float) -> None:
    upper = NOISE.family().upper
    q = upper(mean, float(pulls), level, (spread,))
    assert (pulls - 2) / 2 * math.log1p(((q - mean) / spread) ** 2) == pytest.approx(level, rel=1e-6)
    assert upper(mean, float(pulls), 0.0, (spread,)) == mean
    assert upper(mean, 2.0, level, (spread,)) == math.inf


@pytest.mark.parametrize("pulls", [4, 5, 30, 1000])
def test_the_posterior_is_students(pulls: int) -> None:
    posterior = NOISE.family().posterior
    for level in (0.1, 0.69, 1.0, 6.0):
        t = float(stats.t.isf(math.exp(-level), pulls - 3))
        wanted = 2.0 + 0.5 * t / math.sqrt(pulls - 3)
        assert posterior(2.0, float(pulls), level, (0.5,)) == pytest.approx(wanted, rel=1e-9)
    assert posterior(2.0, 3.0, 1.0, (0.5,)) == math.inf


@settings(max_examples=60, deadline=None)
@given(
    rewards=st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30),
    far=st.sampled_from([0.0, 1.0, 1e6, -1e9]),
    order=st.randoms(use_true_random=False),
)
def test_spreads_are_right_wherever_the_mean_is_and_in_any_order(
    rewards: list[float], far: float, order: random.Random
) -> None:
    moved = [round(reward, 3) + far for reward in rewards]
    shuffled = list(moved)
    order.shuffle(shuffled)
    bandit = Bandit(UCB(), 3, NOISE)
    bandit.learn_many([0] * len(moved), moved)
    for reward in shuffled:
        bandit.learn(1, reward)
    half = Bandit(UCB(), 3, NOISE)
    half.learn_many([2] * (len(moved) // 2), shuffled[: len(moved) // 2])
    rest = Bandit(UCB(), 3, NOISE)
    rest.learn_many([2] * (len(moved) - len(moved) // 2), shuffled[len(moved) // 2 :])
    half.merge(rest)
    spreads, merged = bandit.statistics().spreads, half.statistics().spreads
    assert spreads is not None
    assert merged is not None
    wanted = statistics.pstdev(moved) if min(moved) < max(moved) else 0.0
    assert [spreads[0], spreads[1], merged[2]] == pytest.approx([wanted] * 3, rel=1e-9, abs=1e-300)


def test_the_same_rewards_in_another_order_are_the_same_state() -> None:
    bandit = Bandit(OCUCBn(), 2, NOISE)
    for first, second in zip([0.0, 1.0, 3.0, 0.0, 2.0], [2.0, 0.0, 0.0, 3.0, 1.0], strict=True):
        bandit.learn(0, first)
        bandit.learn(1, second)
    one, other = bandit.indices().tolist()
    assert one == other


def zero_inflated(luck: random.Random, arm: int) -> float:
    """Revenue: nothing nine times in ten, the last arm's twice the others'."""
    return luck.expovariate(1.0) * (2.0 if arm == 3 else 1.0) if luck.random() < 0.1 else 0.0


@pytest.mark.parametrize("policy", [OCUCBn(), UCB(), ThompsonSampling(), BayesUCB()], ids=str)
def test_an_arm_that_began_with_nothing_is_not_written_off(policy: Policy) -> None:
    """Thirty zeros for the best arm, a start as bad as one in twenty of such arms have: it is tried again."""
    bandit = Bandit(policy, 4, NOISE, seed=1)
    luck = random.Random(5)
    bandit.learn_many([3] * 30, [0.0] * 30)
    for _ in range(6000):
        arm = bandit.choose()
        assert isinstance(arm, int)
        bandit.learn(arm, zero_inflated(luck, arm))
    assert bandit.pulls[3] > 30
    assert (bandit.pulls > 4).all()


def test_a_dead_arm_costs_little() -> None:
    """An arm that never gives anything is not tried for ever either."""
    bandit = Bandit(OCUCBn(), 2, NOISE, seed=1)
    luck = random.Random(3)
    for _ in range(5000):
        arm = bandit.choose()
        bandit.learn(arm, zero_inflated(luck, 3) if arm == 1 else 0.0)
    assert 10 < bandit.pulls[0] < 1000


def test_while_all_rewards_are_equal_arms_take_turns() -> None:
    bandit = Bandit(UCB(), 3, NOISE)
    for _ in range(60):
        bandit.learn(bandit.choose(), 7.0)
    assert bandit.pulls.tolist() == [20, 20, 20]


def test_a_new_extreme_renews_what_was_borrowed() -> None:
    bandit = Bandit(UCB(), 3, NOISE)
    bandit.learn_many([0] * 4 + [1] * 4 + [2] * 4, [0.0] * 8 + [1.0, 0.0, 1.0, 0.0])
    before = bandit.indices()
    bandit.learn(2, 100.0)
    after = bandit.indices()
    assert after[0] == after[1] == pytest.approx(before[0] * 100.0, rel=0.1)


@pytest.mark.parametrize("policy", REFUSED, ids=str)
def test_a_policy_that_makes_no_sense_says_so(policy: Policy) -> None:
    with pytest.raises(ParameterError, match="each arm has its own; use OCUCBn"):
        Bandit(policy, 3, NOISE)
    with pytest.raises(ParameterError, match="each arm has its own"):
        Experiment((Problem((0.0, 1.0), NOISE),), (("one", policy),), 100, 2)


def test_refuses_are_those_that_compare() -> None:
    assert {policy.name for policy in REFUSED} >= {"imed", "top-two"}
    assert [noise for noise in NOISE_SAMPLES if noise.family().spreads] == [NOISE]


def test_squares_that_overflow_are_refused_and_change_nothing() -> None:
    bandit = Bandit(UCB(), 2, NOISE)
    bandit.learn_many([0, 1], [1.0, 2.0])
    before = bandit.to_dict()
    with pytest.raises(RewardError, match="no longer be a finite number"):
        bandit.learn(0, 1e200)
    with pytest.raises(RewardError, match="no longer be a finite number"):
        bandit.learn_many([0, 0], [3.0, 1e200])
    assert bandit.to_dict() == before
    huge = Bandit(UCB(), 2, NOISE)
    huge.learn(0, 1.3e154)
    more = Bandit(UCB(), 2, NOISE)
    more.learn(0, 1.3e154)
    with pytest.raises(RewardError, match="no longer be a finite number"):
        huge.merge(more)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (None, "moments is missing"),
        ({"squares": [1.0]}, "squares must be a list of 2 values"),
        ({"squares": [-1.0, 5.0]}, "no rewards have these totals and moments"),
        ({"least": [5.0, 0.0]}, "no rewards have these totals and moments"),
    ],
)
def test_moments_in_a_file_are_checked(change: Any, message: str) -> None:
    bandit = Bandit(UCB(), 2, NOISE)
    bandit.learn_many([0, 1, 1], [1.0, 2.0, 3.0])
    data = json.loads(json.dumps(bandit.to_dict()))
    if change is None:
        del data["moments"]
    else:
        data["moments"].update(change)
    with pytest.raises(StateError, match=message):
        Bandit.from_dict(data)


@kernel
def count_doubted(function: int, rewards: Floats, level: float, family: Floats) -> int:
    """Return in how many runs of rewards of mean 0 that mean is ever doubted, looking after every reward."""
    doubted = 0
    for run in range(len(rewards)):
        total, squares = 0.0, 0.0
        for i in range(rewards.shape[1]):
            total += rewards[run, i]
            squares += rewards[run, i] * rewards[run, i]
            count = i + 1.0
            mean = total / count
            family[0] = math.sqrt(max(squares / count - mean * mean, 0.0)) if i > 0 else 0.0
            if call_bound(function, (mean, count, 0.0, reals(family.ctypes.data))) >= level:
                doubted += 1
                break
    return doubted


@pytest.mark.parametrize("scale", [1e-3, 1.0, 50.0])
def test_the_mean_is_in_all_intervals_of_most_runs(scale: float) -> None:
    """At most 1 in 10 runs may fail at any time, at any scale; and they do use some of that up."""
    runs, error = 3000, 0.1
    rewards = np.random.default_rng(8).normal(0.0, scale, (runs, 1000))
    failed = count_doubted(address(NOISE.evidence().function, BOUND), rewards, math.log(1.0 / error), np.empty(1))
    assert failed <= stats.binom.ppf(1.0 - FALSE_ALARM, runs, error)
    assert failed >= stats.binom.ppf(FALSE_ALARM, runs, 0.03)


@pytest.mark.parametrize("policy", policies_for(NOISE), ids=str)
def test_a_bandit_looked_at_in_every_round(policy: Policy) -> None:
    """Rewards come late or never. At most 1 run in 10 may rule out the best arm, and 3 doubt one of three means."""
    runs = 25
    played = [play(policy, NOISE, run, rounds=100) for run in range(runs)]
    assert sum(failed > 0 for failed, _ in played) <= stats.binom.ppf(1.0 - FALSE_ALARM, runs, 0.3)
    assert sum(wrong for _, wrong in played) <= stats.binom.ppf(1.0 - FALSE_ALARM, runs, 0.1)


def test_intervals_are_scaled_by_what_was_seen() -> None:
    """At 1,000 rewards at most 1.7 times as wide as at a fixed time; for rewards ten times as large, ten times that."""
    luck = np.random.default_rng(4)
    rewards = luck.normal(3.0, 2.0, 1000)
    bandit = Bandit(OCUCBn(), 3, NOISE)
    bandit.learn_many([0] * 1000 + [1] * 1000, [*rewards, *(10.0 * rewards)])
    low, high = bandit.intervals()
    fixed = 2.0 * 1.96 * float(np.std(rewards)) / math.sqrt(1000)
    assert 1.3 * fixed < high[0] - low[0] < 1.7 * fixed
    assert high[1] - low[1] == pytest.approx(10.0 * (high[0] - low[0]), rel=1e-6)
    assert (low[2], high[2]) == (-math.inf, math.inf)
    assert bandit.best().best is None  # the third has no reward yet
    bandit.retire_arm(2)
    assert bandit.best().best == 1
    assert bandit.best().ruled_out == (0,)


def test_equal_rewards_are_no_evidence() -> None:
    bandit = Bandit(OCUCBn(), 2, NOISE)
    bandit.learn_many([0] * 50 + [1] * 50, [0.0] * 50 + [1.0, 2.0] * 25)
    low, high = bandit.intervals()
    assert (low[0], high[0]) == (-math.inf, math.inf)
    assert bandit.best().best is None


def test_greedy_has_no_use_for_the_spread() -> None:
    bandit = Bandit(Greedy(), 2, NOISE)
    bandit.learn_many([0, 1], [1.0, 2.0])
    assert bandit.indices().tolist() == [1.0, 2.0]


def test_rewards_cannot_be_revised() -> None:
    bandit = Bandit(UCB(), 2, NOISE)
    bandit.learn_many([0, 1], [1.0, 2.0])
    with pytest.raises(ParameterError, match="rewards cannot be revised"):
        bandit.revise(0, 1, 3.0)
