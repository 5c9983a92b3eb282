"""The log is the truth: state is its fold, snapshots only save time, and replay finds who meddled."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import delete, update

from ocucb import UCB, Bernoulli, ThompsonSampling
from ocucb.service.definition import Definition
from ocucb.service.engine import Limits
from ocucb.service.errors import DamagedError, StoreError, UnavailableError, UnknownExperimentError
from ocucb.service.records import REWARD, Snapshot
from ocucb.service.requests import Decide, Inspect, Reward, SetStatus
from ocucb.service.snapshot_text import SnapshotEncoder, decode_snapshot, encode_snapshot
from ocucb.service.stores.tables import experiments, log, snapshots
from service.helpers import Node, folded_state, forget_seen, live_state, wait_until


def count_snapshots(node: Node) -> int:
    with node.store.read() as transaction:
        return len(transaction.read_snapshots(1))


@pytest.mark.parametrize("policy", [UCB(), ThompsonSampling()], ids=str)
def test_state_is_the_fold_of_the_log(node: Node, start: Callable[..., Node], policy: Any) -> None:
    node.create(policy=policy, noise=Bernoulli())
    for number in range(60):
        decisions = node.ask(Decide("colours", count=3))
        for decision in decisions if number < 5 else decisions[number % 3 :]:
            node.ask(Reward(decision.id, number % 2))
    other = start()
    other.decide()
    assert node.decide().statistics.pulls > 0
    assert other.ask(Inspect("colours")) == node.ask(Inspect("colours"))
    assert live_state(node) == live_state(other) == folded_state(node.store)
    assert node.replay().decisions == 182


def test_nodes_take_turns(start: Callable[..., Node]) -> None:
    nodes = [start() for _ in range(3)]
    nodes[0].create(window=60.0)
    for number in range(60):
        decision = nodes[number % 3].decide(idempotency_key=f"k{number}")
        assert nodes[(number + 1) % 3].decide(idempotency_key=f"k{number}").id == decision.id
        assert nodes[(number + 2) % 3].ask(Reward(decision.id, number / 60)).outcome == "counted"
        assert nodes[number % 3].ask(Reward(decision.id, number / 60)).outcome == "repeated"
    views = [node.ask(Inspect("colours")) for node in nodes]
    assert views[0] == views[1] == views[2]
    assert nodes[0].replay().decisions == 60
    assert live_state(nodes[0]) == live_state(nodes[1]) == folded_state(nodes[2].store)


def test_a_snapshot_is_stored_though_nobody_asks_any_more(
    start: Callable[..., Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be taken after the last request."""
    asked, encode = threading.Event(), SnapshotEncoder.encode

    def encode_late(*of: Any) -> Snapshot:
        asked.wait()
        return encode(*of)

    monkeypatch.setattr("ocucb.service.snapshot_text.SnapshotEncoder.encode", encode_late)
    node = start(limits=Limits(sweep=3600.0, snapshot=20))
    node.create()
    node.play(15)
    asked.set()
    wait_until(lambda: count_snapshots(node) == 1, "a snapshot is kept")


def test_snapshots_are_only_a_cache(start: Callable[..., Node]) -> None:
    node = start(limits=Limits(sweep=3600.0, snapshot=20))
    node.create()
    for enough in (1, 2):
        node.play(15)
        wait_until(lambda enough=enough: count_snapshots(node) >= enough, "a snapshot is kept")  # type: ignore[misc]
    node.play(40)
    right = live_state(node)
    assert folded_state(node.store) == folded_state(node.store, snapshots=True) == right
    assert 1 <= count_snapshots(node) <= 2
    with node.store.write() as transaction:
        for snapshot in transaction.read_snapshots(1):
            state = json.loads(snapshot.data)
            state["bandit"]["totals"][0] += 0.5
            query = update(snapshots).where(snapshots.c.seq == snapshot.seq)
            transaction.connection.execute(query.values(data=json.dumps(state)))
    assert folded_state(node.store, snapshots=True) == right
    assert live_state(start()) == right
    with node.store.write() as transaction:
        transaction.add_snapshot(Snapshot(1, 10**6, "from", "the future"))
    assert live_state(start()) == right


