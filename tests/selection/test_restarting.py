"""Bandits that start again at a change, against the naive test over every place where it could have been."""

from __future__ import annotations

import json
import math
import random
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from ocucb import (
    KLUCB,
    UCB,
    Bandit,
    Bernoulli,
    Bounded,
    Exponential,
    Gaussian,
    GaussianUnknownScale,
    Gittins,
    MaillardSampling,
    Noise,
    OCUCBn,
    ParameterError,
    Poisson,
    Policy,
    Restart,
    StateError,
    ThompsonSampling,
)
from side_by_side import named

FAMILIES: list[Noise] = [Bernoulli(), Gaussian(0.5), Bounded(-1.0, 2.0), Poisson(), Exponential()]


class Game:
    """A bandit that starts again, beside what the reference makes of all that happened since the last start."""

    def __init__(self, policy: Policy, noise: Noise, memory: Restart, arms: int) -> None:
        self.bandit = Bandit(policy, arms, noise, seed=0, memory=memory)
        self.memory, self.policy, self.noise = memory, named(policy), (noise.name, asdict(noise))
        self.retired, self.pending = [False] * arms, [0] * arms
        self.restarts = 0
        self.start(arms)

    def start(self, arms: int) -> None:
        self.pulls, self.rewards = [0] * arms, [list[float]() for _ in range(arms)]

    def arms(self) -> list[reference.Arm]:
        return [
            reference.Arm(pulls, sum(got) / len(got) if got else None, gone)
            for pulls, got, gone in zip(self.pulls, self.rewards, self.retired, strict=True)
        ]

    def choose(self) -> int:
        arms, rounds = self.arms(), sum(self.pulls)
        playing = [arm for arm, gone in enumerate(self.retired) if not gone]
        expected, _ = reference.choose(*self.policy, *self.noise, arms, rounds + 1)
        if all(self.pulls[arm] for arm in playing):
            explored = reference.explored_arm(playing, rounds, self.memory.exploration)
            expected = expected if explored is None else explored
        chosen = self.bandit.choose()
        assert chosen == expected
        assert isinstance(chosen, int)
        self.pull(chosen)
        return chosen

    def pull(self, arm: int) -> None:
        self.pulls[arm] += 1
        self.pending[arm] += 1

    def learn(self, arm: int, reward: float) -> None:
        if self.pending[arm] == 0:
            self.pull(arm)
        self.pending[arm] -= 1
        self.bandit.learn(arm, reward)
        self.rewards[arm].append(reward)
        if reference.change_found(*self.noise, self.rewards[arm], self.memory.delta):
            self.restarts += 1
            self.start(len(self.pulls))
        assert self.bandit.restarts == self.restarts

    def cancel(self, arm: int) -> None:
        self.bandit.forget(arm)
        self.pending[arm] -= 1
        self.pulls[arm] = max(0, self.pulls[arm] - 1)

    def check(self) -> None:
        values = reference.indices(*self.policy, *self.noise, self.arms(), sum(self.pulls) + 1)
        kept = [value for value, gone in zip(values, self.retired, strict=True) if not gone]
        assert self.bandit.indices().tolist() == pytest.approx(kept, rel=1e-9, abs=1e-9)
        assert self.bandit.pending.tolist() == [
            waiting for waiting, gone in zip(self.pending, self.retired, strict=True) if not gone
        ]


def reward_of(noise: Noise, luck: random.Random, level: float) -> float:
    """Return a reward around a level between 0 and 1, spread so that a change of it is seen soon in every family."""
    low, high = (max(noise.support()[0], 0.0), 8.0) if noise.support()[1] > 8.0 else noise.support()
    if noise.whole:
        return high * (luck.random() < level)
    return min(high, max(low, low + (high - low) * (level + luck.uniform(-0.3, 0.3))))


