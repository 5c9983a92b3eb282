"""The store: transactions, and what can be asked and told in one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.exc import SQLAlchemyError

from ocucb.service.errors import StoreError
from ocucb.service.records import DECISION, Entry, Head, KeyRecord
from ocucb.service.stores import rows, schema
from ocucb.service.stores.databases import WRITING, Timeouts, insert_new, insert_rows, lock_rows, open_database
from ocucb.service.stores.tables import due, experiments, keys, log, snapshots

PAGE = 5000
_HEAD = select(experiments.c.id, experiments.c.name, experiments.c.seq, experiments.c.status, experiments.c.created)
_OUTCOME = log.alias("outcome")
_BOTH = select(
    *rows.COLUMNS, *(_OUTCOME.c[column.name].label(f"outcome_{column.name}") for column in rows.COLUMNS)
).select_from(log.outerjoin(_OUTCOME, (_OUTCOME.c.experiment == log.c.experiment) & (_OUTCOME.c.decision == log.c.seq)))


class Store:
    """One database. Every failure of it is a `StoreError`; after one, the next transaction connects afresh."""

    def __init__(self, address: str, timeouts: Timeouts | None = None) -> None:
        self._engine = open_database(address, timeouts or Timeouts())

    def migrate(self) -> None:
        """Bring the schema up to date; SchemaError if it is newer than this program."""
        with self.write() as transaction:
            schema.migrate(transaction.connection)

    def check(self) -> None:
        """Raise SchemaError unless the schema is that of this program; for those who only look."""
        with self.read() as transaction:
            schema.check(transaction.connection)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Open a transaction that is durable once the block has ended, or, if it raises, never was.

        An error while committing leaves open which of the two: to the caller both are a StoreError.
        """
        with self._transaction(writing=True) as transaction:
            yield transaction

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Open a transaction that only reads."""
        with self._transaction(writing=False) as transaction:
            yield transaction

    @contextmanager
    def _transaction(self, writing: bool) -> Iterator[Transaction]:
        try:
            with self._engine.connect() as plain:
                connection = plain.execution_options(**{WRITING: writing})
                with connection.begin():
                    yield Transaction(connection)
        except SQLAlchemyError as problem:
            self._engine.dispose()
            reason = str(getattr(problem, "orig", None) or problem).strip().splitlines() or ["no reason given"]
            raise StoreError("the database did not do its work; not stored, try again", reason[0]) from problem

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


class Transaction:
    """What can be asked and told between the beginning and the end of one transaction."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def find(self, names: Sequence[str], ids: Sequence[int] = ()) -> list[Head]:
        """Return the experiments with these names or ids, in order of id."""
        query = _HEAD.where(or_(experiments.c.name.in_(names), experiments.c.id.in_(ids))).order_by(experiments.c.id)
        return [Head(*row) for row in self.connection.execute(query)]

    def lock(self, ids: Sequence[int]) -> list[Head]:
        """Return these experiments, locked against other writers until the end."""
        query = _HEAD.where(experiments.c.id.in_(ids)).order_by(experiments.c.id)
        return [Head(*row) for row in self.connection.execute(lock_rows(self.connection, query))]

    def page(self, after: str = "", limit: int = 100) -> list[Head]:
        """Return a page of all experiments, in order of name."""
        query = _HEAD.where(experiments.c.name > after).order_by(experiments.c.name).limit(limit)
        return [Head(*row) for row in self.connection.execute(query)]

    def create(self, name: str, at: int, status: str) -> int | None:
        """Return the id of a new experiment with an empty log; None if the name is taken."""
        row = {"name": name, "seq": 0, "status": status, "created": at}
        query = insert_new(self.connection, experiments).values(row).returning(experiments.c.id)
        return self.connection.execute(query).scalar()

    def move(self, heads: Sequence[Head]) -> None:
        """Note the last entry and the status of experiments."""
        query = update(experiments).where(experiments.c.id == bindparam("this"))
        query = query.values(seq=bindparam("to"), status=bindparam("so"))
        self.connection.execute(query, [{"this": head.id, "to": head.seq, "so": head.status} for head in heads])

    def append(self, entries: Sequence[tuple[int, Entry]]) -> None:
        """Add entries to the logs of their experiments."""
        insert_rows(self.connection, log, [rows.to_row(experiment, entry) for experiment, entry in entries])

    def entries(self, experiment: int, after: int, upto: int, limit: int = PAGE) -> list[Entry]:
        """Return a page of a log: entries after `after` and up to `upto`, in order."""
        query = select(*rows.COLUMNS).where(log.c.experiment == experiment, log.c.seq > after, log.c.seq <= upto)
        return [rows.to_entry(row) for row in self.connection.execute(query.order_by(log.c.seq).limit(limit))]

    def decisions(self, experiment: int, seqs: Sequence[int]) -> dict[int, tuple[Entry, Entry | None]]:
        """Return entries by their seq, each with the outcome that refers to it, if there is one."""
        query = _BOTH.where(log.c.experiment == experiment, log.c.seq.in_(seqs))
        return {entry.seq: (entry, outcome) for entry, outcome in self._pairs(query)}

    def past(self, experiment: int, after: int, upto: int, limit: int = PAGE) -> list[tuple[Entry, Entry | None]]:
        """Return a page of decisions as entry `upto` left them: in order, each with its outcome, if there was one."""
        query = _BOTH.where(log.c.experiment == experiment, log.c.seq > after, log.c.seq <= upto)
        query = query.where(log.c.kind == DECISION).order_by(log.c.seq).limit(limit)
        pairs = self._pairs(query)
        return [(entry, None if outcome is None or outcome.seq > upto else outcome) for entry, outcome in pairs]

    def _pairs(self, query: Select[Any]) -> Iterator[tuple[Entry, Entry | None]]:
        width = len(rows.COLUMNS)
        for row in self.connection.execute(query):
            theirs = row[width:]
            yield rows.to_entry(row[:width]), None if theirs[0] is None else rows.to_entry(theirs)

    def units(self, experiment: int, units: Sequence[str]) -> dict[str, Entry]:
        """Return the last decision for each of these units."""
        last = select(func.max(log.c.seq)).where(log.c.experiment == experiment, log.c.unit.in_(units))
        query = select(*rows.COLUMNS).where(
            log.c.experiment == experiment, log.c.seq.in_(last.group_by(log.c.unit).scalar_subquery())
        )
        found = [rows.to_entry(row) for row in self.connection.execute(query)]
        return {entry.unit: entry for entry in found if entry.unit is not None}

    def keys(self, experiment: int, wanted: Sequence[str]) -> dict[str, KeyRecord]:
        """Return what these idempotency keys stand for."""
        query = select(keys.c.key, keys.c.asked, keys.c.seq, keys.c.size, keys.c.at)
        query = query.where(keys.c.experiment == experiment, keys.c.key.in_(wanted))
        return {row[0]: KeyRecord(*row) for row in self.connection.execute(query)}

    def add_keys(self, records: Sequence[tuple[int, KeyRecord]]) -> None:
        """Remember what idempotency keys stand for."""
        if records:
            self.connection.execute(
                insert(keys), [{"experiment": experiment, **record._asdict()} for experiment, record in records]
            )

    def old_keys(self, before: int, limit: int) -> list[tuple[int, str]]:
        """Return some idempotency keys used before that time: (experiment, key)."""
        query = select(keys.c.experiment, keys.c.key).where(keys.c.at < before).order_by(keys.c.at).limit(limit)
        return [(experiment, key) for experiment, key in self.connection.execute(query)]

    def end_keys(self, old: Sequence[tuple[int, str]]) -> int:
        """Forget idempotency keys, and return how many."""
        if old:
            query = delete(keys).where(keys.c.experiment == bindparam("this"), keys.c.key == bindparam("old"))
            self.connection.execute(query, [{"this": experiment, "old": key} for experiment, key in old])
        return len(old)

    def add_due(self, deadlines: Sequence[tuple[int, int, int]]) -> None:
        """Remember open decisions that have a deadline: (experiment, seq, deadline)."""
        if deadlines:
            names = ("experiment", "seq", "deadline")
            self.connection.execute(insert(due), [dict(zip(names, row, strict=True)) for row in deadlines])

    def end_due(self, decisions: Sequence[tuple[int, int]]) -> None:
        """Forget about decisions that are open no longer."""
        if decisions:
            query = delete(due).where(due.c.experiment == bindparam("this"), due.c.seq == bindparam("closed"))
            self.connection.execute(query, [{"this": experiment, "closed": seq} for experiment, seq in decisions])

    def due(self, experiment: int, now: int, limit: int) -> list[int]:
        """Return some open decisions whose deadline has passed."""
        query = select(due.c.seq).where(due.c.experiment == experiment, due.c.deadline < now)
        return list(self.connection.execute(query.order_by(due.c.deadline, due.c.seq).limit(limit)).scalars())

    def due_experiments(self, now: int, limit: int) -> list[int]:
        """Return some experiments that have decisions whose deadline has passed."""
        query = select(due.c.experiment).where(due.c.deadline < now).limit(limit * 10)
        found: Any = self.connection.execute(select(query.subquery().c.experiment).distinct().limit(limit)).scalars()
        return list(found)

    def snapshots(self, experiment: int) -> list[tuple[int, str, str]]:
        """Return the snapshots of an experiment, newest first: (seq, digest, data)."""
        query = select(snapshots.c.seq, snapshots.c.digest, snapshots.c.data)
        query = query.where(snapshots.c.experiment == experiment).order_by(snapshots.c.seq.desc())
        return [(seq, digest, data) for seq, digest, data in self.connection.execute(query)]

    def add_snapshot(self, experiment: int, seq: int, digest: str, data: str, keep: int = 2) -> None:
        """Keep a snapshot, and of the older ones only a few."""
        row = {"experiment": experiment, "seq": seq, "digest": digest, "data": data}
        self.connection.execute(insert_new(self.connection, snapshots).values(row))
        newest = select(snapshots.c.seq).where(snapshots.c.experiment == experiment)
        kept = newest.order_by(snapshots.c.seq.desc()).limit(keep).scalar_subquery()
        self.connection.execute(
            delete(snapshots).where(snapshots.c.experiment == experiment, snapshots.c.seq.not_in(kept))
        )