def test_a_long_snapshot_is_compressed(start: Callable[..., Node], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ocucb.service.snapshot_text.MIN_COMPRESSED", 100)
    node = start(limits=Limits(sweep=3600.0, snapshot=20))
    node.create(arms=list(range(500)))
    node.play(60)
    wait_until(lambda: count_snapshots(node) >= 1, "a snapshot is kept")
    right = live_state(node)
    with node.store.read() as transaction:
        (snapshot,) = transaction.read_snapshots(1)
    state = decode_snapshot(snapshot)
    assert state is not None
    assert len(snapshot.data) < len(json.dumps(state.to_dict())) / 3
    assert folded_state(node.store, snapshots=True) == right
    assert node.replay().problem is None
    for data in (snapshot.data[:-100], snapshot.data[:50] + "AAAA" + snapshot.data[54:]):
        assert decode_snapshot(snapshot._replace(data=data)) is None


def shorten(node: Node, seq: int) -> None:
    """Leave a log as a backup of that time would."""
    with node.store.write() as transaction:
        transaction.connection.execute(delete(log).where(log.c.seq > seq))
        transaction.connection.execute(update(experiments).values(seq=seq))


def replace_snapshot(node: Node, change: Callable[[dict[str, Any]], None]) -> int:
    """Put another snapshot, as valid as it was, in the place of the only one; return its entry."""
    with node.store.write() as transaction:
        (snapshot,) = transaction.read_snapshots(1)
        state = json.loads(snapshot.data)
        change(state)
        transaction.connection.execute(delete(snapshots))
        transaction.add_snapshot(encode_snapshot(1, state))
    return snapshot.seq


@pytest.mark.parametrize("marked", [True, False], ids=["", "of an older service"])
def test_a_snapshot_newer_than_the_log(start: Callable[..., Node], marked: bool) -> None:
    """As after a log was restored: the snapshot can be read, but is of another log, also when that is long enough."""
    node = start(limits=Limits(sweep=3600.0, snapshot=20))
    node.create()
    node.play(15)
    wait_until(lambda: count_snapshots(node) == 1, "a snapshot is kept")
    if not marked:
        replace_snapshot(node, lambda state: state.pop("last_mark"))
    assert live_state(start()) == folded_state(node.store)
    shorten(node, 9)
    fresh = start()
    assert live_state(fresh) == folded_state(node.store)
    if marked:
        for _ in range(15):
            fresh.ask(Reward(fresh.decide().id, 1.0))
        assert count_snapshots(node) == 1
        assert live_state(start()) == live_state(fresh) == folded_state(node.store)


@pytest.mark.parametrize("what", ["totals", "status", "retired", "history"])
def test_replay_finds_an_altered_snapshot(start: Callable[..., Node], what: str) -> None:
    """One that is as valid as any other: only the log can tell."""
    node = start(limits=Limits(sweep=3600.0, snapshot=20))
    node.create()
    node.play(15)
    wait_until(lambda: count_snapshots(node) == 1, "a snapshot is kept")
    assert node.replay().verified

    def alter(state: dict[str, Any]) -> None:
        if what == "totals":
            state["bandit"]["totals"][0] += 0.5
        elif what == "status":
            state["status"] = "paused"
        elif what == "retired":
            state["bandit"]["retired"][0] = True
        else:
            state["history"]["spans"][0][1] += 1

    seq = replace_snapshot(node, alter)
    found = node.replay()
    assert not found.verified
    assert f"the snapshot at entry {seq} is not what the log gives" in str(found.problem)


def test_a_database_that_is_swapped_for_another(node: Node, start: Callable[..., Node]) -> None:
    """The experiment with this id is another now: nothing is written to it for the one that was there."""
    node.create()
    node.play(3)
    decision = node.decide()
    others = Definition("others", ("red", "green", "blue"), seed=1)
    with node.store.write() as transaction:
        transaction.connection.execute(update(experiments).values(name="others"))
        transaction.connection.execute(update(log).where(log.c.seq == 1).values(data=json.dumps(others.to_dict())))
    forget_seen(node)
    with pytest.raises(StoreError, match="replaced by another"):
        node.decide()
    with pytest.raises(UnknownExperimentError):
        wait_until(lambda: _plays(node), "it is read again")
    assert [entry.seq for entry in node.log("others")] == list(range(1, 9))
    assert node.ask(Reward(decision.id, 0.5)).experiment == "others"
    assert live_state(start(), "others") == folded_state(node.store, "others")


def test_few_experiments_stay_in_memory(start: Callable[..., Node]) -> None:
    node = start(limits=Limits(sweep=3600.0, cached_experiments=2))
    for number in range(6):
        node.create(f"e{number}")
    for number in range(12):
        node.play(1, f"e{number % 6}")
    assert len(node.engine._cache._by_id) <= 2
    with node.store.read() as transaction:
        assert [head.seq for head in transaction.list_experiments()] == [5] * 6
        assert [head.name for head in transaction.list_experiments(after="e3", limit=1)] == ["e4"]


def meddled(change: Any) -> Callable[[Any], None]:
    def meddle(connection: Any) -> None:
        assert connection.execute(change).rowcount == 1

    return meddle


MEDDLING = {
    "another arm": (meddled(update(log).where(log.c.seq == 32).values(arm='"green"')), 32),
    "an unknown arm": (meddled(update(log).where(log.c.seq == 32).values(arm='"grey"')), 32),
    "an arm that is no JSON": (meddled(update(log).where(log.c.seq == 32).values(arm="blue")), None),
    "other pulls": (meddled(update(log).where(log.c.seq == 32).values(pulls=log.c.pulls + 1)), 32),
    "other pending": (meddled(update(log).where(log.c.seq == 32).values(pending=1)), 32),
    "another mean": (meddled(update(log).where(log.c.seq == 32).values(mean=log.c.mean + 0.25)), 32),
    "other effective arms": (meddled(update(log).where(log.c.seq == 32).values(effective_arms=1.25)), 32),
    "no effective arms": (meddled(update(log).where(log.c.seq == 32).values(effective_arms=None)), 32),
    "a deadline": (meddled(update(log).where(log.c.seq == 32).values(deadline=log.c.at + 1)), 32),
    "no statistics": (meddled(update(log).where(log.c.seq == 32).values(pulls=None)), 32),
    "another index": (meddled(update(log).where(log.c.seq == 32).values({log.c["index"]: 9.0})), 32),
    "another reward": (meddled(update(log).where(log.c.seq == 33).values(reward=0.0)), None),
    "a reward for another arm": (meddled(update(log).where(log.c.seq == 33).values(arm='"green"')), 33),
    "a reward for no decision": (meddled(update(log).where(log.c.seq == 33).values(decision=33)), 33),
    "an impossible reward": (meddled(update(log).where(log.c.seq == 33).values(reward=None)), 33),
    "a missing reward": (meddled(delete(log).where(log.c.seq == 33)), 34),
    "a missing end": (meddled(delete(log).where(log.c.seq == 41)), None),
    "another definition": (meddled(update(log).where(log.c.seq == 1).values(data="{}")), 1),
    "another kind": (meddled(update(log).where(log.c.seq == 32).values(kind="surprise")), 32),
}


@pytest.mark.parametrize("what", MEDDLING)
def test_replay_finds_who_meddled(node: Node, what: str) -> None:
    node.create()
    node.play(20)
    assert node.replay() == node.replay()
    assert (node.replay().entries, node.replay().verified) == (41, True)
    if what == "another arm":  # whichever it is, it must be another
        assert [entry.arm for entry in node.log() if entry.seq == 32] != ["green"]
    meddle, seq = MEDDLING[what]
    with node.store.write() as transaction:
        meddle(transaction.connection)
    found = node.replay()
    assert not found.verified
    assert found.decisions < 20 or what == "a missing end"
    if seq is not None:
        assert found.entries == seq - 1 if what != "a missing reward" else found.entries == 32
        assert f"entry {seq}" in str(found.problem)


def test_a_decision_while_paused_is_found(node: Node) -> None:
    node.create()
    node.play(3)
    node.ask(SetStatus("colours", "paused"))
    node.ask(SetStatus("colours", "active"))
    node.play(3)
    with node.store.write() as transaction:
        transaction.connection.execute(update(log).where(log.c.kind == "resumed").values(kind="paused"))
    assert "while the experiment is paused" in str(node.replay().problem)


def test_the_service_goes_on_with_the_log_as_it_is(node: Node, start: Callable[..., Node]) -> None:
    """An entry that is not the policy's choice, by another version or another hand, is folded as it stands."""
    node.create()
    node.play(40)
    entry = node.log()[31]
    other = next(arm for arm in ("red", "green", "blue") if arm != entry.arm)
    with node.store.write() as transaction:
        transaction.connection.execute(update(log).where(log.c.seq == 32).values(arm=f'"{other}"'))
        transaction.connection.execute(update(log).where(log.c.seq == 33).values(arm=f'"{other}"'))
    fresh = start()
    view = fresh.ask(Inspect("colours"))
    counted = [sum(e.arm == arm for e in node.log() if e.kind == REWARD) for arm in view.arms]
    assert list(view.pulls) == counted
    assert fresh.decide().arm in view.arms


def test_a_log_that_cannot_be_read_stops_only_its_experiment(node: Node, start: Callable[..., Node]) -> None:
    node.create()
    node.create("others")
    node.play(3)
    decision = node.decide()
    with node.store.write() as transaction:
        transaction.connection.execute(delete(log).where(log.c.experiment == 1, log.c.seq == 4))
    fresh = start()
    for request in (Decide("colours"), Reward(decision.id, 1.0), Inspect("colours")):
        with pytest.raises(DamagedError, match="cannot be read"):
            fresh.ask(request)
    fresh.play(3, "others")
    assert fresh.replay("others").verified


def test_a_log_that_became_shorter_is_read_again(node: Node) -> None:
    """As after a restored backup: the node notices, and goes on from what is there."""
    node.create()
    node.play(5)
    shorten(node, 7)
    forget_seen(node)
    with pytest.raises(Exception, match="shorter than it was"):
        node.decide()
    wait_until(lambda: _plays(node), "it goes on")
    assert node.replay().verified


def _plays(node: Node) -> bool:
    try:
        node.play(1)
    except UnavailableError:
        return False
    return True


def test_a_replay_needs_an_experiment(node: Node) -> None:
    with pytest.raises(UnknownExperimentError):
        node.replay("nowhere")
