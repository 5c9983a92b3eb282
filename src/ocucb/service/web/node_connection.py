"""A connection to another node: one HTTP request and one answer that do not end, in which messages go both ways."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httptools

from ocucb.service.connections import FORWARDED, chunk
from ocucb.service.web.node_messages import MAX_ANSWER_BYTES, HttpAnswer, MessageReader

STATUS_OK = 200


class NodeConnection(asyncio.Protocol):
    """Sends requests, and gives their answers to `take`. If it is lost, `lose` is called with the reason."""

    def __init__(self, take: Callable[[list[tuple[int, HttpAnswer]]], None], lose: Callable[[Exception], None]) -> None:
        self.lost = False
        self._take, self._lose = take, lose
        self._transport: Any = None
        self._parser, self._reader = httptools.HttpResponseParser(self), MessageReader(MAX_ANSWER_BYTES)

    @classmethod
    async def open(
        cls, address: str, take: Callable[[list[tuple[int, HttpAnswer]]], None], lose: Callable[[Exception], None]
    ) -> NodeConnection:
        """Connect to a node."""
        parts = urlsplit(address)
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(lambda: cls(take, lose), parts.hostname or "", parts.port or 80)
        head = b"POST %b HTTP/1.1\r\nhost: %b\r\ntransfer-encoding: chunked\r\n\r\n" % (
            FORWARDED,
            parts.netloc.encode(),
        )
        connection._transport.write(head)
        return connection

    def send(self, message: bytes) -> None:
        """Send a message."""
        self._transport.write(chunk(message))

    def close(self) -> None:
        """Close the connection; nobody is told."""
        self.lost = True
        self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def connection_lost(self, problem: Exception | None) -> None:
        self._fail(problem or ConnectionResetError("the node closed the connection"))

    def data_received(self, data: bytes) -> None:
        if self.lost:
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, ValueError) as problem:
            self._fail(ConnectionError(f"the node does not speak as nodes do: {problem}"))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status != STATUS_OK:
            self._fail(ConnectionError(f"the node answered {status}"))

    def on_body(self, piece: bytes) -> None:
        if not self.lost:
            for answers in self._reader.read_answers(piece):
                self._take(answers)

    def on_message_complete(self) -> None:
        self._fail(ConnectionResetError("the node has ended its answer"))

    def _fail(self, problem: Exception) -> None:
        if not self.lost:
            self.close()
            self._lose(problem)
