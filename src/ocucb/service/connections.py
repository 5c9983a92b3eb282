"""Connections that cannot be held for ever: a request must arrive within a time, and its head within a size.

What is answered here, before the app is asked, has the shape of all errors. Requests of the hot routes are handed to
the gateway as soon as they have come whole, and its answers sent as they are: ASGI costs as much as a decision.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Protocol, cast

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

MAX_HEAD_BYTES = 65_536  # request line and headers
MAX_JOINED_BYTES = 16_384
MAX_ARRIVAL_SECONDS = 60.0  # for a whole request, from its first byte or from when the connection was made
BODY_SECONDS = 0.05  # for a body to follow its head; if it takes longer, ASGI waits for it
FORWARDED = b"/v1/forwarded"  # where another node passes on requests
DIRECT = "ocucb.direct"  # the gateway, in the state that the app shares with its server


def chunk(message: bytes) -> bytes:
    """Return a message as a piece of a body that does not end."""
    return b"%x\r\n%b\r\n" % (len(message), message)


class JoinedWrites:
    """A transport that sends what is written in one turn of the loop in one piece: head and body of an answer.

    Each piece is a call of the system, which takes as long as a twentieth of a decision.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._written: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send this, after what was written before: at the end of the turn, or at once if it has become much."""
        if not self._written:
            self._loop.call_soon(self._send)
        self._written.append(data)
        self._size += len(data)
        if self._size > MAX_JOINED_BYTES:
            self._send()

    def send(self, data: bytes) -> None:
        """Send a whole answer, after what was written before."""
        if self._written:
            self._written.append(data)
            self._send()
        else:
            self._transport.write(data)

    def close(self) -> None:
        """Close the connection when all is sent."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        written, self._written, self._size = self._written, [], 0
        if written:
            self._transport.write(b"".join(written))


class DirectServer(Protocol):
    """The gateway, as far as connections know it."""

    def begin_direct(self, url: bytes, headers: list[tuple[bytes, bytes]], recognised: Any) -> Any:
        """Return a POST that can be served without ASGI; None if it cannot. `recognised` is that of the last one."""

    def serve_direct(self, context: Any, respond: Callable[[int, bytes, bytes], None]) -> None:
        """Serve it once its body is there, and give the answer to `respond`: status, headers as sent, and body."""

    def open_forwarded(self, send: Callable[[bytes], None], close: Callable[[], None]) -> Any:
        """Return what takes requests that another node passes on, and sends their answers."""


class _NoEvent:
    """What nobody waits for."""

    def set(self) -> None:
        """Wake nobody."""


class DirectCycle:
    """A request under way that has no ASGI, in the places where uvicorn keeps its own and their tasks."""

    __slots__ = ("connection", "disconnected", "keep_alive", "response_complete")
    message_event = _NoEvent()

    def __init__(self, connection: Connection, keep_alive: bool) -> None:
        self.connection, self.keep_alive = connection, keep_alive
        self.disconnected = self.response_complete = False

    def respond(self, status: int, headers: bytes, body: bytes) -> None:
        """Send the answer, if somebody is still there."""
        self.connection.tasks.discard(self)
        if not self.disconnected:
            self.connection.send_direct(self, status, headers, body)

    def cancel(self, msg: str | None = None) -> None:
        """Answer no more: the server has waited long enough for it."""
        self.disconnected = True


