"""The store: transactions, and what can be read and written in one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

from sqlalchemy import Connection, Select, delete, or_, select, tuple_

from ocucb.service.errors import StoreError
from ocucb.service.records import DECISION, DELETED, Entry, ExperimentRecord, IdempotencyRecord, Snapshot
from ocucb.service.stores import schema
from ocucb.service.stores.dialects import (
    FAILURES,
    WRITING,
    PoolRenewal,
    Timeouts,
    change_rows,
    delete_rows,
    find_rows,
    insert_new,
    insert_rows,
    is_lock_timeout,
    is_refusal,
    lock_rows,
    open_pool,
    run,
    wait_for_rows,
)
from ocucb.service.stores.log_rows import (
    FIND_DECISIONS,
    FIND_LAST_DECISIONS,
    READ_ENTRIES,
    READ_NEW_ENTRIES,
    SELECT_DECISIONS,
    pairs,
    to_entry,
    to_row,
)
from ocucb.service.stores.tables import due, experiments, idempotency_keys, log, snapshots
from ocucb.service.stores.unlocked import Growth, write_checked

DecisionAndOutcome: TypeAlias = tuple[Entry, Entry | None]
ScopedKey: TypeAlias = tuple[int, str, str]
"""An experiment, the id of an API key, and an idempotency key that was used with it there."""
ENTRIES_PER_PAGE = 5000
LOCK_WAIT = 20  # milliseconds
LONG_IDLE = 300_000  # milliseconds
_SELECT_EXPERIMENT = select(
    experiments.c.id, experiments.c.name, experiments.c.seq, experiments.c.status, experiments.c.created
)
_LOCK_EXPERIMENTS = "SELECT id, name, seq, status, created FROM experiments WHERE id IN"
_LOOK_AT_EXPERIMENTS = (
    "SELECT id, name, seq, status, created, (SELECT version FROM access WHERE id = 1) FROM experiments WHERE id IN"
)
_UPDATE_EXPERIMENTS = (
    "UPDATE experiments SET seq = given.column2, status = given.column3 FROM {} WHERE id = given.column1"
)
_FIND_IDEMPOTENCY_KEYS = (
    f"SELECT {', '.join(IdempotencyRecord._fields)}, experiment FROM {{}} "  # noqa: S608
    "JOIN idempotency_keys ON experiment = given.column1 AND idempotency_key = given.column2"
)


class Store:
    """One database. Every failure of it is a `StoreError`; after one, the next transaction connects afresh."""

    def __init__(self, address: str, timeouts: Timeouts | None = None) -> None:
        self._engine = open_pool(address, timeouts or Timeouts())
        self._renewal = PoolRenewal(self._engine)
        self._kept: Connection | None = None
        self._unlocked: Connection | None = None

    @property
    def can_write_unlocked(self) -> bool:
        """Whether the database can write without a lock: SQLite has only one, which costs nothing."""
        return self._engine.dialect.name == "postgresql"

    def migrate(self) -> None:
        """Bring the schema up to date; SchemaError if it is newer than this program."""
        with self.write() as transaction:
            transaction.allow_long()  # a large table takes its time
            schema.migrate(transaction.connection)

    def check_schema(self) -> None:
        """Raise SchemaError unless the schema is that of this program."""
        with self.read() as transaction:
            schema.check_newest(transaction.connection)

    @contextmanager
    def write(self, keep: bool = False) -> Iterator[Transaction]:
        """Open a transaction that is durable once the block has ended, and leaves no trace if it raises.

        An error while committing leaves open which of the two: the caller gets a StoreError either way. If `keep`, its
        connection is kept for the next one that says so; these must all be of one thread.
        """
        with self._failures_named() as state:
            if keep:
                kept = self._kept = self._usable(self._kept) or self._engine.connect().execution_options(
                    **{WRITING: True}
                )
                with kept.begin():
                    yield Transaction(kept)
                    state.committing = True
            else:
                with self._engine.connect() as plain:
                    connection = plain.execution_options(**{WRITING: True})
                    with connection.begin():
                        yield Transaction(connection)
                        state.committing = True

    @contextmanager
    def write_unlocked(self) -> Iterator[Transaction]:
        """Open what locks nothing: each statement is a transaction, and the last, `write_checked`, alone writes.

        Its connection is kept for the next one; these must all be of one thread.
        """
        with self._failures_named() as state:
            kept = self._unlocked = self._usable(self._unlocked) or self._engine.connect().execution_options(
                isolation_level="AUTOCOMMIT"
            )
            try:
                yield Transaction(kept, state)
            finally:
                if kept.in_transaction():  # as SQLAlchemy has it, after a statement of its own
                    kept.rollback()

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Open a transaction that only reads."""
        with self._failures_named(), self._engine.connect() as plain:
            connection = plain.execution_options(**{WRITING: False})
            with connection.begin():
                transaction = Transaction(connection)
                transaction.allow_long()  # nobody waits for it: it locks nothing
                yield transaction

    @contextmanager
    def _failures_named(self) -> Iterator[_CommitState]:
        """Turn whatever goes wrong with the database into a StoreError, and connect afresh after that."""
        state = _CommitState()
        try:
            yield state
        except FAILURES as error:
            reason = str(getattr(error, "orig", None) or error).strip().splitlines() or ["no reason given"]
            if is_lock_timeout(error):
                raise StoreError(
                    "another node has locked this; not stored, try again", reason[0], locked=True
                ) from error
            self._renewal.renew()
            stored = "not stored, try again"
            if state.committing and not is_refusal(error):
                stored = "it may or may not be stored: try again with the same idempotency key"
            raise StoreError(f"the database failed; {stored}", reason[0]) from error

    def _usable(self, kept: Connection | None) -> Connection | None:
        """Return a connection that was kept; None if something has failed since it was made, on whatever connection."""
        if kept is None or not (kept.closed or kept.invalidated or self._renewal.is_old(kept)):
            return kept
        with suppress(*FAILURES):
            kept.invalidate()
        with suppress(*FAILURES):
            kept.close()
        return None

    def close(self) -> None:
        """Close all connections."""
        for kept in (self._kept, self._unlocked):
            if kept is not None:
                kept.close()
        self._kept = self._unlocked = None
        self._engine.dispose()


