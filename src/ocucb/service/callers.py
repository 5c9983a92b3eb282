"""How callers ask the engine: from a thread, or from an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Protocol, TypeAlias, overload

from ocucb.service.errors import UnavailableError
from ocucb.service.replies import (
    Answer,
    ArmPage,
    Changed,
    Corrected,
    Decision,
    Rewarded,
    UnreadVerdict,
    UnreadView,
    View,
)
from ocucb.service.requests import (
    AddArm,
    AskVerdict,
    Correct,
    Create,
    Decide,
    Delete,
    ImportLog,
    Inspect,
    InspectArms,
    Request,
    RetireArm,
    Reward,
    SetShares,
    SetStatus,
    SetWinnerRule,
)
from ocucb.verdict import Verdict

logger = logging.getLogger(__name__)
TIMEOUT = 10.0  # seconds
MAX_GATHERED = 256  # requests, before they are handed over in any case
Change: TypeAlias = Create | SetStatus | Delete | AddArm | RetireArm | SetShares | SetWinnerRule | ImportLog


class Caller(Protocol):
    """Who submits requests and waits for their answers."""

    @property
    def told_last(self) -> bool:
        """Whether others that were answered at the same time are told before."""

    def deliver(self, answered: list[PendingRequest]) -> None:
        """Take requests that are answered. Called by the engine's thread; must neither wait nor raise."""


