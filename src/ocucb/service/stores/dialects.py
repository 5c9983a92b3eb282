"""How SQLite and PostgreSQL differ: connections, transactions, locks, and inserts of rows that may exist. Only here."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import psycopg
from sqlalchemy import Connection, Engine, Select, Table, create_engine, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DisconnectionError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from ocucb.service.errors import RequestError

WRITING = "ocucb_writing"
MAX_ROWS_PER_INSERT = 256
ROWS_PER_STEP = 8
FAILURES = (SQLAlchemyError, sqlite3.Error, psycopg.Error)
LOCK_NOT_AVAILABLE = "55P03"  # of PostgreSQL
MIGRATION_LOCK = 0x6F63756362  # "ocucb": a number of our own among PostgreSQL's advisory locks


@dataclass(frozen=True)
class Timeouts:
    """How long a node waits for its database, in seconds, before it says that it is unavailable.

    `idle` is how long the database waits for a node that has begun a transaction and does not go on.
    """

    connect: float = 2.0
    lock: float = 2.0
    statement: float = 10.0
    idle: float = 2.0


def open_pool(address: str, timeouts: Timeouts) -> Engine:
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
        _keep_write_ahead_log(connection, timeouts.lock)
        for setting in ("synchronous = FULL", "foreign_keys = ON", "cache_size = -16384"):
            connection.execute(f"PRAGMA {setting}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer takes the only write lock at once: to read first and then find another writer ahead would fail.
        writing = connection.get_execution_options().get(WRITING)
        run(connection, "BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def _keep_write_ahead_log(connection: sqlite3.Connection, seconds: float) -> None:
    """Have the database keep a write-ahead log.

    Where several begin one at once, some are refused without delay, whatever the timeout: they try again.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.01)