@pytest.mark.parametrize("exploration", [0.0, 0.3])
@pytest.mark.parametrize("noise", FAMILIES, ids=str)
def test_the_test_is_that_over_all_places(noise: Noise, exploration: float) -> None:
    luck, restarts = random.Random(5), 0
    for policy in (KLUCB(), OCUCBn()):
        game = Game(policy, noise, Restart(0.05, exploration), 3)
        for t in range(300):
            arm = game.choose()
            level = 0.1 + 0.8 * ((arm == 0) == ((t // 100) % 2 == 0))
            game.learn(arm, reward_of(noise, luck, level))
        game.check()
        restarts += game.restarts
    assert restarts >= 1


EVENTS = ["step"] * 12 + ["burst", "cancel", "elsewhere", "retire", "bring back", "add", "change", "reload"]


@settings(max_examples=60, deadline=None)
@given(
    policy=st.sampled_from([KLUCB(), OCUCBn(), UCB()]),
    noise=st.sampled_from(FAMILIES),
    memory=st.sampled_from([Restart(0.9, 0.5), Restart(0.5, 0.0), Restart(0.99, 1.0)]),
    arms=st.integers(1, 4),
    luck=st.randoms(use_true_random=False),
    events=st.lists(st.sampled_from(EVENTS), max_size=60),
)
def test_any_game(
    policy: Policy, noise: Noise, memory: Restart, arms: int, luck: random.Random, events: list[str]
) -> None:
    game, level = Game(policy, noise, memory, arms), 0.1
    for event in events:
        playing = [arm for arm, gone in enumerate(game.retired) if not gone]
        if event == "step":
            for _ in range(3):
                game.learn(game.choose(), reward_of(noise, luck, level))
        elif event == "burst":
            for arm in [game.choose() for _ in range(luck.randint(1, 6))]:
                if luck.random() < 0.7:
                    game.learn(arm, reward_of(noise, luck, level))
        elif event == "cancel" and any(game.pending):
            game.cancel(luck.choice([arm for arm, waiting in enumerate(game.pending) if waiting]))
        elif event == "elsewhere":
            game.learn(luck.randrange(len(game.pulls)), reward_of(noise, luck, level))
        elif event == "retire" and len(playing) > 1:
            arm = luck.choice(playing)
            game.bandit.retire_arm(arm)
            game.retired[arm] = True
        elif event == "bring back" and len(playing) < len(game.pulls):
            arm = game.retired.index(True)
            game.bandit.add_arm(arm)
            game.retired[arm] = False
        elif event == "add":
            game.bandit.add_arm(len(game.pulls))
            game.pulls.append(0)
            game.pending.append(0)
            game.retired.append(False)
            game.rewards.append([])
        elif event == "change":
            level = 1.0 - level
        elif event == "reload":
            game.bandit = Bandit.from_dict(json.loads(json.dumps(game.bandit.to_dict(), allow_nan=False)))
    game.check()


def test_a_change_of_an_arm_that_the_policy_has_left_is_seen_by_exploring() -> None:
    """Arm 1 becomes the best; without exploration nothing shows it. Chance plays no part: rewards are fixed."""
    found = {}
    for exploration in (0.0, 0.1):
        bandit = Bandit(KLUCB(), 2, Bernoulli(), memory=Restart(0.01, exploration))
        for t in range(3000):
            arm = bandit.choose()
            bandit.learn(arm, float(arm == 0 or t >= 1000))  # arm 0 always gives 1
        found[exploration] = bandit.restarts
    assert found[0.0] == 0
    assert found[0.1] >= 1


def test_without_changes_it_hardly_ever_starts_again() -> None:
    """The paper's test is wrong with probability at most δ = 0.01 for each run; 40 have at most 5 by chance 1e-7."""
    wrong = 0
    for run in range(40):
        luck, bandit = random.Random(run), Bandit(KLUCB(), 2, Bernoulli(), memory=Restart(0.01, 0.1))
        for _ in range(500):
            arm = bandit.choose()
            bandit.learn(arm, float(luck.random() < 0.5))
        wrong += bandit.restarts > 0
    assert wrong <= 5


def test_probabilities_in_a_round_that_explores() -> None:
    bandit = Bandit(MaillardSampling(), 2, Bernoulli(), seed=1, memory=Restart(0.01, 0.5))
    chances = []
    for t in range(12):
        choice = bandit.decide()
        chances.append(choice.probability)
        bandit.learn(choice.arm, float(t % 2))
        if t % 4 < 2:
            assert (choice.arm, choice.probability) == (t % 4, 1.0)
    assert all(chance is not None and 0.0 < chance < 1.0 for chance in (chances[6], chances[7], chances[10]))


def test_learn_many_is_one_learn_after_another_or_nothing() -> None:
    at_once, one_by_one = (Bandit(UCB(), 3, seed=1, memory=Restart(0.5)) for _ in range(2))
    rewards = [float((i // 10) % 2 * 5 + i % 3) for i in range(40)]
    at_once.learn_many([0, 1] * 20, rewards)
    for i, reward in enumerate(rewards):
        one_by_one.learn(i % 2, reward)
    assert at_once.to_dict() == one_by_one.to_dict()
    assert at_once.restarts > 0
    before = at_once.to_dict()
    with pytest.raises(Exception, match="no longer be a finite number"):
        at_once.learn_many([0, 1] * 20, [float(i * i) for i in range(39)] + [1e300])
    assert at_once.to_dict() == before


def test_what_is_refused() -> None:
    bandit = Bandit(OCUCBn(), 2, memory=Restart())
    with pytest.raises(ParameterError, match=r"with Restart\(delta=0.01, exploration=0.01\) there are no verdicts"):
        bandit.best()
    with pytest.raises(ParameterError, match="bandits that forget cannot be merged"):
        Bandit(OCUCBn(), 2).merge(bandit)
    with pytest.raises(ParameterError, match="never forgotten"):
        Bandit(Gittins(100), 2, memory=Restart())
    with pytest.raises(ParameterError, match="cannot forget the spread"):
        Bandit(OCUCBn(), 2, GaussianUnknownScale(), memory=Restart())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"delta": 0.0}, "delta must be between 0 and 1, and neither, got 0; use delta=0.01"),
        ({"delta": 1}, "delta must be between 0 and 1, and neither, got 1"),
        ({"delta": "small"}, "delta must be a finite number, got 'small'"),
        ({"exploration": -0.1}, "exploration must be between 0 and 1, got -0.1; use exploration=0.01, or 0 for none"),
        ({"exploration": 1e-12}, "exploration must be 0 or at least 1e-09, got 1e-12"),
        ({"exploration": math.nan}, "exploration must be a finite number, got nan"),
    ],
)
def test_bad_parameters(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Restart(**given)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"restarts": -1}, "must have restarts and rounds"),
        ({"rewards": [1.0, 2.0]}, "rewards of remembered must be a list of 2 whole numbers"),
        ({"least": [9.0, 9.0]}, "a least reward is above the largest"),
        ({"above": [[]]}, "above of remembered must be a list of 2 hulls"),
        ({"above": [[[1.0]], []]}, r"must be \[number of rewards, their sum\]"),
        ({"below": [[[2.0, 1.0], [1.0, 1.0]], []]}, "are not in order"),
        ({"below": [[[1.0, 1.0]], []]}, "do not end with all rewards"),
        ({"totals": [1.0]}, "totals of remembered must be a list of 2 values of type float"),
        ({"pulls": [-1.0, 0.0]}, "pulls of remembered has a negative value"),
    ],
)
def test_bad_files(change: dict[str, Any], message: str) -> None:
    bandit = Bandit(UCB(), 2, memory=Restart())
    bandit.learn_many([0, 1, 0], [1.0, 2.0, 3.0])
    data = bandit.to_dict()
    with pytest.raises(StateError, match=message):
        Bandit.from_dict({**data, "remembered": {**data["remembered"], **change}})


def test_random_policies_start_again_too() -> None:
    bandit = Bandit(ThompsonSampling(), 2, Bernoulli(), seed=1, memory=Restart(0.05))
    for _ in range(100):
        arm = bandit.choose()
        bandit.learn(arm, float(arm == 0))
    for _ in range(100):
        arm = bandit.choose()
        bandit.learn(arm, float(arm == 1))
    assert bandit.restarts >= 1
    assert bandit.pulls[1] > 60
