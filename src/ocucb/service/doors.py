"""How callers ask the engine: from a thread, or from an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Sequence
from typing import TypeAlias, overload

from ocucb.service.engine import Engine, Ticket
from ocucb.service.errors import UnavailableError
from ocucb.service.requests import (
    AddArm,
    Answer,
    Changed,
    Create,
    Decide,
    Decision,
    ImportLog,
    Look,
    Request,
    RetireArm,
    Reward,
    Rewarded,
    SetStatus,
    View,
)

PATIENCE = 10.0
Change: TypeAlias = Create | SetStatus | AddArm | RetireArm | ImportLog


class ThreadDoor:
    """Asks from any thread, and waits."""

    def __init__(self, engine: Engine, patience: float = PATIENCE) -> None:
        self._engine, self._patience = engine, patience

    @overload
    def ask(self, request: Decide, key: str | None = None) -> tuple[Decision, ...]: ...
    @overload
    def ask(self, request: Reward, key: str | None = None) -> Rewarded: ...
    @overload
    def ask(self, request: Look, key: str | None = None) -> View: ...
    @overload
    def ask(self, request: Change, key: str | None = None) -> Changed: ...
    @overload
    def ask(self, request: Request, key: str | None = None) -> Answer: ...
    def ask(self, request: Request, key: str | None = None) -> Answer:
        """Return the answer once it is durable, or raise its error. With an API key's id: unless that is revoked."""
        ticket = Ticket(request, self, threading.Event(), key)
        self._engine.submit(ticket)
        if not ticket.waiter.wait(self._patience):
            raise _too_slow(self._patience)
        return _open(ticket)

    def settle(self, tickets: list[Ticket]) -> None:
        """Wake the callers."""
        for ticket in tickets:
            ticket.waiter.set()


class LoopDoor:
    """Asks from one event loop. A round wakes the loop once, however many of its requests were in it.

    All wait equally long, so those who ask first run out of patience first: a queue and one timer serve all of them,
    where a timer each would cost more than the rest of asking.
    """

    def __init__(self, engine: Engine, patience: float = PATIENCE) -> None:
        self._engine, self._patience = engine, patience
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[float, asyncio.Future[bool]]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    @overload
    async def ask(self, request: Decide, key: str | None = None) -> tuple[Decision, ...]: ...
    @overload
    async def ask(self, request: Reward, key: str | None = None) -> Rewarded: ...
    @overload
    async def ask(self, request: Look, key: str | None = None) -> View: ...
    @overload
    async def ask(self, request: Change, key: str | None = None) -> Changed: ...
    @overload
    async def ask(self, request: Request, key: str | None = None) -> Answer: ...
    async def ask(self, request: Request, key: str | None = None) -> Answer:
        """Return the answer once it is durable, or raise its error. With an API key's id: unless that is revoked."""
        ticket = Ticket(request, self, self._loop.create_future(), key)
        self._engine.submit(ticket)
        if not await self._wait(ticket.waiter):
            raise _too_slow(self._patience)
        return _open(ticket)

    async def ask_all(self, requests: Sequence[Request], key: str | None = None) -> list[Reply]:
        """Return the replies to many requests, in order; they may share a round."""
        tickets = [Ticket(request, self, self._loop.create_future(), key) for request in requests]
        for ticket in tickets:
            try:
                self._engine.submit(ticket)
            except UnavailableError as problem:
                ticket.error = problem
                ticket.waiter.set_result(True)
        answered = [await self._wait(ticket.waiter) for ticket in tickets]
        if not all(answered):
            raise _too_slow(self._patience)
        return [Reply(ticket) for ticket in tickets]

    def _wait(self, waiter: asyncio.Future[bool]) -> asyncio.Future[bool]:
        """Return a future that says whether there is an answer, or that patience has run out."""
        waiting = self._waiting
        while waiting and waiting[0][1].done():
            waiting.popleft()
        waiting.append((self._loop.time() + self._patience, waiter))
        if self._timer is None:
            self._timer = self._loop.call_later(self._patience, self._lose_patience)
        return waiter

    def _lose_patience(self) -> None:
        now, waiting = self._loop.time(), self._waiting
        while waiting and (waiting[0][0] <= now or waiting[0][1].done()):
            waiter = waiting.popleft()[1]
            if not waiter.done():
                waiter.set_result(False)
        self._timer = self._loop.call_at(waiting[0][0], self._lose_patience) if waiting else None

    def settle(self, tickets: list[Ticket]) -> None:
        """Wake the loop; if it has ended, nobody waits."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(_wake, tickets)


class Reply:
    """An answer or an error."""

    def __init__(self, ticket: Ticket) -> None:
        self.answer, self.error = ticket.answer, ticket.error
        self._ticket = ticket

    def take(self) -> Answer:
        """Return the answer, or raise the error."""
        return _open(self._ticket)


def _wake(tickets: list[Ticket]) -> None:
    for ticket in tickets:
        if not ticket.waiter.done():
            ticket.waiter.set_result(True)


def _open(ticket: Ticket) -> Answer:
    if ticket.error is not None:
        raise ticket.error.with_traceback(None)  # one error may be raised for many, and must not grow
    if ticket.answer is None:
        raise UnavailableError("the request was not answered; try again")
    return ticket.answer


def _too_slow(patience: float) -> UnavailableError:
    return UnavailableError(
        f"no answer within {patience:g} seconds; it may still be stored: try again with the same idempotency key"
    )
