"""Asks another node: many requests in one, over a connection that stays open."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

import httptools

PATH = "/v1/forwarded"


class NodeClient:
    """A connection to one node: one request at a time. Whatever goes wrong is an OSError or a TimeoutError."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._host, self._port, self._name = parts.hostname or "", parts.port or 80, parts.netloc.encode()
        self._protocol: _Protocol | None = None

    async def post(self, body: bytes) -> bytes:
        """Send a body of JSON, and return what comes back."""
        protocol = self._protocol
        if protocol is None or protocol.lost:
            loop = asyncio.get_running_loop()
            _, protocol = await loop.create_connection(_Protocol, self._host, self._port)
            self._protocol = protocol
        try:
            status, answer = await protocol.ask(
                b"POST %s HTTP/1.1\r\nhost: %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
                % (PATH.encode(), self._name, len(body)),
                body,
            )
        except BaseException:
            self.close()  # an answer that comes late must not be taken for that to another request
            raise
        if status != 200:
            raise ConnectionError(f"the node answered {status}")
        return answer

    def close(self) -> None:
        """Close the connection."""
        if self._protocol is not None:
            self._protocol.close()
            self._protocol = None


class _Protocol(asyncio.Protocol):
    """Reads one answer after the other."""

    def __init__(self) -> None:
        self.lost = False
        self._transport: Any = None
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._pieces: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def connection_lost(self, problem: Exception | None) -> None:
        self.lost = True
        self._fail(problem or ConnectionResetError("the node closed the connection"))

    def ask(self, head: bytes, body: bytes) -> asyncio.Future[tuple[int, bytes]]:
        """Send a request; the future has the status and the body of its answer."""
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(head + body)
        return self._answer

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as problem:
            self._fail(ConnectionError(f"the node does not speak HTTP: {problem}"))
            self.close()

    def on_message_begin(self) -> None:
        self._pieces = []

    def on_body(self, piece: bytes) -> None:
        self._pieces.append(piece)

    def on_message_complete(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done():
            answer.set_result((self._parser.get_status_code(), b"".join(self._pieces)))
        if not self._parser.should_keep_alive():
            self.lost = True
            self.close()

    def close(self) -> None:
        self.lost = True
        self._transport.close()

    def _fail(self, problem: Exception) -> None:
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done():
            answer.set_exception(problem)
