"""Under a memory only arms that could win are evaluated: no index is above its ceiling, the choice is the scan's."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ocucb import Bernoulli, Discount, Gaussian, Noise, OCUCBn, Policy, Restart, Window
from ocucb.lab import Remembering
from ocucb.policies import Trend
from ocucb.selection import Selector
from samples import POLICY_SAMPLES, with_horizon

ARMS = 300
LEVELS = [
    policy
    for policy in POLICY_SAMPLES
    if policy.rule().level is not None and policy.rule().trend is not Trend.NEITHER and policy.name != "gittins"
]


def reward_of(noise: Noise, luck: random.Random, arm: int) -> float:
    return float(luck.random() < 0.3 + arm / 1000) if noise.whole else luck.gauss(arm / 300, 1.0)


def play(policy: Policy, noise: Noise, memory: Window | Discount | Restart, rounds: int) -> Selector:
    """Play with late rewards, pulls that are taken back and arms that retire; check every round."""
    selector = Selector(Remembering(policy, memory).rule(), noise.family(), 0, ARMS)
    luck, pending = random.Random(1), [0]
    bounds = selector._memory.arrays["bounds"][:ARMS]
    for t in range(rounds):
        chosen = selector.peek()
        indices = selector.indices()
        if selector._state["ceilings_left"][0] > 0 and not selector._state["unpulled"][0]:
            assert np.all(indices <= bounds), (t, np.flatnonzero(indices > bounds))
            if not selector._rule.exploration:
                assert chosen == np.argmax(indices)
        pending.append(selector.choose())
        while pending and luck.random() < 0.6:
            arm = pending.pop(luck.randrange(len(pending)))
            if luck.random() < 0.1:
                selector.forget(arm)
            else:
                selector.learn(arm, reward_of(noise, luck, arm))
        if t % 500 == 499:
            selector.retire(t // 500)
    return selector


@pytest.mark.parametrize("memory", [Window(700), Discount(0.998), Restart(0.05, 0.1)], ids=str)
@pytest.mark.parametrize("policy", LEVELS, ids=str)
def test_no_index_is_above_its_ceiling(policy: Policy, memory: Window | Discount | Restart) -> None:
    for noise in (Gaussian(), Bernoulli()):
        play(with_horizon(policy, 2 * ARMS), noise, memory, 2 * ARMS)


@pytest.mark.parametrize("memory", [Window(2000), Discount(0.9995)], ids=str)
def test_few_arms_are_evaluated(memory: Window | Discount) -> None:
    """A scan would evaluate all arms in every round, and the check does so once."""
    selector = play(OCUCBn(), Gaussian(), memory, 4000)
    assert selector.evaluations < 1.5 * 4000 * ARMS
