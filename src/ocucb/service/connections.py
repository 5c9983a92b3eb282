"""Connections that cannot be held for ever: a request must arrive within a time, and its head within a size."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 65_536  # bytes of request line and headers
ARRIVAL = 60.0  # seconds for a whole request to arrive, from its first byte, or from when the connection was made


class Connection(HttpToolsProtocol):
    """Notes when a request began to arrive, and refuses a head that does not end."""

    _began: float | None = None
    _head: int | None = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._began = time.monotonic()

    def on_message_begin(self) -> None:
        self._began, self._head = time.monotonic(), 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head = None
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._began = None
        super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head is not None and self._began is not None:
            self._head += len(data)
            if self._head > LARGEST_HEAD and not self.transport.is_closing():
                self.send_400_response(f"The head of a request must be {LARGEST_HEAD} bytes or less.")

    def is_late(self, now: float) -> bool:
        """Tell whether a request has been arriving for too long."""
        return self._began is not None and now - self._began > ARRIVAL


def close_late(connections: Iterable[object]) -> None:
    """Close the connections on which a request has been arriving for too long."""
    now = time.monotonic()
    for connection in list(connections):
        if isinstance(connection, Connection) and connection.is_late(now):
            connection.transport.close()
