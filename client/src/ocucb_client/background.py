"""Rewards in the background: accepted at once, sent in batches by a thread, and waited for before Python ends.

Both clients use the same thread: a task would end with its event loop, and what it had accepted with it.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from ocucb_client import calls, checks
from ocucb_client.errors import (
    AnswerError,
    ClientError,
    ClosedError,
    DeniedError,
    InvalidError,
    QueueFullError,
    UnavailableError,
    UndeliveredError,
    forked,
)
from ocucb_client.models import BackgroundCounts, RefusedReward, RewardResult
from ocucb_client.outbox import Outbox, QueuedReward
from ocucb_client.retries import Backoff
from ocucb_client.shutdown import shutdown
from ocucb_client.spool import Spool

logger = logging.getLogger("ocucb_client")

T = TypeVar("T")

_SHOWN = 10  # decisions in a message
_GATHER = 0.2  # seconds that a batch waits for more
_FIRST_WARNING, _NEXT_WARNING = 5.0, 60.0  # seconds of waiting at the end of Python before it is said, and said again
_MAX_FAILURES = 3  # of the service at one reward, after which it is parked
_PARKED = 30.0  # seconds until rewards that the service failed at are sent again
_UNREADABLE = (400, 413, 422)  # one reward makes the service refuse its whole batch


class SendsOnce(Protocol):
    """What sends a call once, and returns the answer or raises a ClientError."""

    def send_once(self, call: calls.Call[T]) -> T: ...
    def close(self) -> None: ...


def open_sender(
    transport: SendsOnce,
    queue_size: int,
    spool: str | os.PathLike[str] | None,
    on_refused: Callable[[RefusedReward], object] | None,
) -> RewardSender:
    """Return a sender; if its spool has rewards of an earlier client, it begins with them."""
    capacity = checks.whole("queue_size", queue_size, 1, "it is how many background rewards may wait")
    return RewardSender(transport, capacity, on_refused, None if spool is None else Spool(spool))


@dataclass
class _SortedBatch:
    """Rewards that were sent: done with, to be sent again soon, and those that the service fails at."""

    settled: list[QueuedReward] = field(default_factory=list)
    postponed: list[QueuedReward] = field(default_factory=list)
    parked: list[QueuedReward] = field(default_factory=list)


class RewardSender:
    """Accepts rewards from many threads, and has one of its own that sends them for as long as it takes."""

    def __init__(
        self,
        transport: SendsOnce,
        capacity: int,
        on_refused: Callable[[RefusedReward], object] | None,
        spool: Spool | None,
    ) -> None:
        self._transport, self._on_refused, self.spool = transport, on_refused, spool
        self._outbox = Outbox(capacity)
        self._delivered = self._refused = 0
        self._size = self._largest = min(calls.REWARDS_PER_CALL, capacity)
        self._client_gone = False
        self._denied: DeniedError | None = None
        self._parked_for: ClientError | None = None
        self._problem: ClientError | None = None
        self._backoff = Backoff()
        self._process = os.getpid()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        for left in spool.unsettled() if spool else ():
            self._outbox.put(left, left.decision, left.value, left.number, left.part)
            self._start()

    def counts(self) -> BackgroundCounts:
        """Return how the rewards have fared so far."""
        parked = len(self._outbox.parked())
        return BackgroundCounts(len(self._outbox) - parked, self._delivered, self._refused, parked)

    def offer(self, decision: str, value: float, part: str | None = None) -> bool:
        """Accept a reward if there is room; if there is a spool, it is on the disk when this returns."""
        self._check_accepting()
        self._start()
        token = object()
        try:
            if not self._outbox.reserve(token):
                return False
            number = None if self.spool is None else self.spool.append(decision, value, part).number
            self._outbox.put(token, decision, value, number, part)
            return True
        finally:
            self._outbox.release(token)

    def when_room(self) -> Future[None]:
        """Return a future that ends when there is room, or when there will never be."""
        return self._outbox.when_room()

    def when_flushed(self) -> Future[None]:
        """Return a future that ends when all that was accepted so far is delivered, refused or parked."""
        self._check_process()
        if self._outbox.abandoned and len(self._outbox):
            raise self.undelivered_error()
        return self._outbox.when_flushed()

    def close(self) -> None:
        """Accept nothing more; what was accepted is sent."""
        self._outbox.close()

    def on_client_collected(self) -> None:
        """Close, as the client was not; in the end its connections are closed, too."""
        if not self.forked:
            self._client_gone = True
            self.close()
            if self._thread is None or not self._thread.is_alive():
                self._transport.close()

    def queue_full_error(self) -> QueueFullError:
        """Return the error for a reward that found no room."""
        why = "" if self._problem is None else f"; the last problem: {self._problem}"
        return QueueFullError(f"{len(self._outbox)} rewards wait, and this one found no room{why}", code="queue-full")

    def stop(self) -> None:
        """Send nothing more either; raise UndeliveredError if that leaves something undelivered."""
        left = self.undelivered_error()
        self._outbox.close(abandon=True)
        shutdown.discard(self)
        if self.spool is not None:
            self.spool.close()
        if left.rewards:
            raise left

    def undelivered_error(self) -> UndeliveredError:
        """Return what is not delivered yet, as an error to raise."""
        rewards = tuple((item.decision, item.value) for item in self._outbox.unsettled())
        parked = tuple((item.decision, item.value) for item in self._outbox.parked())
        kept = "" if self.spool is None else f"; the spool {self.spool.path} keeps them"
        why = "" if self._problem is None else f"; the last problem: {self._problem}"
        if parked:
            some = ", ".join(decision for decision, _ in parked[:_SHOWN])
            more = ", ..." if len(parked) > _SHOWN else ""
            why = f"; the service fails at {len(parked)} of them ({self._parked_for}): {some}{more}{why}"
        return UndeliveredError(f"{len(rewards)} rewards are not delivered{kept}{why}", rewards, parked)

    def check_parked(self) -> None:
        """Raise UndeliveredError if the service fails at some rewards."""
        if self._outbox.parked():
            raise self.undelivered_error()

    def finish(self) -> None:
        """Wait at the end of Python until all is sent, however long it takes; Ctrl-C gives up."""
        self.close()
        try:
            if self._thread is not None and self._thread.is_alive():
                self._wait_for(self._thread)
            else:
                self._send_all()
        except KeyboardInterrupt:
            pass
        try:
            self.stop()
        except UndeliveredError as left:
            some = ", ".join(decision for decision, _ in left.rewards[:_SHOWN])
            logger.error("given up at exit: %s; the first decisions: %s", left, some)

    def _wait_for(self, thread: threading.Thread) -> None:
        thread.join(_FIRST_WARNING)
        while thread.is_alive():
            logger.warning("waiting at exit, Ctrl-C gives up: %s", self.undelivered_error())
            thread.join(_NEXT_WARNING)

    @property
    def forked(self) -> bool:
        """Whether this is the copy of a sender that lives in the parent process."""
        return os.getpid() != self._process

    def _check_process(self) -> None:
        if self.forked:
            raise forked()

    def _check_accepting(self) -> None:
        self._check_process()
        if self._denied is not None:
            raise self._denied.with_traceback(None)  # one error may be raised for many, and must not grow
        if self._outbox.closed:
            raise ClosedError("the client is closed, or Python is ending; the reward was not accepted", code="closed")

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._send_all, name="ocucb rewards", daemon=True)
                self._thread.start()
                shutdown.add(self)

    def _send_all(self) -> None:
        while batch := self._outbox.take_batch(self._size, _GATHER):
            sorted_batch = _SortedBatch()
            try:
                problem = self._send_batch(batch, sorted_batch)
            except Exception as bug:  # whatever it is, what was accepted must be sent
                if self._outbox.abandoned:
                    return
                logger.exception("sending rewards went wrong")
                sorted_batch = _SortedBatch()
                problem = ClientError(f"sending rewards went wrong: {type(bug).__name__}")
            settled = sorted_batch.settled
            if self.spool is not None and settled and self._denied is None and not self._outbox.abandoned:
                self.spool.settle([item.spool_number for item in settled if item.spool_number is not None])
            self._log_change(problem)
            self._outbox.settle(settled, sorted_batch.postponed, sorted_batch.parked, _PARKED)
            if problem is not None:
                self._outbox.pause(self._backoff.next_delay(problem))
        if not self._outbox.abandoned and not self._outbox.parked():
            self.stop()
        if self._client_gone:
            self._transport.close()

    def _send_batch(self, batch: list[QueuedReward], into: _SortedBatch) -> ClientError | None:
        """Send a batch, and sort it by what became of each reward; return what is in the way of those not settled."""
        if self._denied is not None:
            into.settled += self._refuse(batch, self._denied)
            return None
        try:
            results = self._transport.send_once(
                calls.rewards([(item.decision, item.value, item.part) for item in batch])
            )
        except DeniedError as problem:
            self._denied = problem
            into.settled += self._refuse(batch, problem)
            return None
        except InvalidError as problem:
            if problem.status not in _UNREADABLE:
                return problem
            if len(batch) == 1:
                into.settled += self._refuse(batch, problem)
            else:
                self._size = (len(batch) + 1) // 2  # one of them makes the whole unreadable: come closer to it
            return None
        except ClientError as problem:
            return problem
        self._size = min(self._largest, 2 * self._size)
        return self._sort_results(batch, results, into)

    def _sort_results(
        self, batch: list[QueuedReward], results: list[RewardResult], into: _SortedBatch
    ) -> ClientError | None:
        """Tell those that are settled from those to be sent again, soon or later."""
        if [item.decision for item in batch] != [result.decision for result in results]:
            return AnswerError("the service answered other rewards than were sent", code="not-understood")
        problem: ClientError | None = None
        for item, result in zip(batch, results, strict=True):
            if result.error is None:
                into.settled.append(item)
                self._delivered += 1
            elif isinstance(result.error, UnavailableError):
                into.postponed.append(item)
                problem = result.error
            elif isinstance(result.error, AnswerError):  # it fails at this one, whatever becomes of the others
                failed = item._replace(failures=item.failures + 1)
                if failed.failures < _MAX_FAILURES:
                    into.postponed.append(failed)
                    problem = result.error
                else:
                    into.parked.append(failed)
                    self._note_parked(item, result.error)
            else:
                if isinstance(result.error, DeniedError):
                    self._denied = result.error
                into.settled += self._refuse([item], result.error)
        return problem

    def _note_parked(self, item: QueuedReward, problem: ClientError) -> None:
        if self._parked_for is None or problem.code != self._parked_for.code:
            logger.error("the service fails at the reward of decision %s, which waits: %s", item.decision, problem)
        self._parked_for = problem

    def _refuse(self, items: list[QueuedReward], problem: ClientError) -> list[QueuedReward]:
        for item in items:
            self._refused += 1
            logger.error("the reward of decision %s was refused: %s", item.decision, problem.code)
            if self._on_refused is not None:
                try:
                    self._on_refused(RefusedReward(item.decision, item.value, problem))
                except Exception:  # it is the user's, and the other rewards must go on
                    logger.exception("on_refused failed")
        return items

    def _log_change(self, problem: ClientError | None) -> None:
        """Say once that something is in the way, and once that it has gone."""
        before, self._problem = self._problem, problem
        if problem is None:
            self._backoff = Backoff()
        if problem is not None and before is None:
            logger.warning("rewards are not delivered for now, and sent again until they are: %s", problem)
        if problem is None and before is not None:
            logger.info("rewards are delivered again")
