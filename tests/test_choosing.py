"""Choices among some arms and of several at once, shares, and the probabilities with which arms are chosen."""

from __future__ import annotations

import importlib
import math
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reference
from ocucb import (
    IMED,
    KLLUCB,
    MOSS,
    ArmError,
    Bandit,
    Bernoulli,
    EpsilonGreedy,
    Greedy,
    HorizonError,
    KLUCBPlus,
    MaillardSampling,
    OcucbError,
    OCUCBn,
    ParameterError,
    Policy,
    StateError,
    ThompsonSampling,
    TopTwo,
    Uniform,
)
from samples import POLICY_SAMPLES

stats: Any = importlib.import_module("scipy.stats")  # untyped

FALSE_ALARM = 1e-6
every_policy = pytest.mark.parametrize("policy", POLICY_SAMPLES, ids=str)


def make_past() -> tuple[list[int], list[float]]:
    """Return sixty arms and their rewards."""
    draw = random.Random(5)
    pairs = [(arm, float(draw.random() < 0.2 + 0.1 * arm)) for arm in (draw.randrange(6) for _ in range(60))]
    return [arm for arm, _ in pairs], [reward for _, reward in pairs]


PAST = make_past()


def learned(policy: Policy, seed: int = 1, shares: dict[str | int, float] | None = None) -> Bandit:
    """Return a bandit of six arms with rewards, some of them pending."""
    bandit = Bandit(policy, 6, Bernoulli(), seed=seed, shares=shares)
    bandit.learn_many(*PAST)
    bandit.count_pull(2)
    return bandit


@every_policy
def test_the_largest_index_of_those_named(policy: Policy) -> None:
    for seed in range(40):
        bandit = learned(policy, seed)
        named = random.Random(seed).sample(range(6), 1 + seed % 6)
        values = bandit.indices()
        if isinstance(
            policy, IMED | TopTwo | KLLUCB | MaillardSampling
        ):  # whose index hangs on the best of those named
            if isinstance(policy, KLLUCB):
                continue  # and on the number of all: tests/selection/test_exact.py
            alone = learned(policy, seed)
            for arm in set(range(6)) - set(named):
                alone.retire_arm(arm)
            expected = alone.peek()
        else:
            expected = max(sorted(named), key=lambda arm: values[arm])
        assert bandit.peek(named) == expected
        assert bandit.decide(iter(named)).arm == expected
        assert learned(policy, seed).choose(tuple(named * 2)) == expected


@every_policy
def test_several_arms_by_falling_index(policy: Policy) -> None:
    for seed in range(10):
        bandit, before = learned(policy, seed), learned(policy, seed)
        order = np.argsort(-before.indices(), kind="stable").tolist()
        count = 1 + seed % 6
        assert bandit.choose_many(count) == order[:count]
        assert bandit.rounds == before.rounds + count
        assert (bandit.pulls - before.pulls).tolist() == [int(arm in order[:count]) for arm in range(6)]
        assert bandit.peek() == Bandit.from_dict(bandit.to_dict()).peek()


@pytest.mark.parametrize("policy", [policy for policy in POLICY_SAMPLES if policy.rule().score is None], ids=str)
def test_named_arms_in_a_game(policy: Policy) -> None:
    """Some have led, some have challenged, some were never pulled."""
    bandit, luck = Bandit(policy, 6, Bernoulli(), seed=1), random.Random(1)
    for _ in range(300):
        named, values = luck.sample(range(6), luck.randint(1, 6)), bandit.indices()
        assert bandit.peek(named) == max(sorted(named), key=lambda arm: values[arm])
        arm = bandit.choose()
        assert isinstance(arm, int)
        bandit.learn(arm, float(luck.random() < 0.3 + 0.1 * arm))


