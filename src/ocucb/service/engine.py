"""The engine: callers queue up, one thread takes rounds of them to the store, and answers when all is durable."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ocucb.errors import OcucbError
from ocucb.service.apply import MOST_EXPIRED, apply
from ocucb.service.errors import BusyError, ServiceError, StoreError, UnavailableError
from ocucb.service.ids import Tokens
from ocucb.service.lives import Lives
from ocucb.service.pictures import Pictures
from ocucb.service.records import SECOND, Clock, utc_now
from ocucb.service.requests import Answer, Decide, Expire, ImportLog, Request
from ocucb.service.rounds import Round
from ocucb.service.stores import Store, Transaction

logger = logging.getLogger(__name__)
PRUNE = 60.0
MOST_PRUNED = 1000


@dataclass(frozen=True)
class Limits:
    """How much at once, and how often.

    batch      decisions and other requests in one round
    waiting    requests in the queue, before new ones are turned away
    sweep      seconds between looks for decisions whose window has passed
    rest       seconds to wait after the database has failed, before it is tried again
    snapshot   entries between two snapshots (never fewer than the arms of the experiment)
    lives      experiments in memory
    keep_keys  seconds for which an idempotency key is remembered
    """

    batch: int = 512
    waiting: int = 10_000
    sweep: float = 1.0
    rest: float = 0.25
    snapshot: int = 10_000
    lives: int = 1000
    keep_keys: float = 7 * 86_400.0


class Door(Protocol):
    """Where a caller waits."""

    def settle(self, tickets: list[Ticket]) -> None:
        """Hand over tickets that are answered. Called by the engine's thread; must neither wait nor raise."""


class Guard(Protocol):
    """Knows which API keys are valid, on whatever node one was revoked."""

    def look(self, transaction: Transaction) -> None:
        """Notice what has changed."""

    def check(self, key: str) -> None:
        """Raise DeniedError unless the key with this id is valid."""


class Ticket:
    """A request on its way, by whose key, and then its answer or its error."""

    __slots__ = ("answer", "door", "error", "key", "request", "waiter")

    def __init__(self, request: Request, door: Door, waiter: Any = None, key: str | None = None) -> None:
        self.request, self.door, self.waiter, self.key = request, door, waiter, key
        self.answer: Answer | None = None
        self.error: Exception | None = None


