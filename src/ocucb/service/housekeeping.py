"""What the writer does besides requests: it closes decisions whose window has passed, and forgets idempotency keys."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from ocucb.service.callers import PendingRequest
from ocucb.service.errors import StoreError
from ocucb.service.records import SECOND, Clock
from ocucb.service.requests import Expire
from ocucb.service.reward_handlers import MAX_EXPIRED_PER_REQUEST
from ocucb.service.stores import Store, Transaction, nodes, retention

PRUNE_INTERVAL = 60.0  # seconds between two searches for old idempotency keys, if the last one found few
MAX_PRUNED_KEYS = 1000  # at once
MAX_EXPERIMENTS_PER_SWEEP = 100
MAX_DELETED_ROWS = 2000  # of a deleted experiment, in one transaction
AWAY_SECONDS = 10.0  # after which the windows of an experiment are closed by another node than its home
DELETE_PAUSE = 0.05  # seconds between two of these, in which others can write

logger = logging.getLogger(__name__)


class Housekeeping:
    """Says when a sweep is due, finds what it must do, and is the caller of the requests that follow."""

    def __init__(self, store: Store, now: Clock, sweep: float, keep_idempotency_keys: float) -> None:
        self._store, self._now, self._sweep = store, now, sweep
        self._keep = round(keep_idempotency_keys * SECOND)
        self.sweep_at = self.prune_at = 0.0
        self._new_keys = 0
        self._under_way: set[int] = set()
        self.is_home: Callable[[str], bool] | None = None  # of an experiment, by its name; None if there are no homes

    def find_due(self, damaged: Sequence[int], writing: bool) -> list[int]:
        """Return some experiments with decisions whose window has passed, less those damaged or under way already.

        After a failure of a write only a write can tell that the store works again: then `writing` is true.
        """
        self.sweep_at = time.monotonic() + self._sweep
        with self._store.write() if writing else self._store.read() as transaction:
            if writing:
                nodes.check_writing(transaction)
            left_out = {*damaged, *self._under_way}
            due = transaction.list_due_experiments(self._now(), MAX_EXPERIMENTS_PER_SWEEP, sorted(left_out))
            if due and self.is_home is not None:
                due = self._leave_to_homes(transaction, due, self.is_home)
        self._under_way.update(due)
        return due

    def _leave_to_homes(self, transaction: Transaction, due: list[int], is_home: Callable[[str], bool]) -> list[int]:
        """Return the experiments that are at home here, and those that their homes have left open for long.

        Two nodes that write to one log keep each other waiting.
        """
        here = {record.id for record in transaction.find_experiments([], due) if is_home(record.name)}
        overdue = transaction.list_due_experiments(
            self._now() - round(AWAY_SECONDS * SECOND), MAX_EXPERIMENTS_PER_SWEEP
        )
        return [experiment for experiment in due if experiment in here or experiment in overdue]

    told_last = False  # as a caller of the engine

    def deliver(self, answered: list[PendingRequest]) -> None:
        """Note that experiments were swept; if one has more that is due, the next sweep comes at once."""
        for pending in answered:
            if isinstance(pending.request, Expire):
                self._under_way.discard(pending.request.experiment_id)
                if pending.answer == MAX_EXPIRED_PER_REQUEST:
                    self.sweep_at = 0.0

    def delete_experiments(self) -> None:
        """Delete some rows of an experiment that was deleted; if there are more, the next sweep comes soon."""
        try:
            with self._store.read() as transaction:
                experiment = retention.find_deleted(transaction)
            if experiment is not None:
                with self._store.write() as transaction:
                    retention.delete_some(transaction, experiment, MAX_DELETED_ROWS)
                self.sweep_at = min(self.sweep_at, time.monotonic() + DELETE_PAUSE)
        except StoreError as error:
            logger.warning("rows of a deleted experiment were not deleted: %s", error.reason)

    def note_idempotency_keys(self, count: int) -> None:
        """Note how many idempotency keys were stored: so many must be forgotten as well, or they become ever more."""
        self._new_keys += count

    def prune(self) -> None:
        """Delete idempotency keys that are old: twice as many as were stored since the last time, and some more."""
        if time.monotonic() < self.prune_at:
            return
        left, self._new_keys = 2 * self._new_keys + MAX_PRUNED_KEYS, 0
        before = self._now() - self._keep
        try:
            while left > 0:
                size = min(left, MAX_PRUNED_KEYS)
                with self._store.read() as transaction:
                    if not transaction.has_old_idempotency_keys(before):
                        break
                with self._store.write() as transaction:
                    if transaction.delete_old_idempotency_keys(before, size) < size:
                        break
                left -= size
            else:
                return
        except StoreError as error:
            logger.warning("old idempotency keys were not deleted: %s", error.reason)
        self.prune_at = time.monotonic() + PRUNE_INTERVAL