@pytest.mark.parametrize("policy", [OCUCBn(), KLUCBPlus()], ids=str)
def test_several_arms_in_equal_states(policy: Policy) -> None:
    """One stands for all of them when the largest index is looked for, and yet each comes in its turn."""
    bandit, luck = Bandit(policy, 9), random.Random(1)
    for _ in range(100):
        order = np.argsort(-bandit.indices(), kind="stable").tolist()
        count = luck.randint(1, 9)
        chosen = bandit.choose_many(count)
        assert chosen == order[:count]
        for arm in chosen:
            bandit.learn(arm, 0.5)
        bandit.learn(bandit.choose(), 0.5)


@every_policy
def test_arms_without_rewards_among_those_named(policy: Policy) -> None:
    bandit = Bandit(policy, 5, Bernoulli(), seed=0)
    assert [bandit.choose([4, 1]), bandit.choose([4, 1])] == [1, 4]
    assert bandit.choose([4, 1]) == 1  # both wait for their first reward
    assert bandit.choose([1, 4]) == 4
    bandit.learn(4, 0.0)
    assert bandit.choose([1, 4]) == 4
    decided = bandit.decide([3, 2])
    assert (decided.arm, decided.probability, decided.statistics.pulls) == (2, 1.0, 0)
    assert bandit.choose_many(5) == [0, 3, 4, 2, 1]


