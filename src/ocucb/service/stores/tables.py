"""The tables, as the newest migration leaves them.

`log` is the truth: one row per thing that happened, only ever added to. Its primary key is the total order, and its
unique index on `decision` is what makes every outcome count once. `experiments` holds the last number of each log, and
is the row that a writer locks. `idempotency_keys`, `due` and `partial_rewards` find things quickly; `snapshots` is a
cache. `archives` says where a log begins whose first part is in files. `api_keys` says who may do what; `access` is one
row, whose version rises whenever they change. `audit` says who changed what. `nodes` are those that serve, each with
the address at which the others reach it, and how many heartbeats it has written.
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
    Column("pending", BigInteger),  # null in what older services wrote
    Column("mean", Float(53)),
    Column("index", Float(53)),
    Column("effective_arms", Float(53)),
    Column("probability", Float(53)),  # null in what older services wrote
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

idempotency_keys = _table(
    "idempotency_keys",
    _experiment(),
    Column("idempotency_key", Text, primary_key=True),
    Column("api_key", Text, primary_key=True, server_default=""),  # empty in what older services wrote
    Column("fingerprint", Text, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("entry_count", Integer, nullable=False),
    Column("at", BigInteger, nullable=False, server_default="0"),
)
Index("idempotency_keys_at", idempotency_keys.c.at)

due = _table(
    "due",
    _experiment(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("deadline", BigInteger, nullable=False),
)
Index("due_deadline", due.c.deadline, due.c.experiment)

partial_rewards = _table(
    "partial_rewards",
    _experiment(),
    Column("decision", BigInteger, primary_key=True, autoincrement=False),
    Column("part", Text, primary_key=True),
    Column("reward", Float(53), nullable=False),
)

archives = _table(
    "archives",
    _experiment(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("digest", Text, nullable=False),
    Column("data", Text, nullable=False),
    Column("file", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)

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
    Column("expires", BigInteger),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("api_key", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("experiment", Text),
    Column("details", Text, nullable=False),
)
Index("audit_experiment", audit.c.experiment, audit.c.id)

nodes = _table(
    "nodes",
    Column("name", Text, primary_key=True),
    Column("address", Text, nullable=False),
    Column("heartbeat", BigInteger, nullable=False),
)

access = Table(
    "access",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("secret", Text, nullable=False),
)
