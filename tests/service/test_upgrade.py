"""Databases that older services made, with data: `data` has them; `database_fixture.py` makes one."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import psycopg
from sqlalchemy import delete

from ocucb import Discount, Window
from ocucb.service.access import Access
from ocucb.service.requests import Decide, Expire, Inspect, Reward
from ocucb.service.stores import retention
from ocucb.service.stores.audit import list_changes
from ocucb.service.stores.nodes import NodeRecord, list_nodes
from ocucb.service.stores.tables import snapshots
from service.helpers import ManualClock, Node, folded_state, live_state

DATA = Path(__file__).parent / "data"


def restore(address: str, schema: str) -> None:
    """Make a database of an older schema."""
    if address.startswith("sqlite"):
        with sqlite3.connect(address.removeprefix("sqlite:///")) as connection:
            connection.executescript((DATA / f"schema_{schema}_sqlite.sql").read_text(encoding="utf-8"))
        connection.close()
    else:
        with psycopg.connect(address, autocommit=True) as database:
            database.execute((DATA / f"schema_{schema}_postgresql.sql").read_text(encoding="utf-8").encode())


def test_a_database_of_schema_0003_goes_on(address: str, clock: ManualClock) -> None:
    restore(address, "0003")
    clock.advance(4000.0)
    node = Node(address, clock)
    for name, decisions in (("colours", 36), ("plain", 11), ("ended", 3)):
        found = node.replay(name)
        assert (found.problem, found.decisions) == (None, decisions)
        assert folded_state(node.store, name) == folded_state(node.store, name, snapshots=True)
    again = node.decide("plain", idempotency_key="open")
    assert again.repeated
    assert node.ask(Reward(again.id, 0.5)).outcome == "counted"
    assert node.ask(Decide("colours", unit="unit 0", idempotency_key="key 0"))[0].repeated
    view = node.ask(Inspect("colours"))
    assert (view.status, view.retired, view.added) == ("active", ("red",), {"black": {"hex": "#000"}})
    assert view.definition.reward_bounds == (-1e100, 1e100)
    node.play(5)
    for name in ("colours", "plain", "ended"):
        assert node.replay(name).verified
        assert live_state(node, name) == folded_state(node.store, name)
    assert [key.name for key in Access(node.store).list_keys()] == ["old admin"]
    node.close()


EXPERIMENTS = ("colours", "parts", "certain", "window", "faded", "unknown scale", "ended")


def test_a_database_of_schema_0008_goes_on(address: str, clock: ManualClock) -> None:
    """Shares, winners, memories, parts, corrections, archives, snapshots, keys, audit and nodes are as they were."""
    restore(address, "0008")
    clock.advance(41 * 86_400.0)
    node = Node(address, clock)
    node.ask(Expire(2))  # so that the engine does not do it in between
    assert [node.replay(name).problem for name in EXPERIMENTS] == [None] * len(EXPERIMENTS)
    from_snapshots = [folded_state(node.store, name, snapshots=True) for name in EXPERIMENTS]
    with node.store.write() as transaction:
        assert transaction.connection.execute(delete(snapshots)).rowcount > 0
    assert [folded_state(node.store, name, snapshots=True) for name in EXPERIMENTS] == from_snapshots
    views = {name: node.ask(Inspect(name)) for name in EXPERIMENTS}
    assert (views["colours"].retired, views["colours"].shares) == (("red",), (("green", 0.25),))
    assert views["colours"].added == {"black": {"hex": "#000"}}
    assert views["certain"].winner == "red"
    assert (views["window"].definition.memory, views["faded"].definition.memory) == (Window(15), Discount(0.9))
    assert views["ended"].status == "archived"
    again = node.decide("window", idempotency_key="open")
    assert again.repeated
    assert node.ask(Reward(again.id, 0.5)).outcome == "counted"
    clock.advance(100.0)
    node.ask(Expire(2))  # unless the engine has done it
    assert node.kinds("parts").count("summed reward") == 2
    for name in EXPERIMENTS[:-1]:
        if name != "parts":
            node.ask(Reward(node.decide(name).id, 1.0))
        assert node.replay(name).problem is None
    keys = Access(node.store).list_keys()
    assert sorted(key.name for key in keys) == ["old admin", "short"]
    with node.store.read() as transaction:
        assert list_nodes(transaction) == [NodeRecord("node", "http://127.0.0.1:1", 3)]
        assert retention.list_files(transaction, 1) == ["experiment-1-from-1.parquet"]
        actions = {change.action for change in list_changes(transaction, None, 100)}
    assert {"created", "arm added", "corrected", "shares set", "winner rule set", "log archived"} <= actions
    node.close()
