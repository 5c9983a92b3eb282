"""What routes find: the service behind them, and what the gateway knows of the request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypeVar

from fastapi import Depends
from starlette.requests import Request

from ocucb.service.access import Access, ApiKey
from ocucb.service.callers import LoopCaller
from ocucb.service.engine import Engine
from ocucb.service.errors import UnavailableError
from ocucb.service.node_directory import NodeDirectory
from ocucb.service.settings import Settings
from ocucb.service.stores import Store
from ocucb.service.web.errors import Refusal
from ocucb.service.web.forwarding import HOME_SECONDS, Forwarder
from ocucb.service.web.metrics import Metrics
from ocucb.service.web.paths import Route, RouteMatch
from ocucb.service.web.tracing import Tracing

NO_KEY = ApiKey("", "no key", frozenset(), frozenset(), 0, None)
MAX_IDEMPOTENCY_KEY_LENGTH = 200
Done = TypeVar("Done")
CONTEXT = "ocucb.context"


@dataclass
class Service:
    """All that an app needs. Whoever makes it starts and closes it."""

    settings: Settings
    store: Store
    engine: Engine
    access: Access
    directory: NodeDirectory | None = None
    tracing: Tracing | None = None


class AppState:
    """What all requests of an app share. The engine can be asked when the app's event loop runs."""

    caller: LoopCaller
    forwarded_caller: LoopCaller
    forwarder: Forwarder | None = None

    def __init__(self, service: Service) -> None:
        self.service = service
        self.metrics = Metrics(service.engine, service.directory)

    def start(self) -> None:
        """Begin to ask the engine, and other nodes, from the running event loop."""
        request_timeout = self.service.settings.request_timeout
        self.caller = LoopCaller(self.service.engine, request_timeout, told_last=True)
        self.forwarded_caller = LoopCaller(self.service.engine, min(request_timeout, HOME_SECONDS))
        if self.service.directory is not None:
            self.forwarder = Forwarder(self.service.directory)
            self.service.engine.close_windows_at_home(self.service.directory.is_home)

    async def close(self) -> None:
        """Ask other nodes nothing more."""
        if self.forwarder is not None:
            await self.forwarder.close()

    async def with_timeout(self, work: Awaitable[Done]) -> Done:
        """Wait for work that does not go through the engine, but no longer than for that."""
        request_timeout = self.service.settings.request_timeout
        try:
            async with asyncio.timeout(request_timeout):
                return await work
        except TimeoutError:
            raise UnavailableError(f"no answer within {request_timeout:g} seconds; try again") from None

    async def in_thread(self, work: Callable[..., Done], *given: Any) -> Done:
        """Do in a thread what would stop all other requests, and wait for it as `with_timeout`."""
        return await self.with_timeout(asyncio.to_thread(work, *given))


class RecognisedKey(NamedTuple):
    """What a request said of its API key, the id of this, and what another node is told to which it is passed on."""

    authorization: bytes
    id: str
    headers: dict[bytes, bytes]


class RequestContext:
    """One request, as far as the gateway has looked at it: whose key, which headers, and the whole body."""

    __slots__ = (
        "app_state",
        "began",
        "body",
        "forwarded",
        "headers",
        "id",
        "key",
        "match",
        "reason",
        "recognised",
        "route",
        "span",
        "stays",
    )
    match: RouteMatch  # if it has a route
    began: float  # when it was there, by time.perf_counter

    def __init__(
        self, app_state: AppState, headers: dict[bytes, bytes], request_id: str, forwarded: bool = False
    ) -> None:
        self.app_state, self.headers, self.id, self.forwarded = app_state, headers, request_id, forwarded
        self.key, self.body, self.reason, self.stays = NO_KEY, b"", "", False
        self.route: Route | None = None
        self.recognised: RecognisedKey | None = None  # of a request that is served without ASGI
        self.span: Any = None  # of a trace, if there are traces

    @property
    def caller(self) -> LoopCaller:
        """Who asks the engine: another node that has passed the request on does not wait as long as others."""
        return self.app_state.forwarded_caller if self.forwarded else self.app_state.caller

    @property
    def forwarder(self) -> Forwarder | None:
        """Who can pass this request on: nobody, if it was passed on already, or came back unanswered."""
        return None if self.forwarded or self.stays else self.app_state.forwarder

    @property
    def experiment(self) -> str | None:
        """The experiment that its path names, if it does."""
        return None if self.route is None else self.match.parameters.get("name")

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
        if not 1 <= len(text) <= MAX_IDEMPOTENCY_KEY_LENGTH or not text.isascii() or not text.isprintable():
            raise Refusal(422, f"Idempotency-Key must be 1 to {MAX_IDEMPOTENCY_KEY_LENGTH} printable ASCII characters")
        return text


def context_of(request: Request) -> RequestContext:
    """Return what the gateway knows of a request."""
    context: RequestContext = request.scope[CONTEXT]
    return context


Context = Annotated[RequestContext, Depends(context_of)]
"""The same, for the signature of a route."""
