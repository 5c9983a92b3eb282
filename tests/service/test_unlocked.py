"""Writing without a lock, on PostgreSQL: nothing is written where another node has written meanwhile."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from ocucb.arm_statistics import ArmStatistics
from ocucb.service import experiment_cache
from ocucb.service.access import Access
from ocucb.service.batch import Batch
from ocucb.service.engine import Engine
from ocucb.service.errors import DeniedError, StoreError
from ocucb.service.records import DECISION, Entry, IdempotencyRecord
from ocucb.service.requests import Decide, Inspect, Reward
from ocucb.service.stores import Store
from ocucb.service.stores import store as store_module
from ocucb.service.stores.dialects import run
from ocucb.service.stores.unlocked import Growth, write_checked
from service.helpers import PATIENT, QUIET, Node, folded_state, live_state, wait_until

ODD = ['{"a"}', "\\", '"', "NULL", "", " ,{} ", "zwölf\n\t'x'", "\U0001f600", "$1 ? %s"]


def odd_entry(seq: int) -> Entry:
    """Return an entry whose text and numbers are of all kinds."""
    known = ArmStatistics(seq, None, 0.1 + seq / 3.0, [math.inf, 1e-320, -0.0][seq % 3], math.pi)  # type: ignore[arg-type]
    unit = None if seq % 4 == 0 else ODD[seq % len(ODD)]
    about = {"text": ODD[seq % len(ODD)]} if seq % 2 else None
    deadline = None if seq % 3 else seq + 2**62
    return Entry(seq, DECISION, 2**53 + seq, ODD[seq % len(ODD)], None, None, "t", unit, deadline, known, 1 / 3, about)


def test_rows_are_those_of_other_writes(postgresql: str) -> None:
    store = Store(postgresql, PATIENT)
    store.migrate()
    with store.write() as transaction:
        ids = [transaction.create_experiment(name, 1, "active") or 0 for name in ("locked", "unlocked")]
    entries = [odd_entry(seq) for seq in range(1, 41)]
    keys = [IdempotencyRecord(f"{text}{place}", "a", text, place, 1, place) for place, text in enumerate(ODD)]
    due = [(seq, 2 * seq) for seq in range(1, 6)]
    with store.write() as transaction:
        transaction.append_entries([(ids[0], entry) for entry in entries])
        transaction.add_idempotency_keys([(ids[0], key) for key in keys])
    with store.write_unlocked() as transaction:
        (record,) = transaction.look_at_experiments(ids[1:])
        assert (record.seq, record.name) == (0, "unlocked")
        growth = Growth(ids[1], 0, 40, "paused")
        noted = [(ids[1], entry) for entry in entries], [(ids[1], key) for key in keys]
        assert transaction.write_checked([growth], *noted, [(ids[1], *one) for one in due], []) == {ids[1]}
        grown = Growth(ids[1], 40, 40, "active")
        assert transaction.write_checked([grown], [], [], [], [(ids[1], 2), (ids[1], 4), (ids[0], 1)]) == {ids[1]}
    with store.read() as transaction:
        one, other = (transaction.read_entries(experiment, 0, 100) for experiment in ids)
        assert repr(one) == repr(other)
        assert [entry.arm for entry in other] == [entry.arm for entry in entries]
        wanted = [(experiment, key.idempotency_key) for experiment in ids for key in keys]
        found = transaction.find_idempotency_keys(wanted)
        assert [found[experiment, "a", key.idempotency_key] for experiment in ids for key in keys] == keys * 2
        assert transaction.list_due_decisions(ids[1], 100, 100) == [1, 3, 5]
        assert [(head.seq, head.status) for head in transaction.find_experiments([], ids)] == [
            (0, "active"),
            (40, "active"),
        ]
    store.close()


@pytest.mark.parametrize("why", ["grown", "locked", "keys"])
def test_only_where_nobody_else_has_written(postgresql: str, why: str) -> None:
    store, other = Store(postgresql, PATIENT), Store(postgresql, PATIENT)
    store.migrate()
    access = Access(other)
    with store.write() as transaction:
        ids = [transaction.create_experiment(name, 1, "active") or 0 for name in ("one", "two")]
    with ExitStack() as stack, store.write_unlocked() as transaction:
        transaction.look_at_experiments(ids)
        if why == "keys":
            access.make("new", ["read"])
        elif why == "grown":
            with other.write() as theirs:
                theirs.append_entries([(ids[0], odd_entry(1))])
                theirs.update_experiments([theirs.lock_experiments(ids[:1])[0]._replace(seq=1)])
        else:
            stack.enter_context(other.write()).lock_experiments(ids[:1])
        growths = [Growth(experiment, 0, 1, "active") for experiment in ids]
        entries, due = [(experiment, odd_entry(1)) for experiment in ids], [(experiment, 1, 5) for experiment in ids]
        assert transaction.write_checked(growths, entries, [], due, []) == (set() if why == "keys" else {ids[1]})
    with store.read() as transaction:
        written = [len(transaction.read_entries(experiment, 0, 9)) for experiment in ids]
        assert written == {"grown": [1, 1], "locked": [0, 1], "keys": [0, 0]}[why]
        assert transaction.list_due_experiments(9, 9) == ([] if why == "keys" else ids[1:])
    store.close()
    other.close()


def count_unlocked(monkeypatch: pytest.MonkeyPatch) -> list[set[int]]:
    """Return a list of what unlocked writes return."""
    outcomes: list[set[int]] = []

    def write(*what: Any) -> set[int]:
        outcomes.append(write_checked(*what))
        return outcomes[-1]

    monkeypatch.setattr(store_module, "write_checked", write)
    return outcomes


def test_what_another_node_writes_in_between_is_not_lost(postgresql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The request is served again, with the lock, which is then taken for a while."""
    outcomes = count_unlocked(monkeypatch)
    nodes = [Node(postgresql) for _ in range(2)]
    nodes[0].create()
    nodes[0].create("others")
    nodes[0].play(2)
    assert outcomes == [{1}] * 4
    serve, interfere = Batch.find_referenced, threading.Event()

    def find(batch: Batch, requests: Any) -> None:
        serve(batch, requests)
        if threading.current_thread() is nodes[0].engine._writer and interfere.is_set():
            interfere.clear()
            nodes[1].decide()

    monkeypatch.setattr(Batch, "find_referenced", find)
    interfere.set()
    decision = nodes[0].decide(idempotency_key="k")
    assert outcomes[4:] == [{1}, set()], "its own was written though another came first"
    assert decision.id.startswith("1-7-")
    assert nodes[0].decide(idempotency_key="k").id == decision.id
    assert nodes[0].ask(Reward(decision.id, 0.5)).outcome == "counted"
    assert len(outcomes) == 6, "it does not lock, though another node writes"
    nodes[0].decide("others")
    assert outcomes[6:] == [{2}]
    for node in nodes:
        assert node.replay().verified
        node.ask(Inspect("colours"))
        assert live_state(node) == folded_state(node.store)
        node.close()