class _CommitState:
    """How far a transaction has come: whether it is being committed."""

    committing = False


class Transaction:
    """What can be read and written in one transaction."""

    def __init__(self, connection: Connection, unlocked: _CommitState | None = None) -> None:
        self.connection = connection
        self.key_version: int | None = None  # of API keys, once it was read
        self._unlocked = unlocked

    @property
    def is_unlocked(self) -> bool:
        """Whether nothing is locked, so that all must be written by `write_checked`."""
        return self._unlocked is not None

    def allow_long(self) -> None:
        """Let this transaction do nothing for long, as while many arms are folded: it does not hang."""
        if self.connection.dialect.name == "postgresql":
            run(self.connection, f"SET LOCAL idle_in_transaction_session_timeout = {LONG_IDLE}")

    def find_experiments(self, names: Sequence[str], ids: Sequence[int] = ()) -> list[ExperimentRecord]:
        """Return the experiments with these names or ids, in order of id."""
        wanted = or_(experiments.c.name.in_(names), experiments.c.id.in_(ids))
        query = _SELECT_EXPERIMENT.where(wanted, experiments.c.status != DELETED).order_by(experiments.c.id)
        return [ExperimentRecord(*row) for row in self.connection.execute(query)]

    def lock_experiments(self, ids: Sequence[int], wait_for: int | None = None) -> list[ExperimentRecord]:
        """Return these experiments, locked against other writers until the end, less those that others have locked.

        If `wait_for` is among these, it is waited for a little.
        """
        skip = " FOR UPDATE SKIP LOCKED" if self.connection.dialect.name == "postgresql" else ""
        marks = ", ".join("?" * len(ids))
        rows = run(self.connection, f"{_LOCK_EXPERIMENTS} ({marks}) ORDER BY id{skip}", ids)
        found = [ExperimentRecord(*row) for row in rows]
        if len(found) < len(ids) and wait_for in ids and wait_for not in {record.id for record in found}:
            one: Select[Any] = _SELECT_EXPERIMENT.where(experiments.c.id == wait_for)
            found += [ExperimentRecord(*row) for row in wait_for_rows(self.connection, one, LOCK_WAIT)]
        return found

    def look_at_experiments(self, ids: Sequence[int]) -> list[ExperimentRecord]:
        """Return these experiments as they are just now, and note the version of the API keys."""
        marks = ", ".join("?" * len(ids))
        rows = run(self.connection, f"{_LOOK_AT_EXPERIMENTS} ({marks}) ORDER BY id", ids).fetchall()
        if rows:
            self.key_version = rows[0][-1]
        return [ExperimentRecord(*row[:-1]) for row in rows]

    def write_checked(
        self,
        growths: Sequence[Growth],
        entries: Sequence[tuple[int, Entry]],
        idempotency_records: Sequence[tuple[int, IdempotencyRecord]],
        new_due: Sequence[tuple[int, int, int]],
        not_due: Sequence[tuple[int, int]],
    ) -> set[int]:
        """Write what a batch leaves, and return the experiments for which nobody else had written meanwhile."""
        added = (
            [to_row(experiment, entry) for experiment, entry in entries],
            [(experiment, *record) for experiment, record in idempotency_records],
            new_due,
        )
        if self._unlocked is not None:
            self._unlocked.committing = True
        return write_checked(self.connection, growths, self.key_version, added, not_due)

    def list_experiments(self, after: str = "", limit: int = 100) -> list[ExperimentRecord]:
        """Return a page of all experiments, in order of name."""
        query = _SELECT_EXPERIMENT.where(experiments.c.name > after, experiments.c.status != DELETED)
        query = query.order_by(experiments.c.name).limit(limit)
        return [ExperimentRecord(*row) for row in self.connection.execute(query)]

    def create_experiment(self, name: str, at: int, status: str) -> int | None:
        """Return the id of a new experiment with an empty log; None if the name is taken."""
        row = {"name": name, "seq": 0, "status": status, "created": at}
        query = insert_new(self.connection, experiments).values(row).returning(experiments.c.id)
        return self.connection.execute(query).scalar()

    def update_experiments(self, changed: Sequence[tuple[int, int, str]]) -> None:
        """Write the last entry and the status of experiments: (id, seq, status)."""
        change_rows(self.connection, _UPDATE_EXPERIMENTS, changed)

    def append_entries(self, entries: Sequence[tuple[int, Entry]]) -> None:
        """Add entries to the logs of their experiments."""
        insert_rows(self.connection, log, [to_row(experiment, entry) for experiment, entry in entries])

    def read_entries(self, experiment: int, after: int, upto: int, limit: int = ENTRIES_PER_PAGE) -> list[Entry]:
        """Return a page of a log: entries after `after` and up to `upto`, in order."""
        return [to_entry(row) for row in run(self.connection, READ_ENTRIES, (experiment, after, upto, limit))]

    def read_new_entries(self, behind: Sequence[tuple[int, int, int]]) -> dict[int, list[Entry]]:
        """Return entries of several logs, each by (experiment, after, upto), in order."""
        found: dict[int, dict[int, Entry]] = {experiment: {} for experiment, _, _ in behind}
        for *row, experiment in find_rows(self.connection, READ_NEW_ENTRIES, behind):
            found[experiment][row[0]] = to_entry(row)
        return {experiment: [entries[seq] for seq in sorted(entries)] for experiment, entries in found.items()}

    def find_decisions(self, wanted: Sequence[tuple[int, int]]) -> dict[tuple[int, int], DecisionAndOutcome]:
        """Return entries by (experiment, seq), each with the outcome that refers to it, if there is one."""
        rows = find_rows(self.connection, FIND_DECISIONS, wanted)
        return {(row[-1], found[0].seq): found for row, found in zip(rows, pairs(rows), strict=True)}

    def list_decisions(
        self, experiment: int, after: int, upto: int, limit: int = ENTRIES_PER_PAGE
    ) -> list[tuple[Entry, Entry | None]]:
        """Return a page of decisions as entry `upto` left them: in order, each with its outcome, if there was one.

        Where that was corrected, it is the last correction.
        """
        query = SELECT_DECISIONS.where(log.c.experiment == experiment, log.c.seq > after, log.c.seq <= upto)
        query = query.where(log.c.kind == DECISION).order_by(log.c.seq).limit(limit)
        rows = self.connection.execute(query).all()
        found = [
            (entry, None if outcome is None or outcome.seq > upto else outcome, row[-1] is not None)
            for row, (entry, outcome) in zip(rows, pairs(rows), strict=True)
        ]
        return [
            (entry, self._last_correction(experiment, outcome, upto) if outcome and corrected else outcome)
            for entry, outcome, corrected in found
        ]

    def _last_correction(self, experiment: int, outcome: Entry, upto: int) -> Entry:
        while (later := self.find_decisions([(experiment, outcome.seq)])[experiment, outcome.seq][1]) is not None:
            if later.seq > upto:
                break
            outcome = later
        return outcome

    def find_last_decisions(self, wanted: Sequence[tuple[int, str]]) -> dict[tuple[int, str], Entry]:
        """Return the last decision for each unit: by (experiment, unit)."""
        found = [(row[-1], to_entry(row[:-1])) for row in find_rows(self.connection, FIND_LAST_DECISIONS, wanted)]
        return {(experiment, entry.unit): entry for experiment, entry in found if entry.unit is not None}

    def find_idempotency_keys(self, wanted: Sequence[tuple[int, str]]) -> dict[ScopedKey, IdempotencyRecord]:
        """Return what idempotency keys stand for, each by (experiment, idempotency key), whosever API key it was."""
        rows = find_rows(self.connection, _FIND_IDEMPOTENCY_KEYS, wanted)
        found = [(experiment, IdempotencyRecord(*record)) for *record, experiment in rows]
        return {(experiment, record.api_key, record.idempotency_key): record for experiment, record in found}

    def add_idempotency_keys(self, records: Sequence[tuple[int, IdempotencyRecord]]) -> None:
        """Store what idempotency keys of these experiments stand for."""
        insert_rows(self.connection, idempotency_keys, [(experiment, *record) for experiment, record in records])

    def has_old_idempotency_keys(self, before: int) -> bool:
        """Tell whether any idempotency key was used before that time."""
        query = select(idempotency_keys.c.at).where(idempotency_keys.c.at < before).limit(1)
        return self.connection.execute(query).first() is not None

    def delete_old_idempotency_keys(self, before: int, limit: int) -> int:
        """Delete so many of the oldest idempotency keys used before that time; return how many there were."""
        columns = idempotency_keys.c
        key = (columns.experiment, columns.idempotency_key, columns.api_key)
        old = select(*key).where(columns.at < before).order_by(columns.at).limit(limit)
        old = lock_rows(self.connection, old, skip=True)  # another node may be at it
        return self.connection.execute(delete(idempotency_keys).where(tuple_(*key).in_(old))).rowcount

    def add_due(self, deadlines: Sequence[tuple[int, int, int]]) -> None:
        """Store which open decisions have a deadline: (experiment, seq, deadline)."""
        insert_rows(self.connection, due, deadlines)

    def delete_due(self, decisions: Sequence[tuple[int, int]]) -> None:
        """Delete the deadlines of decisions that are closed: (experiment, seq)."""
        delete_rows(self.connection, due, ("experiment", "seq"), decisions)

    def list_due_decisions(self, experiment: int, now: int, limit: int) -> list[int]:
        """Return some open decisions whose deadline has passed."""
        query = select(due.c.seq).where(due.c.experiment == experiment, due.c.deadline < now)
        return list(self.connection.execute(query.order_by(due.c.deadline, due.c.seq).limit(limit)).scalars())

    def list_due_experiments(self, now: int, limit: int, without: Sequence[int] = ()) -> list[int]:
        """Return some experiments that have decisions whose deadline has passed, those due for longest first."""
        query = select(due.c.experiment).where(due.c.deadline < now, due.c.experiment.not_in(without))
        found = self.connection.execute(query.order_by(due.c.deadline).limit(limit * 10)).scalars()
        return list(dict.fromkeys(found))[:limit]

    def read_snapshots(self, experiment: int) -> list[Snapshot]:
        """Return the snapshots of an experiment, newest first."""
        query = select(*(snapshots.c[name] for name in Snapshot._fields))
        query = query.where(snapshots.c.experiment == experiment).order_by(snapshots.c.seq.desc())
        return [Snapshot(*row) for row in self.connection.execute(query)]

    def add_snapshots(self, taken: Sequence[Snapshot]) -> None:
        """Store snapshots of different experiments."""
        for snapshot in taken:
            self.add_snapshot(snapshot)

    def add_snapshot(self, snapshot: Snapshot, keep: int = 2) -> None:
        """Store a snapshot, and delete all but the newest `keep`."""
        self.connection.execute(insert_new(self.connection, snapshots).values(snapshot._asdict()))
        of_experiment = snapshots.c.experiment == snapshot.experiment
        newest = select(snapshots.c.seq).where(of_experiment).order_by(snapshots.c.seq.desc()).limit(keep)
        self.connection.execute(
            delete(snapshots).where(of_experiment, snapshots.c.seq.not_in(newest.scalar_subquery()))
        )