BAD: list[tuple[Callable[[Bandit], object], type[OcucbError], str]] = [
    (lambda b: b.choose([]), ArmError, "among must name at least one arm, got none"),
    (lambda b: b.decide(["a", "x"]), ArmError, "no arm 'x'; the arms are 'a', 'b'"),
    (lambda b: b.choose(["a", "c"]), ArmError, "arm 'c' is retired; add_arm('c') brings it back"),
    (lambda b: b.peek(["c"]), ArmError, "arm 'c' is retired"),
    (lambda b: b.choose("ab"), ParameterError, "among must be a list of labels of arms, got 'ab'; for one arm"),
    (lambda b: b.choose(3), ParameterError, "among must be a list of labels of arms, got 3"),  # type: ignore[arg-type]
    (lambda b: b.choose([True, False]), ParameterError, "among must be a list of labels of arms, got truth values"),
    (lambda b: b.choose(np.array([True])), ParameterError, "got truth values; name the arms that may be"),
    (lambda b: b.choose([0.5]), ArmError, "a label must be a string or an integer, got 0.5"),  # type: ignore[list-item]
    (lambda b: b.choose([["a"]]), ArmError, "a label must be a string or an integer"),  # type: ignore[list-item]
    (lambda b: b.choose([["a"]]), ArmError, "a label must be a string or an integer"),  # type: ignore[list-item]
    (lambda b: b.choose_many(3), ArmError, "count must be at most 2, the arms in play, got 3"),
    (lambda b: b.choose_many(0), ParameterError, "count must be 1 or more, got 0"),
    (lambda b: b.choose_many(1.5), ParameterError, "count must be a whole number, got 1.5"),  # type: ignore[arg-type]
    (lambda b: b.set_shares({"a": 0.5, "b": 0.5}), ParameterError, "shares must sum to less than 1, got 1"),
    (lambda b: b.set_shares({"a": -0.1}), ParameterError, "the share of arm 'a' must be 0 or more, got -0.1"),
    (lambda b: b.set_shares({"a": float("nan")}), ParameterError, "the share of arm 'a' must be a finite number"),
    (lambda b: b.set_shares({"x": 0.1}), ArmError, "no arm 'x'"),
    (lambda b: b.set_shares({"c": 0.1}), ArmError, "arm 'c' is retired"),
    (lambda b: b.set_shares([("a", 0.1)]), ParameterError, "shares must be a mapping such as"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD, ids=range(len(BAD)))
@pytest.mark.parametrize("policy", [OCUCBn(), ThompsonSampling()], ids=str)
def test_bad_input_changes_nothing(
    policy: Policy, call: Callable[[Bandit], object], kind: type[OcucbError], message: str
) -> None:
    bandit = Bandit(policy, ["a", "b", "c"], Bernoulli(), seed=1, shares={"b": 0.25})
    bandit.learn_many(["a", "b", "c"], [0, 1, 1])
    bandit.retire_arm("c")
    before = bandit.to_dict()
    with pytest.raises(kind) as caught:
        call(bandit)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert bandit.to_dict() == before


def test_no_choice_of_any_kind_after_the_horizon() -> None:
    bandit = Bandit(MOSS(7), 5, Bernoulli())
    bandit.choose_many(5)
    for call in (lambda: bandit.choose_many(3), lambda: bandit.decide_many(3)):
        with pytest.raises(HorizonError, match="made for 7 rounds"):
            call()
    bandit.choose([0, 1])
    bandit.decide([0, 1])
    bandit.set_shares({0: 0.9})
    for choose in (bandit.choose, bandit.decide, bandit.peek):
        for among in (None, [0, 1]):
            with pytest.raises(HorizonError, match="made for 7 rounds"):
                choose(among)
    assert bandit.rounds == 7


# Shares


def test_shares_are_drawn_by_seed_and_round() -> None:
    shares: dict[str | int, float] = {3: 0.15, 1: 0.1}
    bandit, plain = learned(OCUCBn(), 11, shares), learned(OCUCBn(), 11)
    by_share = 0
    for _ in range(300):
        drawn = reference.drawn_by_share({1: 0.1, 3: 0.15}, 11, bandit.rounds + 1)
        policys = plain.peek()
        expected = policys if drawn is None else drawn
        by_share += drawn is not None
        assert bandit.peek() == expected
        decided = bandit.decide()
        assert decided.arm == expected
        known = plain.explain(expected)
        assert decided.statistics == known
        assert decided.probability == pytest.approx(
            {1: 0.1, 3: 0.15}.get(int(expected), 0.0) + 0.75 * (policys == expected)
        )
        for each in (bandit, plain):
            if each is plain:
                each.count_pull(expected)
            each.learn(expected, 1.0 if bandit.rounds % 3 else 0.0)
    assert stats.binom.ppf(FALSE_ALARM, 300, 0.25) <= by_share <= stats.binom.ppf(1.0 - FALSE_ALARM, 300, 0.25)


@every_policy
def test_choose_decide_and_peek_agree_under_shares(policy: Policy) -> None:
    shares: dict[str | int, float] = {0: 0.3, 5: 0.2}
    one, two = learned(policy, 4, shares), learned(policy, 4, shares)
    for i in range(60):
        named = None if i % 2 else [0, 3, 4]
        arm = one.peek(named)
        assert one.choose(named) == arm == two.decide(named).arm
        one.learn(arm, 0.0)
        two.learn(arm, 0.0)
        if i == 30:
            two = Bandit.from_dict(two.to_dict(), policy)
    assert one.to_dict() == two.to_dict()


def test_a_share_drawn_comes_first_of_several() -> None:
    seen = set()
    for seed in range(60):
        bandit = learned(OCUCBn(), seed, {0: 0.3, 4: 0.2})
        order = np.argsort(-bandit.indices(), kind="stable").tolist()
        drawn = reference.drawn_by_share({0: 0.3, 4: 0.2}, seed, bandit.rounds + 1)
        expected = order[:3] if drawn is None else [drawn, *(arm for arm in order if arm != drawn)][:3]
        assert 0 not in order[:3]
        assert 4 in order[:2]
        made = bandit.decide_many(3)
        assert [one.arm for one in made] == expected
        chances = dict.fromkeys(order[:2], 1.0) | {order[2]: 0.7, 0: 0.3}
        assert [one.probability for one in made] == [pytest.approx(chances[arm]) for arm in expected]
        seen.add(drawn)
        assert bandit.peek() == Bandit.from_dict(bandit.to_dict()).peek()
    assert seen == {None, 0, 4}


def test_the_share_of_a_retired_arm_is_the_policys_until_it_is_back() -> None:
    bandit = learned(OCUCBn(), 2, {0: 0.5})
    bandit.retire_arm(0)
    assert bandit.shares == {0: 0.5}
    assert all(bandit.decide().probability == 1.0 for _ in range(20))
    again = Bandit.from_dict(bandit.to_dict())
    again.add_arm(0)
    assert {again.decide().arm for _ in range(30)} >= {0}
    again.set_shares({0: 0.0})
    assert again.shares == {}
    assert "shares" not in again.to_dict()


@pytest.mark.parametrize(
    "wrong",
    [None, 5, [1], [["a"]], [["x", 0.1]], [["a", 1]], [["a", 0.5], ["a", 0.1]], [["a", 0.5], ["b", 0.5]], [["a", 0.0]]],
    ids=str,
)
def test_a_file_with_wrong_shares_is_refused(wrong: object) -> None:
    data = Bandit(OCUCBn(), ["a", "b"], shares={"a": 0.1}).to_dict()
    assert data["shares"] == [["a", 0.1]]
    with pytest.raises(StateError, match="shares must be"):
        Bandit.from_dict({**data, "shares": wrong})
    del data["shares"]  # as files of older versions have none
    assert Bandit.from_dict(data).shares == {}


# Probabilities

CLOSED = [
    OCUCBn(),
    EpsilonGreedy(0.4),
    Uniform(),
    Greedy(),
    IMED(),
    TopTwo(0.3),
    MaillardSampling(),
    MaillardSampling(subtracted=1),
]


@pytest.mark.parametrize("policy", CLOSED, ids=str)
@pytest.mark.parametrize("shares", [None, {0: 0.25, 4: 0.05}], ids=str)
@pytest.mark.parametrize("named", [None, [0, 2, 5, 2]], ids=str)
def test_arms_are_chosen_as_often_as_their_probability_says(
    policy: Policy, shares: dict[str | int, float] | None, named: list[int] | None
) -> None:
    runs = 1500
    seen: Counter[int] = Counter()
    said: dict[int, float] = {}
    for seed in range(runs):
        decided = learned(policy, seed, shares).decide(named)
        assert isinstance(decided.arm, int)
        assert decided.probability is not None
        assert said.setdefault(decided.arm, decided.probability) == decided.probability
        seen[decided.arm] += 1
    assert sum(said.values()) == pytest.approx(1.0)
    for arm, count in seen.items():
        low, high = (stats.binom.ppf(rate, runs, said[arm]) for rate in (FALSE_ALARM, 1.0 - FALSE_ALARM))
        assert low <= count <= high, (arm, count, said)


def test_maillards_probabilities_are_those_of_its_formula() -> None:
    """Evidence T d worked out by hand: means 1/2, 1/4 and 1/2 of 4, 4 and 2 rewards under unit Gaussian noise."""
    for subtracted in (0, 1):
        weights = [1.0, math.exp(-(4 - subtracted) * 0.25**2 / 2), 1.0]
        for seed in range(20):
            bandit = Bandit(MaillardSampling(subtracted), 3, seed=seed)
            bandit.learn_many([0, 1, 2] * 2, [0.5, 0.25, 0.5] * 2)
            bandit.learn_many([0, 1] * 2, [0.5, 0.25] * 2)
            decided = bandit.decide()
            assert isinstance(decided.arm, int)
            assert decided.probability == pytest.approx(weights[decided.arm] / sum(weights), rel=1e-12)


def test_no_probability_where_there_is_no_closed_form() -> None:
    assert learned(ThompsonSampling()).decide().probability is None
    assert learned(ThompsonSampling(), shares={0: 0.5}).decide().probability is None
    assert learned(Uniform()).decide_many(2)[0].probability is None
    fresh = Bandit(ThompsonSampling(), 2, shares={1: 0.25}, seed=3)
    chances = {one.arm: one.probability for one in (fresh.decide(), Bandit(ThompsonSampling(), 2).decide())}
    assert chances in ({0: 1.0, 1: 0.25}, {0: 1.0})
