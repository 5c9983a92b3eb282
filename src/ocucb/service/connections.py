"""Connections that cannot be held for ever: a request must arrive within a time, and its head within a size.

What is answered here, before the app is asked, has the shape of all errors.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Iterable
from typing import Any, cast

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD_BYTES = 65_536  # request line and headers
MAX_JOINED_BYTES = 16_384
MAX_ARRIVAL_SECONDS = 60.0  # for a whole request, from its first byte or from when the connection was made


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

    def close(self) -> None:
        """Close the connection when all is sent."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        written, self._written, self._size = self._written, [], 0
        if written:
            self._transport.write(b"".join(written))


class Connection(HttpToolsProtocol):
    """Notes when a request began to arrive, and refuses a head that does not end."""

    _began: float | None = None
    _head: int | None = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(cast("asyncio.Transport", JoinedWrites(transport)))
        self._began = time.monotonic()

    def on_message_begin(self) -> None:
        self._began, self._head = time.monotonic(), 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head = None
        most, app = self.limit_concurrency, self.app
        if most is not None and max(len(self.connections), len(self.tasks)) >= most:
            self.limit_concurrency, self.app = None, _busy
        try:
            super().on_headers_complete()
        finally:
            self.limit_concurrency, self.app = most, app

    def send_400_response(self, msg: str) -> None:
        body = _error("bad-http", msg)
        head = f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(b"HTTP/1.1 400 Bad Request\r\n" + head.encode() + body)
        self.transport.close()

    def on_message_complete(self) -> None:
        self._began = None
        super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head is not None and self._began is not None:
            self._head += len(data)
            if self._head > MAX_HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response(f"The head of a request must be {MAX_HEAD_BYTES} bytes or less.")

    def is_late(self, now: float) -> bool:
        """Tell whether a request has been arriving for too long."""
        return self._began is not None and now - self._began > MAX_ARRIVAL_SECONDS


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
