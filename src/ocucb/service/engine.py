"""The engine: one thread takes requests that wait to the store, many at a time, and answers what is durable."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from ocucb.errors import OcucbError
from ocucb.service.batch import Batch, NotLoadedError, needs_lock, target_of
from ocucb.service.callers import PendingRequest, deliver, fail
from ocucb.service.errors import LogError, ServiceError, StoreError
from ocucb.service.experiment_cache import ExperimentCache
from ocucb.service.handlers import handle
from ocucb.service.housekeeping import Housekeeping
from ocucb.service.ids import Tokens
from ocucb.service.loader import Loaded, Loader, Target
from ocucb.service.records import Clock, utc_now
from ocucb.service.requests import Create, Expire, ImportLog
from ocucb.service.snapshots import Snapshots
from ocucb.service.stores import Store, Transaction
from ocucb.service.used_keys import KeyVerifier
from ocucb.service.waiting_requests import RETRY_SECONDS, HeldRequests, WaitingRequests

logger = logging.getLogger(__name__)

LAG_SECONDS = 5.0  # for which a lag is one, if nobody asks any more


@dataclass(frozen=True)
class Limits:
    """How much at once, and how often.

    batch                  decisions and other requests in one transaction
    waiting                requests in the queue, before new ones are refused
    sweep                  seconds between two searches for decisions whose window has passed
    retry_delay            seconds to wait after the database has failed, before it is tried again
    snapshot               entries between two snapshots (never fewer than a fifth of the arms of the experiment)
    cached_experiments     experiments in memory
    keep_idempotency_keys  seconds for which an idempotency key is remembered
    """

    batch: int = 512
    waiting: int = 10_000
    sweep: float = 1.0
    retry_delay: float = 0.25
    snapshot: int = 10_000
    cached_experiments: int = 1000
    keep_idempotency_keys: float = 7 * 86_400.0


class Engine:
    """Serves requests of many threads, durably and in one order. One writer thread; callers.py asks it.

    What it has in memory is only a copy: whenever the store fails, what may not be stored is dropped and read again. A
    request whose experiment is not in memory, or locked by another node, waits its turn, and others go on.
    """

    def __init__(
        self, store: Store, now: Clock = utc_now, limits: Limits | None = None, key_verifier: KeyVerifier | None = None
    ) -> None:
        self._store, self._now, self._limits, self._key_verifier = store, now, limits or Limits(), key_verifier
        self._cache, self._tokens = ExperimentCache(self._limits.cached_experiments), Tokens()
        self._held = HeldRequests()
        self._waiting = WaitingRequests(self._limits.waiting, self._limits.batch, self._held)
        self._loader = Loader(store, self._waiting.tell)
        self._absent: set[Target] = set()
        self._snapshots = Snapshots(store, lambda: self._waiting.tell("wake"))
        self._housekeeping = Housekeeping(store, now, self._limits.sweep, self._limits.keep_idempotency_keys)
        self._store_error: StoreError | None = None
        self._retry_at = 0.0
        self._serving_since: float | None = None
        self._last_lag = self._lag_at = 0.0
        self.observe_batch: Callable[[int, float], None] = _ignore
        self._writer = threading.Thread(target=self._write_batches, name="ocucb writer", daemon=True)

    def start(self) -> Engine:
        """Start the threads."""
        self._snapshots.start()
        self._loader.start()
        self._writer.start()
        return self

    def close(self) -> None:
        """Serve what is in the queue, take snapshots of what is in memory, then stop."""
        if not self._waiting.close():
            return
        self._writer.join()
        self._loader.close()
        self._snapshots.close(self._cache.states())

    def close_windows_at_home(self, is_home: Callable[[str], bool]) -> None:
        """Leave the windows of experiments that are at home elsewhere to their homes."""
        self._housekeeping.is_home = is_home

    @property
    def store_error(self) -> StoreError | None:
        """The error with which the store last failed; None while it works."""
        return self._store_error

    @property
    def waiting(self) -> int:
        """How many requests wait: in the queue, or for an experiment that is being loaded or locked elsewhere."""
        return len(self._waiting)

    @property
    def loading(self) -> int:
        """How many requests wait for an experiment to be loaded."""
        return self._held.loading

    @property
    def damaged_experiments(self) -> int:
        """How many experiments have a log that cannot be read, as far as is known."""
        return len(self._cache.damaged)

    @property
    def cached_experiments(self) -> int:
        """How many experiments are in memory."""
        return len(self._cache)

    @property
    def lag(self) -> float:
        """How many seconds the request waited that was last taken from the queue; more, if its batch takes longer.

        Nothing, once nobody has asked for a while: a node that was slow, and is asked no more for that, must not be
        called slow for ever.
        """
        since, now = self._serving_since, time.monotonic()
        last = self._last_lag if len(self._waiting) or now < self._lag_at + LAG_SECONDS else 0.0
        return max(last, 0.0 if since is None else now - since)

    def submit(self, requests: Sequence[PendingRequest]) -> None:
        """Queue requests; those that cannot wait are answered at once, by an error that says why."""
        self._waiting.submit(requests)

    def _write_batches(self) -> None:
        while not self._waiting.is_over:
            try:
                batch, starved = self._next_batch()
                if batch:
                    self._serve(batch, starved)
                if time.monotonic() >= self._housekeeping.sweep_at:
                    self._sweep()
                self._snapshots.store_taken()
            except Exception:  # whatever it is, later requests must be served
                logger.exception("the writer failed and goes on")

    def _next_batch(self) -> tuple[list[PendingRequest], int | None]:
        """Wait for requests until the next sweep; return those that can be tried, and an experiment locked for long."""
        batch, starved = self._held.take_to_retry()
        wait = 0.0 if batch else max(0.0, self._housekeeping.sweep_at - time.monotonic())
        if len(self._held):
            wait = min(wait, RETRY_SECONDS)
        loaded, new = self._waiting.take(wait)
        for one in loaded:
            batch += self._take_loaded(one)
        return batch + new, starved

    def _take_loaded(self, loaded: Loaded) -> list[PendingRequest]:
        """Take in an experiment that was loaded, and return those who waited for it."""
        waiting = self._held.take_loaded(loaded.target)
        if loaded.state is not None:
            self._cache.add(loaded.state)
        elif isinstance(loaded.error, LogError) and loaded.record is not None:
            self._cache.add_damaged(loaded.record, loaded.error)
        elif loaded.error is not None:
            if isinstance(loaded.error, StoreError):
                self._note_failure(loaded.error)
            fail(waiting, loaded.error)
            deliver(waiting)
            return []
        else:
            self._absent.add(loaded.target)
            if isinstance(loaded.target, int):
                self._cache.drop_damaged(loaded.target)
        return waiting

    def _serve(self, batch: list[PendingRequest], starved: int | None = None) -> None:
        """Answer every request that need not wait, whatever happens."""
        self._serving_since = began = time.monotonic()
        self._last_lag, self._lag_at = began - batch[0].asked, began
        if self._store_error is not None and began < self._retry_at:
            self._serving_since = None
            fail(batch, self._store_error)
            deliver(batch)
            return
        ready = remaining = self._hold_back(batch)
        held: list[PendingRequest] = []
        try:
            while remaining:
                again = self._try_batch(remaining, held, starved)
                remaining = self._hold_back(again)  # what was dropped must be loaded once more
                held += again if not remaining else [pending for pending in again if pending not in remaining]
        finally:
            self._absent.clear()
            waiting = set(map(id, held))
            self._serving_since = None
            seconds = time.monotonic() - began
            self.observe_batch(len(ready) - len(held), seconds)
            self._waiting.note_batch(len(ready), seconds)
            deliver([pending for pending in ready if id(pending) not in waiting] if waiting else ready)

    def _hold_back(self, batch: list[PendingRequest]) -> list[PendingRequest]:
        """Return those that can be served now; the others wait for their experiment, or have been cancelled."""
        ready: list[PendingRequest] = []
        created: set[Target] = set()
        in_memory: set[Target | None] = set()  # those of requests before, so that each is looked for once
        for pending in batch:
            if pending.cancelled:
                continue
            target = pending.target = target_of(pending.request)
            if target in in_memory:
                ready.append(pending)
                continue
            state = None if target is None else self._cache.find(target)
            if state is not None and self._held.is_locked(state.id):
                self._hold_locked(state.id, [pending])
                continue
            if isinstance(pending.request, Create):
                created.add(pending.request.definition.name)
            elif not (
                state is not None
                or target is None
                or target in created
                or target in self._absent
                or self._cache.find_damaged(target)
            ):
                self._hold_for_load(target, pending)
                continue
            ready.append(pending)
            if state is not None:
                in_memory.add(target)
        return ready

    def _hold_for_load(self, target: Target, pending: PendingRequest) -> None:
        if self._held.wait_for_load(target, pending):
            self._loader.ask(target)

    def _hold_locked(self, experiment: int, requests: list[PendingRequest]) -> None:
        """Hold requests for an experiment that another node has locked; the sweeps come again by themselves."""
        sweeps = [pending for pending in requests if isinstance(pending.request, Expire)]
        if sweeps:
            for pending in sweeps:
                pending.answer = 0
            deliver(sweeps)
            requests = [pending for pending in requests if not isinstance(pending.request, Expire)]
        if requests:
            self._held.wait_for_lock(experiment, requests)

    def _try_batch(
        self, all_pending: list[PendingRequest], held: list[PendingRequest], starved: int | None
    ) -> list[PendingRequest]:
        """Serve requests in one transaction; return those to serve again.

        So are all others where one fails in a way of its own, and those of experiments to which another node wrote.
        Those that must wait are added to `held`.
        """
        targets = {pending.target for pending in all_pending if pending.target is not None}
        batch = Batch(self._cache, targets, self._now(), self._tokens, self._key_verifier)
        culprit: PendingRequest | None = None
        new_held: list[tuple[Target, PendingRequest]] = []
        try:
            with self._open_transaction(all_pending, batch, starved) as transaction:
                if any(isinstance(pending.request, _SLOW) for pending in all_pending):
                    transaction.allow_long()
                batch.open(transaction, starved)
                if batch.locked:
                    all_pending = self._leave_out_locked(batch, all_pending, held)
                batch.find_referenced([pending.request for pending in all_pending])
                batch.keys.refresh(transaction)
                batch.served = True
                for pending in all_pending:
                    culprit = pending
                    try:
                        _answer(batch, pending)
                    except NotLoadedError as error:
                        new_held.append((error.name, pending))
                culprit = None
                changed = batch.write()
        except Exception as error:
            batch.discard()
            return self._recover(all_pending, culprit, error)
        self._store_error = None
        self._held.unlock(batch.by_id)
        if batch.new_idempotency_records:
            self._housekeeping.note_idempotency_keys(len(batch.new_idempotency_records))
        for target, pending in new_held:
            held.append(pending)
            self._hold_for_load(target, pending)
        for state in changed:
            self._snapshots.schedule(state, self._limits.snapshot)
        for state in self._cache.trim():
            self._snapshots.schedule_dropped(state)
        lost = [pending for pending in all_pending if batch.is_lost(pending.target)] if batch.lost else []
        for pending in lost:
            pending.release()
        return lost

    def _open_transaction(
        self, all_pending: list[PendingRequest], batch: Batch, starved: int | None
    ) -> AbstractContextManager[Transaction]:
        """Open a transaction that locks nothing if no other node is likely to write to the same experiments."""
        if (
            self._store.can_write_unlocked
            and starved is None
            and not any(needs_lock(pending.request) for pending in all_pending)
            and not any(map(self._cache.is_shared, batch.by_id))
        ):
            return self._store.write_unlocked()
        return self._store.write(keep=True)

    def _leave_out_locked(
        self, batch: Batch, all_pending: list[PendingRequest], held: list[PendingRequest]
    ) -> list[PendingRequest]:
        ready: list[PendingRequest] = []
        by_experiment: defaultdict[int, list[PendingRequest]] = defaultdict(list)
        for pending in all_pending:
            experiment = None if pending.target is None else batch.locked.get(pending.target)
            if experiment is None:
                ready.append(pending)
            else:
                by_experiment[experiment].append(pending)
                held.append(pending)
        for experiment, requests in by_experiment.items():
            self._hold_locked(experiment, requests)
        return ready

    def _recover(
        self, all_pending: list[PendingRequest], culprit: PendingRequest | None, error: Exception
    ) -> list[PendingRequest]:
        if culprit is not None and (not isinstance(error, StoreError) or error.locked):
            if isinstance(error, StoreError):
                fail([culprit], error)
            else:
                logger.error("%s failed", type(culprit.request).__name__, exc_info=error)
                fail([culprit], ServiceError("the service failed at this request; it was not stored"))
            return [pending for pending in all_pending if pending is not culprit]
        if not isinstance(error, StoreError):
            logger.error("a batch failed", exc_info=error)
            error = StoreError("the batch failed; not stored, try again")
        self._note_failure(error)
        fail(all_pending, error)
        return []

    def _note_failure(self, error: StoreError) -> None:
        if self._store_error is None:
            logger.warning("%s (%s)", error, error.reason)
        self._store_error, self._retry_at = error, time.monotonic() + self._limits.retry_delay

    def _sweep(self) -> None:
        """Close decisions whose window has passed, forget old idempotency keys, find out whether the store answers."""
        for experiment in self._cache.take_damaged_to_retry():
            self._loader.ask(experiment)
        try:
            due = self._housekeeping.find_due(list(self._cache.damaged), writing=self._store_error is not None)
        except StoreError as error:
            self._note_failure(error)
            return
        self._store_error = None
        if due and not self._waiting.stopping:
            self._serve([PendingRequest(Expire(experiment), self._housekeeping) for experiment in due])
        self._housekeeping.prune()
        self._housekeeping.delete_experiments()


_SLOW = (Create, ImportLog)  # which may take seconds with many arms


def _ignore(size: int, seconds: float) -> None:
    """Measure nothing."""


def _answer(batch: Batch, pending: PendingRequest) -> None:
    if not pending.claim():
        return
    try:
        batch.keys.verify(pending.api_key)
        batch.api_key = pending.api_key or ""
        pending.answer, pending.error = handle(batch, pending.request), None
    except StoreError:
        raise
    except OcucbError as error:
        pending.answer, pending.error = None, error
