"""What a batch leaves to be written, by one statement of PostgreSQL that locks nothing before.

It writes to the log of an experiment only if that has not grown meanwhile, which no lock had kept it from, and only as
long as the API keys are those that are known. Rows are handed over as an array for each column, so that there is one
statement for any number of them, which the database reads once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import psycopg
from psycopg import pq
from sqlalchemy import Connection, Table

from ocucb.service.stores.dialects import numbered
from ocucb.service.stores.tables import due, idempotency_keys, log

TABLES = (log, idempotency_keys, due)
_TYPES = {"INTEGER": "int4", "BIGINT": "int8", "TEXT": "text", "FLOAT": "float8"}


class Growth(NamedTuple):
    """How far the log of an experiment went, how far it goes now, and the experiment's status."""

    experiment: int
    name: str
    before: int
    seq: int
    status: str


def write_checked(
    connection: Connection,
    growths: Sequence[Growth],
    key_version: int | None,
    added: Sequence[Sequence[tuple[Any, ...]]],
    not_due: Sequence[tuple[int, int]],
) -> set[int]:
    """Write rows to each of `TABLES`, delete deadlines, and return the experiments for which that was done.

    For others nothing was: their log has grown, somebody has locked or deleted them, which takes the name, or API keys
    have changed.
    """
    kinds = tuple(bool(rows) for rows in added)
    values: list[Any] = [*_columns(("int4", "text", "int8", "int8", "text"), growths), key_version]
    for table, rows in zip(TABLES, added, strict=True):
        if rows:
            values += _columns(_types(table), rows)
    if not_due:
        values += _columns(("int4", "int8"), not_due)
    return set(_run_prepared(connection, _statement(kinds, bool(not_due)), values))


def _run_prepared(connection: Connection, statement: str, values: Sequence[Any]) -> list[int]:
    """Run a statement that is prepared once for a connection, and return the numbers that it finds.

    This is libpq's own call, which is one wait without Python's lock. A cursor takes it up several times between.
    """
    driver: pq.abc.PGconn = connection.connection.dbapi_connection.pgconn  # type: ignore[union-attr]  # psycopg's
    names: dict[str, bytes] = connection.info.setdefault("prepared", {})
    if statement not in names:
        name = b"ocucb_%d" % len(names)
        _check(driver.prepare(name, numbered(statement)), pq.ExecStatus.COMMAND_OK)
        names[statement] = name
    given: list[Any] = [None if value is None else str(value).encode() for value in values]  # None is said to be none
    result = driver.exec_prepared(names[statement], given)
    _check(result, pq.ExecStatus.TUPLES_OK)
    return [int(result.get_value(row, 0) or 0) for row in range(result.ntuples)]


def _check(result: pq.abc.PGresult, wanted: pq.ExecStatus) -> None:
    """Raise the error that a result is, as a cursor would; if it has no known code, nobody knows what is stored."""
    if result.status != wanted:
        state = (result.error_field(pq.DiagnosticField.SQLSTATE) or b"").decode()
        try:
            kind = psycopg.errors.lookup(state)
        except KeyError:
            kind = psycopg.OperationalError
        raise kind(result.error_message.decode(errors="replace").strip())


@lru_cache(16)
def _statement(kinds: tuple[bool, ...], deletes: bool) -> str:
    parts = [
        "free AS MATERIALIZED (SELECT id, grown.seq, grown.status "
        "FROM unnest(?::int4[], ?::text[], ?::int8[], ?::int8[], ?::text[]) "
        "AS grown(experiment, name, before, seq, status) "
        "JOIN experiments ON id = grown.experiment "
        "AND experiments.name = grown.name AND experiments.seq = grown.before "
        "WHERE coalesce((SELECT version FROM access WHERE id = 1) = ?::int8, true) "
        "FOR UPDATE OF experiments SKIP LOCKED)",
        "changed AS (UPDATE experiments SET seq = free.seq, status = free.status FROM free "
        "WHERE experiments.id = free.id RETURNING experiments.id)",
    ]
    for table, present in zip(TABLES, kinds, strict=True):
        if present:
            names = ", ".join(f'"{column.name}"' for column in table.c)
            arrays = ", ".join(f"?::{kind}[]" for kind in _types(table))
            parts.append(
                f"new_{table.name} AS (INSERT INTO {table.name} ({names}) SELECT given.* "  # noqa: S608
                f"FROM unnest({arrays}) AS given({names}) WHERE experiment = ANY(ARRAY(SELECT id FROM free)))"
            )
    if deletes:
        parts.append(
            "old_due AS (DELETE FROM due USING unnest(?::int4[], ?::int8[]) AS closed(experiment, seq) "
            "WHERE due.experiment = closed.experiment AND due.seq = closed.seq "
            "AND closed.experiment = ANY(ARRAY(SELECT id FROM free)))"
        )
    return f"WITH {', '.join(parts)} SELECT id FROM changed"  # noqa: S608


@lru_cache
def _types(table: Table) -> tuple[str, ...]:
    return tuple(_TYPES[str(column.type).partition("(")[0]] for column in table.c)


def _columns(types: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> list[str]:
    """Return the columns of rows, each as the text of an array."""
    return [
        "{" + ",".join(map(_WRITERS[kind], column)) + "}"
        for kind, column in zip(types, zip(*rows, strict=True), strict=True)
    ]


def _integer(value: int | None) -> str:
    return "NULL" if value is None else str(value)


def _float(value: float | None) -> str:
    return "NULL" if value is None else repr(float(value))


def _text(value: str | None) -> str:
    return "NULL" if value is None else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


_WRITERS: dict[str, Callable[[Any], str]] = {"int4": _integer, "int8": _integer, "text": _text, "float8": _float}