def test_where_another_node_writes_the_log_is_locked(postgresql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that nothing has to be decided twice."""
    outcomes = count_unlocked(monkeypatch)
    nodes = [Node(postgresql) for _ in range(2)]
    nodes[0].create()
    for node in (*nodes, nodes[0]):
        node.decide()
    assert outcomes == [{1}] * 3
    nodes[0].decide()
    nodes[0].play(1)
    assert outcomes == [{1}] * 3, "it saw that another node writes, and does not lock"
    nodes[0].engine._cache._shared_until[1] -= 5.0  # as if so many seconds had passed
    nodes[0].decide()
    assert outcomes == [{1}] * 4
    for node in nodes:
        node.close()


@pytest.mark.parametrize("cautious", [True, False])
def test_two_nodes_at_once(postgresql: str, monkeypatch: pytest.MonkeyPatch, cautious: bool) -> None:
    """However often they get in each other's way: one order, nothing twice, nothing lost."""
    outcomes = count_unlocked(monkeypatch)
    if not cautious:
        monkeypatch.setattr(experiment_cache.ExperimentCache, "is_shared", _is_lost)
    nodes = [Node(postgresql) for _ in range(2)]
    for name in ("colours", "others"):
        nodes[0].create(name)

    def play(number: int) -> list[str]:
        node, ids = nodes[number % 2], []
        for place in range(26):
            decision = node.decide(("colours", "others")[place % 2], idempotency_key=f"{number} {place}")
            assert node.ask(Reward(decision.id, 0.5)).outcome == "counted"
            ids.append(decision.id)
        return ids

    with ThreadPoolExecutor(6) as pool:
        ids = [one for ids in pool.map(play, range(6)) for one in ids]
    assert len(set(ids)) == 156
    for name in ("colours", "others"):
        kinds = nodes[0].kinds(name)
        assert (kinds.count("decision"), kinds.count("reward")) == (78, 78)
        for node in nodes:
            assert node.replay(name).verified
            node.ask(Inspect(name))
            assert live_state(node, name) == folded_state(node.store, name)
    assert cautious or not all(outcomes), "they never got in each other's way"
    for node in nodes:
        node.close()


def _is_lost(cache: experiment_cache.ExperimentCache, experiment: int) -> bool:
    """Tell whether an experiment was lost since the last time: so it is locked once, and then not any more."""
    return cache._shared_until.pop(experiment, None) is not None


@pytest.mark.parametrize("stored", [True, False], ids=["stored", "not stored"])
def test_a_write_with_unknown_end(postgresql: str, monkeypatch: pytest.MonkeyPatch, stored: bool) -> None:
    """The connection breaks while it is written: the caller hears that it must ask again, and asking again is right."""
    node = Node(postgresql)
    node.create()
    node.play(3)
    breaking = True

    def write(connection: Any, *what: Any) -> set[int]:
        nonlocal breaking
        broken, breaking = breaking, False
        written = write_checked(connection, *what) if stored or not broken else set()
        if broken:
            connection.connection.dbapi_connection.close()
            run(connection, "SELECT 1")
        return written

    monkeypatch.setattr(store_module, "write_checked", write)
    with pytest.raises(StoreError, match="may or may not be stored"):
        node.decide(idempotency_key="k")
    assert node.kinds().count("decision") == (4 if stored else 3)
    wait_until(lambda: node.engine.store_error is None or _works(node), "the node recovers")
    decision = node.decide(idempotency_key="k")
    assert decision.repeated == stored
    assert node.kinds().count("decision") == 4
    assert node.replay().verified
    assert live_state(node) == folded_state(node.store)
    node.close()


def _works(node: Node) -> bool:
    try:
        return bool(node.ask(Inspect("colours")))
    except StoreError:
        return False


def test_what_the_database_refuses_is_not_stored(postgresql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    node = Node(postgresql)
    node.create()
    monkeypatch.setattr(store_module, "write_checked", lambda connection, *_: run(connection, "SELECT 1 / 0"))
    with pytest.raises(StoreError, match="not stored, try again"):
        node.decide()
    node.close()


def test_a_key_that_is_revoked_on_another_node_decides_no_more(
    postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if that happens between looking and writing."""
    store = Store(postgresql, PATIENT)
    store.migrate()
    node, elsewhere, access = Node(postgresql), Access(Store(postgresql, PATIENT)), Access(store)
    node.create()
    key, _ = access.make("k", ["decide"])
    engine = Engine(store, limits=QUIET, key_verifier=access).start()
    node.caller._queue = engine
    assert node.ask(Decide("colours"), key.id)
    find = Batch.find_referenced

    def revoke_then_find(batch: Batch, requests: Any) -> None:
        find(batch, requests)
        elsewhere.revoke(key.id)

    monkeypatch.setattr(Batch, "find_referenced", revoke_then_find)
    with pytest.raises(DeniedError):
        node.ask(Decide("colours"), key.id)
    assert node.kinds().count("decision") == 1
    engine.close()
    elsewhere._store.close()
    store.close()
    node.close()
