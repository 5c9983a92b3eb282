"""What is written in one turn of the loop is sent in one piece, in order, and none of it is lost or piles up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, cast

from ocucb.service.connections import MAX_JOINED_BYTES, JoinedWrites


class Transport:
    """Notes what is sent."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        assert not self.closed
        self.sent.append(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


def in_loop(test: Callable[[Any, Transport], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """Run a test in an event loop, with a transport and what writes to it."""

    async def run() -> None:
        transport = Transport()
        await test(JoinedWrites(cast("asyncio.Transport", transport)), transport)

    return lambda: asyncio.run(run())


@in_loop
async def test_head_and_body_are_one_piece(writes: Any, transport: Transport) -> None:
    for turn in (b"1", b"2"):
        writes.write(b"head " + turn)
        writes.write(b" body")
        await asyncio.sleep(0)
    assert transport.sent == [b"head 1 body", b"head 2 body"]


@in_loop
async def test_a_stream_does_not_pile_up(writes: Any, transport: Transport) -> None:
    """It may be written for long without a turn of the loop, and must learn that its reader is slow."""
    for _ in range(3):
        writes.write(b"a" * MAX_JOINED_BYTES)
        writes.write(b"b")
    assert transport.sent == [b"a" * MAX_JOINED_BYTES + b"b"] * 3
    await asyncio.sleep(0)
    assert len(transport.sent) == 3


@in_loop
async def test_what_was_written_is_sent_before_the_end(writes: Any, transport: Transport) -> None:
    writes.write(b"last")
    assert not writes.is_closing()
    writes.close()
    assert transport.sent == [b"last"]
    assert writes.is_closing()
    await asyncio.sleep(0)
    assert transport.sent == [b"last"]
