"""The experiments that a node has in memory: loaded when first asked for, dropped when in doubt or long unused."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from ocucb.service.errors import LogError
from ocucb.service.experiment_state import ExperimentState, mark
from ocucb.service.records import Entry, ExperimentRecord
from ocucb.service.seen import Seen
from ocucb.service.snapshot_text import decode_snapshot
from ocucb.service.stores import Transaction
from ocucb.service.stores.retention import Base, find_base

logger = logging.getLogger(__name__)
DAMAGED_RETRY_SECONDS = 30.0
SHARED_SECONDS = 5.0  # for which a log is locked before it is written to, once another node has written to it
LOST_SECONDS = 60.0  # the same, if what was decided could not be written for that: it had to be read again


class Damaged(NamedTuple):
    """An experiment whose log cannot be read: why, and when that is tried again."""

    id: int
    name: str
    error: LogError
    retry_at: float


class ExperimentCache:
    """Experiments in memory by id and by name, at most `limit` of them, and those known to be damaged. For one thread.

    To read a damaged log takes as long as to read a good one, so it is read again only now and then.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._by_id: OrderedDict[int, ExperimentState] = OrderedDict()
        self._ids: dict[str, int] = {}
        self.damaged: dict[int, Damaged] = {}
        self._damaged_ids: dict[str, int] = {}
        self._shared_until: dict[int, float] = {}
        self.seen = Seen()

    def find(self, target: str | int) -> ExperimentState | None:
        """Return an experiment by its name or its id, if it is in memory."""
        experiment = self._ids.get(target) if isinstance(target, str) else target
        state = None if experiment is None else self._by_id.get(experiment)
        if state is not None:
            self._by_id.move_to_end(state.id)
        return state

    def find_damaged(self, target: str | int) -> Damaged | None:
        """Return what is wrong with an experiment, if that is known."""
        experiment = self._damaged_ids.get(target) if isinstance(target, str) else target
        return None if experiment is None else self.damaged.get(experiment)

    def take_damaged_to_retry(self) -> list[int]:
        """Return those damaged experiments that are to be read again: each every `DAMAGED_RETRY_SECONDS`."""
        now = time.monotonic()
        due = [experiment for experiment, damaged in self.damaged.items() if damaged.retry_at <= now]
        for experiment in due:
            self.damaged[experiment] = self.damaged[experiment]._replace(retry_at=now + DAMAGED_RETRY_SECONDS)
        return due

    def add(self, state: ExperimentState) -> None:
        """Cache an experiment, unless it is there."""
        if state.id not in self._by_id:
            self._by_id[state.id], self._ids[state.name] = state, state.id
        self.drop_damaged(state.id)

    def note_shared(self, experiment: int, seconds: float = SHARED_SECONDS) -> None:
        """Note that another node has written to the log of an experiment: for so long it may do so again."""
        now = time.monotonic()
        if len(self._shared_until) > self._limit:
            self._shared_until = {one: until for one, until in self._shared_until.items() if until > now}
        self._shared_until[experiment] = max(now + seconds, self._shared_until.get(experiment, 0.0))

    def is_shared(self, experiment: int) -> bool:
        """Tell whether another node has lately written to the log of an experiment, as far as is known."""
        until = self._shared_until.get(experiment)
        if until is not None and until < time.monotonic():
            del self._shared_until[experiment]
            return False
        return until is not None

    def add_damaged(self, record: ExperimentRecord, error: LogError) -> None:
        """Note that the log of an experiment cannot be read."""
        self.drop([record.id])
        self.damaged[record.id] = Damaged(record.id, record.name, error, time.monotonic() + DAMAGED_RETRY_SECONDS)
        self._damaged_ids[record.name] = record.id

    def drop_damaged(self, experiment: int) -> None:
        """Note that an experiment is damaged no more, or there no more."""
        damaged = self.damaged.pop(experiment, None)
        if damaged is not None and self._damaged_ids.get(damaged.name) == experiment:
            del self._damaged_ids[damaged.name]

    def drop(self, ids: Iterable[int]) -> None:
        """Drop experiments, so that they are read from the store again."""
        for experiment in ids:
            state = self._by_id.pop(experiment, None)
            if state is not None:
                del self._ids[state.name]
                self.seen.forget(experiment)

    def trim(self) -> list[ExperimentState]:
        """Drop the least recently used experiments, if there are too many, and return them."""
        excess = list(islice(self._by_id.values(), max(0, len(self._by_id) - self._limit)))
        self.drop([state.id for state in excess])
        return excess

    def __len__(self) -> int:
        return len(self._by_id)

    def states(self) -> list[ExperimentState]:
        """Return all that is in memory."""
        return list(self._by_id.values())


def load(transaction: Transaction, experiment: int, upto: int) -> ExperimentState:
    """Return an experiment as the log up to `upto` makes it, from the newest snapshot that can be read."""
    base = find_base(transaction, experiment)
    try:
        return _load(transaction, experiment, upto, base)
    except LogError:
        later = find_base(transaction, experiment)
        if later == base:
            raise
        return _load(transaction, experiment, upto, later)  # its beginning was archived meanwhile


def _load(transaction: Transaction, experiment: int, upto: int, base: Base | None) -> ExperimentState:
    after = 0 if base is None else base.seq
    for snapshot in transaction.read_snapshots(experiment):
        if after < snapshot.seq <= upto and (state := decode_snapshot(snapshot)) is not None:
            entries = transaction.read_entries(experiment, state.seq - 1, state.seq)
            if state.last_mark in (None, *map(mark, entries)):
                return catch_up(transaction, experiment, state, upto)
            logger.warning("the snapshot of experiment %d at entry %d is of another log", experiment, state.seq)
    first = None if base is None else decode_snapshot(base.snapshot)
    if base is not None and first is None:
        raise LogError(f"the state at entry {base.seq}, with which the log begins, cannot be read")
    return catch_up(transaction, experiment, first, upto)


def catch_up(
    transaction: Transaction,
    experiment: int,
    state: ExperimentState | None,
    upto: int,
    new_entries: list[Entry] | None = None,
) -> ExperimentState:
    """Fold the entries that `state` has not seen into it; all of them into a new one if it is None.

    `new_entries` are these, if they have been read already.
    """
    after = 0 if state is None else state.seq
    for page in pages(transaction, experiment, after, upto) if new_entries is None else [new_entries]:
        if state is None:
            state, page = ExperimentState.begin(experiment, page[0]), page[1:]  # noqa: PLW2901
        state.fold(page)
    if state is None or state.seq != upto:
        raise LogError(f"the log ends at entry {0 if state is None else state.seq}, but should go on to {upto}")
    return state


def pages(transaction: Transaction, experiment: int, after: int, upto: int) -> Iterator[list[Entry]]:
    """Yield the entries after `after` and up to `upto`, some at a time."""
    while after < upto and (page := transaction.read_entries(experiment, after, upto)):
        yield page
        after = page[-1].seq
