"""The store: its schema, its limits, and what becomes of callers when it fails."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import event, inspect, text

from ocucb.service.access import Access
from ocucb.service.definition import Definition
from ocucb.service.errors import RequestError, SchemaError, StoreError
from ocucb.service.records import ACTIVE, CREATED, DECISION, Entry, Head
from ocucb.service.requests import Look, Reward
from ocucb.service.stores import Store, schema
from ocucb.service.stores.tables import metadata
from service.helpers import HASTY, PATIENT, Hands, Node, folded_state, live_state, wait_until


def test_migrations_make_the_tables(address: str) -> None:
    store = Store(address)
    with pytest.raises(SchemaError, match="schema none"):
        store.check()
    store.migrate()
    store.check()
    with store.read() as transaction:
        assert compare_metadata(MigrationContext.configure(transaction.connection), metadata) == []
        names = inspect(transaction.connection).get_table_names()
    store.close()
    assert set(names) == {*metadata.tables, "alembic_version"}


def test_an_older_schema_is_brought_up_with_all_that_is_in_it(address: str) -> None:
    store = Store(address)
    log = [
        Entry(1, CREATED, 5, data=Definition("old", ("a", "b"), seed=1).to_dict()),
        Entry(2, DECISION, 6, "a", token="t" * 22, pulls=0, index_value=math.inf),
    ]
    with store.write() as transaction:
        schema.migrate(transaction.connection, "0001")
        experiment = transaction.create("old", 5, ACTIVE)
        assert experiment is not None
        transaction.append([(experiment, entry) for entry in log])
        transaction.move([Head(experiment, "old", 2, ACTIVE, 5)])
        transaction.connection.execute(text("INSERT INTO keys VALUES (:e, 'k', 'decide 1 ', 2, 1)"), {"e": experiment})
    store.close()
    node = Node(address)
    assert node.log("old") == log
    assert node.decide("old", key="k").id == f"{experiment}-2-{'t' * 22}"
    assert node.replay("old").verified
    assert Access(node.store).first_key() is not None
    node.close()


def test_a_newer_schema_is_refused(address: str) -> None:
    store = Store(address)
    store.migrate()
    with store.write() as transaction:
        transaction.connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaError, match="schema 9999, newer than this ocucb knows"):
        store.migrate()
    with pytest.raises(SchemaError, match="schema 9999, but this ocucb needs 0002"):
        store.check()
    store.close()


def test_nodes_that_start_at_once(address: str) -> None:
    stores = [Store(address, PATIENT) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(Store.migrate, stores))
    for store in stores:
        store.close()


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
    breaking = True

    def commit(connection: Any) -> None:
        nonlocal breaking
        if breaking:
            breaking = False
            if stored:
                connection.exec_driver_sql("COMMIT")
            connection.connection.dbapi_connection.close()

    event.listen(node.store._engine, "commit", commit)
    with pytest.raises(StoreError, match="try again"):
        node.decide(key="k")
    assert node.kinds().count("decision") == (4 if stored else 3)
    wait_until(lambda: node.engine.trouble is None or _works(node), "the node recovers")
    decision = node.decide(key="k")
    assert decision.repeated == stored
    assert node.kinds().count("decision") == 4
    assert node.ask(Reward(decision.id, 1.0)).outcome == "counted"
    assert node.replay().verified
    assert live_state(node) == folded_state(node.store)


def _works(node: Node) -> bool:
    try:
        node.ask(Look("colours"))
    except StoreError:
        return False
    return True


def test_a_database_that_is_locked(tmp_path: Path, hands: Hands) -> None:
    """Another program holds SQLite's only lock: callers hear so after a bounded wait, and later all is well."""
    node = Node(f"sqlite:///{tmp_path / 'service.db'}", hands, timeouts=HASTY)
    node.create()
    node.play(3)
    rival = sqlite3.connect(tmp_path / "service.db", isolation_level=None)
    rival.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError) as caught:
        node.decide()
    assert "locked" in caught.value.reason
    assert "locked" not in str(caught.value)
    assert node.engine.trouble is not None
    with pytest.raises(StoreError):
        node.decide()
    rival.execute("ROLLBACK")
    rival.close()
    wait_until(lambda: _works(node), "the node recovers")
    node.play(3)
    assert node.replay().decisions == 6
    node.close()


def test_a_server_that_goes_away_and_comes_back(postgres: Any, postgresql: str, hands: Hands) -> None:
    node = Node(postgresql, hands)
    node.create()
    node.play(3)
    before = node.decide()
    postgres.stop()
    try:
        for _ in range(5):
            with pytest.raises(StoreError, match="not stored, try again"):
                node.ask(Reward(before.id, 0.5))
        assert node.engine.trouble is not None
    finally:
        postgres.ensure_postgres_running()
    wait_until(lambda: _works(node), "the node recovers")
    assert node.ask(Reward(before.id, 0.5)).outcome == "counted"
    node.play(3)
    assert node.replay().decisions == 7
    assert live_state(node) == folded_state(node.store)
    node.close()


def test_a_node_that_hangs_with_the_lock(start: Callable[..., Node], address: str) -> None:
    """Another node holds the experiment and does not go on: a bounded wait, an error, and then all is well."""
    node = start(timeouts=HASTY)
    node.create()
    other = Store(address)
    with other.write() as transaction:
        transaction.lock([1])
        with pytest.raises(StoreError):
            node.decide()
    other.close()
    wait_until(lambda: _works(node), "the node recovers")
    assert node.kinds() == ["created"]
