"""Arms in equal states, by the thousand: the choice is that of the scan, and few of them are evaluated."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ocucb import UCB, Bandit, Bernoulli, Gaussian, Noise, OCUCBn, Policy
from ocucb.policies import MOSS, KLUCBPlus

POLICIES = [OCUCBn(), OCUCBn(rho=1.0), UCB(), KLUCBPlus(), MOSS(horizon=10_000)]


@pytest.mark.parametrize("noise", [Bernoulli(), Gaussian(0.5)], ids=str)
@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_the_choice_is_the_lowest_arm_with_the_largest_index(policy: Policy, noise: Noise, seed: int) -> None:
    """Rewards are 0 or 1 and come late, twice, or never; arms come and go; bandits are asked twice."""
    draw = random.Random(seed)
    bandit = Bandit(policy, 120, noise, 1)
    bandit.learn_many(range(120), [float(draw.random() < 0.3) for _ in range(120)])
    open_ones: list[int] = []
    for _ in range(600):
        best = bandit.arms[int(np.argmax(bandit.indices()))]
        if draw.random() < 0.3:
            assert bandit.peek() == best
        assert bandit.choose() == best
        open_ones.append(int(best))
        while open_ones and draw.random() < 0.6:
            arm = open_ones.pop(draw.randrange(len(open_ones)))
            if arm in bandit.arms:
                bandit.learn(arm, float(draw.random() < 0.3))
        luck = draw.random()
        if luck < 0.02:
            bandit.learn(draw.choice(bandit.arms), 1.0)
        elif luck < 0.03:
            bandit.retire_arm(draw.choice(bandit.arms))
        elif luck < 0.04 and open_ones and open_ones[-1] in bandit.arms:
            bandit.forget(open_ones.pop())


def evaluations(bandit: Bandit) -> int:
    return bandit._selector.evaluations


@pytest.mark.parametrize("policy", [OCUCBn(), UCB()], ids=str)
def test_few_of_many_equal_arms_are_evaluated(policy: Policy) -> None:
    arms, draw = 20_000, random.Random(5)
    bandit = Bandit(policy, arms, Bernoulli(), 1)
    bandit.learn_many(range(arms), [float(number % 4 == 0) for number in range(arms)])
    bandit.choose()
    before = evaluations(bandit)
    for _ in range(1000):
        bandit.learn(bandit.choose(), float(draw.random() < 0.3))
    assert evaluations(bandit) - before < 100 * 1000  # without rings it is 5000 or more for each
