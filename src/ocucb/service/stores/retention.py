"""What makes tables smaller: the base of a log whose beginning is archived, experiments deleted, units erased."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import delete, select, update

from ocucb.service.records import DECISION, DELETED, Snapshot
from ocucb.service.stores.dialects import insert_new, run
from ocucb.service.stores.store import Transaction
from ocucb.service.stores.tables import archives, due, experiments, idempotency_keys, log, partial_rewards, snapshots

_DROP = (
    "DELETE FROM log WHERE experiment = ? AND seq > ? AND seq <= ? "
    "AND NOT EXISTS (SELECT 1 FROM log later WHERE later.experiment = log.experiment AND later.decision = log.seq "
    "AND later.seq > ?) AND NOT (kind = ? AND NOT EXISTS "
    "(SELECT 1 FROM log outcome WHERE outcome.experiment = log.experiment AND outcome.decision = log.seq))"
)


class Base(NamedTuple):
    """Where the log of an experiment begins now: its state after entry `seq`, and the file that has what was before."""

    experiment: int
    seq: int
    digest: str
    data: str
    file: str
    at: int

    @property
    def snapshot(self) -> Snapshot:
        """The state, as a snapshot."""
        return Snapshot(*self[:4])


def find_base(transaction: Transaction, experiment: int) -> Base | None:
    """Return where the log of an experiment begins, if not at its first entry."""
    columns = [archives.c[name] for name in Base._fields]
    query = select(*columns).where(archives.c.experiment == experiment).order_by(archives.c.seq.desc()).limit(1)
    row = transaction.connection.execute(query).first()
    return None if row is None else Base(*row)


def add_base(transaction: Transaction, base: Base) -> None:
    """Store a base; what refers to entries before it, and must not be found any more, is deleted."""
    transaction.connection.execute(insert_new(transaction.connection, archives).values(base._asdict()))
    for table in (snapshots, idempotency_keys):
        query = delete(table).where(table.c.experiment == base.experiment, table.c.seq <= base.seq)
        transaction.connection.execute(query)


def end_of_rows(transaction: Transaction, experiment: int, after: int, upto: int, count: int) -> int:
    """Return the last of so many entries after `after` that have rows, or `upto` if there are fewer up to it."""
    query = select(log.c.seq).where(log.c.experiment == experiment, log.c.seq > after, log.c.seq <= upto)
    last = transaction.connection.execute(query.order_by(log.c.seq).offset(count - 1).limit(1)).scalar()
    return upto if last is None else int(last)


def drop_entries(transaction: Transaction, experiment: int, after: int, upto: int, base: int) -> int:
    """Delete entries after `after` and up to `upto`, and return how many; those that are needed after `base` stay.

    So do decisions without an outcome, and whatever an entry after `base` refers to.
    """
    return int(run(transaction.connection, _DROP, (experiment, after, upto, base, DECISION)).rowcount)


def mark_deleted(transaction: Transaction, experiment: int) -> None:
    """Let an experiment be there no more, at once; its name, which no other can have with a slash, is free again."""
    query = update(experiments).where(experiments.c.id == experiment)
    transaction.connection.execute(query.values(status=DELETED, name=f"/deleted/{experiment}"))


def find_deleted(transaction: Transaction) -> int | None:
    """Return an experiment whose rows must still be deleted."""
    return transaction.connection.execute(select(experiments.c.id).where(experiments.c.status == DELETED)).scalar()


def delete_some(transaction: Transaction, experiment: int, limit: int) -> bool:
    """Delete some rows of an experiment that was deleted, in the end its own; tell whether any are left."""
    for table in (log, due, partial_rewards, idempotency_keys, snapshots, archives):
        key = next(column for column in table.primary_key if column.name != "experiment")
        of_experiment = table.c.experiment == experiment
        last = select(key).where(of_experiment).order_by(key).offset(limit - 1).limit(1)
        upto = transaction.connection.execute(last).scalar()
        query = delete(table).where(of_experiment) if upto is None else delete(table).where(of_experiment, key <= upto)
        transaction.connection.execute(query)
        if upto is not None:
            return True
    transaction.connection.execute(delete(experiments).where(experiments.c.id == experiment))
    return False


def erase_unit(transaction: Transaction, experiment: int, unit: str) -> int:
    """Take a unit's name out of a log, and return of how many decisions; idempotency keys that have it are deleted."""
    of_unit = (log.c.experiment == experiment) & (log.c.unit == unit)
    keys = idempotency_keys.c.experiment == experiment, idempotency_keys.c.seq.in_(select(log.c.seq).where(of_unit))
    transaction.connection.execute(delete(idempotency_keys).where(*keys))
    return transaction.connection.execute(update(log).where(of_unit).values(unit=None)).rowcount


def list_files(transaction: Transaction, experiment: int) -> list[str]:
    """Return the names of the files to which the log of an experiment was archived, in order."""
    query = select(archives.c.file).where(archives.c.experiment == experiment).order_by(archives.c.seq)
    return list(transaction.connection.execute(query).scalars())
