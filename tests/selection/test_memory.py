"""Bandits that forget, against the naive reference: the policy sees only what is remembered."""

from __future__ import annotations

import json
import math
import random
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from ocucb import (
    KLLUCB,
    UCB,
    Bandit,
    Bernoulli,
    Discount,
    EpsilonGreedy,
    Gaussian,
    GaussianUnknownScale,
    Gittins,
    MaillardSampling,
    Noise,
    OCUCBn,
    ParameterError,
    Policy,
    StateError,
    ThompsonSampling,
    TopTwo,
    Window,
)
from samples import NOISE_SAMPLES, POLICY_SAMPLES
from side_by_side import named

# Those that draw random numbers take the round for that, and what is remembered for the time.
KNOWN = [
    policy
    for policy in POLICY_SAMPLES
    if policy.name == "imed" or (policy.rule().score is None and policy.name != "gittins")
]
FAMILIES = [noise for noise in NOISE_SAMPLES if not noise.family().spreads]


@dataclass
class Past:
    """All that happened, and what of it is remembered, added up anew each time."""

    memory: Window | Discount
    count: int
    now: int = 0
    pulls: list[tuple[int, int, float]] = field(default_factory=list)  # round, arm, how much of a pull
    rewards: list[tuple[int, int, float]] = field(default_factory=list)
    waiting: list[list[tuple[int, float]]] = field(default_factory=list)  # of each arm, round and how much
    pending: list[int] = field(default_factory=list)
    retired: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.waiting = [[] for _ in range(self.count)]
        self.pending, self.retired = [0] * self.count, [False] * self.count

    def weight(self, when: int) -> float:
        if isinstance(self.memory, Window):
            return float(when > self.now - self.memory.rounds)
        return math.pow(self.memory.factor, self.now - when)

    def pull(self, arm: int) -> None:
        self.now += 1
        self.pulls.append((self.now, arm, 1.0))
        self.waiting[arm].append((self.now, 1.0))
        self.pending[arm] += 1

    def learn(self, arm: int, reward: float) -> None:
        if self.pending[arm] == 0:
            self.pull(arm)
        self.rewards.append((self.now, arm, reward))
        self._take_from_waiting(arm)

    def _take_from_waiting(self, arm: int) -> None:
        left = (self.pending[arm] - 1) / self.pending[arm]
        self.waiting[arm] = [(when, share * left) for when, share in self.waiting[arm]]
        self.pending[arm] -= 1

    def cancel(self, arm: int) -> None:
        if isinstance(self.memory, Window):
            last = max(
                (place for place, one in enumerate(self.pulls) if one[1] == arm and self.weight(one[0])), default=None
            )
            if last is not None:
                del self.pulls[last]
        else:
            self.pulls += [(when, arm, -share / self.pending[arm]) for when, share in self.waiting[arm]]
        self._take_from_waiting(arm)

    def arms(self) -> list[reference.Arm]:
        made = []
        for arm in range(self.count):
            pulls = math.fsum(self.weight(when) * share for when, one, share in self.pulls if one == arm)
            known = [(self.weight(when), reward) for when, one, reward in self.rewards if one == arm]
            heavy = math.fsum(weight for weight, _ in known)
            mean = math.fsum(weight * reward for weight, reward in known) / heavy if heavy > 0.0 else None
            pulls = 0.0 if abs(pulls) < 1e-12 else pulls
            made.append(reference.Arm(pulls, mean, self.retired[arm]))  # type: ignore[arg-type]
        return made

    def time(self) -> float:
        return 1.0 + math.fsum(self.weight(when) * share for when, _, share in self.pulls)


