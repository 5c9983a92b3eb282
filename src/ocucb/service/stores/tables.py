"""The tables, as the newest migration leaves them.

`log` is the truth: one row per thing that happened, only ever added to. Its primary key is the total order, and its
unique index on `decision` is what makes every outcome count once. `experiments` holds the last number of each log, and
is the row that a writer locks. `keys` (idempotency keys) and `due` find things quickly; `snapshots` is a cache.
`api_keys` says who may do what; `access` is one row, whose version moves whenever they change.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, ForeignKey, Index, Integer, MetaData, Table, Text
from sqlalchemy.sql.schema import SchemaItem

metadata = MetaData()


def _experiment() -> Column[int]:
    return Column("experiment", Integer, ForeignKey("experiments.id"), primary_key=True, autoincrement=False)


def _table(name: str, *items: SchemaItem) -> Table:
    return Table(name, metadata, *items, sqlite_with_rowid=False)


experiments = Table(
    "experiments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("seq", BigInteger, nullable=False),
    Column("status", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
)

log = Table(  # with row ids, so that rows are added at the end, whichever experiment they belong to
    "log",
    metadata,
    _experiment(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("arm", Text),
    Column("decision", BigInteger),
    Column("reward", Float(53)),
    Column("token", Text),
    Column("unit", Text),
    Column("deadline", BigInteger),
    Column("pulls", BigInteger),
    Column("mean", Float(53)),
    Column("index_value", Float(53)),
    Column("effective", Float(53)),
    Column("data", Text),
)
_has_decision, _has_unit = log.c.decision.is_not(None), log.c.unit.is_not(None)
Index(
    "log_one_outcome",
    log.c.experiment,
    log.c.decision,
    unique=True,
    sqlite_where=_has_decision,
    postgresql_where=_has_decision,
)
Index("log_unit", log.c.experiment, log.c.unit, log.c.seq, sqlite_where=_has_unit, postgresql_where=_has_unit)

keys = _table(
    "keys",
    _experiment(),
    Column("key", Text, primary_key=True),
    Column("asked", Text, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("size", Integer, nullable=False),
    Column("at", BigInteger, nullable=False, server_default="0"),
)
Index("keys_at", keys.c.at)

due = _table(
    "due",
    _experiment(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("deadline", BigInteger, nullable=False),
)
Index("due_deadline", due.c.deadline, due.c.experiment)

snapshots = _table(
    "snapshots",
    _experiment(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("digest", Text, nullable=False),
    Column("data", Text, nullable=False),
)

api_keys = _table(
    "api_keys",
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("roles", Text, nullable=False),
    Column("experiments", Text),
    Column("created", BigInteger, nullable=False),
    Column("revoked", BigInteger),
)

access = Table(
    "access",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("secret", Text, nullable=False),
)