class PendingRequest:
    """A request that waits for its answer or its error, and the id of the API key it was made with."""

    __slots__ = (
        "_claims",
        "answer",
        "api_key",
        "asked",
        "caller",
        "deadline",
        "error",
        "request",
        "target",
        "timed_out",
        "waiter",
    )

    def __init__(
        self,
        request: Request,
        caller: Caller,
        waiter: Any = None,
        api_key: str | None = None,
        timeout: float = math.inf,
    ) -> None:
        self.request, self.caller, self.waiter, self.api_key = request, caller, waiter, api_key
        self.asked = time.monotonic()
        self.deadline = self.asked + timeout
        self.target: str | int | None = None  # the experiment it is about, once the engine has looked
        self.answer: Answer | None = None
        self.error: Exception | None = None
        self.timed_out: UnavailableError | None = None  # said by the caller: the engine may still set the two above
        self._claims: list[bool] = []

    def claim(self) -> bool:
        """Begin to serve it: from now on it cannot be cancelled. False if it was, or if it has waited too long.

        A process may be stopped, and go on when nobody waits any more.
        """
        # of two threads one is first, and only the first counts
        self._claims.append(time.monotonic() < self.deadline)
        return self._claims[0]

    def cancel(self) -> bool:
        """Cancel it, as nobody waits any more: it will not be served. False if it is being served already."""
        claims = self._claims
        claims.append(False)
        return not claims[0]

    def release(self) -> None:
        """Note that it was not served after all: it can be cancelled, or served again."""
        self._claims, self.answer, self.error = [], None, None

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled before anybody served it."""
        return bool(self._claims) and not self._claims[0]

    def result(self) -> Answer:
        """Return the answer, or raise the error."""
        error = self.timed_out or self.error
        if error is not None:
            raise error.with_traceback(None)  # one error may be raised for many, and must not grow
        if self.answer is None:
            raise UnavailableError("the request was not answered; try again")
        return self.answer.read() if isinstance(self.answer, UnreadView | UnreadVerdict) else self.answer


def fail(requests: Iterable[PendingRequest], error: Exception) -> None:
    """Answer requests by an error."""
    for pending in requests:
        pending.answer, pending.error = None, error


def deliver(answered: Iterable[PendingRequest]) -> None:
    """Tell all callers that their requests are answered."""
    by_caller: defaultdict[Caller, list[PendingRequest]] = defaultdict(list)
    for pending in answered:
        by_caller[pending.caller].append(pending)
    for caller in sorted(by_caller, key=lambda caller: caller.told_last):
        caller.deliver(by_caller[caller])


class RequestQueue(Protocol):
    """Takes requests, and has their callers told when they are answered."""

    def submit(self, requests: Sequence[PendingRequest]) -> None:
        """Queue requests; those that cannot wait are answered at once, by an error that says why."""


class ThreadCaller:
    """Asks from any thread, and waits."""

    told_last = False

    def __init__(self, queue: RequestQueue, timeout: float = TIMEOUT) -> None:
        self._queue, self._timeout = queue, timeout

    @overload
    def ask(self, request: Decide, api_key: str | None = None) -> tuple[Decision, ...]: ...
    @overload
    def ask(self, request: Reward, api_key: str | None = None) -> Rewarded: ...
    @overload
    def ask(self, request: Correct, api_key: str | None = None) -> Corrected: ...
    @overload
    def ask(self, request: Inspect, api_key: str | None = None) -> View: ...
    @overload
    def ask(self, request: InspectArms, api_key: str | None = None) -> ArmPage: ...
    @overload
    def ask(self, request: AskVerdict, api_key: str | None = None) -> Verdict: ...
    @overload
    def ask(self, request: Change, api_key: str | None = None) -> Changed: ...
    @overload
    def ask(self, request: Request, api_key: str | None = None) -> Answer: ...
    def ask(self, request: Request, api_key: str | None = None) -> Answer:
        """Return the answer once it is durable, or raise its error. `api_key`: an id; DeniedError if it is revoked."""
        pending = PendingRequest(request, self, threading.Event(), api_key, self._timeout)
        self._queue.submit([pending])
        if not pending.waiter.wait(self._timeout):
            pending.timed_out = _timed_out(self._timeout, [pending])
        return pending.result()

    def deliver(self, answered: list[PendingRequest]) -> None:
        """Wake the threads that wait for these answers."""
        for pending in answered:
            pending.waiter.set()


class LoopCaller:
    """Asks from one event loop. A batch wakes the loop once, however many of its requests were in it.

    All wait equally long, so those who ask first time out first: a queue and one timer serve all of them, where a timer
    for each request would cost more than everything else that asking costs. What is asked is handed over together once
    a turn of the loop has brought nothing more: the engine would take the first alone and make a batch of it, and two
    threads that run Python at the same time take twice as long.

    If `told_last`, its callers are told once the loop has sent what others did with their answers: another node has
    work to do with those that it is sent, and can begin.
    """

    def __init__(self, queue: RequestQueue, timeout: float = TIMEOUT, told_last: bool = False) -> None:
        self._queue, self._timeout, self.told_last = queue, timeout, told_last
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[PendingRequest] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._new: list[PendingRequest] = []
        self._gathered = 0

    def submit(self, request: Request, api_key: str | None, done: Callable[[PendingRequest], None]) -> PendingRequest:
        """Ask, and have `done` called in the loop with the request, once it is answered or has waited too long."""
        pending = PendingRequest(request, self, done, api_key, self._timeout)
        waiting = self._waiting
        while waiting and waiting[0].waiter is None:
            waiting.popleft()
        waiting.append(pending)
        if self._timer is None:
            self._timer = self._loop.call_later(self._timeout, self._time_out)
        self._new.append(pending)
        if len(self._new) == 1:
            self._loop.call_soon(self._hand_over)
        return pending

    @overload
    async def ask(self, request: Decide, api_key: str | None = None) -> tuple[Decision, ...]: ...
    @overload
    async def ask(self, request: Reward, api_key: str | None = None) -> Rewarded: ...
    @overload
    async def ask(self, request: Correct, api_key: str | None = None) -> Corrected: ...
    @overload
    async def ask(self, request: Inspect, api_key: str | None = None) -> View: ...
    @overload
    async def ask(self, request: InspectArms, api_key: str | None = None) -> ArmPage: ...
    @overload
    async def ask(self, request: AskVerdict, api_key: str | None = None) -> Verdict: ...
    @overload
    async def ask(self, request: Change, api_key: str | None = None) -> Changed: ...
    @overload
    async def ask(self, request: Request, api_key: str | None = None) -> Answer: ...
    async def ask(self, request: Request, api_key: str | None = None) -> Answer:
        """Return the answer once it is durable, or raise its error. `api_key`: an id; DeniedError if it is revoked."""
        return (await self.ask_all([request], api_key))[0].result()

    async def ask_all(self, requests: Sequence[Request], api_key: str | None = None) -> list[PendingRequest]:
        """Return many requests with their answers or errors, in order; they may share a batch."""
        futures = [self._loop.create_future() for _ in requests]
        all_pending = [
            self.submit(request, api_key, partial(_set_result, future))
            for request, future in zip(requests, futures, strict=True)
        ]
        for future in futures:
            await future
        late = [pending for pending in all_pending if pending.timed_out is not None]
        if late:
            raise _timed_out(self._timeout, late)
        return all_pending

    def _hand_over(self) -> None:
        """Hand over all that was asked in this turn of the loop and the last ones, once a turn brings nothing more."""
        if self._gathered < len(self._new) < MAX_GATHERED:
            self._gathered = len(self._new)
            self._loop.call_soon(self._hand_over)
            return
        new, self._new, self._gathered = self._new, [], 0
        self._queue.submit(new)

    def _time_out(self) -> None:
        now, waiting = time.monotonic(), self._waiting
        while waiting and (waiting[0].waiter is None or waiting[0].deadline <= now):
            pending = waiting.popleft()
            if pending.waiter is not None:
                pending.timed_out = _timed_out(self._timeout, [pending])
                _finish([pending])
        left = waiting[0].deadline - now if waiting else 0.0
        self._timer = self._loop.call_later(left, self._time_out) if waiting else None

    def deliver(self, answered: list[PendingRequest]) -> None:
        """Wake the loop; if it has ended, nobody waits."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._finish_last if self.told_last else _finish, answered)

    def _finish_last(self, answered: list[PendingRequest]) -> None:
        self._loop.call_soon(_finish, answered)


def _finish(answered: list[PendingRequest]) -> None:
    """Tell those who wait, each once."""
    for pending in answered:
        done, pending.waiter = pending.waiter, None
        if done is not None:
            try:
                done(pending)
            except Exception:  # whatever it is, the others must be told
                logger.exception("an answer could not be given")


def _set_result(future: asyncio.Future[None], _: PendingRequest) -> None:
    if not future.done():  # as it is if its task was cancelled
        future.set_result(None)


def _timed_out(timeout: float, unanswered: Sequence[PendingRequest]) -> UnavailableError:
    """Cancel requests that were not answered in time, and return the error that says what is known of them."""
    cancelled = [pending.cancel() for pending in unanswered]
    known = "not stored, try again" if all(cancelled) else _UNKNOWN
    error = UnavailableError(f"no answer within {timeout:g} seconds; {known}")
    error.not_stored = all(cancelled)
    return error


_UNKNOWN = "it may still be stored: try again with the same idempotency key"
