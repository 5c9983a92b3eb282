"""How callers ask the engine: from a thread, or from an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
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
    """Asks from one event loop. A round wakes the loop once, however many of its requests were in it."""

    def __init__(self, engine: Engine, patience: float = PATIENCE) -> None:
        self._engine, self._patience = engine, patience
        self._loop = asyncio.get_running_loop()

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
        return (await self.ask_all([request], key))[0].take()

    async def ask_all(self, requests: Sequence[Request], key: str | None = None) -> list[Reply]:
        """Return the replies to many requests, in order; they may share a round."""
        tickets = [Ticket(request, self, self._loop.create_future(), key) for request in requests]
        for ticket in tickets:
            try:
                self._engine.submit(ticket)
            except UnavailableError as problem:
                ticket.error = problem
                ticket.waiter.set_result(None)
        try:
            async with asyncio.timeout(self._patience):
                for ticket in tickets:
                    await ticket.waiter
        except TimeoutError:
            raise _too_slow(self._patience) from None
        return [Reply(ticket) for ticket in tickets]

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
            ticket.waiter.set_result(None)


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
