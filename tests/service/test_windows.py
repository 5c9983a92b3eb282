"""Windows for rewards, sticky units, and a clock that jumps."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import update

from ocucb.service.engine import Limits
from ocucb.service.errors import TooLateError
from ocucb.service.records import SECOND
from ocucb.service.requests import Decide, Expire, Inspect, RetireArm, Reward, SetStatus
from ocucb.service.stores.tables import log
from service.helpers import ManualClock, Node, folded_state, live_state, wait_until

SWEEPING = Limits(sweep=0.02)


def test_late_but_inside_the_window_counts(node: Node, clock: ManualClock) -> None:
    node.create(window=60.0)
    decision = node.decide()
    assert decision.deadline == clock.time + 60_000_000
    clock.advance(60.0)
    assert node.ask(Reward(decision.id, 1.0)).outcome == "counted"
    clock.advance(1000.0)
    assert node.ask(Reward(decision.id, 1.0)).outcome == "repeated"
    assert node.replay().verified


def test_a_window_ends_after_its_last_microsecond(node: Node, clock: ManualClock) -> None:
    node.create(window=60.0)
    first, second = node.ask(Decide("colours", count=2))
    clock.advance(60.0)
    with node.store.read() as transaction:
        assert (
            transaction.list_due_experiments(clock.time, 10) == transaction.list_due_decisions(1, clock.time, 10) == []
        )
    assert node.ask(Expire(1)) == 0
    assert node.ask(Reward(first.id, 1.0)).outcome == "counted"
    clock.time += 1
    with node.store.read() as transaction:
        assert transaction.list_due_experiments(clock.time, 10) == [1]
        assert transaction.list_due_decisions(1, clock.time, 10) == [3]
    assert node.ask(Expire(1)) == 1
    with pytest.raises(TooLateError):
        node.ask(Reward(second.id, 1.0))
    assert node.kinds() == ["created", "decision", "decision", "reward", "forgotten"]
    assert node.replay().verified


@pytest.mark.parametrize("turn", [1, -1], ids=["forwards", "backwards"])
def test_a_unit_sticks_up_to_its_last_microsecond(node: Node, clock: ManualClock, turn: int) -> None:
    node.create(sticky=60.0)
    first = node.decide(unit="me")
    clock.time += turn * (60 * SECOND - 1)
    assert node.decide(unit="me").id == first.id
    clock.time += turn
    assert node.decide(unit="me").id != first.id


@pytest.mark.parametrize("late", ["refuse", "accept"])
@pytest.mark.parametrize("on_expiry", ["forget", 0.25])
def test_after_the_window(node: Node, clock: ManualClock, late: str, on_expiry: str | float) -> None:
    """Nobody has swept yet: the reward itself finds that it is late, and closes the decision."""
    node.create(window=60.0, late=late, on_expiry=on_expiry)
    decision = node.decide()
    clock.advance(60.1)
    for _ in range(2):
        if late == "refuse":
            with pytest.raises(TooLateError):
                node.ask(Reward(decision.id, 1.0))
        else:
            assert node.ask(Reward(decision.id, 1.0)).outcome == "late"
    assert node.kinds() == ["created", "decision", "forgotten" if on_expiry == "forget" else "default"]
    view = node.ask(Inspect("colours"))
    assert (view.rounds, sum(view.pending)) == (0 if on_expiry == "forget" else 1, 0)
    assert node.replay().verified
    assert live_state(node) == folded_state(node.store)


@pytest.mark.parametrize("at", [0, 1], ids=["in its window", "after its window"])
def test_replay_knows_when_a_window_has_passed(node: Node, clock: ManualClock, at: int) -> None:
    """A reward after the deadline, or a decision closed at it: neither can be."""
    node.create(window=60.0)
    decision = node.decide()
    deadline = decision.deadline or 0
    clock.time = deadline + 1 - at
    node.ask(Reward(decision.id, 1.0) if at else Expire(1))
    assert node.replay().verified
    with node.store.write() as transaction:
        transaction.connection.execute(update(log).where(log.c.seq == 3).values(at=deadline + at))
    assert f"its window{'' if at else ' has passed'}" in str(node.replay().problem)


def test_decisions_are_swept(start: Callable[..., Node], clock: ManualClock) -> None:
    """More than one sweep takes at once, and of an arm that was retired in between."""
    node = start(limits=SWEEPING)
    node.create(window=60.0, on_expiry=0.5)
    for _ in range(2):
        decisions = node.ask(Decide("colours", count=700))
    node.ask(RetireArm("colours", "green"))
    node.ask(Reward(decisions[0].id, 1.0))
    clock.advance(61.0)
    wait_until(lambda: node.kinds().count("default") == 1399, "decisions are swept")
    view = node.ask(Inspect("colours"))
    assert (view.rounds, sum(view.pending)) == (1400, 0)
    with node.store.read() as transaction:
        assert transaction.list_due_experiments(clock.time, 10) == []
    assert node.replay().outcomes == 1400
    assert live_state(node) == folded_state(node.store)


def test_the_archived_are_swept_without_a_trace(start: Callable[..., Node], clock: ManualClock) -> None:
    node = start(limits=SWEEPING)
    node.create(window=60.0)
    node.ask(Decide("colours", count=10))
    node.ask(SetStatus("colours", "archived"))
    clock.advance(61.0)

    def swept() -> bool:
        with node.store.read() as transaction:
            return transaction.list_due_experiments(clock.time, 10) == []

    wait_until(swept, "nothing is due")
    assert node.kinds()[-1] == "archived"


def test_a_unit_sticks(node: Node, clock: ManualClock) -> None:
    node.create(sticky=60.0)
    first = node.decide(unit="me")
    assert node.decide(unit="you").arm != first.arm
    clock.advance(59.0)
    again = node.decide(unit="me", idempotency_key="k")
    assert (again.id, again.repeated) == (first.id, True)
    assert node.ask(Reward(again.id, 1.0)).outcome == "counted"
    assert node.decide(unit="me").id == first.id
    clock.advance(2.0)
    new = node.decide(unit="me")
    assert new.id != first.id
    assert node.decide(unit="me", idempotency_key="k").id == first.id
    assert node.decide(unit="me").id == new.id
    assert node.kinds().count("decision") == 3
    assert node.replay().verified


def test_a_unit_lets_go_of_a_retired_arm(node: Node) -> None:
    node.create(sticky=60.0)
    first = node.decide(unit="me")
    node.ask(RetireArm("colours", first.arm))
    second = node.decide(unit="me")
    assert second.arm != first.arm
    assert node.decide(unit="me").id == second.id


def test_without_a_sticky_window_a_unit_is_only_noted(node: Node) -> None:
    node.create()
    assert node.decide(unit="me").id != node.decide(unit="me").id
    assert [entry.unit for entry in node.log()[1:]] == ["me", "me"]


def test_a_clock_that_jumps(start: Callable[..., Node], clock: ManualClock) -> None:
    """Far ahead and back again: order, replay, expiry and stickiness go on."""
    node = start(limits=SWEEPING)
    node.create(window=60.0, sticky=60.0)
    before = node.decide(unit="before")
    clock.advance(-1e6)
    assert node.ask(Reward(before.id, 1.0)).outcome == "counted"
    clock.advance(1e8)
    ahead = node.decide(unit="ahead")
    clock.advance(-1e8)
    assert node.decide(unit="ahead").id != ahead.id
    old = node.decide()
    clock.advance(61.0)
    wait_until(lambda: old.id.split("-")[1] in [str(entry.decision) for entry in node.log()], "it expires")
    assert node.ask(Reward(ahead.id, 1.0)).outcome == "counted"
    assert node.replay().verified
    assert live_state(node) == folded_state(node.store)
