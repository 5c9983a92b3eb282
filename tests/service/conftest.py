"""Every test of the service runs on a real SQLite file and on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from service.helpers import ManualClock, Node
from service.postgresql import PostgreSQL


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgreSQL]:
    server = PostgreSQL()
    yield server
    server.close()


@pytest.fixture
def postgresql(postgres: PostgreSQL) -> str:
    """An empty PostgreSQL database."""
    with psycopg.connect(postgres.address, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return postgres.address


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    """A place for an SQLite database."""
    return f"sqlite:///{tmp_path / 'service.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def start(address: str, clock: ManualClock) -> Iterator[Callable[..., Node]]:
    """Start nodes on one database, by one clock; all are closed at the end."""
    nodes: list[Node] = []

    def make(**what: Any) -> Node:
        nodes.append(Node(address, **{"now": clock, **what}))
        return nodes[-1]

    yield make
    for node in nodes:
        node.close()


@pytest.fixture
def node(start: Callable[..., Node]) -> Node:
    return start()