class Engine:
    """Serves requests of many threads, durably and in one order. One writer thread; use doors.py to ask it.

    It owns no truth: whenever the store fails, what is in memory is thrown away and read again.
    """

    def __init__(
        self, store: Store, now: Clock = utc_now, limits: Limits | None = None, guard: Guard | None = None
    ) -> None:
        self._store, self._now, self._limits, self._guard = store, now, limits or Limits(), guard
        self._lives, self._tokens = Lives(store, self._limits.lives), Tokens()
        self._queue: queue.SimpleQueue[Ticket | None] = queue.SimpleQueue()
        self._pictures = Pictures(store)
        self._closed = False
        self._gate = threading.Lock()
        self._trouble: StoreError | None = None
        self._retry_at = self._sweep_at = self._prune_at = 0.0
        self._writer = threading.Thread(target=self._work, name="ocucb writer", daemon=True)

    def start(self) -> Engine:
        """Begin to serve."""
        self._pictures.start()
        self._writer.start()
        return self

    def close(self) -> None:
        """Serve what is in the queue, then stop."""
        with self._gate:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._writer.join()
        self._pictures.close()

    @property
    def trouble(self) -> StoreError | None:
        """What the store said when it last failed; None while it works."""
        return self._trouble

    @property
    def waiting(self) -> int:
        """How many requests are in the queue."""
        return self._queue.qsize()

    def submit(self, ticket: Ticket) -> None:
        """Queue a request. BusyError if too many wait, UnavailableError after `close`."""
        with self._gate:
            if self._closed:
                raise UnavailableError("the service is stopping; not stored, try again")
            if self._queue.qsize() >= self._limits.waiting:
                raise BusyError(f"{self._limits.waiting} requests are waiting; not stored, try again")
            self._queue.put(ticket)

    def _work(self) -> None:
        going = True
        while going:
            going, batch = self._take()
            try:
                if batch:
                    self._serve(batch)
                if time.monotonic() >= self._sweep_at:
                    self._sweep()
                self._pictures.keep()
            except Exception:  # whatever it is, those who come later must be served
                logger.exception("the writer stumbled")

    def _take(self) -> tuple[bool, list[Ticket]]:
        """Wait for requests until the next sweep; return what is there, and whether to go on."""
        batch: list[Ticket] = []
        size = 0
        try:
            ticket = self._queue.get(timeout=max(0.0, self._sweep_at - time.monotonic()))
            while ticket is not None:
                batch.append(ticket)
                size += _size(ticket.request)
                if size >= self._limits.batch:
                    return True, batch
                ticket = self._queue.get_nowait()
        except queue.Empty:
            return True, batch
        return False, batch

    def _serve(self, batch: list[Ticket]) -> None:
        """Answer every ticket, whatever happens."""
        left = batch
        if self._trouble is not None and time.monotonic() < self._retry_at:
            _fail(left, self._trouble)
            left = []
        try:
            while left:
                left = self._try_round(left)
        finally:
            by_door: defaultdict[Door, list[Ticket]] = defaultdict(list)
            for ticket in batch:
                by_door[ticket.door].append(ticket)
            for door, tickets in by_door.items():
                door.settle(tickets)

    def _try_round(self, batch: list[Ticket]) -> list[Ticket]:
        """Serve a batch in one round; return what must be served again because one of it did what none should."""
        this: Round | None = None
        culprit: Ticket | None = None
        requests = [ticket.request for ticket in batch]
        try:
            this = Round(self._lives, requests, self._now(), self._tokens)
            with self._store.write() as transaction:
                this.open(transaction, requests)
                if self._guard is not None:
                    self._guard.look(transaction)
                for ticket in batch:
                    culprit = ticket
                    _answer(this, ticket, self._guard)
                culprit = None
                moved = this.write()
        except Exception as problem:
            if this is not None:
                this.discard()
            return self._recover(batch, culprit, problem)
        self._trouble = None
        for live in moved:
            self._pictures.offer(live, self._limits.snapshot)
        self._lives.trim()
        return []

    def _recover(self, batch: list[Ticket], culprit: Ticket | None, problem: Exception) -> list[Ticket]:
        if isinstance(problem, StoreError) or culprit is None:
            if not isinstance(problem, StoreError):
                logger.error("a round failed", exc_info=problem)
                problem = StoreError("the round failed; not stored, try again")
            if self._trouble is None:
                logger.warning("%s (%s)", problem, problem.reason)
            self._trouble, self._retry_at = problem, time.monotonic() + self._limits.rest
            _fail(batch, problem)
            return []
        logger.error("%s failed", type(culprit.request).__name__, exc_info=problem)
        _fail([culprit], ServiceError("the service failed at this request; it was not stored"))
        return [ticket for ticket in batch if ticket is not culprit]

    def _sweep(self) -> None:
        """Close decisions whose window has passed, and by the way notice whether the store is there."""
        self._sweep_at = time.monotonic() + self._limits.sweep
        try:
            # After a failure of a write only a write can tell that all is well again.
            with self._store.read() if self._trouble is None else self._store.write() as transaction:
                due = transaction.due_experiments(self._now(), 100)
        except StoreError as problem:
            if self._trouble is None:
                logger.warning("%s (%s)", problem, problem.reason)
            self._trouble, self._retry_at = problem, time.monotonic() + self._limits.rest
            return
        self._trouble = None
        self._prune()
        if due:
            door = _Nowhere()
            tickets = [Ticket(Expire(experiment), door) for experiment in due]
            self._serve(tickets)
            if any(ticket.answer == MOST_EXPIRED for ticket in tickets):
                self._sweep_at = 0.0

    def _prune(self) -> None:
        """Forget idempotency keys that are old, some at a time, now and then."""
        if time.monotonic() < self._prune_at:
            return
        self._prune_at = time.monotonic() + PRUNE
        before = self._now() - round(self._limits.keep_keys * SECOND)
        try:
            with self._store.read() as transaction:
                old = transaction.old_keys(before, 1)
            if old:
                with self._store.write() as transaction:
                    if transaction.end_keys(transaction.old_keys(before, MOST_PRUNED)) == MOST_PRUNED:
                        self._prune_at = 0.0
        except StoreError as problem:
            logger.warning("old idempotency keys were not forgotten: %s", problem.reason)


class _Nowhere:
    """The door of those who do not wait."""

    def settle(self, tickets: list[Ticket]) -> None:
        """Do nothing."""


def _answer(this: Round, ticket: Ticket, guard: Guard | None) -> None:
    try:
        if guard is not None and ticket.key is not None:
            guard.check(ticket.key)
        ticket.answer, ticket.error = apply(this, ticket.request), None
    except StoreError:
        raise
    except OcucbError as problem:
        ticket.answer, ticket.error = None, problem


def _fail(tickets: Sequence[Ticket], problem: ServiceError) -> None:
    for ticket in tickets:
        ticket.answer, ticket.error = None, problem


def _size(request: Request) -> int:
    if isinstance(request, Decide):
        return request.count
    return len(request.log) // 100 + 1 if isinstance(request, ImportLog) else 1