class Game:
    """A bandit that forgets, beside the reference."""

    def __init__(self, policy: Policy, noise: Noise, memory: Window | Discount, arms: int) -> None:
        self.bandit = Bandit(policy, arms, noise, seed=0, memory=memory)
        self.past = Past(memory, arms)
        self.policy, self.noise = named(policy), (noise.name, asdict(noise))

    def choose(self) -> int:
        arms, t = self.past.arms(), self.past.time()
        expected, values = reference.choose(*self.policy, *self.noise, arms, t)  # type: ignore[arg-type]
        chosen = self.bandit.choose()
        assert isinstance(chosen, int)
        if chosen != expected:  # sums of weights are rounded
            assert values[chosen] == pytest.approx(values[expected], rel=1e-9, abs=1e-9), (chosen, expected, values)
            assert isinstance(self.past.memory, Discount)
        self.past.pull(chosen)
        return chosen

    def learn(self, arm: int, reward: float) -> None:
        self.bandit.learn(arm, reward)
        self.past.learn(arm, reward)

    def check(self) -> None:
        arms, t = self.past.arms(), self.past.time()
        values = reference.indices(*self.policy, *self.noise, arms, t)  # type: ignore[arg-type]
        kept = [i for i, gone in enumerate(self.past.retired) if not gone]
        assert self.bandit.indices().tolist() == pytest.approx([values[i] for i in kept], rel=1e-8, abs=1e-8)
        assert self.bandit.means.tolist() == pytest.approx(
            [math.nan if (mean := arms[i].mean) is None else mean for i in kept], rel=1e-9, nan_ok=True
        )
        assert self.bandit.pending.tolist() == [self.past.pending[i] for i in kept]


def reward_of(noise: Noise, luck: random.Random, arm: int) -> float:
    low, high = noise.support()
    draw = luck.random()
    return float(draw < 0.3 + 0.1 * arm) if noise.whole else min(high, max(low, draw + 0.1 * arm))


@pytest.mark.parametrize("memory", [Window(25), Discount(0.95)], ids=str)
@pytest.mark.parametrize("policy", KNOWN, ids=str)
def test_every_policy(policy: Policy, memory: Window | Discount) -> None:
    luck = random.Random(1)
    for noise in (FAMILIES[0], Bernoulli()):
        game = Game(policy, noise, memory, 4)
        for _ in range(80):
            arm = game.choose()
            game.learn(arm, reward_of(noise, luck, arm))
        game.check()


EVENTS = ["step"] * 8 + ["burst", "cancel", "elsewhere", "retire", "bring back", "reload"]


@settings(max_examples=60, deadline=None)
@given(
    policy=st.sampled_from(
        [policy for policy in KNOWN if policy.name in ("ocucb-n", "ucb", "kl-ucb+", "imed", "moss")]
    ),
    noise=st.sampled_from(FAMILIES),
    memory=st.sampled_from([Window(1), Window(7), Window(1000), Discount(0.5), Discount(0.9), Discount(0.999)]),
    arms=st.integers(1, 5),
    luck=st.randoms(use_true_random=False),
    events=st.lists(st.sampled_from(EVENTS), max_size=40),
)
def test_any_game(
    policy: Policy, noise: Noise, memory: Window | Discount, arms: int, luck: random.Random, events: list[str]
) -> None:
    game = Game(policy, noise, memory, arms)
    past = game.past
    for event in events:
        playing = [arm for arm in range(arms) if not past.retired[arm]]
        if event == "step":
            arm = game.choose()
            game.learn(arm, reward_of(noise, luck, arm))
        elif event == "burst":
            for arm in [game.choose() for _ in range(luck.randint(1, 6))]:
                if luck.random() < 0.7:
                    game.learn(arm, reward_of(noise, luck, arm))
        elif event == "cancel" and any(past.pending):
            arm = luck.choice([arm for arm in range(arms) if past.pending[arm]])
            game.bandit.forget(arm)
            past.cancel(arm)
        elif event == "elsewhere":
            arm = luck.randrange(arms)
            game.learn(arm, reward_of(noise, luck, arm))
        elif event == "retire" and len(playing) > 1:
            arm = luck.choice(playing)
            game.bandit.retire_arm(arm)
            past.retired[arm] = True
        elif event == "bring back" and len(playing) < arms:
            arm = past.retired.index(True)
            game.bandit.add_arm(arm)
            past.retired[arm] = False
        elif event == "reload":
            game.bandit = Bandit.from_dict(json.loads(json.dumps(game.bandit.to_dict(), allow_nan=False)))
    game.check()


@pytest.mark.parametrize("memory", [Window(3), Discount(0.6)], ids=str)
def test_what_is_saved_goes_on_bit_for_bit(memory: Window | Discount) -> None:
    """Sums of a window are as they were rounded, and means under a discount survive a change of the unit."""
    luck, bandit = random.Random(3), Bandit(OCUCBn(), 2, seed=1, memory=memory)
    for number in range(900):
        bandit.learn(int(number % 40 == 0), luck.gauss(0.0, 1.0) * 10 ** luck.randint(0, 30))
        if number % 3 == 0:
            again = Bandit.from_dict(json.loads(json.dumps(bandit.to_dict(), allow_nan=False)))
            assert np.array_equal(again.means, bandit.means, equal_nan=True)
            assert again.to_dict() == bandit.to_dict()