def _open_postgresql(url: URL, timeouts: Timeouts) -> Engine:
    settings = {
        "lock_timeout": round(timeouts.lock * 1000),
        "statement_timeout": round(timeouts.statement * 1000),
        # a node that hangs in the middle of a batch must not keep the others out for long
        "idle_in_transaction_session_timeout": round(timeouts.idle * 1000),
        "synchronous_commit": "on",
        # A plan is kept, and one made while a table was small would go on to read all of it when it is large. Where
        # there is no other way it is taken for very expensive, which is no reason to compile it.
        **dict.fromkeys(("enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"), "off"),
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


class PoolRenewal:
    """Replaces every connection of a pool that was open when something failed, once it is asked for again.

    `Engine.dispose` would forget those in use by other threads: they stay open until they are garbage collected.
    """

    def __init__(self, engine: Engine) -> None:
        self._failures = 0
        event.listen(engine, "connect", self._stamp)
        event.listen(engine, "checkout", self._refuse_old)

    def renew(self) -> None:
        """Let no connection that is open now be used again by the next who asks for one."""
        self._failures += 1

    def is_old(self, connection: Connection) -> bool:
        """Tell whether a connection that is kept in use was open when something failed."""
        return bool(connection.info["failures"] != self._failures)

    def _stamp(self, _: object, entry: ConnectionPoolEntry) -> None:
        entry.info["failures"] = self._failures

    def _refuse_old(self, _: object, entry: ConnectionPoolEntry, __: object) -> None:
        if entry.info["failures"] != self._failures:
            raise DisconnectionError


def lock_rows(connection: Connection, query: Select[Any], skip: bool = False) -> Select[Any]:
    """Return the query, locking what it finds, less what others have locked if `skip`.

    SQLite's writer has already locked everything.
    """
    return query.with_for_update(skip_locked=skip) if connection.dialect.name == "postgresql" else query


def wait_for_rows(connection: Connection, query: Select[Any], milliseconds: int) -> list[Any]:
    """Return what the query finds, locked after a short wait; nothing, if others have it locked for longer."""
    try:
        with connection.begin_nested():
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {milliseconds}")
            found = list(connection.execute(lock_rows(connection, query)))
            connection.exec_driver_sql("SET LOCAL lock_timeout TO DEFAULT")
            return found
    except OperationalError as error:
        if is_lock_timeout(error):
            return []
        raise


def is_lock_timeout(error: Exception) -> bool:
    """Tell whether an error says only that somebody else has locked what was wanted, and for too long."""
    return getattr(getattr(error, "orig", error), "sqlstate", None) == LOCK_NOT_AVAILABLE


def is_refusal(error: Exception) -> bool:
    """Tell whether the database itself has refused a statement: then it has stored nothing of it."""
    state = getattr(getattr(error, "orig", error), "sqlstate", None)
    return state is not None and not state.startswith(("08", "57"))  # which say that a connection has ended


def lock_schema(connection: Connection) -> None:
    """Let only one node migrate at a time."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL lock_timeout = '60s'"))
        connection.execute(text("SET LOCAL statement_timeout = '600s'"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": MIGRATION_LOCK})


def run(connection: Connection, statement: str, values: Sequence[Any] = ()) -> Any:
    """Run a statement with a ? for each value, by the driver itself, and return its cursor.

    What every batch does goes this way: SQLAlchemy takes five times as long as SQLite to find one row.
    """
    driver: Any = connection.connection.dbapi_connection
    if connection.dialect.name == "postgresql":
        return psycopg.RawCursor(driver).execute(numbered(statement), values)
    return driver.execute(statement, values)


def delete_rows(connection: Connection, table: Table, key: tuple[str, str], rows: Sequence[tuple[Any, Any]]) -> None:
    """Delete the rows of a table whose key is one of these.

    For many rows psycopg's `executemany` may send one message more than PostgreSQL waits for, which then no longer
    counts how long a transaction is idle: a node that hangs would keep its locks for ever. So it is one statement.
    """
    first, second = key
    if connection.dialect.name == "postgresql":
        same = f"{table.name}.{first} = given.column1 AND {table.name}.{second} = given.column2"
        change_rows(connection, f"DELETE FROM {table.name} USING {{}} WHERE {same}", rows)  # noqa: S608
    elif rows:
        driver: Any = connection.connection.dbapi_connection
        driver.executemany(f"DELETE FROM {table.name} WHERE {first} = ? AND {second} = ?", rows)  # noqa: S608


@lru_cache(1000)
def numbered(statement: str) -> bytes:
    """Return a statement as PostgreSQL reads it: $1, $2, ... for the values.

    Where psycopg has to find its own marks, it reads long statements anew each time: 32 rows of the log took 1,400 µs
    of processor time, and take 340.
    """
    first, *rest = statement.split("?")
    return "".join([first, *(f"${number}{part}" for number, part in enumerate(rest, 1))]).encode()


def find_rows(connection: Connection, statement: str, wanted: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return what a SELECT with "FROM {}" in it finds for rows of values: column1, column2, ... of `given`.

    One statement serves all experiments of a batch. It joins these rows with a table: for a list of pairs after IN
    SQLite would read the whole table. What is found for the last row may come several times.
    """
    return [row for given, values in _row_lists(wanted) for row in run(connection, statement.format(given), values)]


def _row_lists(rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield rows as a table called `given`, some at a time: as text with a ? for each value, and the values.

    They are filled up to 1, 2, 4, ... with the last one, so that there are few different statements.
    """
    for start in range(0, len(rows), MAX_ROWS_PER_INSERT):
        part = list(rows[start : start + MAX_ROWS_PER_INSERT])
        part += part[-1:] * ((1 << (len(part) - 1).bit_length()) - len(part))
        marks = ", ".join([_marks(len(part[0]))] * len(part))
        yield f"(VALUES {marks}) AS given", tuple(chain.from_iterable(part))


@lru_cache(64)
def _marks(size: int) -> str:
    return f"({', '.join(['?'] * size)})"


def insert_rows(connection: Connection, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows, tuples of all columns: by a statement for as many eights as there are, and one for the rest.

    A driver lets go of Python's lock for every statement, and may wait long to get it back: one for each row would be
    slower than all the rest. But there must be few different statements, since a database keeps those that it has read.
    """
    done = 0
    while done < len(rows):
        left = min(MAX_ROWS_PER_INSERT, len(rows) - done)
        size = left - left % ROWS_PER_STEP or left
        run(connection, _insert_text(table, size), tuple(chain.from_iterable(rows[done : done + size])))
        done += size


def change_rows(connection: Connection, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Run an UPDATE or DELETE with {} in it, once for all rows of values: column1, column2, ... of `given`."""
    for given, values in _row_lists(rows):
        run(connection, statement.format(given), values)


@lru_cache(256)
def _insert_text(table: Table, size: int) -> str:
    names = [f'"{column.name}"' for column in table.c]
    rows = ", ".join([_marks(len(names))] * size)
    return f"INSERT INTO {table.name} ({', '.join(names)}) VALUES {rows}"  # noqa: S608


def insert_new(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """Return an insert that leaves a row alone if it is already there."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()
