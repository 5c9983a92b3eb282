"""What routes find: the service behind them, and what the edge knows of the request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends
from starlette.requests import Request

from ocucb.service.access import Access, ApiKey
from ocucb.service.doors import LoopDoor
from ocucb.service.engine import Engine
from ocucb.service.errors import UnavailableError
from ocucb.service.settings import Settings
from ocucb.service.stores import Store
from ocucb.service.web.metrics import Metrics
from ocucb.service.web.paths import Place
from ocucb.service.web.problems import Refusal

NOBODY = ApiKey("", "nobody", frozenset(), frozenset(), 0, None)
LONGEST_KEY = 200
Done = TypeVar("Done")
VISIT = "ocucb.visit"


@dataclass
class Service:
    """All that an app needs. Whoever makes it starts and closes it."""

    settings: Settings
    store: Store
    engine: Engine
    access: Access


class Desk:
    """What all requests of an app share. The door is opened when the app's event loop runs."""

    door: LoopDoor

    def __init__(self, service: Service) -> None:
        self.service = service
        self.metrics = Metrics(service.engine)

    def open(self) -> None:
        """Begin to ask the engine, from the running event loop."""
        self.door = LoopDoor(self.service.engine, self.service.settings.patience)

    async def patiently(self, work: Awaitable[Done]) -> Done:
        """Wait for work that does not go through the engine, but no longer than for that."""
        patience = self.service.settings.patience
        try:
            async with asyncio.timeout(patience):
                return await work
        except TimeoutError:
            raise UnavailableError(f"no answer within {patience:g} seconds; try again") from None

    async def in_thread(self, work: Callable[..., Done], *given: Any) -> Done:
        """Do in a thread what would stop all other requests, and wait for it as `patiently`."""
        return await self.patiently(asyncio.to_thread(work, *given))


class Visit:
    """One request, as far as the edge has looked at it: whose key, which headers, and the whole body."""

    __slots__ = ("body", "desk", "headers", "id", "key", "place", "reason")

    def __init__(self, desk: Desk, headers: dict[bytes, bytes], request_id: str) -> None:
        self.desk, self.headers, self.id = desk, headers, request_id
        self.key, self.body, self.reason = NOBODY, b"", ""
        self.place: Place | None = None

    @property
    def media(self) -> str:
        """The kind of the body, without parameters."""
        return self.headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()

    def idempotency_key(self) -> str | None:
        """Return what the caller calls this request, so that it can be asked again and done once."""
        given = self.headers.get(b"idempotency-key")
        if given is None:
            return None
        text = given.decode("latin-1")
        if not 1 <= len(text) <= LONGEST_KEY or not text.isascii() or not text.isprintable():
            raise Refusal(422, f"Idempotency-Key must be 1 to {LONGEST_KEY} printable ASCII characters")
        return text


def visit_of(request: Request) -> Visit:
    """Return what the edge knows of a request."""
    visit: Visit = request.scope[VISIT]
    return visit


Caller = Annotated[Visit, Depends(visit_of)]
"""The same, for the signature of a route."""
