"""Snapshots of states: a thread of its own writes them as text, and the writer of the log stores them.

Many arms take long to write as text, so the writer does not do it, and only copies the state. Storing takes the
database's only lock, for which the thread would have to compete with a busy writer, so the thread does not do that.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable

from ocucb.service.errors import StoreError
from ocucb.service.experiment_state import ExperimentState, StateCopy
from ocucb.service.records import Snapshot
from ocucb.service.snapshot_text import SnapshotEncoder
from ocucb.service.stores import Store

MAX_SCHEDULED = 64
ARMS_PER_ENTRY = 5  # to read an entry takes about as long as to write and read so many arms of a snapshot, or events
MIN_ENTRIES = 200  # since the last snapshot, to take one of a state that leaves memory
MAX_CLOSING_SECONDS = 20.0
WORK_SECONDS, PAUSE_SECONDS = 0.0005, 0.002  # of the thread, in turn: others answer requests meanwhile

logger = logging.getLogger(__name__)


class Snapshots:
    """Takes snapshots of states that the writer schedules, one at a time, and calls `wake` when one is to be stored."""

    def __init__(self, store: Store, wake: Callable[[], None]) -> None:
        self._store, self._wake, self._encoder = store, wake, SnapshotEncoder()
        self._scheduled: queue.SimpleQueue[StateCopy | ExperimentState | None] = queue.SimpleQueue()
        self._taken: queue.SimpleQueue[Snapshot] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._take_scheduled, name="ocucb snapshots", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def schedule(self, state: ExperimentState, entries: int) -> None:
        """Schedule a state `entries` entries after its last snapshot, or as many as pay for its size."""
        new = state.seq - state.snapshot_seq
        if new < entries or new < state.size // ARMS_PER_ENTRY:
            return
        if self._scheduled.empty() and self._taken.empty():
            state.snapshot_seq = state.seq
            self._scheduled.put(state.copy())

    def schedule_dropped(self, state: ExperimentState) -> None:
        """Schedule a state that nobody will change any more, if it is worth it and the thread keeps up."""
        if _is_worth(state) and self._scheduled.qsize() < MAX_SCHEDULED:
            self._scheduled.put(state)

    def store_taken(self) -> None:
        """Store what was taken. Only a cache: the service goes on without. Called by the writer."""
        if self._taken.empty():
            return
        taken = [self._taken.get() for _ in range(self._taken.qsize())]
        try:
            with self._store.write() as transaction:
                transaction.add_snapshots(taken)
        except StoreError as error:
            logger.warning("%d snapshots were not stored: %s", len(taken), error.reason)

    def close(self, states: Iterable[ExperimentState] = ()) -> None:
        """Take and store what was scheduled, and what states are worth it, as many as there is time for; then stop."""
        end = time.monotonic() + MAX_CLOSING_SECONDS
        self._scheduled.put(None)
        self._thread.join()
        self.store_taken()
        for state in sorted(filter(_is_worth, states), key=_new_entries, reverse=True):
            if time.monotonic() >= end:
                logger.warning("no time was left for all snapshots; the next start takes longer")
                break
            self._take(state)
            if self._taken.qsize() >= MAX_SCHEDULED:
                self.store_taken()
        self.store_taken()

    def _take_scheduled(self) -> None:
        while self._take_next():
            self._wake()

    def _take_next(self) -> bool:
        """Take what is scheduled next; a state that was taken is not kept until there is another."""
        scheduled = self._scheduled.get()
        if scheduled is not None:
            self._take(scheduled, _Throttle())
        return scheduled is not None

    def _take(self, scheduled: StateCopy | ExperimentState, pause: Callable[[], None] = lambda: None) -> None:
        try:
            copy = scheduled.copy() if isinstance(scheduled, ExperimentState) else scheduled
            self._taken.put(self._encoder.encode(copy.experiment, copy.to_columns(), pause))
        except Exception:
            logger.exception("a snapshot was not taken")


class _Throttle:
    """Called again and again by a thread that has time, it sleeps after each bit of work.

    While such a thread runs Python, the two that answer requests take turns with it: a batch took up to 20 ms then.
    """

    def __init__(self) -> None:
        self._since = time.thread_time()

    def __call__(self) -> None:
        """Sleep if it has worked for long enough."""
        if time.thread_time() - self._since > WORK_SECONDS:
            time.sleep(PAUSE_SECONDS)
            self._since = time.thread_time()


def _new_entries(state: ExperimentState) -> int:
    return state.seq - state.snapshot_seq


def _is_worth(state: ExperimentState) -> bool:
    return _new_entries(state) >= max(MIN_ENTRIES, state.size // ARMS_PER_ENTRY)
