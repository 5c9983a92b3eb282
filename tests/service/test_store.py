"""The store: its schema, its limits, and what becomes of callers when it fails."""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, create_engine, event, inspect, text

from ocucb.service.access import Access
from ocucb.service.errors import RequestError, SchemaError, StoreError
from ocucb.service.ids import make_id
from ocucb.service.requests import Decide, Inspect, Reward
from ocucb.service.stores import Store, dialects, partial_rewards
from ocucb.service.stores.dialects import Timeouts, run
from ocucb.service.stores.tables import metadata
from service.helpers import HASTY, PATIENT, ManualClock, Node, folded_state, live_state, wait_until, write_first_schema
from service.postgresql import PostgreSQL


def test_migrations_make_the_tables(address: str) -> None:
    store = Store(address)
    with pytest.raises(SchemaError, match="schema none"):
        store.check_schema()
    store.migrate()
    store.check_schema()
    with store.read() as transaction:
        assert compare_metadata(MigrationContext.configure(transaction.connection), metadata) == []
        names = inspect(transaction.connection).get_table_names()
    store.close()
    assert set(names) == {*metadata.tables, "alembic_version"}


def test_what_requests_refer_to_is_found_by_an_index(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while tables are empty, as the plan is kept."""
    store, plans = Store(address), []
    store.migrate()
    explain = "EXPLAIN QUERY PLAN " if address.startswith("sqlite") else "EXPLAIN "

    def run_explained(connection: Connection, statement: str, values: Sequence[Any] = ()) -> Any:
        plans.append([row[-1] for row in run(connection, explain + statement, values)])
        return run(connection, statement, values)

    with store.read() as transaction:
        monkeypatch.setattr(dialects, "run", run_explained)
        transaction.find_decisions([(1, 2), (2, 3), (2, 4)])
        transaction.find_last_decisions([(1, "a"), (2, "b")])
        transaction.find_idempotency_keys([(1, "a"), (2, "b")])
        transaction.read_new_entries([(1, 2, 5), (2, 3, 4)])
        partial_rewards.find_parts(transaction, 1, [2, 3])
        monkeypatch.undo()
    store.close()
    assert len(plans) == 5
    for plan in plans:
        whole = [line for line in plan if re.match(r"SCAN (?!given|\d)|.*(Seq Scan|Hash|Merge)", line)]
        assert not whole, plan
        assert any("USING" in line or "Index" in line for line in plan), plan


def test_an_older_schema_is_brought_up_with_all_that_is_in_it(address: str, tmp_path: Path) -> None:
    """What services logged before they kept `pending`, and infinite indices of arms that are not compared."""
    model = Node(f"sqlite:///{tmp_path / 'model.db'}")
    model.create("old")
    for decision in [*model.ask(Decide("old", count=5)), *model.ask(Decide("old", count=4))]:
        model.ask(Reward(decision.id, 0.5))
    model.decide("old")
    log = model.log("old")
    model.close()
    experiment = write_first_schema(address, "old", log)
    last = make_id(experiment, log[-1])
    store = Store(address)
    with store.write() as transaction:
        row = {"experiment": experiment, "seq": log[-1].seq}
        transaction.connection.execute(text("INSERT INTO keys VALUES (:experiment, 'k', 'decide 1 ', :seq, 1)"), row)
    store.close()
    node = Node(address)
    known = [
        entry.statistics and entry.statistics._replace(pending=None)  # type: ignore[arg-type]
        for entry in log
    ]
    assert node.log("old") == [
        entry._replace(statistics=old, probability=None) for entry, old in zip(log, known, strict=True)
    ]
    assert {entry.statistics.index is None for entry in log if entry.statistics is not None} == {True, False}
    again = node.decide("old", idempotency_key="k")
    assert (again.id, again.repeated, again.statistics) == (last, True, known[-1])
    assert node.ask(Reward(last, 1.0)).outcome == "counted"
    assert node.decide("old").statistics.pending == 0
    assert node.replay("old").problem is None
    assert Access(node.store).make_first_key() is not None
    node.close()


def test_any_number_of_rows_is_written_by_few_statements(node: Node) -> None:
    """One for as many eights as there are, and one for the rest; what each experiment has come to is one more."""
    names = [f"e{number}" for number in range(9)]
    for name in names:
        node.create(name)
    statements: list[str] = []
    for count in (*range(1, 20), 31, 64, 255, 256, 257, 300, 512):
        before = len(node.log("e0"))
        node.ask(Decide("e0", count=count))
        assert [entry.seq for entry in node.log("e0")] == list(range(1, before + count + 1))
    with node.store.write() as transaction:
        heads = transaction.find_experiments(names)
        for count in range(1, len(heads) + 1):
            changed = [head._replace(seq=1000 * count + place) for place, head in enumerate(heads[:count])]
            transaction.update_experiments([(head.id, head.seq, head.status) for head in changed])
            assert transaction.find_experiments(names) == changed + heads[count:]
            heads = changed + heads[count:]
        driver: Any = transaction.connection.connection.dbapi_connection
        if isinstance(driver, sqlite3.Connection):
            driver.set_trace_callback(statements.append)
            transaction.add_due([(1, seq, 10) for seq in range(10_000, 10_031)])
            driver.set_trace_callback(None)
            assert len(statements) == 2


def test_a_newer_schema_is_refused(address: str) -> None:
    store = Store(address)
    store.migrate()
    with store.write() as transaction:
        transaction.connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaError, match="schema 9999, newer than this ocucb knows"):
        store.migrate()
    with pytest.raises(SchemaError, match="schema 9999, but this ocucb needs 0008"):
        store.check_schema()
    store.close()


def test_nodes_that_start_at_once(address: str) -> None:
    stores = [Store(address, PATIENT) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(Store.migrate, stores))
    for store in stores:
        store.close()


def test_a_write_ahead_log_that_another_begins_is_waited_for(sqlite: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite refuses it without delay, here as long as another has the lock."""
    holder = sqlite3.connect(sqlite.removeprefix("sqlite:///"), isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN EXCLUSIVE")
    tries = []

    def release(seconds: float) -> None:
        tries.append(seconds)
        holder.close()

    monkeypatch.setattr(time, "sleep", release)
    monkeypatch.setattr(dialects, "create_engine", partial(create_impatient_engine, create_engine))
    store = Store(sqlite, PATIENT)
    store.migrate()
    store.close()
    assert len(tries) == 1


def create_impatient_engine(create: Callable[..., Any], url: Any, connect_args: dict[str, Any]) -> Any:
    """Open SQLite so that it waits for no lock by itself."""
    return create(url, connect_args={**connect_args, "timeout": 0.0})


@pytest.mark.parametrize(
    "wrong", ["", "nonsense", "mysql://x", "sqlite://", "sqlite:///:memory:", "postgresql://a:b/c"]
)
def test_databases_that_are_none(wrong: str) -> None:
    with pytest.raises(RequestError):
        Store(wrong)


def test_a_database_that_is_not_there() -> None:
    for address in ("sqlite:////nowhere/at/all.db", "postgresql://nobody@127.0.0.1:1/nothing"):
        with pytest.raises(StoreError, match="not stored, try again"):
            Store(address).migrate()


def test_sqlite_syncs_every_commit(sqlite: str) -> None:
    store = Store(sqlite)
    with store.read() as transaction:
        settings = [transaction.connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in _SETTINGS]
    store.close()
    assert settings == list(_SETTINGS.values())


_SETTINGS = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


@pytest.mark.parametrize("stored", [True, False], ids=["stored", "not stored"])
def test_a_commit_with_unknown_end(node: Node, stored: bool) -> None:
    """The connection breaks while committing: the caller hears that it must ask again, and asking again is right."""
    node.create()
    node.play(3)
    node.engine._cache.note_shared(1, 3600.0)  # test_unlocked.py has the other way
    breaking = True

    def commit(connection: Any) -> None:
        nonlocal breaking
        if breaking:
            breaking = False
            if stored:
                connection.exec_driver_sql("COMMIT")
            connection.connection.dbapi_connection.close()

    event.listen(node.store._engine, "commit", commit)
    with pytest.raises(StoreError, match="may or may not be stored"):
        node.decide(idempotency_key="k")
    assert node.kinds().count("decision") == (4 if stored else 3)
    wait_until(lambda: node.engine.store_error is None or _works(node), "the node recovers")
    decision = node.decide(idempotency_key="k")
    assert decision.repeated == stored
    assert node.kinds().count("decision") == 4
    assert node.ask(Reward(decision.id, 1.0)).outcome == "counted"
    assert node.replay().verified
    assert live_state(node) == folded_state(node.store)


def test_what_is_not_committed_is_forgotten_though_another_node_wrote_as_much(start: Callable[..., Node]) -> None:
    """Then the log is as long as what the first node has made, and says something else."""
    node, other = start(), start()
    node.create()
    node.play(3)
    node.engine._cache.note_shared(1, 3600.0)  # test_unlocked.py has the other way

    def commit(connection: Any) -> None:
        connection.connection.dbapi_connection.close()

    event.listen(node.store._engine, "commit", commit)
    with pytest.raises(StoreError, match="may or may not be stored"):
        node.decide(among=("red",))
    event.remove(node.store._engine, "commit", commit)
    decision = other.decide(among=("blue",))
    wait_until(lambda: _works(node), "the node recovers")
    assert node.ask(Reward(decision.id, 1.0)).outcome == "counted"
    assert node.replay().verified
    assert live_state(node) == folded_state(node.store)


def _works(node: Node) -> bool:
    try:
        node.ask(Inspect("colours"))
    except StoreError:
        return False
    return True


def test_a_failure_closes_the_connections_that_others_are_using(address: str) -> None:
    """All are replaced, and none is left to the garbage collector, whose complaint would be an error here."""
    store = Store(address)
    store.migrate()
    with store.read() as other:
        before = other.connection.connection.dbapi_connection
        with pytest.raises(StoreError), store.write() as transaction:
            transaction.connection.exec_driver_sql("SELECT nothing FROM nowhere")
        assert other.connection.exec_driver_sql("SELECT 1").scalar() == 1
    for _ in range(3):
        with store.read() as later:
            assert later.connection.connection.dbapi_connection is not before
    store.close()
    with pytest.raises((sqlite3.ProgrammingError, psycopg.OperationalError), match="closed"):
        before.execute("SELECT 1")  # type: ignore[union-attr]


def test_a_database_that_is_locked(tmp_path: Path, clock: ManualClock) -> None:
    """Another program holds SQLite's only lock: callers hear so after a bounded wait, and later all is well."""
    node = Node(f"sqlite:///{tmp_path / 'service.db'}", clock, timeouts=HASTY)
    node.create()
    node.play(3)
    rival = sqlite3.connect(tmp_path / "service.db", isolation_level=None)
    rival.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError) as caught:
        node.decide()
    assert "locked" in caught.value.reason
    assert "locked" not in str(caught.value)
    assert node.engine.store_error is not None
    with pytest.raises(StoreError):
        node.decide()
    rival.execute("ROLLBACK")
    rival.close()
    wait_until(lambda: _works(node), "the node recovers")
    node.play(3)
    assert node.replay().decisions == 6
    node.close()


def test_a_server_that_goes_away_and_comes_back(postgres: PostgreSQL, postgresql: str, clock: ManualClock) -> None:
    node = Node(postgresql, clock)
    node.create()
    node.play(3)
    before = node.decide()
    postgres.stop()
    try:
        for _ in range(5):
            with pytest.raises(StoreError, match="not stored, try again"):
                node.ask(Reward(before.id, 0.5))
        assert node.engine.store_error is not None
    finally:
        postgres.start()
    wait_until(lambda: _works(node), "the node recovers")
    assert node.ask(Reward(before.id, 0.5)).outcome == "counted"
    node.play(3)
    assert node.replay().decisions == 7
    assert live_state(node) == folded_state(node.store)
    node.close()


def test_no_request_fails_long_after_the_server_has_come_back(postgres: PostgreSQL, postgresql: str) -> None:
    """The writer keeps two connections, and the first request that needs the other may come much later."""
    node = Node(postgresql)
    node.create()
    node.play(3)
    node.ask(Inspect("colours"))
    postgres.stop()
    postgres.start()
    with pytest.raises(StoreError):
        node.decide()
    time.sleep(0.3)  # after a failure the store is left alone for a moment
    assert node.ask(Inspect("colours")).rounds == 3
    assert node.decide().arm
    node.close()


def test_a_node_that_hangs_with_the_lock(postgresql: str) -> None:
    """Another node holds the experiment and does not go on: its connection is closed, and then all is well."""
    node = Node(postgresql)
    node.create()
    other = Store(postgresql, Timeouts(idle=0.2))

    def hang() -> None:
        with other.write() as transaction:
            transaction.lock_experiments([1])
            assert node.decide().arm

    with pytest.raises(StoreError):
        hang()
    other.close()
    node.close()


def test_a_node_that_hangs_with_the_lock_after_it_has_waited_for_rows(postgresql: str) -> None:
    """PostgreSQL forgets how long a transaction is idle if a driver sends more than it waits for."""
    node = Node(postgresql)
    node.create()
    rows = [(1, seq, 10**18) for seq in range(1000, 1003)]
    with node.store.write() as transaction:
        transaction.add_due(rows)
    other, third = Store(postgresql, Timeouts(idle=0.2)), psycopg.connect(postgresql)
    third.execute("SELECT FROM due WHERE seq = 1001 FOR UPDATE")
    release = threading.Timer(0.3, third.commit)

    def hang() -> None:
        with other.write() as transaction:
            transaction.lock_experiments([1])
            release.start()
            transaction.delete_due([row[:2] for row in rows])
            assert node.decide().arm

    with pytest.raises(StoreError):
        hang()
    third.close()
    other.close()
    node.close()
