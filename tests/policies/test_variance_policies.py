"""UCB-V and UCB-Tuned: what they read, what they are refused, saved, merged and simulated with."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest

from ocucb import UCB, UCBV, Bandit, Bernoulli, Bounded, Noise, ParameterError, Policy, StateError, UCBTuned, Window
from ocucb.lab import Experiment, Problem
from ocucb.lab.exact import exact_regret
from ocucb.lab.gpu_shards import unfit
from ocucb.lab.shard import Shard, play
from ocucb.lab.tape import arm_key, choice_seed
from ocucb.uniforms import uniform
from samples import NOISE_SAMPLES, VARIANCE_SAMPLES, suits

every_policy = pytest.mark.parametrize("policy", VARIANCE_SAMPLES, ids=str)
RANGES: list[Noise] = [Bernoulli(), Bounded(-1.0, 3.0)]


def trained(policy: Policy, noise: Noise, seed: int = 0, rounds: int = 60) -> Bandit:
    """Return a bandit of three arms after some rounds."""
    bandit, generator = Bandit(policy, 3, noise), random.Random(seed)
    low, high = noise.support()
    for _ in range(rounds):
        arm = bandit.choose()
        value = low + (high - low) * generator.random()
        bandit.learn(arm, round(value) if noise.whole else value)
    return bandit


def test_the_indices_worked_out_by_hand() -> None:
    bandit = Bandit(UCBV(zeta=2.0, c=1.5), 2, Bounded(-1.0, 3.0))
    bandit.learn_many([0, 0, 0, 1], [0.0, 1.0, 2.0, 3.0])  # V = 2/3; round 5
    share = 2 * math.log(5) / 3
    assert bandit.explain(0).index == pytest.approx(1 + math.sqrt(2 * 2 / 3 * share) + 3 * 1.5 * 4 * share)
    assert bandit.explain(1).index == pytest.approx(3 + 3 * 1.5 * 4 * 2 * math.log(5))
    tuned = Bandit(UCBTuned(), 2, Bounded(-1.0, 3.0))
    tuned.learn_many([0, 1] * 300, [0.0, 2.0, 1.0, 2.0] * 150)  # V = 1/4 of arm 0, so 1/64 of the range
    share = math.log(601) / 300
    assert tuned.explain(0).index == pytest.approx(0.5 + 4 * math.sqrt(share * (1 / 64 + math.sqrt(2 * share))))
    assert tuned.explain(1).index == pytest.approx(2 + 4 * math.sqrt(share * math.sqrt(2 * share)))
    few = Bandit(UCBTuned(), 2, Bernoulli())
    few.learn_many([0, 1], [0, 1])
    assert few.explain(0).index == pytest.approx(math.sqrt(math.log(3) / 4))  # at most the largest variance, 1/4


@pytest.mark.parametrize("noise", NOISE_SAMPLES, ids=str)
def test_the_width_of_a_family_is_that_of_its_rewards(noise: Noise) -> None:
    low, high = noise.support()
    width = noise.family().width
    assert width == (high - low if isinstance(noise, Bernoulli | Bounded) else math.inf)


@every_policy
def test_a_noise_without_a_range_is_refused(policy: Policy) -> None:
    for noise in NOISE_SAMPLES:
        if suits(policy, noise):
            Bandit(policy, 2, noise)
            continue
        with pytest.raises(ParameterError, match=r"needs rewards in a known range, got .*; use Bernoulli\(\)"):
            Bandit(policy, 2, noise)
    with pytest.raises(ParameterError, match="needs rewards in a known range"):
        Experiment((Problem((0.5, 0.4)),), ((policy.name, policy),), 100, 2)


@every_policy
def test_what_cannot_be_done_with_sums_alone_is_refused(policy: Policy) -> None:
    with pytest.raises(ParameterError, match="cannot forget the spread of rewards; with Window"):
        Bandit(policy, 2, Bernoulli(), memory=Window(10))
    with pytest.raises(ParameterError, match="rewards cannot be revised"):
        trained(policy, Bernoulli()).revise(0, 1, 1.0)
    with pytest.raises(ParameterError, match="reads how rewards vary"):
        trained(policy, Bernoulli()).merge(trained(UCB(), Bernoulli()))
    problem = Problem((0.5, 0.4), Bernoulli())
    with pytest.raises(ParameterError, match="exact regret needs a policy that reads no variance"):
        exact_regret(problem, policy, 10)
    assert unfit(Shard(problem, policy, 100, (100,), 0, 0, 1)) is None


@every_policy
@pytest.mark.parametrize("noise", RANGES, ids=str)
def test_what_is_saved_goes_on_as_it_would_have(policy: Policy, noise: Noise) -> None:
    bandit = trained(policy, noise)
    data = json.loads(json.dumps(bandit.to_dict()))
    again = Bandit.from_dict(data)
    assert again.indices().tolist() == bandit.indices().tolist()
    again.add_arm("more")  # larger memory has the range, too
    for reward in (1, 0, 1):
        again.learn("more", reward)
    assert again.indices()[-1] < math.inf
    del data["moments"]
    with pytest.raises(StateError, match="moments is missing"):
        Bandit.from_dict(data)


@every_policy
def test_merged_bandits_know_what_one_with_all_rewards_knows(policy: Policy) -> None:
    noise = Bounded(0.0, 2.0)
    one, other, both = (Bandit(policy, 2, noise) for _ in range(3))
    one.learn_many([0, 0, 1], [0.5, 2.0, 1.0])
    other.learn_many([0, 1, 1], [0.25, 0.0, 1.5])
    both.learn_many([0, 0, 1, 0, 1, 1], [0.5, 2.0, 1.0, 0.25, 0.0, 1.5])
    one.merge(other)
    assert one.indices().tolist() == both.indices().tolist()
    sums = Bandit(UCB(), 2, noise)
    sums.merge(other)  # which needs no spreads
    assert sums.means.tolist() == other.means.tolist()


@every_policy
@pytest.mark.parametrize("noise", RANGES, ids=str)
def test_the_lab_plays_what_a_bandit_plays(policy: Policy, noise: Noise) -> None:
    low, high = noise.support()
    problem = Problem(tuple(low + (high - low) * share for share in (0.6, 0.5, 0.3)), noise)
    rounds = 250
    choices = play(Shard(problem, policy, rounds, (rounds,), seed=3, first=1, runs=1, trace=rounds)).choices[0]
    bandit, pulls = Bandit(policy, 3, noise, seed=choice_seed(3, 1)), [0, 0, 0]
    for expected in choices.tolist():
        arm = bandit.choose()
        assert arm == expected
        pulls[expected] += 1
        key = np.uint64(arm_key(3, 1, expected))
        bandit.learn(arm, noise.quantile(problem.means[expected], uniform(key, pulls[expected])))
