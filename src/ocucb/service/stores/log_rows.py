"""An entry of the log as a row of its table, and back; and the queries that find a decision with what became of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import select

from ocucb.arm_statistics import ArmStatistics
from ocucb.service.errors import LogError
from ocucb.service.records import Entry
from ocucb.service.stores.tables import log
from ocucb.service.text import decode, encode

_PLACE = Entry._fields.index("statistics")
LOG_COLUMNS = [log.c[name] for name in (*Entry._fields[:_PLACE], *ArmStatistics._fields, *Entry._fields[_PLACE + 1 :])]
COLUMN_KINDS = {  # as a file of an archive has them
    column.name: {"BIGINT": "integer", "FLOAT": "number"}.get(str(column.type).partition("(")[0], "text")
    for column in LOG_COLUMNS
}
_NO_STATISTICS = (None,) * len(ArmStatistics._fields)
_OUTCOME, _CORRECTION = log.alias("outcome"), log.alias("correction")
SELECT_DECISIONS = select(
    *LOG_COLUMNS,
    *(_OUTCOME.c[column.name].label(f"outcome_{column.name}") for column in LOG_COLUMNS),
    _CORRECTION.c.seq.label("corrected"),
).select_from(
    log.outerjoin(_OUTCOME, (_OUTCOME.c.experiment == log.c.experiment) & (_OUTCOME.c.decision == log.c.seq)).outerjoin(
        _CORRECTION, (_CORRECTION.c.experiment == log.c.experiment) & (_CORRECTION.c.decision == _OUTCOME.c.seq)
    )
)
"""Each entry with the one that refers to it, and the seq of the correction in the place of that one."""


def _columns(table: str) -> str:
    return ", ".join(f'{table}."{column.name}"' for column in LOG_COLUMNS)


FIND_DECISIONS = (
    f"SELECT {_columns('made')}, {_columns('outcome')}, made.experiment FROM {{}} "  # noqa: S608
    "JOIN log made ON made.experiment = given.column1 AND made.seq = given.column2 "
    "LEFT JOIN log outcome ON outcome.experiment = made.experiment AND outcome.decision = made.seq"
)
FIND_LAST_DECISIONS = (
    f"SELECT {_columns('log')}, log.experiment FROM {{}} "  # noqa: S608
    "JOIN log ON log.experiment = given.column1 AND log.seq = (SELECT max(seq) FROM log AS theirs "
    "WHERE theirs.experiment = given.column1 AND theirs.unit = given.column2)"
)
READ_NEW_ENTRIES = (
    f"SELECT {_columns('log')}, log.experiment FROM {{}} "  # noqa: S608
    "JOIN log ON log.experiment = given.column1 AND log.seq > given.column2 AND log.seq <= given.column3"
)


READ_ENTRIES = (
    f"SELECT {_columns('log')} FROM log "  # noqa: S608
    "WHERE experiment = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
)
_decode_label = lru_cache(100_000)(decode)  # a log names few arms, many times


def pairs(rows: Iterable[Any]) -> Iterator[tuple[Entry, Entry | None]]:
    """Yield entries, each with the one that refers to it, if there is one."""
    width = len(LOG_COLUMNS)
    for row in rows:
        theirs = row[width : 2 * width]
        yield to_entry(row[:width]), None if theirs[0] is None else to_entry(theirs)


def to_row(experiment: int, entry: Entry) -> tuple[Any, ...]:
    """Return the row of an entry: its experiment, and then the columns of the log."""
    seq, kind, at, arm, *rest, statistics, probability, data = entry
    label = None if arm is None else str(arm) if type(arm) is int else encode(arm)
    known = _NO_STATISTICS if statistics is None else statistics
    return (experiment, seq, kind, at, label, *rest, *known, probability, None if data is None else encode(data))


def to_entry(row: Sequence[Any]) -> Entry:
    """Return the entry of a row with the columns of the log."""
    (
        seq,
        kind,
        at,
        arm,
        decision,
        reward,
        token,
        unit,
        deadline,
        pulls,
        pending,
        mean,
        index,
        effective,
        probability,
        data,
    ) = row
    try:
        label, change = None if arm is None else _decode_label(arm), None if data is None else decode(data)
    except ValueError:
        raise LogError(f"entry {seq} of the log cannot be read") from None
    statistics = None
    if pulls is not None:
        if index is not None and not math.isfinite(index):  # so older services wrote that an arm was not compared
            index = None
        # Where they kept no `pending`, it is None against its type: better than to ask all for it who use a bandit.
        statistics = ArmStatistics(pulls, pending, mean, index, effective)
    return Entry(seq, kind, at, label, decision, reward, token, unit, deadline, statistics, probability, change)
