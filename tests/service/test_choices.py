"""Decisions among some arms and several at once, shares, probabilities, verdicts and winners, logged and replayed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import update

from ocucb import ArmError, Bernoulli, EpsilonGreedy, OcucbError, ParameterError, ThompsonSampling
from ocucb.service import records
from ocucb.service.errors import ArchivedError, KeyReusedError, RequestError
from ocucb.service.requests import (
    AddArm,
    AskVerdict,
    Decide,
    Inspect,
    RetireArm,
    Reward,
    SetShares,
    SetStatus,
    SetWinnerRule,
)
from ocucb.service.stores.tables import log
from service.helpers import Node, folded_state, live_state


def check(node: Node) -> None:
    """Check that the log says all: who folds it has the same state, and who replays it makes the same decisions."""
    assert live_state(node) == folded_state(node.store)
    assert node.replay().problem is None


@pytest.mark.parametrize("policy", [EpsilonGreedy(0.5), ThompsonSampling()], ids=str)
def test_every_kind_of_decision_is_replayed(start: Callable[..., Node], policy: Any) -> None:
    node = start()
    node.create(policy=policy, noise=Bernoulli(), shares=(("blue", 0.25),), window=60.0)
    for number in range(40):
        made = [
            *node.ask(Decide("colours", among=("green", "red"))),
            *node.ask(Decide("colours", count=2, different=True)),
            *node.ask(Decide("colours", count=2)),
        ]
        assert made[0].arm in ("green", "red")
        assert made[1].arm != made[2].arm
        for decision in made[number % 2 :]:
            node.ask(Reward(decision.id, number % 3 == 0))
        if number == 20:
            node.ask(SetShares("colours", (("red", 0.5), ("blue", 0.0))))
    check(node)
    entries = [entry for entry in node.log() if entry.kind == records.DECISION]
    assert entries[0].data == {"among": ["green", "red"]}
    assert [entry.data for entry in entries[1:4]] == [{"place": 1, "of": 2}, {"place": 2, "of": 2}, None]
    if isinstance(policy, EpsilonGreedy):
        assert all(entry.probability is not None for entry in entries if entry.data is None)
    other = start()
    assert other.ask(Inspect("colours")).shares == (("red", 0.5),)
    assert other.decide().statistics.pulls > 0
    check(other)


def test_a_probability_that_was_changed_is_found(node: Node) -> None:
    node.create(shares=(("red", 0.5),))
    node.play(5)
    decision = next(entry for entry in node.log() if entry.kind == records.DECISION)
    with node.store.write() as transaction:
        transaction.connection.execute(update(log).where(log.c.seq == decision.seq).values(probability=0.125))
    assert "has probability 0.125" in (node.replay().problem or "")


def test_decisions_made_at_once_must_stand_together(node: Node) -> None:
    node.create()
    node.ask(Decide("colours", count=3, different=True))
    second = [entry for entry in node.log() if entry.kind == records.DECISION][1]
    with node.store.write() as transaction:
        change = update(log).where(log.c.seq == second.seq)
        transaction.connection.execute(change.values(data='{"place": 3, "of": 3}'))
    assert node.replay().problem is not None


BAD: list[tuple[Callable[[], Any], type[OcucbError], str]] = [
    (lambda: Decide("colours", among=()), RequestError, "among must name 1 to 10000 arms, got 0"),
    (lambda: Decide("colours", among="red"), RequestError, "among must be a list of labels of arms, got 'red'"),  # type: ignore[arg-type]
    (lambda: Decide("colours", among=(True,)), ArmError, "a label must be a string or an integer, got True"),
    (lambda: Decide("colours", among=(0.5,)), ArmError, "a label must be a string or an integer, got 0.5"),  # type: ignore[arg-type]
    (lambda: Decide("colours", among=("red", "pink")), ArmError, "no arm 'pink'"),
    (lambda: Decide("colours", among=("grey",)), ArmError, "arm 'grey' is retired"),
    (lambda: Decide("colours", count=4, different=True), ArmError, "count must be at most 3"),
    (lambda: Decide("colours", among=("red",), different=True), RequestError, "leave out one of the two"),
    (lambda: SetShares("colours", (("red", 0.5), ("blue", 0.5))), ParameterError, "shares must sum to less than 1"),
    (lambda: SetShares("colours", (("red", 0.1), ("red", 0.2))), RequestError, "shares must be of different arms"),
    (lambda: SetShares("colours", (("grey", 0.1),)), ArmError, "arm 'grey' is retired"),
    (lambda: SetWinnerRule("colours", 1.0), ParameterError, "confidence must be between 0 and 1"),
    (lambda: AskVerdict("colours", 0.0), ParameterError, "confidence must be between 0 and 1"),
]


@pytest.mark.parametrize(("request_", "kind", "message"), BAD, ids=range(len(BAD)))
def test_bad_requests_change_nothing(
    node: Node, request_: Callable[[], Any], kind: type[OcucbError], message: str
) -> None:
    node.create(arms=("red", "green", "blue", "grey"))
    node.ask(RetireArm("colours", "grey"))
    before = live_state(node)
    with pytest.raises(kind) as caught:
        node.ask(request_())
    assert message in str(caught.value)
    assert live_state(node) == before
    check(node)


def test_the_same_key_is_for_the_same_question(node: Node) -> None:
    node.create()
    first = node.ask(Decide("colours", among=("red", "blue"), idempotency_key="k"))
    assert node.ask(Decide("colours", among=("red", "blue"), idempotency_key="k"))[0].id == first[0].id
    for other in (Decide("colours", idempotency_key="k"), Decide("colours", among=("red",), idempotency_key="k")):
        with pytest.raises(KeyReusedError):
            node.ask(other)


def decide_certain(node: Node, best: str) -> None:
    """Give rewards until one arm is certainly the best."""
    while node.ask(AskVerdict("colours")).best is None:
        for decision in node.ask(Decide("colours", count=100)):
            node.ask(Reward(decision.id, float(decision.arm == best)))


def test_only_the_winner_is_played_once_there_is_one(start: Callable[..., Node]) -> None:
    node = start()
    node.create(noise=Bernoulli(), policy=EpsilonGreedy(0.5), shares=(("red", 0.3),))
    assert node.ask(AskVerdict("colours")).best is None
    node.ask(SetWinnerRule("colours", 0.95))
    decide_certain(node, "green")
    verdict = node.ask(AskVerdict("colours"))
    assert (verdict.best, verdict.ruled_out, verdict.rounds_needed) == ("green", ("red", "blue"), 0)
    node.ask(Decide("colours", count=3))  # the first of them finds it
    assert node.ask(Inspect("colours")).winner == "green"
    assert {decision.arm for decision in node.ask(Decide("colours", count=50))} == {"green"}
    assert node.decide().probability == 1.0
    assert node.decide(among=("red", "blue")).arm != "green"
    assert node.kinds().count(records.WINNER) == 1
    check(node)
    other = start()
    assert other.decide().arm == "green"
    node.ask(AddArm("colours", "black"))
    assert node.ask(Inspect("colours")).winner is None
    assert node.decide().arm in ("black", "red")  # which has a share
    node.ask(SetWinnerRule("colours", None))
    assert len({decision.arm for decision in node.ask(Decide("colours", count=50))}) > 1
    check(node)


def test_a_winner_that_is_none_is_found(node: Node) -> None:
    node.create(noise=Bernoulli())
    node.ask(SetWinnerRule("colours", 0.95))
    decide_certain(node, "green")
    node.ask(Decide("colours", count=3))
    with node.store.write() as transaction:
        transaction.connection.execute(update(log).where(log.c.kind == records.WINNER).values(arm='"red"'))
    assert "names a winner that is none" in (node.replay().problem or "")


def test_an_archived_experiment_has_verdicts_and_no_changes(node: Node) -> None:
    node.create()
    node.ask(SetStatus("colours", "archived"))
    assert node.ask(AskVerdict("colours")).best is None
    for change in (SetShares("colours", ()), SetWinnerRule("colours", 0.9)):
        with pytest.raises(ArchivedError):
            node.ask(change)