def test_older_files_of_windows_are_read() -> None:
    """They have events by row, and no sums."""
    bandit = Bandit(UCB(), 2, memory=Window(10))
    bandit.learn_many([0, 1, 0], [1.0, 2.0, 3.0])
    data = bandit.to_dict()
    events = data["remembered"]["events"]
    rows = [list(row) for row in zip(events["rounds"], events["arms"], events["rewards"], strict=True)]
    data["remembered"] = {"now": data["remembered"]["now"], "events": rows}
    assert Bandit.from_dict(data).to_dict() == bandit.to_dict()


def test_an_arm_whose_pulls_are_forgotten_is_certain_to_be_tried_though_a_late_reward_is_known() -> None:
    for policy in (EpsilonGreedy(0.5), MaillardSampling(), ThompsonSampling()):
        bandit = Bandit(policy, 3, Bernoulli(), seed=1, memory=Window(3))
        for arm in (0, 1, 2, 1, 2, 2):
            bandit.count_pull(arm)
        for arm in (0, 1, 2):
            bandit.learn(arm, 1.0)
        choice = bandit.decide()
        assert (choice.arm, choice.probability) == (0, 1.0)


@pytest.mark.parametrize("memory", [Window(10**6), Discount(1.0 - 1e-12)], ids=str)
def test_what_forgets_nothing_is_a_bandit_without_memory(memory: Window | Discount) -> None:
    luck = random.Random(2)
    plain, forgetful = Bandit(OCUCBn(), 5), Bandit(OCUCBn(), 5, memory=memory)
    for _ in range(400):
        arm = plain.choose()
        assert arm == forgetful.choose()
        reward = luck.gauss(float(arm), 1.0)
        plain.learn(arm, reward)
        forgetful.learn(arm, reward)
    assert plain.indices().tolist() == pytest.approx(forgetful.indices().tolist(), rel=1e-6)


def test_an_arm_that_is_forgotten_altogether_is_tried_again() -> None:
    bandit = Bandit(OCUCBn(), 3, Bernoulli(), memory=Window(20))
    chosen = []
    for _ in range(200):
        arm = bandit.choose()
        chosen.append(arm)
        bandit.learn(arm, float(arm == 0))
    for start in range(180):
        assert set(chosen[start : start + 21]) == {0, 1, 2}


def test_a_discount_goes_on_for_ever() -> None:
    """The unit in which it counts is changed many times; an arm pulled long ago is forgotten and tried again."""
    bandit = Bandit(UCB(), 3, memory=Discount(0.5))
    for _ in range(2000):
        bandit.learn(0, 1.0)
    assert bandit.means[0] == 1.0
    bandit.choose()
    assert bandit.pulls.tolist() == [2000, 1, 0]
    again = Bandit.from_dict(bandit.to_dict())
    assert again.to_dict() == bandit.to_dict()


def test_it_follows_a_change() -> None:
    """After the best arm has become the worst, a bandit that forgets finds the new one; one that does not, later."""
    luck, found = np.random.default_rng(3), {}
    for memory in (None, Window(300), Discount(0.995)):
        bandit = Bandit(OCUCBn(), 2, Gaussian(0.5), memory=memory)
        for t in range(4000):
            arm = bandit.choose()
            best = 0 if t < 2000 else 1
            bandit.learn(arm, float(luck.normal(1.0 if arm == best else 0.0, 0.5)))
        found[memory] = int(bandit.pulls[1])
    assert found[Window(300)] > found[None] + 50
    assert found[Discount(0.995)] > found[None] + 50


def test_learn_many_is_one_learn_after_another_or_nothing() -> None:
    for memory in (Window(5), Discount(0.9)):
        at_once, one_by_one = (Bandit(UCB(), 3, seed=1, memory=memory) for _ in range(2))
        at_once.learn_many([0, 1, 2] * 4, [float(i) for i in range(12)])
        for i in range(12):
            one_by_one.learn(i % 3, float(i))
        assert at_once.to_dict() == one_by_one.to_dict()
        before = at_once.to_dict()
        with pytest.raises(Exception, match="no longer be a finite number"):
            at_once.learn_many([0, 1] * 20, [1.0] * 39 + [1e300])
        assert at_once.to_dict() == before


