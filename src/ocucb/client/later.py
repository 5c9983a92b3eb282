"""Rewards in the background: accepted at once, sent in batches by a thread, and waited for before Python ends.

Both twins use the same thread: a task would end with its event loop, and what it had accepted with it.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

from ocucb.checks import whole
from ocucb.client import calls
from ocucb.client.answers import Counts, Refused, Result
from ocucb.client.attempts import Pauses
from ocucb.client.errors import (
    AnswerError,
    ClientError,
    ClosedError,
    DeniedError,
    InvalidError,
    QueueFullError,
    UnavailableError,
    UndeliveredError,
)
from ocucb.client.exits import exits
from ocucb.client.outbox import Item, Outbox
from ocucb.client.spool import Spool

logger = logging.getLogger("ocucb.client")

T = TypeVar("T")

GATHER = 0.2
_PATIENT, _MORE_PATIENT = 5.0, 60.0
_UNREADABLE = (400, 413, 422)


class Wire(Protocol):
    """What sends a call once, and returns the answer or raises a ClientError."""

    def attempt(self, call: calls.Call[T]) -> T: ...
    def close(self) -> None: ...


def open_sender(
    wire: Wire, most: int, spool: str | os.PathLike[str] | None, on_refused: Callable[[Refused], object] | None
) -> Sender:
    """Return a sender; if its spool has rewards of an earlier life, it begins with them."""
    room = whole("queue", most, 1, "it is how many background rewards may wait")
    return Sender(wire, room, on_refused, None if spool is None else Spool(spool))


class Sender:
    """Accepts rewards from many threads, and has one of its own that sends them for as long as it takes."""

    def __init__(
        self, wire: Wire, most: int, on_refused: Callable[[Refused], object] | None, spool: Spool | None
    ) -> None:
        self._wire, self._on_refused, self.spool = wire, on_refused, spool
        self._outbox = Outbox(most)
        self._delivered = self._refused = 0
        self._size = self._largest = min(calls.MOST_REWARDS, most)
        self._forgotten = False
        self._denied: DeniedError | None = None
        self._problem: ClientError | None = None
        self._pauses = Pauses()
        self._process = os.getpid()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        for left in spool.left() if spool else ():
            self._outbox.put(left, left.decision, left.value, left.number)
            self._start()

    def counts(self) -> Counts:
        """Return how the rewards have fared so far."""
        return Counts(len(self._outbox), self._delivered, self._refused)

    def offer(self, decision: str, value: float) -> bool:
        """Accept a reward if there is room; if there is a spool, it is on the disk when this returns."""
        self._check()
        self._start()
        token = object()
        try:
            if not self._outbox.reserve(token):
                return False
            line = None if self.spool is None else self.spool.append(decision, value).number
            self._outbox.put(token, decision, value, line)
            return True
        finally:
            self._outbox.release(token)

    def room(self) -> Future[None]:
        """Return a future that ends when there is room, or when there will never be."""
        return self._outbox.room()

    def flushed(self) -> Future[None]:
        """Return a future that ends when all that was accepted so far is delivered or refused."""
        self._check_process()
        if self._outbox.abandoned and len(self._outbox):
            raise self.undelivered()
        return self._outbox.flushed()

    def close(self) -> None:
        """Accept nothing more; what was accepted is sent."""
        self._outbox.close()

    def forget(self) -> None:
        """Do the same when the client has gone without being closed, and in the end let go of its connections."""
        if not self.forked:
            self._forgotten = True
            self.close()
            if self._thread is None or not self._thread.is_alive():
                self._wire.close()

    def too_full(self) -> QueueFullError:
        """Return the error for a reward that found no room."""
        why = "" if self._problem is None else f"; the last problem: {self._problem}"
        return QueueFullError(f"{len(self._outbox)} rewards wait, and this one found no room{why}", code="queue-full")

    def stop(self) -> None:
        """Send nothing more either; raise UndeliveredError if that leaves something undelivered."""
        left = self.undelivered()
        self._outbox.close(abandon=True)
        exits.discard(self)
        if self.spool is not None:
            self.spool.close()
        if left.rewards:
            raise left

    def undelivered(self) -> UndeliveredError:
        """Return what is not delivered yet, as an error to raise."""
        rewards = tuple((item.decision, item.value) for item in self._outbox.left())
        kept = "" if self.spool is None else f"; the spool {self.spool.path} keeps them"
        why = "" if self._problem is None else f"; the last problem: {self._problem}"
        return UndeliveredError(f"{len(rewards)} rewards are not delivered{kept}{why}", rewards)

    def finish(self) -> None:
        """Wait at the end of Python until all is sent, however long it takes; Ctrl-C gives up."""
        self.close()
        try:
            if self._thread is not None and self._thread.is_alive():
                self._watch(self._thread)
            else:
                self._work()
        except KeyboardInterrupt:
            try:
                self.stop()
            except UndeliveredError as left:
                some = ", ".join(decision for decision, _ in left.rewards[:10])
                logger.error("given up at exit: %s; the first decisions: %s", left, some)

    def _watch(self, thread: threading.Thread) -> None:
        thread.join(_PATIENT)
        while thread.is_alive():
            logger.warning("waiting at exit, Ctrl-C gives up: %s", self.undelivered())
            thread.join(_MORE_PATIENT)

    @property
    def forked(self) -> bool:
        """Whether this is the copy of a sender that lives in the parent process."""
        return os.getpid() != self._process

    def _check_process(self) -> None:
        if self.forked:
            raise ClosedError("this client was made by the parent process; make a new one after a fork", code="forked")

    def _check(self) -> None:
        self._check_process()
        if self._denied is not None:
            raise self._denied.with_traceback(None)  # one error may be raised for many, and must not grow
        if self._outbox.closed:
            raise ClosedError("the client is closed, or Python is ending; the reward was not accepted", code="closed")

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="ocucb rewards", daemon=True)
                self._thread.start()
                exits.add(self)

    def _work(self) -> None:
        while batch := self._outbox.take(self._size, GATHER):
            try:
                settled, problem = self._send(batch)
            except Exception as bug:  # whatever it is, what was accepted must be sent
                if self._outbox.abandoned:
                    return
                logger.exception("sending rewards went wrong")
                settled, problem = [], ClientError(f"sending rewards went wrong: {type(bug).__name__}")
            if self.spool is not None and settled and self._denied is None and not self._outbox.abandoned:
                self.spool.settle([item.line for item in settled if item.line is not None])
            self._note(problem)
            self._outbox.settle(settled)
            if problem is not None:
                self._outbox.rest(self._pauses.after(problem))
        if not self._outbox.abandoned:
            self.stop()
        if self._forgotten:
            self._wire.close()

    def _send(self, batch: list[Item]) -> tuple[list[Item], ClientError | None]:
        """Send a batch; return which of it are settled, and what is in the way of the others."""
        if self._denied is not None:
            return self._refuse(batch, self._denied), None
        try:
            results = self._wire.attempt(calls.rewards([(item.decision, item.value) for item in batch]))
        except DeniedError as problem:
            self._denied = problem
            return self._refuse(batch, problem), None
        except InvalidError as problem:
            if problem.status not in _UNREADABLE:
                return [], problem
            if len(batch) == 1:
                return self._refuse(batch, problem), None
            self._size = (len(batch) + 1) // 2  # one of them makes the whole unreadable: come closer to it
            return [], None
        except ClientError as problem:
            return [], problem
        self._size = min(self._largest, 2 * self._size)
        return self._sort(batch, results)

    def _sort(self, batch: list[Item], results: list[Result]) -> tuple[list[Item], ClientError | None]:
        """Tell those that are settled from those to be sent again."""
        if [item.decision for item in batch] != [result.decision for result in results]:
            return [], AnswerError("the service answered other rewards than were sent", code="not-understood")
        settled: list[Item] = []
        problem: ClientError | None = None
        for item, result in zip(batch, results, strict=True):
            if result.error is None:
                settled.append(item)
                self._delivered += 1
            elif isinstance(result.error, UnavailableError | AnswerError):
                problem = result.error
            else:
                if isinstance(result.error, DeniedError):
                    self._denied = result.error
                settled += self._refuse([item], result.error)
        return settled, problem

    def _refuse(self, items: list[Item], problem: ClientError) -> list[Item]:
        for item in items:
            self._refused += 1
            logger.error("the reward of decision %s was refused: %s", item.decision, problem.code)
            if self._on_refused is not None:
                try:
                    self._on_refused(Refused(item.decision, item.value, problem))
                except Exception:  # it is the user's, and the other rewards must go on
                    logger.exception("on_refused failed")
        return items

    def _note(self, problem: ClientError | None) -> None:
        """Say once that something is in the way, and once that it has gone."""
        before, self._problem = self._problem, problem
        if problem is None:
            self._pauses = Pauses()
        if problem is not None and before is None:
            logger.warning("rewards are not delivered for now, and sent again until they are: %s", problem)
        if problem is None and before is not None:
            logger.info("rewards are delivered again")
