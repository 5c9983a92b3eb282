"""Arms come and go and pulls are taken back: the choice is that of the scan, and nothing is built anew."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from ocucb import UCB, Bandit, Bernoulli, Bounded, Gaussian, LevelPolicy, Noise, OCUCBn, Policy, level
from ocucb.compiled import Parameters
from ocucb.policies import MOSS, OCUCB, AdaUCB, Gittins, Greedy, KLUCBPlus, KLUCBSwitch, ThompsonSampling, Trend
from ocucb.policies.policy import WithArms
from ocucb.selection import Selector
from samples import POLICY_SAMPLES, with_horizon

ARMS = 150
LAZY = [policy for policy in POLICY_SAMPLES if policy.rule().trend is not Trend.NEITHER]


def check_bounds(selector: Selector) -> None:
    """No index is above its bound, if that has not expired."""
    state, memory = selector._state[0], selector._memory.arrays
    if state["stale"] or state["unpulled"] or state["trend"] == Trend.NEITHER:
        return
    now = state["clock_shift"] + (state["rounds"] + 1 if state["trend"] == Trend.RISES else 0)
    arms = selector.arms
    expired = (arms["bucket"] >= 0) & (memory["due"][arms["bucket"]] <= now)
    bounded = (arms["active"] == 1) & (arms["hidden"] == 0) & ~expired
    bounded[[arm for arm in (state["leader"], state["challenger"]) if arm >= 0]] = False
    assert (selector.indices() <= memory["bounds"][: selector.slots])[bounded].all()


class Game:
    """A bandit to which anything may happen. Every choice is compared with the largest of all indices."""

    def __init__(self, policy: Policy, noise: Noise, seed: int, arms: int = ARMS) -> None:
        self.draw = random.Random(seed)
        self.bandit = Bandit(policy, arms, noise, 1)
        self.pending: list[int] = []
        for _ in range(3):
            self.bandit.learn_many(range(arms), [self.reward(arm) for arm in range(arms)])

    def reward(self, arm: int) -> float:
        return float(self.draw.random() < 0.3 + 0.002 * (arm % 100))

    def choose(self) -> None:
        indices = self.bandit.indices()
        waiting = indices.max() == -np.inf  # no arm has a reward
        best = self.bandit.arms[int(np.argmin(self.bandit.pulls) if waiting else np.argmax(indices))]
        if self.draw.random() < 0.3:
            assert self.bandit.peek() == best
        assert self.bandit.choose() == best
        self.pending.append(int(best))

    def learn(self) -> None:
        if self.pending:
            arm = self.pending.pop(self.draw.randrange(len(self.pending)))
            self.bandit.learn(arm, self.reward(arm))

    def step(self) -> None:
        self.choose()
        self.learn()

    def forget(self) -> None:
        if self.pending:
            self.bandit.forget(self.pending.pop(self.draw.randrange(len(self.pending))))

    def retire(self) -> None:
        if len(self.bandit.arms) > 2:
            self.bandit.retire_arm(self.draw.choice(self.bandit.arms))

    def retire_best(self) -> None:
        if len(self.bandit.arms) > 2:
            self.bandit.retire_arm(self.bandit.peek())

    def bring_back(self) -> None:
        if self.bandit.retired_arms:
            self.bandit.add_arm(self.draw.choice(self.bandit.retired_arms))

    def add(self) -> None:
        self.bandit.add_arm(len(self.bandit.arms) + len(self.bandit.retired_arms))

    def any_arm(self) -> int:
        return int(self.draw.choice(self.bandit.arms + self.bandit.retired_arms))

    def count_pull(self) -> None:
        arm = self.any_arm()
        self.bandit.count_pull(arm)
        self.pending.append(arm)

    def learn_elsewhere(self) -> None:
        arm = self.any_arm()
        if arm in self.pending:
            self.pending.remove(arm)
        self.bandit.learn(arm, self.reward(arm))

    def check_bits(self) -> None:
        """Compare with a bandit whose order and bounds are made from nothing, to the last bit."""
        loaded = Bandit.from_dict(self.bandit.to_dict(), self.bandit.policy)
        assert np.array_equal(self.bandit.indices(), loaded.indices())
        assert np.array_equal(self.bandit.effective_arms(), loaded.effective_arms(), equal_nan=True)
        assert self.bandit.peek() == loaded.peek()

    def play(self, events: int) -> None:
        kinds = [self.forget, self.retire, self.retire_best, self.bring_back, self.add, self.count_pull]
        for number in range(events):
            luck = self.draw.random()
            if luck < 0.6:
                self.step()
            elif luck < 0.75:
                self.choose()
            elif luck < 0.78:  # many of a kind at once: what they lower adds up
                kind = self.draw.choice(kinds)
                for _ in range(self.draw.randrange(60)):
                    kind()
            elif luck < 0.8:
                for _ in range(self.draw.randrange(100)):
                    self.choose()
            else:
                self.draw.choice([*kinds, self.learn, self.learn_elsewhere])()
            check_bounds(self.bandit._selector)
            if number % 40 == 0:
                self.check_bits()


@pytest.fixture
def rebuilds(monkeypatch: pytest.MonkeyPatch) -> list[Selector]:
    """Every selector whose order and bounds were made from nothing, once for each time."""
    made: list[Selector] = []
    rebuild = Selector._rebuild

    def counted(self: Selector) -> None:
        made.append(self)
        rebuild(self)

    monkeypatch.setattr(Selector, "_rebuild", counted)
    return made


@pytest.mark.parametrize("noise", [Bernoulli(), Gaussian(0.5)], ids=str)
@pytest.mark.parametrize("policy", [*LAZY, ThompsonSampling()], ids=str)
def test_the_choice_is_that_of_the_scan(policy: Policy, noise: Noise, rebuilds: list[Selector]) -> None:
    game = Game(with_horizon(policy, 5000), noise, seed=1)
    game.play(400)
    if policy.rule().with_arms is not WithArms.UNKNOWN:
        assert rebuilds.count(game.bandit._selector) == 1


HARD = [
    OCUCBn(),
    OCUCBn(rho=1.0),
    OCUCBn(eta=2.0, rho=0.75),
    AdaUCB(),
    AdaUCB(horizon=20_000),
    OCUCB(20_000),
    MOSS(20_000),
    KLUCBSwitch(20_000),
    KLUCBPlus(),
    Gittins(20_000, approximate=True),
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("policy", HARD, ids=str)
def test_long_games(policy: Policy, seed: int) -> None:
    game = Game(policy, Gaussian(0.5), seed + 10)
    game.play(1500)


@pytest.mark.parametrize(
    ("policy", "elsewhere"),
    [(OCUCBn(), 10**6), (AdaUCB(), 10**6), (AdaUCB(20_000), 10), (OCUCB(20_000), 10), (Gittins(20_000, True), 10)],
    ids=str,
)
def test_thousands_of_forgotten_pulls(policy: Policy, elsewhere: int) -> None:
    """They take back t, and more than a third of the effective arms of those that were pulled most."""
    data = Bandit(policy, 60, Gaussian(), 1).to_dict()
    data["pulls"] = [100] * 59 + [elsewhere]
    data["learned"] = [100] * 30 + [3] * 29 + [elsewhere]
    data["totals"] = [float(learned * (arm % 7)) / 20 for arm, learned in enumerate(data["learned"])]
    data["retired"] = [False] * 59 + [True]
    bandit = Bandit.from_dict(data)
    for _ in range(50):
        bandit.learn(bandit.choose(), 0.1)
        check_bounds(bandit._selector)
    for _ in range(90):
        for arm in range(30, 59):
            bandit.forget(arm)
        check_bounds(bandit._selector)
    best = bandit.arms[int(np.argmax(bandit.indices()))]
    assert bandit.choose() == best


@pytest.mark.parametrize(
    "policy", [OCUCBn(), UCB(), KLUCBPlus(), Greedy(), OCUCB(10**6), MOSS(10**6), KLUCBSwitch(10**6)], ids=str
)
def test_few_arms_are_evaluated_after_a_change(policy: Policy, rebuilds: list[Selector]) -> None:
    arms, draw = 20_000, random.Random(3)
    bandit = Bandit(policy, arms, Gaussian(), 1)
    bandit.learn_many(range(arms), [draw.gauss(0.0, 1.0) for _ in range(arms)])
    for _ in range(200):
        bandit.learn(bandit.choose(), draw.gauss(0.0, 1.0))
    before = bandit._selector.evaluations
    for number in range(100):
        bandit.forget(bandit.choose())
        bandit.choose()
        bandit.retire_arm(number)
        bandit.learn(number, 0.5)
        bandit.choose()
        bandit.add_arm(arms + number)
        bandit.learn(bandit.choose(), 0.5)
        bandit.add_arm(number)
        bandit.choose()
    assert bandit._selector.evaluations - before < 100 * 4 * 100  # one rebuild is 40,000 or more
    assert rebuilds == [bandit._selector]


def test_an_arm_that_comes_back_does_not_hide_the_best() -> None:
    """Bounds that expire then are renewed by their distance to the best, not to that arm: 143 evaluations, not 330."""
    arms, draw = 20_000, random.Random(3)
    bandit = Bandit(KLUCBSwitch(10**7), arms, Gaussian(), 1)
    for _ in range(10):
        bandit.learn_many(range(arms), [draw.gauss(0.0, 1.0) for _ in range(arms)])
    for _ in range(1000):
        bandit.learn(bandit.choose(), draw.gauss(0.0, 1.0))
    for arm in range(1000):
        bandit.retire_arm(arm)
        bandit.choose()
    before = bandit._selector.evaluations
    for arm in range(1000):
        bandit.add_arm(arm)
        bandit.choose()
    assert (bandit._selector.evaluations - before) / 1000 < 200


@level
def own(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return parameters[0] * math.log(max(1.0, t / pulls)) + arms


def test_a_level_that_may_move_either_way_with_the_number_of_arms(rebuilds: list[Selector]) -> None:
    policy = LevelPolicy("own", own, {"weight": 1.5}, trend="rises")
    assert policy.rule().with_arms is WithArms.UNKNOWN
    game = Game(policy, Gaussian(), seed=5)
    game.play(400)
    assert len(rebuilds) > 20


@level
def falling(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return parameters[0] * math.log(max(1.0, t / (arms * pulls)))


def test_a_level_that_is_said_to_fall_with_the_number_of_arms(rebuilds: list[Selector]) -> None:
    """And does: nothing is made anew, and choices are those of the scan."""
    game = Game(LevelPolicy("own", falling, {"weight": 1.5}, trend="rises", with_arms="falls"), Gaussian(), seed=5)
    game.play(400)
    assert rebuilds.count(game.bandit._selector) == 1


@level
def switching(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    """KL-UCB-switch without a horizon: the bound of an arm changes back and forth with t and with the arms."""
    size = 1.0 + math.log(max(1.0, t / (arms * pulls)))
    return size if arms * pulls ** parameters[0] <= t else -size


# All arms start with 3 pulls, and switch when there are 150, 120, or at 4 pulls 60 arms. Without a horizon they do so
# at 560 rounds and 150 arms, and with every change of these two.
SWITCHING = [
    KLUCBSwitch(3**5 * ARMS),
    KLUCBSwitch(3**5 * (ARMS - 30)),
    KLUCBSwitch(4**5 * 60),
    LevelPolicy("switching", switching, {"power": 1.2}, trend="rises", bound="switch", with_arms="falls"),
    LevelPolicy("switching", switching, {"power": 3.0}, trend="rises", bound="switch", with_arms="falls"),
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("noise", [Bernoulli(), Bounded(-1.0, 1.5)], ids=str)
@pytest.mark.parametrize("policy", SWITCHING, ids=lambda policy: f"{policy.name}-{policy.rule().parameters[0]:g}")
def test_bounds_switch_as_arms_come_and_go(policy: Policy, noise: Noise, seed: int, rebuilds: list[Selector]) -> None:
    """Indices move both ways with the number of arms; still nothing is made anew, and choices are those of the scan."""
    game = Game(policy, noise, seed + 20)
    for _ in range(12):
        game.play(40)
        for change in (game.retire, game.bring_back, game.add, game.retire):
            for _ in range(game.draw.randrange(25)):
                change()
                check_bounds(game.bandit._selector)
                if game.draw.random() < 0.3:
                    game.step()
        for _ in range(game.draw.randrange(30)):
            game.forget()
            check_bounds(game.bandit._selector)
    assert rebuilds.count(game.bandit._selector) == 1


@pytest.mark.parametrize("switch", [6000, 5500, 5000])
def test_forgotten_pulls_take_back_a_switch(switch: int) -> None:
    """Arms of 100 pulls switch at some round before the first, and back when pulls are forgotten."""
    power = {"power": math.log(switch / 60, 100)}
    policy = LevelPolicy("switching", switching, power, trend="rises", bound="switch", with_arms="falls")
    data = Bandit(policy, 60, Bounded(0.0, 1.0), 1).to_dict()
    data["pulls"] = [100] * 60
    data["learned"] = [100] * 30 + [3] * 30
    data["totals"] = [float(learned * (arm % 7)) / 200 for arm, learned in enumerate(data["learned"])]
    bandit = Bandit.from_dict(data, policy)
    for _ in range(50):
        bandit.learn(bandit.choose(), 0.03)
        check_bounds(bandit._selector)
    for _ in range(90):
        for arm in range(30, 60):
            bandit.forget(arm)
        check_bounds(bandit._selector)
        assert bandit.peek() == bandit.arms[int(np.argmax(bandit.indices()))]


def test_memory_grows_with_its_contents(rebuilds: list[Selector]) -> None:
    """Sums, bounds, order, buckets: all are copied, and nothing is made anew."""
    game = Game(OCUCBn(), Gaussian(0.5), seed=6, arms=9)
    for number in range(400):
        game.step()
        if number % 3 == 0:
            game.add()
        if number % 50 == 0:
            game.check_bits()
    assert rebuilds.count(game.bandit._selector) == 1


def test_memory_that_grew_has_a_group_for_every_number_of_pulls() -> None:
    game = Game(OCUCBn(), Gaussian(0.5), seed=7, arms=3)
    for arm in range(3, 40):
        game.add()
        game.step()
        for _ in range(arm):
            game.bandit.learn(arm, 0.5)
        game.check_bits()
    assert len(set(game.bandit.pulls.tolist())) > 30


def test_a_rule_with_a_scan_has_nothing_to_keep() -> None:
    bandit = Bandit(ThompsonSampling(), 20, Bernoulli(), 1)
    same = Bandit(ThompsonSampling(), 20, Bernoulli(), 1)
    for one in (bandit, same):
        one.learn_many(range(20), [1.0] * 20)
    bandit.retire_arm(3)
    bandit.add_arm(3)
    bandit.forget(bandit.choose())
    assert [bandit.choose() for _ in range(50)] == [same.choose() for _ in range(50)]


def test_the_lowest_arm_never_pulled_comes_first() -> None:
    bandit = Bandit(OCUCBn(), 5)
    bandit.learn_many([0, 2, 4], [0.5] * 3)
    bandit.retire_arm(1)
    assert bandit.choose() == 3
    bandit.add_arm(9)
    bandit.add_arm(1)
    bandit.forget(3)
    assert [bandit.choose() for _ in range(3)] == [1, 3, 9]