def test_what_needs_the_whole_past_is_refused() -> None:
    bandit = Bandit(OCUCBn(), 2, memory=Window(10))
    for ask in (bandit.best, bandit.intervals):
        with pytest.raises(ParameterError, match=r"with Window\(rounds=10\) there are no verdicts"):
            ask()
    with pytest.raises(ParameterError, match="bandits that forget cannot be merged"):
        bandit.merge(Bandit(OCUCBn(), 2))
    with pytest.raises(ParameterError, match="bandits that forget cannot be merged"):
        Bandit(OCUCBn(), 2).merge(bandit)
    with pytest.raises(ParameterError, match="rewards cannot be revised"):
        bandit.revise(0, 0, 0.0)
    for policy in (TopTwo(), KLLUCB()):
        with pytest.raises(ParameterError, match="looks for a verdict"):
            Bandit(policy, 2, memory=Discount(0.9))
    with pytest.raises(ParameterError, match="never forgotten"):
        Bandit(Gittins(100), 2, memory=Discount(0.9))
    with pytest.raises(ParameterError, match="cannot forget the spread"):
        Bandit(OCUCBn(), 2, GaussianUnknownScale(), memory=Discount(0.9))


def _make(kind: Any, *given: Any, **named: Any) -> Any:
    """Build with what the type checker would refuse."""
    return kind(*given, **named)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Window(0), "rounds must be"),
        (lambda: _make(Window, 1.5), "rounds must be"),
        (lambda: Discount(1.0), "factor must be between 0 and 1"),
        (lambda: Discount(0.0), "factor must be between 0 and 1"),
        (lambda: _make(Discount, "0.9"), "factor must be"),
        (
            lambda: _make(Bandit, UCB(), 2, memory=10),
            r"memory must be Window\(rounds\), Discount\(factor\) or Restart\(delta\), or None, got 10",
        ),
    ],
)
def test_bad_memories(make: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"memory": {"name": "sieve", "parameters": {}}}, "a memory must be"),
        ({"memory": {"name": "window", "parameters": {"rounds": 0}}}, "rounds must be"),
        ({"remembered": None}, "remembered is missing"),
        ({"remembered": {"now": 3, "events": [[1, 9, None]]}}, "no such round or arm"),
        ({"remembered": {"now": 3, "events": [[2, 0, None], [1, 0, None]]}}, "no such round or arm"),
        ({"remembered": {"now": 3, "events": [[1, 0]]}}, "events of remembered must be lists of equal length"),
        ({"remembered": {"now": 3, "events": {"rounds": [1], "arms": [0]}}}, "events of remembered must be lists"),
        ({"remembered": {"now": 3, "events": {"rounds": [1], "arms": [0], "rewards": []}}}, "must be lists"),
        ({"remembered": {"now": 3, "events": {"rounds": [1], "arms": [0.5], "rewards": [None]}}}, "must be lists"),
        ({"remembered": {"now": 3, "events": {"rounds": [1], "arms": [0], "rewards": ["1"]}}}, "must be lists"),
        ({"remembered": {"now": 3, "events": {"rounds": [4], "arms": [0], "rewards": [None]}}}, "no such round or arm"),
        (
            {"remembered": {"now": 3, "events": {"rounds": [3], "arms": [-1], "rewards": [None]}}},
            "no such round or arm",
        ),
        ({"remembered": {"now": 3, "events": [], "totals": [0.0, 0.0]}}, "rests of remembered must be a list of 2"),
    ],
)
def test_bad_files(change: dict[str, Any], message: str) -> None:
    bandit = Bandit(UCB(), 2, memory=Window(10))
    bandit.learn_many([0, 1, 0], [1.0, 2.0, 3.0])
    with pytest.raises(StateError, match=message):
        Bandit.from_dict({**bandit.to_dict(), **change})


def test_thompson_sampling_forgets_too() -> None:
    bandit = Bandit(ThompsonSampling(), 2, Bernoulli(), seed=1, memory=Window(50))
    for _ in range(200):
        bandit.learn(0, 1.0)
    for _ in range(200):
        arm = bandit.choose()
        bandit.learn(arm, float(arm == 1))
    assert bandit.pulls[1] > 60
