"""Rewards that are corrected or voided, and rewards in parts: the statistics become what they would have been."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import update

from ocucb import UCB, Bandit, Bernoulli, Gaussian
from ocucb.errors import RewardError
from ocucb.service.engine import Limits
from ocucb.service.errors import (
    ArchivedError,
    NoRewardError,
    RequestError,
    RewardConflictError,
    TooLateError,
    UnknownDecisionError,
)
from ocucb.service.exact_sums import RoundingErrors
from ocucb.service.requests import Correct, Decide, Expire, Inspect, Reward, SetStatus, SetWinnerRule
from ocucb.service.stores.tables import log
from service.helpers import ManualClock, Node, folded_state, live_state, wait_until


def means(node: Node) -> dict[Any, float]:
    view = node.ask(Inspect("colours"))
    return dict(zip(view.arms, view.means, strict=True))


def check_all(node: Node) -> None:
    found = node.replay()
    assert found.verified, found.problem
    assert live_state(node) == folded_state(node.store)


def expire(node: Node) -> int:
    """Close what is due, as the engine does from time to time."""
    done = node.ask(Expire(1))
    assert isinstance(done, int)
    return done


def test_a_wrong_reward_leaves_no_trace(node: Node) -> None:
    """One of 1e100 among thirds: taken out of a running sum it would leave nothing of the others."""
    node.create(policy=UCB())
    rewards: dict[Any, list[float]] = {"red": [], "green": [], "blue": []}
    wrong = []
    for number in range(40):
        decision = node.decide()
        value = 1e100 if number in (4, 20) else number / 3.0
        node.ask(Reward(decision.id, value))
        if value == 1e100:
            wrong.append(decision)
        else:
            rewards[decision.arm].append(value)
    assert node.ask(Correct(wrong[0].id, 0.1)).outcome == "corrected"
    rewards[wrong[0].arm].append(0.1)
    assert node.ask(Correct(wrong[1].id, None)).outcome == "corrected"
    view = node.ask(Inspect("colours"))
    for arm, pulls, mean in zip(view.arms, view.pulls, view.means, strict=True):
        assert (pulls, mean) == (len(rewards[arm]), math.fsum(rewards[arm]) / len(rewards[arm]))
    assert (sum(span.rewards for span in view.history), view.rounds) == (39, 39)
    node.play(10)
    check_all(node)


def test_a_corrected_experiment_is_one_that_never_erred(node: Node) -> None:
    """Whole numbers have exact sums: then everything is bit for bit as if the right reward had come at once."""
    for name in ("colours", "right"):
        node.create(name, policy=UCB(), noise=Bernoulli())
    draws = random.Random(3)
    values = [draws.randrange(2) for _ in range(60)]
    twins = [(node.decide(), node.decide("right")) for _ in values]
    for (one, right), value in zip(twins, values, strict=True):
        node.ask(Reward(one.id, 1 - value))
        node.ask(Reward(right.id, value))
    for (one, _), value in zip(twins, values, strict=True):
        node.ask(Correct(one.id, value))
    assert node.ask(Inspect("colours")).means == node.ask(Inspect("right")).means
    for _ in range(30):
        one, right = node.decide(), node.decide("right")
        assert (one.arm, one.statistics) == (right.arm, right.statistics)
    check_all(node)


def test_what_can_be_corrected(node: Node, clock: ManualClock, start: Callable[..., Node]) -> None:
    node.create(window=60.0, on_expiry=0.5, reward_bounds=(0.0, 10.0))
    decision, late, open_ = node.decide(), node.decide(), None
    with pytest.raises(NoRewardError):
        node.ask(Correct(decision.id, 1.0))
    node.ask(Reward(decision.id, 3.0))
    other = start()
    for value, outcome in (
        (4.0, "corrected"),
        (4.0, "repeated"),
        (None, "corrected"),
        (None, "repeated"),
        (2.0, "corrected"),
    ):
        assert other.ask(Correct(decision.id, value)).outcome == outcome
    assert node.ask(Reward(decision.id, 3.0)).outcome == "repeated"
    with pytest.raises(RewardConflictError):
        node.ask(Reward(decision.id, 2.0))
    for wrong in (11.0, math.nan):
        with pytest.raises(RewardError):
            node.ask(Correct(decision.id, wrong))
    with pytest.raises(UnknownDecisionError):
        node.ask(Correct(decision.id, 1.0, visible=frozenset(["another"])))
    clock.advance(61.0)
    assert expire(node) == 1
    assert node.ask(Correct(late.id, 7.0)).outcome == "corrected"
    assert means(node)[late.arm] == 7.0
    open_ = node.decide()
    with pytest.raises(NoRewardError):
        node.ask(Correct(open_.id, 1.0))
    check_all(node)
    node.ask(SetStatus("colours", "archived"))
    with pytest.raises(ArchivedError):
        node.ask(Correct(decision.id, 1.0))


def test_corrections_of_one_batch(start: Callable[..., Node]) -> None:
    """Several in one transaction, and snapshots in between."""
    node = start(limits=Limits(sweep=3600.0, snapshot=20))
    node.create(noise=Gaussian(2.0))
    made = node.ask(Decide("colours", count=30))
    for decision in made:
        node.ask(Reward(decision.id, 0.1))
    for decision in made[:10]:
        for value in (0.7, 1e99, 0.2, None, 0.3):
            node.ask(Correct(decision.id, value))
    wait_until(lambda: bool(_snapshots(node)), "a snapshot is kept")
    assert folded_state(node.store, snapshots=True) == folded_state(node.store)
    check_all(node)


def _snapshots(node: Node) -> list[Any]:
    with node.store.read() as transaction:
        return transaction.read_snapshots(1)


def test_a_winner_found_with_a_wrong_reward_is_looked_for_again(node: Node) -> None:
    node.create(arms=("a", "b"), noise=Bernoulli())
    wrong = [node.decide(among=("a",)) for _ in range(60)]
    for decision in wrong:
        node.ask(Reward(decision.id, 1.0))
        node.ask(Reward(node.decide(among=("b",)).id, 0.0))
    node.ask(SetWinnerRule("colours", 0.95))
    node.decide()
    assert node.ask(Inspect("colours")).winner == "a"
    for decision in wrong:
        node.ask(Correct(decision.id, 0.0))
    node.decide()
    assert node.ask(Inspect("colours")).winner is None
    check_all(node)


@pytest.mark.parametrize(
    "change",
    [
        {"reward": 9.0},
        {"arm": '"blue"'},
        {"data": '{"was":0.5,"counted":1}'},
        {"data": '{"was":0.25,"counted":1}'},  # which changes no sum
    ],
)
def test_replay_finds_an_altered_correction(node: Node, change: dict[str, Any]) -> None:
    node.create(arms=("red", "blue"))
    decision = node.decide()
    node.ask(Reward(decision.id, 0.25))
    node.ask(Correct(decision.id, 0.75))
    last = len(node.log())
    node.play(6)
    assert node.replay().verified
    with node.store.write() as transaction:
        transaction.connection.execute(update(log).where(log.c.seq == last).values(**change))
    assert not node.replay().verified


def test_parts_are_summed_when_the_window_has_passed(
    node: Node, clock: ManualClock, start: Callable[..., Node]
) -> None:
    node.create(window=60.0, on_expiry=0.25, partial_rewards=True, reward_bounds=(0.0, 10.0))
    first, second, third = (node.decide() for _ in range(3))
    for part, value in (("click", 0.1), ("basket", 0.2), ("order", 0.3)):
        assert node.ask(Reward(first.id, value, part=part)).outcome == "counted"
        assert start().ask(Reward(first.id, value, part=part)).outcome == "repeated"
    with pytest.raises(RewardConflictError):
        node.ask(Reward(first.id, 0.2, part="order"))
    with pytest.raises(RewardError):
        node.ask(Reward(first.id, 9.9, part="too much"))
    with pytest.raises(RequestError):
        node.ask(Reward(first.id, 1.0))
    node.ask(Reward(second.id, 3.0, part="order"))
    assert node.ask(Reward(second.id, -1.0, part="refund")).outcome == "counted"
    assert node.ask(Inspect("colours")).pending == (1, 1, 1)
    clock.advance(61.0)
    with pytest.raises(TooLateError):
        node.ask(Reward(second.id, 1.0, part="late"))
    assert expire(node) == 2
    found = means(node)
    assert (found[first.arm], found[second.arm]) == (math.fsum([0.1, 0.2, 0.3]), 2.0)
    assert found[third.arm] == 0.25
    assert node.ask(Correct(first.id, 1.0)).outcome == "corrected"
    assert means(node)[first.arm] == 1.0
    check_all(node)


def test_parts_need_a_window_and_other_experiments_take_none(node: Node) -> None:
    with pytest.raises(RequestError):
        node.create(partial_rewards=True)
    node.create()
    with pytest.raises(RequestError):
        node.ask(Reward(node.decide().id, 1.0, part="click"))


def test_replay_finds_an_altered_part(node: Node, clock: ManualClock) -> None:
    node.create(window=60.0, partial_rewards=True)
    decision = node.decide()
    node.ask(Reward(decision.id, 0.5, part="one"))
    node.ask(Reward(decision.id, 0.5, part="two"))
    last = len(node.log())
    clock.advance(61.0)
    expire(node)
    assert node.replay().verified
    with node.store.write() as transaction:
        transaction.connection.execute(update(log).where(log.c.seq == last).values(reward=0.25))
    assert "parts" in str(node.replay().problem)


FINITE = st.floats(-1e100, 1e100)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(values=st.lists(FINITE, min_size=1, max_size=30), changes=st.lists(st.tuples(st.integers(0, 29), FINITE)))
def test_sums_are_exact(values: list[float], changes: list[tuple[int, float]]) -> None:
    """Against math.fsum of all values that stand."""
    errors, total = RoundingErrors(), 0.0
    for value in values:
        errors.added("arm", total, value)
        total += value
    for place, value in changes:
        old = values[place % len(values)]
        values[place % len(values)] = value
        after = errors.sum_after("arm", total, [-old, value])
        errors.replaced("arm", total, [-old, value], after)
        total = after
        assert total == math.fsum(values)
    assert RoundingErrors.from_list(errors.to_list()).sum_after("arm", total, []) == math.fsum(values)


def test_a_bandit_is_revised() -> None:
    bandit = Bandit(UCB(), ["a", "b"], Bernoulli())
    bandit.learn_many(["a", "a", "b"], [1.0, 1.0, 0.0])
    pending = bandit.choose()
    bandit.revise("a", 1, 1.0)
    bandit.revise("b", 2, 1.0)
    assert [bandit.learned(arm) for arm in ("a", "b")] == [(1, 1.0), (2, 1.0)]
    assert bandit.rounds == 4
    assert bandit.pending.sum() == 1
    right = Bandit(UCB(), ["a", "b"], Bernoulli())
    right.learn_many(["a", "b", "b"], [1.0, 1.0, 0.0])
    right.count_pull(pending)
    assert bandit.indices().tolist() == right.indices().tolist()
    bandit.revise("a", 0, 0.0)
    assert math.isnan(bandit.means[0])
    for wrong in ((1, 2.0), (0, 1.0), (2, 0.5), (1, math.nan)):
        with pytest.raises(RewardError):
            bandit.revise("a", *wrong)