class Connection(HttpToolsProtocol):
    """Notes when a request began to arrive, and refuses a head that does not end."""

    _began: float | None = None
    _head: int | None = 0
    _direct: Any = None  # a request that ASGI need not know, while its body arrives
    _recognised: Any = None  # the key of the last such request
    _forwarded: Any = None  # requests that another node passes on, in a body that does not end
    _body_timer: asyncio.TimerHandle | None = None
    _idle_since: float | None = None  # a direct request was answered

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._writes = JoinedWrites(transport)
        super().connection_made(cast("asyncio.Transport", self._writes))
        self._server: DirectServer | None = self.app_state.get(DIRECT)
        self._began = time.monotonic()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._direct is not None:
            self._forget_direct()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        self._began, self._head = time.monotonic(), 0
        self.url, self.headers, self.expect_100_continue = b"", [], False

    def on_headers_complete(self) -> None:
        self._head = None
        if (
            self._server is not None
            and (self.cycle is None or self.cycle.response_complete)
            and self.parser.get_method() == b"POST"
            and not self._is_full()
        ):
            if self.url == FORWARDED:
                self._open_forwarded(self._server)
                return
            self._direct = self._server.begin_direct(self.url, self.headers, self._recognised)
        if self._direct is None:
            self._start_asgi()

    def _open_forwarded(self, server: DirectServer) -> None:
        """Let another node pass on requests, and answer each when it is done, until one of the two ends it."""
        self._began = None
        self._forwarded = server.open_forwarded(self._send_chunk, self.transport.close)
        self._writes.send(STATUS_LINE[200] + b"transfer-encoding: chunked\r\n\r\n")

    def _send_chunk(self, message: bytes) -> None:
        if not self.transport.is_closing():
            self._writes.send(chunk(message))

    def shutdown(self) -> None:
        if self._forwarded is None:
            super().shutdown()
        else:
            self._forwarded.end()

    def _is_full(self) -> bool:
        most = self.limit_concurrency
        return most is not None and max(len(self.connections), len(self.tasks)) >= most

    def _start_asgi(self) -> None:
        most, app = self.limit_concurrency, self.app
        if self._is_full():
            self.limit_concurrency, self.app = None, _busy
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()  # only ASGI has a scope
        self.url, self.expect_100_continue = url, expects
        self.headers += headers
        try:
            super().on_headers_complete()
        finally:
            self.limit_concurrency, self.app = most, app

    def on_body(self, body: bytes) -> None:
        if self._direct is not None:
            self._direct.body += body
        elif self._forwarded is not None:
            try:
                self._forwarded.take(body)
            except ValueError:  # these are no messages of a node
                self.transport.close()
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._began = None
        if self._forwarded is not None:
            self._forwarded.end()
            return
        if self._direct is None:
            super().on_message_complete()
            return
        context = self._forget_direct()
        self._recognised = context.recognised
        self.cycle = cycle = DirectCycle(self, self.parser.should_keep_alive())  # type: ignore[assignment]
        self.tasks.add(cycle)  # type: ignore[arg-type]
        self._server.serve_direct(context, cycle.respond)  # type: ignore[union-attr]

    def _forget_direct(self) -> Any:
        context, self._direct = self._direct, None
        if self._body_timer is not None:
            self._body_timer.cancel()
            self._body_timer = None
        return context

    def _wait_in_asgi(self) -> None:
        """Let ASGI wait for a body that is slow: it knows for how long, and what to say then."""
        context = self._forget_direct()
        self._start_asgi()
        if context.body:
            super().on_body(context.body)

    def send_direct(self, cycle: DirectCycle, status: int, headers: bytes, body: bytes) -> None:
        """Send the answer to a request that has no ASGI."""
        ours = _default_lines(*self.server_state.default_headers)
        end = b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n"
        self._writes.send(b"".join((STATUS_LINE[status], ours, headers, end, body)))
        cycle.response_complete = True
        if not cycle.keep_alive:
            self.transport.close()
        if self.pipeline:
            self.on_response_complete()
        else:
            self.server_state.total_requests += 1
            self._idle_since = time.monotonic()

    def send_400_response(self, msg: str) -> None:
        body = _error("bad-http", msg)
        head = f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(b"HTTP/1.1 400 Bad Request\r\n" + head.encode() + body)
        self.transport.close()

    def data_received(self, data: bytes) -> None:
        self._idle_since = None
        super().data_received(data)
        if self._direct is not None and self._body_timer is None:
            self._body_timer = self.loop.call_later(BODY_SECONDS, self._wait_in_asgi)
        if self._head is not None and self._began is not None:
            self._head += len(data)
            if self._head > MAX_HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response(f"The head of a request must be {MAX_HEAD_BYTES} bytes or less.")

    def is_late(self, now: float) -> bool:
        """Tell whether a request has been arriving for too long, or none has come for too long."""
        if self._forwarded is not None:
            return bool(self._forwarded.is_idle)
        if self._idle_since is not None and now - self._idle_since > self.timeout_keep_alive:
            return True
        return self._began is not None and now - self._began > MAX_ARRIVAL_SECONDS


@lru_cache(4)  # one of them is the date, so they change once a second
def _default_lines(*headers: tuple[bytes, bytes]) -> bytes:
    return b"".join([b"%s: %s\r\n" % pair for pair in headers])


async def _busy(scope: Scope, receive: Receive, send: Send) -> None:
    body = _error("busy", "too many connections are open; not stored, try again")
    head = {"content-type": "application/json", "content-length": str(len(body)), "retry-after": "1"}
    headers = [(name.encode(), value.encode()) for name, value in {**head, "connection": "close"}.items()]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _error(code: str, message: str) -> bytes:
    error = {"code": code, "message": message, "request_id": secrets.token_hex(8)}
    return json.dumps({"error": error}).encode()


def close_late(connections: Iterable[object]) -> None:
    """Close the connections on which a request has been arriving for too long."""
    now = time.monotonic()
    for connection in list(connections):
        if isinstance(connection, Connection) and connection.is_late(now):
            connection.transport.close()
