"""The episode against a plain simulation: the same choices for every policy and family, whatever the shortcuts."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from ocucb import Bandit, Bernoulli, LevelPolicy, Noise, OCUCBn, Policy, level
from ocucb.compiled import Parameters
from ocucb.lab.problem import Problem, mixed_gaps, worst_case
from ocucb.lab.shard import Shard, ShardResult, play
from ocucb.lab.tape import arm_key, choice_seed
from ocucb.policies import Rule, Trend
from ocucb.selection.leader import may_lead
from ocucb.uniforms import uniform
from samples import NOISE_SAMPLES, POLICY_SAMPLES, with_horizon

KINDS = [policy for policy in POLICY_SAMPLES if policy.rule().trend is not Trend.NEITHER]
SEED = 11
TIED = Problem((0.3,) * 60, Bernoulli(), "tied")
LONG = [worst_case(2, 0.5), mixed_gaps(), worst_case(40, 0.3), TIED]


def problem_under(noise: Noise, arms: int = 5) -> Problem:
    low, high = max(noise.support()[0], 0.0), min(noise.support()[1], 1.0)
    return Problem(tuple(np.linspace(low + 0.6 * (high - low), low + 0.3 * (high - low), arms).tolist()), noise)


def shard_of(policy: Policy, problem: Problem, horizon: int, runs: int = 2, first: int = 0) -> Shard:
    marks = tuple(sorted({problem.arms, horizon // 3, horizon // 2 + 1, horizon}))
    return Shard(problem, policy, horizon, marks, SEED, first, runs, trace=horizon)


@dataclasses.dataclass(frozen=True)
class Scanned(Policy):
    """Any policy, served by the scan of all arms."""

    inner: Policy

    def rule(self) -> Rule:
        return self.inner.rule()._replace(trend=Trend.NEITHER)


def same(one: ShardResult, two: ShardResult) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


@pytest.mark.parametrize("noise", NOISE_SAMPLES, ids=str)
@pytest.mark.parametrize("policy", KINDS, ids=str)
def test_the_same_choices_as_the_scan(policy: Policy, noise: Noise) -> None:
    slow = policy.rule().bound == "posterior" or policy.name == "gittins" or noise.family().spreads
    horizon = 400 if slow else 3000
    policy, problem = with_horizon(policy, horizon), problem_under(noise)
    assert same(play(shard_of(policy, problem, horizon)), play(shard_of(Scanned(policy), problem, horizon)))


@pytest.mark.parametrize(
    "policy", [kind for kind in KINDS if may_lead(kind.rule()) and kind.name != "gittins"], ids=str
)
@pytest.mark.parametrize("problem", LONG, ids=lambda p: p.name)
def test_long_runs(policy: Policy, problem: Problem) -> None:
    policy = with_horizon(policy, 30_000)
    assert same(
        play(shard_of(policy, problem, 30_000, runs=1)), play(shard_of(Scanned(policy), problem, 30_000, runs=1))
    )


@pytest.mark.parametrize("policy", POLICY_SAMPLES, ids=str)
def test_the_same_choices_as_a_bandit(policy: Policy) -> None:
    """The policy that was simulated is the policy that is served, the random ones included."""
    problem, horizon, run = problem_under(Bernoulli()), 300, 4
    outcome = play(shard_of(with_horizon(policy, horizon), problem, horizon, runs=1, first=run))
    bandit = Bandit(with_horizon(policy, horizon), problem.arms, problem.noise, seed=choice_seed(SEED, run))
    taken = [0] * problem.arms
    for expected in outcome.choices[0].tolist():
        assert bandit.choose() == expected
        taken[expected] += 1
        drawn = uniform(np.uint64(arm_key(SEED, run, expected)), taken[expected])
        bandit.learn(expected, problem.noise.quantile(problem.means[expected], drawn))
    assert outcome.pulls[0].tolist() == bandit.pulls.tolist() == taken


def test_what_is_recorded() -> None:
    problem, horizon = mixed_gaps(), 2000
    shard = shard_of(OCUCBn(), problem, horizon, runs=3)
    outcome = play(shard)
    gaps = np.array(problem.gaps)
    for row in range(3):
        lost = np.cumsum(gaps[outcome.choices[row]])
        assert outcome.regret[row] == pytest.approx(lost[np.array(shard.checkpoints) - 1], abs=1e-9)
        assert outcome.pulls[row].tolist() == np.bincount(outcome.choices[row], minlength=10).tolist()
    assert outcome.choices[:, :10].tolist() == [list(range(10))] * 3


def test_runs_do_not_depend_on_how_they_are_grouped() -> None:
    whole = play(shard_of(OCUCBn(), mixed_gaps(), 3000, runs=6))
    parts = [play(shard_of(OCUCBn(), mixed_gaps(), 3000, runs=2, first=first)) for first in (4, 0, 2)]
    assert np.array_equal(whole.regret, np.concatenate([parts[1].regret, parts[2].regret, parts[0].regret]))
    assert len(np.unique(whole.regret[:, -1])) == 6


def test_every_policy_meets_the_same_rewards() -> None:
    """Two policies that make the same choices have the same regret to the bit, and other seeds give other rewards."""
    one = play(shard_of(OCUCBn(eta=2.0), mixed_gaps(), 2000))
    two = play(shard_of(OCUCBn(eta=2.0, rho=0.5 + 1e-12), mixed_gaps(), 2000))
    other = play(dataclasses.replace(shard_of(OCUCBn(eta=2.0), mixed_gaps(), 2000), seed=SEED + 1))
    assert same(one, two)
    assert not np.array_equal(one.choices, other.choices)


@level
def own(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return parameters[0] * math.sqrt(math.sqrt(t / (pulls * effective)))


def test_a_policy_of_ones_own() -> None:
    policy = LevelPolicy("own", own, {"weight": 1.5}, trend="rises", rho=0.5)
    assert same(
        play(shard_of(policy, worst_case(20, 0.3), 5000)), play(shard_of(Scanned(policy), worst_case(20, 0.3), 5000))
    )
