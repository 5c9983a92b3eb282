"""Windows for rewards, sticky units, and a clock that jumps."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ocucb.service.engine import Limits
from ocucb.service.errors import TooLateError
from ocucb.service.requests import Decide, Look, RetireArm, Reward, SetStatus
from service.helpers import Hands, Node, folded_state, live_state, wait_until

SWEEPING = Limits(sweep=0.02)


def test_late_but_inside_the_window_counts(node: Node, hands: Hands) -> None:
    node.create(window=60.0)
    decision = node.decide()
    assert decision.deadline == hands.time + 60_000_000
    hands.turn(60.0)
    assert node.ask(Reward(decision.id, 1.0)).outcome == "counted"
    hands.turn(1000.0)
    assert node.ask(Reward(decision.id, 1.0)).outcome == "repeated"
    assert node.replay().verified


@pytest.mark.parametrize("late", ["refuse", "accept"])
@pytest.mark.parametrize("on_expiry", ["forget", 0.25])
def test_after_the_window(node: Node, hands: Hands, late: str, on_expiry: str | float) -> None:
    """Nobody has swept yet: the reward itself finds that it is late, and closes the decision."""
    node.create(window=60.0, late=late, on_expiry=on_expiry)
    decision = node.decide()
    hands.turn(60.1)
    for _ in range(2):
        if late == "refuse":
            with pytest.raises(TooLateError):
                node.ask(Reward(decision.id, 1.0))
        else:
            assert node.ask(Reward(decision.id, 1.0)).outcome == "late"
    assert node.kinds() == ["created", "decision", "forgotten" if on_expiry == "forget" else "default"]
    view = node.ask(Look("colours"))
    assert (view.rounds, sum(view.pending)) == (0 if on_expiry == "forget" else 1, 0)
    assert node.replay().verified
    assert live_state(node) == folded_state(node.store)


def test_decisions_are_swept(start: Callable[..., Node], hands: Hands) -> None:
    """More than one sweep takes at once, and of an arm that was retired in between."""
    node = start(limits=SWEEPING)
    node.create(window=60.0, on_expiry=0.5)
    for _ in range(2):
        decisions = node.ask(Decide("colours", count=700))
    node.ask(RetireArm("colours", "green"))
    node.ask(Reward(decisions[0].id, 1.0))
    hands.turn(61.0)
    wait_until(lambda: node.kinds().count("default") == 1399, "decisions are swept")
    view = node.ask(Look("colours"))
    assert (view.rounds, sum(view.pending)) == (1400, 0)
    with node.store.read() as transaction:
        assert transaction.due_experiments(hands.time, 10) == []
    assert node.replay().outcomes == 1400
    assert live_state(node) == folded_state(node.store)


def test_the_archived_are_swept_without_a_trace(start: Callable[..., Node], hands: Hands) -> None:
    node = start(limits=SWEEPING)
    node.create(window=60.0)
    node.ask(Decide("colours", count=10))
    node.ask(SetStatus("colours", "archived"))
    hands.turn(61.0)

    def swept() -> bool:
        with node.store.read() as transaction:
            return transaction.due_experiments(hands.time, 10) == []

    wait_until(swept, "nothing is due")
    assert node.kinds()[-1] == "archived"


def test_a_unit_sticks(node: Node, hands: Hands) -> None:
    node.create(sticky=60.0)
    first = node.decide(unit="me")
    assert node.decide(unit="you").arm != first.arm
    hands.turn(59.0)
    again = node.decide(unit="me", key="k")
    assert (again.id, again.repeated) == (first.id, True)
    assert node.ask(Reward(again.id, 1.0)).outcome == "counted"
    assert node.decide(unit="me").id == first.id
    hands.turn(2.0)
    new = node.decide(unit="me")
    assert new.id != first.id
    assert node.decide(unit="me", key="k").id == first.id
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


def test_a_clock_that_jumps(start: Callable[..., Node], hands: Hands) -> None:
    """Far ahead and back again: order, replay, expiry and stickiness go on."""
    node = start(limits=SWEEPING)
    node.create(window=60.0, sticky=60.0)
    before = node.decide(unit="before")
    hands.turn(-1e6)
    assert node.ask(Reward(before.id, 1.0)).outcome == "counted"
    hands.turn(1e8)
    ahead = node.decide(unit="ahead")
    hands.turn(-1e8)
    assert node.decide(unit="ahead").id != ahead.id
    old = node.decide()
    hands.turn(61.0)
    wait_until(lambda: old.id.split("-")[1] in [str(entry.decision) for entry in node.log()], "it expires")
    assert node.ask(Reward(ahead.id, 1.0)).outcome == "counted"
    assert node.replay().verified
    assert live_state(node) == folded_state(node.store)
