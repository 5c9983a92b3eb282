"""Policies that forget, in the lab: the choices of a bandit with that memory, as text, and where means drift."""

from __future__ import annotations

import numpy as np
import pytest

from ocucb import (
    UCB,
    Bandit,
    Bernoulli,
    Discount,
    Gittins,
    OCUCBn,
    ParameterError,
    Policy,
    Restart,
    ThompsonSampling,
    Window,
)
from ocucb.lab import Experiment, Problem, Remembering, exact_regret, simulate, switching, worst_case
from ocucb.lab.gpu_shards import unfit
from ocucb.lab.shard import Shard, play
from ocucb.lab.spec import describe_policy, format_policy, parse_policy
from ocucb.lab.tape import arm_key, choice_seed
from ocucb.memory import Memory
from ocucb.uniforms import uniform

SEED = 11
PROBLEM = Problem((0.6, 0.5, 0.4), Bernoulli())


@pytest.mark.parametrize("memory", [Window(30), Discount(0.95), Discount(0.5), Restart(0.3, 0.1)], ids=str)
@pytest.mark.parametrize("policy", [UCB(), OCUCBn(), ThompsonSampling()], ids=str)
def test_the_same_choices_as_a_bandit(policy: Policy, memory: Memory) -> None:
    horizon, run = 400, 4
    shard = Shard(PROBLEM, Remembering(policy, memory), horizon, (horizon,), SEED, run, 1, trace=horizon)
    outcome = play(shard)
    bandit = Bandit(policy, 3, Bernoulli(), seed=choice_seed(SEED, run), memory=memory)
    taken = [0, 0, 0]
    for expected in outcome.choices[0].tolist():
        assert bandit.choose() == expected
        taken[expected] += 1
        drawn = uniform(np.uint64(arm_key(SEED, run, expected)), taken[expected])
        bandit.learn(expected, PROBLEM.noise.quantile(PROBLEM.means[expected], drawn))
    assert outcome.pulls[0].tolist() == bandit.pulls.tolist() == taken
    assert outcome.regret[0, -1] == pytest.approx(0.1 * taken[1] + 0.2 * taken[2])
    assert "forgets, which the GPU does not" in str(unfit(Shard(PROBLEM, shard.policy, 10, (10,), 0, 0, 1)))


@pytest.mark.parametrize(
    "text", ["ucb(2) with window(500)", "ocucb-n with discount(0.999)", "kl-ucb with restart(0.01, exploration=0.1)"]
)
def test_as_text(text: str) -> None:
    policy = parse_policy(text, 1000)
    assert isinstance(policy, Remembering)
    assert parse_policy(format_policy(policy), 1000) == policy
    assert describe_policy(policy) == format_policy(policy) != describe_policy(policy.policy)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ucb with sieve(3)", "memory must be one of window, discount, restart, got 'sieve'"),
        ("ucb with window(0)", "rounds must be"),
        ("ucb with discount(2)", "factor must be between 0 and 1"),
        ("ucb with restart(0)", "delta must be between 0 and 1, and neither, got 0; use delta=0.01"),
        ("ucb with restart(0.1, exploration=2)", "exploration must be between 0 and 1, got 2"),
        ("ucb with window(5) with window(6)", "a memory must be a name"),
    ],
)
def test_bad_text(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parse_policy(text, 1000)


def test_refused_where_a_bandit_refuses() -> None:
    with pytest.raises(ParameterError, match="never forgotten"):
        Experiment((PROBLEM,), (("g", Remembering(Gittins(100), Window(5))),), 100, 2)
    with pytest.raises(ParameterError, match="remembers everything"):
        exact_regret(Problem((0.6, 0.5), Bernoulli()), Remembering(UCB(), Window(5)), 10)


def test_less_regret_in_a_environment_that_drifts_and_more_in_one_that_does_not() -> None:
    policies = (
        ("all", UCB()),
        ("window", Remembering(UCB(), Window(400))),
        ("restart", Remembering(UCB(), Restart(0.01, 0.02))),
    )
    found = {}
    for problem in (switching(3, 1.0, 800, 4), worst_case(3, 1.0)):
        result = simulate(Experiment((problem,), policies, 3200, 20, seed=3))
        found[problem.name] = {row.policy: row.mean for row in result.summary()}
    drifting, still = found.values()
    assert drifting["window"] < 0.7 * drifting["all"]
    assert still["window"] > still["all"]
    assert drifting["restart"] < 0.7 * drifting["all"]
    assert still["restart"] < still["window"]
