"""Writing without a lock, on PostgreSQL: nothing is written where another node has written meanwhile."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from ocucb.arm_statistics import ArmStatistics
from ocucb.service import experiment_cache, seen
from ocucb.service.access import Access
from ocucb.service.batch import Batch
from ocucb.service.callers import PendingRequest
from ocucb.service.engine import Engine
from ocucb.service.errors import (
    ArchivedError,
    DeniedError,
    PausedError,
    StoreError,
    UnknownDecisionError,
    UnknownExperimentError,
)
from ocucb.service.records import DECISION, Entry, ExperimentRecord, IdempotencyRecord
from ocucb.service.requests import Decide, Delete, Inspect, Reward, SetStatus
from ocucb.service.stores import Store, Transaction, unlocked
from ocucb.service.stores import store as store_module
from ocucb.service.stores.dialects import run
from ocucb.service.stores.retention import mark_deleted
from ocucb.service.stores.unlocked import Growth, write_checked
from service.helpers import PATIENT, QUIET, Node, folded_state, forget_seen, live_state, wait_until

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
        growth = Growth(ids[1], "unlocked", 0, 40, "paused")
        noted = [(ids[1], entry) for entry in entries], [(ids[1], key) for key in keys]
        assert transaction.write_checked([growth], *noted, [(ids[1], *one) for one in due], []) == {ids[1]}
        grown = Growth(ids[1], "unlocked", 40, 40, "active")
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


@pytest.mark.parametrize("why", ["grown", "locked", "deleted", "keys"])
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
                theirs.lock_experiments(ids[:1])
                theirs.update_experiments([(ids[0], 1, "active")])
        elif why == "deleted":  # as one that is damaged, of which the log does not say so
            with other.write() as theirs:
                mark_deleted(theirs, ids[0])
        else:
            stack.enter_context(other.write()).lock_experiments(ids[:1])
        growths = [
            Growth(experiment, name, 0, 1, "active") for experiment, name in zip(ids, ("one", "two"), strict=True)
        ]
        entries, due = [(experiment, odd_entry(1)) for experiment in ids], [(experiment, 1, 5) for experiment in ids]
        assert transaction.write_checked(growths, entries, [], due, []) == (set() if why == "keys" else {ids[1]})
    with store.read() as transaction:
        written = [len(transaction.read_entries(experiment, 0, 9)) for experiment in ids]
        assert written == {"grown": [1, 1], "locked": [0, 1], "deleted": [0, 1], "keys": [0, 0]}[why]
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
    for node in nodes:
        node.decide()
    forget_seen(nodes[0])
    nodes[0].decide()
    assert outcomes == [{1}] * 3
    nodes[0].decide()
    nodes[0].play(1)
    assert outcomes == [{1}] * 3, "it saw that another node writes, and does not lock"
    nodes[0].engine._cache._shared_until[1] -= 5.0  # as if so many seconds had passed
    nodes[0].decide()
    assert outcomes == [{1}] * 4
    for node in nodes:
        node.close()


def count_looks(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """Return a list of which experiments are looked at."""
    looks: list[list[int]] = []
    look = Transaction.look_at_experiments

    def note_and_look(transaction: Transaction, ids: Sequence[int]) -> list[ExperimentRecord]:
        looks.append(list(ids))
        return look(transaction, ids)

    monkeypatch.setattr(Transaction, "look_at_experiments", note_and_look)
    return looks


def test_what_was_seen_a_moment_ago_is_not_looked_at_again(postgresql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = count_looks(monkeypatch)
    outcomes = count_unlocked(monkeypatch)
    node = Node(postgresql)
    monkeypatch.setattr(seen, "SEEN_SECONDS", 3600.0)
    node.create()
    node.create("others")
    node.play(3)
    assert (looks, outcomes) == ([[1]], [{1}] * 6)
    node.decide("others")
    assert looks == [[1], [2]]
    node.engine._cache.seen._until[1] = time.monotonic()
    node.decide("others")
    node.decide()
    node.decide()
    assert looks == [[1], [2], [1]]
    assert node.replay().verified
    node.close()


def test_where_another_node_has_just_written_it_is_read_again_and_locked(
    postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, outcomes = count_looks(monkeypatch), count_unlocked(monkeypatch)
    monkeypatch.setattr(seen, "SEEN_SECONDS", 3600.0)
    nodes = [Node(postgresql) for _ in range(2)]
    nodes[0].create(arms=("red", "green"))
    ids = [nodes[0].decide().id, nodes[1].decide().id, nodes[0].decide().id]
    assert outcomes == [{1}, {1}, set()]
    assert [one.split("-")[1] for one in ids] == ["2", "3", "4"]
    ids += [node.decide().id for node in nodes]
    assert outcomes == [{1}, {1}, set(), set()], "each was outdated once, and locks since"
    assert looks == [[1]] * 4, "looked at once at first, and then to tell whether API keys have changed"
    assert len(set(ids)) == 5
    for node in nodes:
        assert node.replay().verified
        node.ask(Inspect("colours"))
        assert live_state(node) == folded_state(node.store)
        node.close()


@pytest.mark.parametrize("what", ["reward", "key", "unit"])
def test_what_another_node_has_just_decided_is_caught_up_with(
    postgresql: str, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Where a request refers to something later than what is in memory, nothing needs to be read again."""
    outcomes = count_unlocked(monkeypatch)
    monkeypatch.setattr(seen, "SEEN_SECONDS", 3600.0)
    nodes = [Node(postgresql) for _ in range(2)]
    nodes[0].create(sticky=60.0)
    for node in nodes:
        node.decide()
    forget_seen(nodes[1])
    theirs = nodes[1].decide(unit="u", idempotency_key="k")
    state = nodes[0].engine._cache.find(1)
    if what == "reward":
        assert nodes[0].ask(Reward(theirs.id, 0.5)).outcome == "counted"
        assert outcomes[3:] == [{1}]
    else:
        assert nodes[0].decide(unit="u", idempotency_key="k" if what == "key" else None).id == theirs.id
        assert outcomes[3:] == []
    assert nodes[0].engine._cache.find(1) is state
    for node in nodes:
        node.ask(Inspect("colours"))
        assert live_state(node) == folded_state(node.store)
        node.close()


