"""Experiments that forget: what time is in a log, what a restart keeps, and what is refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from ocucb import (
    UCBV,
    Bandit,
    Bounded,
    Discount,
    Gaussian,
    GaussianUnknownScale,
    OcucbError,
    OCUCBn,
    ParameterError,
    Restart,
    TopTwo,
    Window,
)
from ocucb.memory import Memory
from ocucb.service import records
from ocucb.service.definition import Definition
from ocucb.service.engine import Limits
from ocucb.service.errors import NotCorrectableError, RequestError
from ocucb.service.requests import (
    AddArm,
    AskVerdict,
    Correct,
    Decide,
    Expire,
    ImportLog,
    Inspect,
    RetireArm,
    Reward,
    SetWinnerRule,
)
from service.helpers import ManualClock, Node, folded_state, live_state

ARMS = ("red", "green", "blue")


def twin_of(node: Node, memory: Memory) -> Bandit:
    """Return a bandit that was told what the log says, one entry after the other."""
    twin = Bandit(OCUCBn(), ARMS, Gaussian(), seed=1, memory=memory)
    for entry in node.log():
        if entry.kind == records.DECISION:
            twin.count_pull(entry.arm)  # type: ignore[arg-type]
        elif entry.kind in (records.REWARD, records.SUMMED):
            twin.learn(entry.arm, entry.reward)  # type: ignore[arg-type]
        elif entry.kind == records.FORGOTTEN:
            twin.forget(entry.arm)  # type: ignore[arg-type]
        elif entry.kind == records.ARM_ADDED:
            twin.add_arm(entry.arm)  # type: ignore[arg-type]
        elif entry.kind == records.ARM_RETIRED:
            twin.retire_arm(entry.arm)  # type: ignore[arg-type]
        elif entry.kind == records.LOG_IMPORTED and entry.data is not None:
            for arm, reward in entry.data["log"]:
                twin.count_pull(arm)
                twin.learn(arm, reward)
    return twin


@pytest.mark.parametrize("memory", [Window(25), Discount(0.8)], ids=str)
def test_a_restart_goes_on_as_if_nothing_had_happened(
    start: Callable[..., Node], clock: ManualClock, memory: Memory
) -> None:
    """Rewards come late, in parts or never; arms come and go. A round is a decision, a reward counts when it comes."""
    draw, waiting = random.Random(5), []
    for begin in range(3):
        node = start(limits=Limits(sweep=3600.0, snapshot=40))
        if begin == 0:
            node.create(policy=OCUCBn(), memory=memory, window=30.0, partial_rewards=True, late="accept")
        for number in range(45):
            waiting.append(node.decide().id)
            for _ in range(draw.randrange(3)):
                decision = waiting.pop(draw.randrange(len(waiting))) if waiting else ""
                if decision and draw.random() < 0.9:
                    node.ask(Reward(decision, draw.gauss(0.0, 1.0), part="a"))
            clock.advance(draw.choice((1.0, 2.0)))
            waiting = waiting[-12:]
            node.ask(Expire(1))
            if number == 20:
                node.ask(RetireArm("colours", "green"))
            if number == 30:
                node.ask(ImportLog("colours", (("blue", 0.25), ("green", -1.5), ("blue", 1.0))))
            if number == 40:
                node.ask(AddArm("colours", "green"))
        twin = twin_of(node, memory)
        assert live_state(node) == folded_state(node.store) == folded_state(node.store, snapshots=True)
        assert live_state(node)["bandit"] == twin.to_dict()
        node.close()
    other = start()
    for _ in range(10):
        assert other.decide().arm == twin.choose()
    kinds = set(other.kinds())
    assert {records.SUMMED, records.FORGOTTEN, records.LOG_IMPORTED} <= kinds
    assert other.replay().problem is None


def test_what_is_remembered_is_seen(node: Node) -> None:
    node.create(memory=Window(4))
    for arm, reward in (("red", 8.0), ("green", 1.0), ("blue", 2.0), ("blue", 4.0), ("green", 3.0)):
        decision = node.decide(among=(arm,))
        node.ask(Reward(decision.id, reward))
    view = node.ask(Inspect("colours"))
    assert (view.pulls, view.remembered, view.verdict) == ((1, 2, 2), (0.0, 2.0, 2.0), None)
    assert view.means[1:] == (2.0, 3.0)
    assert view.means[0] != view.means[0]
    assert node.decide().arm == "red"  # which is forgotten altogether


@pytest.mark.parametrize("memory", [Window(10), Discount(0.9)], ids=str)
def test_what_needs_the_whole_past_is_refused_and_changes_nothing(node: Node, memory: Memory) -> None:
    node.create(memory=memory)
    decision = node.decide()
    node.ask(Reward(decision.id, 1.0))
    before = live_state(node)
    for request in (AskVerdict("colours"), SetWinnerRule("colours", 0.95)):
        with pytest.raises(ParameterError, match="there are no verdicts and no intervals: what drifts has no one mean"):
            node.ask(request)
    for value in (0.5, None):
        with pytest.raises(NotCorrectableError, match="it is not known what is still remembered of it"):
            node.ask(Correct(decision.id, value))
    assert live_state(node) == before
    assert node.replay().problem is None


@pytest.mark.parametrize(
    "what", [{"noise": GaussianUnknownScale()}, {"policy": UCBV(), "noise": Bounded(0.0, 1.0)}], ids=["scale", "policy"]
)
def test_where_spreads_are_kept_corrections_are_refused(node: Node, what: dict[str, Any]) -> None:
    node.create(**what)
    decision = node.decide()
    node.ask(Reward(decision.id, 1.0))
    before = live_state(node)
    for value in (0.5, None):
        with pytest.raises(NotCorrectableError, match=r"under \w+\(.*\) the spread of the other rewards"):
            node.ask(Correct(decision.id, value))
    assert node.ask(Correct(decision.id, 1.0)).outcome == "repeated"
    assert live_state(node) == before


@pytest.mark.parametrize(
    ("what", "kind", "message"),
    [
        ({"memory": Window(10**7)}, RequestError, "must be 100000 rounds or less, got 10000000; a discount may"),
        ({"memory": Window(5), "reward_bounds": (0.0, 1e200)}, RequestError, "reward_bounds must be within 1e"),
        ({"memory": Window(5), "policy": TopTwo()}, ParameterError, "looks for a verdict"),
        ({"memory": Discount(0.9), "noise": GaussianUnknownScale()}, ParameterError, "cannot forget the spread"),
        ({"memory": 5}, ParameterError, "memory must be Window"),
        ({"memory": Restart()}, RequestError, "must be one of window, discount, got restart; that is in the library"),
    ],
)
def test_memories_that_cannot_be(what: dict[str, Any], kind: type[OcucbError], message: str) -> None:
    with pytest.raises(kind, match=message):
        Definition("colours", ARMS, **what)


def test_a_definition_says_its_memory() -> None:
    for memory in (Window(5), Discount(0.5), None):
        made = Definition("colours", ARMS, memory=memory, seed=1)
        assert Definition.from_dict(made.to_dict()) == made
    assert "memory" not in made.to_dict()


def test_a_burst_of_decisions_is_not_remembered_twice(node: Node) -> None:
    node.create(memory=Discount(0.5))
    first = node.ask(Decide("colours", count=3, idempotency_key="k"))
    assert node.ask(Decide("colours", count=3, idempotency_key="k"))[0].id == first[0].id
    assert node.ask(Inspect("colours")).remembered == (0.25, 0.5, 1.0)
