"""Statistics of some arms at once are those of each alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ocucb import Bandit
from ocucb.arm_statistics import arm_statistics
from ocucb.policies import UCB, OCUCBn, ThompsonSampling


@pytest.mark.parametrize("policy", [OCUCBn(), UCB(), ThompsonSampling()], ids=str)
def test_as_explain_says_of_each(policy: OCUCBn | UCB | ThompsonSampling) -> None:
    bandit = Bandit(policy, ["a", "b", "c", "d", "e"], seed=1)
    rewards = np.random.default_rng(2)
    for _ in range(40):
        bandit.learn(bandit.choose(), float(rewards.normal()))
    bandit.choose()  # one is pending
    bandit.retire_arm("c")
    bandit.add_arm("new")
    arms = ["new", "c", "a", "e"]
    known = bandit.explain_many(arms)
    assert known.arms == tuple(arms)
    assert known.retired.tolist() == [False, True, False, False]
    for place, arm in enumerate(arms):
        pulls, pending = int(known.pulls[place]), int(known.pending[place])
        numbers = known.means[place], known.indices[place], known.effective_arms[place]
        alone = bandit.explain(arm)
        has_effective_arms = policy.rule().rho is not None and not known.retired[place] and pulls > 0
        assert math.isnan(known.effective_arms[place]) is not has_effective_arms
        if not has_effective_arms:
            alone = alone._replace(effective_arms=None)
        assert arm_statistics(pulls, pulls - pending, *map(float, numbers)) == alone
    assert bandit.explain_many([]).arms == ()
