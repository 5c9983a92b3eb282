"""Databases that older services made, with data: `data` has one of schema 0003 for SQLite and one for PostgreSQL."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import psycopg
import pytest

from ocucb.service.access import Access
from ocucb.service.requests import Decide, Inspect, Reward
from service.helpers import ManualClock, Node, folded_state, live_state

DATA = Path(__file__).parent / "data"


@pytest.fixture
def old(address: str) -> str:
    """A database of schema 0003."""
    if address.startswith("sqlite"):
        with sqlite3.connect(address.removeprefix("sqlite:///")) as connection:
            connection.executescript((DATA / "schema_0003_sqlite.sql").read_text(encoding="utf-8"))
        connection.close()
    else:
        with psycopg.connect(address, autocommit=True) as database:
            database.execute((DATA / "schema_0003_postgresql.sql").read_text(encoding="utf-8").encode())
    return address


def test_a_database_of_schema_0003_goes_on(old: str, clock: ManualClock) -> None:
    clock.advance(4000.0)
    node = Node(old, clock)
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