def test_what_is_answered_without_a_write_is_looked_at(postgresql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another node has paused the experiment, and goes on with it: nobody is told what was true before."""
    monkeypatch.setattr(seen, "SEEN_SECONDS", 3600.0)
    nodes = [Node(postgresql) for _ in range(2)]
    nodes[0].create()
    for node in nodes:
        node.decide()
    nodes[1].ask(SetStatus("colours", "paused"))
    with pytest.raises(PausedError):
        nodes[0].decide()
    nodes[0].engine._cache._shared_until.clear()
    with pytest.raises(PausedError):
        nodes[0].decide()  # so that it has just seen this
    assert nodes[0].engine._cache.seen.has([1])
    nodes[1].ask(SetStatus("colours", "active"))
    assert nodes[0].decide().id
    for node in nodes:
        assert node.replay().verified
        node.close()


def test_an_experiment_that_was_just_deleted_stays_so(postgresql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its log has not grown, but whoever knows it from a moment ago must not answer for it."""
    monkeypatch.setattr(seen, "SEEN_SECONDS", 3600.0)
    nodes = [Node(postgresql) for _ in range(2)]
    nodes[0].create()
    decision = nodes[0].decide()
    nodes[0].ask(SetStatus("colours", "archived"))
    forget_seen(nodes[0])
    with pytest.raises(ArchivedError):
        nodes[0].decide()
    nodes[1].ask(Delete("colours"))
    with pytest.raises(UnknownDecisionError):
        nodes[0].ask(Reward(decision.id, 0.5))
    with nodes[0].store.read() as transaction:
        assert transaction.find_experiments([], [1]) == []
        assert len(transaction.read_entries(1, 0, 9)) == 3
    for node in nodes:
        node.close()


def test_an_experiment_that_has_just_become_another(postgresql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a database that was replaced: nothing is written to the one that has its id now."""
    monkeypatch.setattr(seen, "SEEN_SECONDS", 3600.0)
    node = Node(postgresql)
    node.create()
    decision = node.decide()
    with node.store.write() as transaction:
        transaction.connection.exec_driver_sql("UPDATE experiments SET name = 'others'")
    with pytest.raises(UnknownExperimentError):
        node.decide()
    assert len(node.log("others")) == 2
    with node.store.write() as transaction:
        transaction.connection.exec_driver_sql("UPDATE experiments SET name = 'colours'")
    assert node.ask(Reward(decision.id, 0.5)).outcome == "counted"
    node.close()


@pytest.mark.parametrize("cautious", [True, False])
def test_two_nodes_at_once(postgresql: str, monkeypatch: pytest.MonkeyPatch, cautious: bool) -> None:
    """However often they get in each other's way: one order, nothing twice, nothing lost."""
    outcomes = count_unlocked(monkeypatch)
    if not cautious:
        turns = count()

        def is_shared(cache: experiment_cache.ExperimentCache, experiment: int) -> bool:
            """Lock every other time that it should be, and then only once: so they meet again and again."""
            return cache._shared_until.pop(experiment, None) is not None and next(turns) % 2 == 0

        monkeypatch.setattr(experiment_cache.ExperimentCache, "is_shared", is_shared)
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

    ids: set[str] = set()
    with ThreadPoolExecutor(6) as pool:
        for begin in range(0, 60, 6):  # once, mostly; again where by chance they never met
            ids |= {one for ids in pool.map(play, range(begin, begin + 6)) for one in ids}
            if cautious or not all(outcomes):
                break
    assert len(ids) == 26 * (begin + 6)
    for name in ("colours", "others"):
        kinds = nodes[0].kinds(name)
        assert kinds.count("decision") == kinds.count("reward") == len(ids) // 2
        for node in nodes:
            assert node.replay(name).verified
            node.ask(Inspect(name))
            assert live_state(node, name) == folded_state(node.store, name)
    assert cautious or not all(outcomes), "they never got in each other's way"
    for node in nodes:
        node.close()


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

    def divide(connection: Any, *_: Any) -> set[int]:
        return set(unlocked._run_prepared(connection, "SELECT 1 / ?::int4", [0]))

    monkeypatch.setattr(store_module, "write_checked", divide)
    with pytest.raises(StoreError, match="not stored, try again") as refused:
        node.decide()
    assert refused.value.reason == "ERROR:  division by zero"
    node.close()


@pytest.fixture
def keyed(postgresql: str) -> Iterator[tuple[Node, Access, str]]:
    """A node that verifies API keys, what makes them on another node, and the id of one."""
    stores = [Store(postgresql, PATIENT) for _ in range(2)]
    stores[0].migrate()
    node, access, elsewhere = Node(postgresql), *map(Access, stores)
    node.create()
    node.create("others")
    key, _ = access.make("k", ["decide"])
    elsewhere.refresh()
    engine = Engine(stores[0], limits=QUIET, key_verifier=access).start()
    node.caller._queue = engine
    yield node, elsewhere, key.id
    engine.close()
    for store in stores:
        store.close()
    node.close()


def test_a_new_api_key_lets_nothing_be_read_again(
    keyed: tuple[Node, Access, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was seen a moment ago is by an older version of the keys: it is written by the new one."""
    node, elsewhere, key = keyed
    outcomes = count_unlocked(monkeypatch)
    monkeypatch.setattr(seen, "SEEN_SECONDS", 3600.0)
    cache = node.caller._queue._cache  # type: ignore[attr-defined]
    assert node.ask(Decide("colours"), key)
    states = cache.states()
    new, _ = elsewhere.make("new", ["decide"])
    assert node.ask(Decide("colours"), key)
    assert outcomes == [{1}, set(), {1}]
    assert node.ask(Decide("colours"), new.id)
    assert outcomes[3:] == [{1}]
    assert cache.states() == states
    assert not cache.is_shared(1)
    assert node.replay().verified


@pytest.mark.parametrize("writes", [True, False])
def test_a_key_revoked_after_experiments_were_seen(
    keyed: tuple[Node, Access, str], monkeypatch: pytest.MonkeyPatch, writes: bool
) -> None:
    """Neither are decisions made with it, nor is anything told that was made before; those of others are made."""
    node, elsewhere, key = keyed
    monkeypatch.setattr(seen, "SEEN_SECONDS", 3600.0)
    other, _ = elsewhere.make("other", ["decide"])
    wanted = Decide("colours", idempotency_key=None if writes else "k")
    assert node.ask(wanted, key)
    assert node.ask(Decide("others"), other.id)
    made = len(node.log())
    elsewhere.revoke(key)
    callers = [
        PendingRequest(one, node.caller, threading.Event(), of)
        for one, of in ((wanted, key), (Decide("others"), other.id))
    ]
    node.caller._queue.submit(callers)
    for pending in callers:
        assert pending.waiter.wait(60.0)
    with pytest.raises(DeniedError):
        callers[0].result()
    assert callers[1].result()
    assert len(node.log()) == made
    assert node.kinds("others").count("decision") == 2
    cache = node.caller._queue._cache  # type: ignore[attr-defined]
    assert not any(map(cache.is_shared, (1, 2)))
    assert node.ask(Decide("colours"), other.id)
    assert node.replay().verified


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


def test_who_has_seen_nothing_knows_no_version_of_the_keys() -> None:
    """Else what was seen before would be written whatever becomes of the keys."""
    known = seen.Seen()
    known.note([1, 2], time.monotonic(), 7)
    known.note([], time.monotonic(), None)
    assert known.key_version == 7
    assert known.has([1, 2])
    assert not known.has([1, 2, 3])
    known.forget(2)
    assert known.has([1])
    assert not known.has([1, 2])
    known.note([2], time.monotonic() - seen.SEEN_SECONDS, 7)
    assert not known.has([2])


def test_what_was_seen_is_kept_as_long_as_the_experiment(postgresql: str) -> None:
    """So a node with ever new experiments keeps no more of it than it has experiments in memory."""
    node = Node(postgresql, limits=replace(QUIET, cached_experiments=2))
    for number in range(5):
        node.create(f"e{number}")
        node.decide(f"e{number}")
    assert len(node.engine._cache.seen._until) == 2
    node.close()
