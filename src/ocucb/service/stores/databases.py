"""How SQLite and PostgreSQL differ: connections, transactions, locks, and inserts that may meet a rival. Only here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Engine, Select, Table, create_engine, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from ocucb.service.errors import RequestError

WRITING = "ocucb_writing"
LARGEST = 256  # rows in one statement
MIGRATION_LOCK = 0x6F63756362  # "ocucb": a number of our own among PostgreSQL's advisory locks


@dataclass(frozen=True)
class Timeouts:
    """How long a node waits for its database, in seconds, before it says that it is unavailable."""

    connect: float = 2.0
    lock: float = 2.0
    statement: float = 10.0


def open_database(address: str, timeouts: Timeouts) -> Engine:
    """Return a pool of connections to `sqlite:///file` or `postgresql://...`."""
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise RequestError("the database must be sqlite:///FILE or postgresql://USER@HOST/NAME") from None
    kind = url.get_backend_name()
    if kind == "sqlite":
        return _open_sqlite(url, timeouts)
    if kind == "postgresql":
        return _open_postgresql(url, timeouts)
    raise RequestError(f"the database must be sqlite:///FILE or postgresql://USER@HOST/NAME, got one of kind {kind!r}")


def _open_sqlite(url: URL, timeouts: Timeouts) -> Engine:
    if url.database in (None, "", ":memory:"):
        raise RequestError("a database in memory is not durable; name a file: sqlite:///FILE")
    engine = create_engine(url, connect_args={"timeout": timeouts.lock, "check_same_thread": False})

    @event.listens_for(engine, "connect")
    def connect(connection: Any, _: object) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves
        for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "cache_size = -16384"):
            connection.execute(f"PRAGMA {setting}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer takes the only write lock at once: to read first and then find another writer ahead would fail.
        writing = connection.get_execution_options().get(WRITING)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def _open_postgresql(url: URL, timeouts: Timeouts) -> Engine:
    settings = {
        "lock_timeout": round(timeouts.lock * 1000),
        "statement_timeout": round(timeouts.statement * 1000),
        # a node that hangs in the middle of a round must not keep the others out for long
        "idle_in_transaction_session_timeout": round(timeouts.statement * 1000),
        "synchronous_commit": "on",
        "client_encoding": "UTF8",
    }
    network = {
        "connect_timeout": max(2, round(timeouts.connect)),
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "tcp_user_timeout": round(timeouts.statement * 1000),
    }
    options = " ".join(f"-c {name}={value}" for name, value in settings.items())
    return create_engine(
        url.set(drivername="postgresql+psycopg"),
        connect_args={**network, "options": options},
        pool_size=4,
        max_overflow=4,
        pool_timeout=timeouts.connect,
        pool_recycle=1800,
        isolation_level="READ COMMITTED",
    )


def lock_rows(connection: Connection, query: Select[Any]) -> Select[Any]:
    """Return the query, locking what it finds. SQLite's writer has already locked everything."""
    return query.with_for_update() if connection.dialect.name == "postgresql" else query


def lock_schema(connection: Connection) -> None:
    """Let only one node migrate at a time."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL lock_timeout = '60s'"))
        connection.execute(text("SET LOCAL statement_timeout = '600s'"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": MIGRATION_LOCK})


def insert_rows(connection: Connection, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows, tuples of all columns, by statements of 1, 2, 4, ... rows, so that there are few different ones.

    A driver lets go of Python's lock for every statement, and may wait long to get it back: one for each row would be
    slower than all the rest.
    """
    done = 0
    while done < len(rows):
        size = min(LARGEST, 1 << ((len(rows) - done).bit_length() - 1))
        values = tuple(chain.from_iterable(rows[done : done + size]))
        connection.exec_driver_sql(_insert_text(connection.dialect.name, table, size), values)
        done += size


@lru_cache(64)
def _insert_text(kind: str, table: Table, size: int) -> str:
    names = [column.name for column in table.c]
    row = f"({', '.join(['%s' if kind == 'postgresql' else '?'] * len(names))})"
    return f"INSERT INTO {table.name} ({', '.join(names)}) VALUES {', '.join([row] * size)}"  # noqa: S608


def insert_new(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """Return an insert that leaves a row alone if it is already there."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()
