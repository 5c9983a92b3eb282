"""What nodes say to each other: messages of many requests, or of many answers, over a connection that stays open.

A message is two lengths of four bytes, a head of JSON and the bodies, one after the other. Each request has a number,
and its answer has the same.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import to_json

MAX_HEAD_BYTES = 4_000_000
MAX_REQUEST_BYTES = 2_000_000  # of the bodies of a message of requests, which anybody can send
MAX_ANSWER_BYTES = 64_000_000  # of those of answers
_LENGTHS = struct.Struct("!II")


class Forwarded(NamedTuple):
    """A request that is passed on: where to, how it is called in logs, some of its headers, and its body."""

    path: str
    request_id: str
    headers: dict[str, str]
    body: bytes


class Answered(NamedTuple):
    """What the home answered. If `not_stored`, it has not done what was asked, and will not."""

    status: int
    body: bytes
    headers: dict[str, str]
    not_stored: bool = False


_Length = Annotated[int, Field(ge=0)]
_REQUESTS = TypeAdapter(list[tuple[int, str, str, dict[str, str], _Length]])
_ANSWERS = TypeAdapter(list[tuple[int, int, dict[str, str], bool, _Length]])


def pack_requests(requests: Iterable[tuple[int, Forwarded]]) -> bytes:
    """Return a message of requests and their numbers."""
    head, bodies = [], []
    for number, (path, request_id, headers, body) in requests:
        head.append((number, path, request_id, headers, len(body)))
        bodies.append(body)
    return _pack(head, bodies)


def pack_answers(answers: Iterable[tuple[int, Answered]]) -> bytes:
    """Return a message of answers, with the numbers of what they answer."""
    head, bodies = [], []
    for number, (status, body, headers, not_stored) in answers:
        head.append((number, status, headers, not_stored, len(body)))
        bodies.append(body)
    return _pack(head, bodies)


def _pack(head: Sequence[tuple[Any, ...]], bodies: Sequence[bytes]) -> bytes:
    text, body = to_json(head), b"".join(bodies)
    return b"".join((_LENGTHS.pack(len(text), len(body)), text, body))


class MessageReader:
    """Finds the messages in what arrives piece by piece, with bodies of at most so many bytes each.

    ValueError if it is something else.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._arrived, self._wanted = bytearray(), 0

    def read_requests(self, data: bytes) -> Iterator[list[tuple[int, Forwarded]]]:
        """Yield the requests of each message that is whole now."""
        for head, body in self._messages(data):
            items = _validate(_REQUESTS, head)
            pieces = _split(body, [item[-1] for item in items])
            yield [
                (number, Forwarded(path, request_id, headers, piece))
                for (number, path, request_id, headers, _), piece in zip(items, pieces, strict=True)
            ]

    def read_answers(self, data: bytes) -> Iterator[list[tuple[int, Answered]]]:
        """Yield the answers of each message that is whole now."""
        for head, body in self._messages(data):
            items = _validate(_ANSWERS, head)
            pieces = _split(body, [item[-1] for item in items])
            yield [
                (number, Answered(status, piece, headers, not_stored))
                for (number, status, headers, not_stored, _), piece in zip(items, pieces, strict=True)
            ]

    def _messages(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        if self._arrived:
            self._arrived += data
            if len(self._arrived) < self._wanted:
                return
            data = bytes(self._arrived)
            self._arrived.clear()
        begin = 0
        while (wanted := _size(data, begin, self._most)) <= len(data) - begin:
            middle = begin + _LENGTHS.size + _LENGTHS.unpack_from(data, begin)[0]
            end = begin + wanted
            yield data[begin + _LENGTHS.size : middle], data[middle:end]
            begin = end
        self._wanted = wanted
        self._arrived += data[begin:]


def _size(data: bytes, begin: int, most: int) -> int:
    """Return how many bytes the message has that begins here, as far as is known."""
    if len(data) - begin < _LENGTHS.size:
        return _LENGTHS.size
    head, body = _LENGTHS.unpack_from(data, begin)
    if head > MAX_HEAD_BYTES or body > most:
        raise ValueError(f"a message of {head} and {body} bytes is too long")
    return _LENGTHS.size + int(head) + int(body)


def _validate(kind: TypeAdapter[Any], head: bytes) -> Any:
    try:
        return kind.validate_json(head, strict=True)
    except ValidationError as problem:
        raise ValueError(f"a message cannot be read: {problem.errors()[0]['msg']}") from None


def _split(body: bytes, lengths: Sequence[int]) -> list[bytes]:
    pieces, begin = [], 0
    for length in lengths:
        pieces.append(body[begin : begin + length])
        begin += length
    if begin != len(body):
        raise ValueError(f"a message has bodies of {len(body)} bytes, and names {begin}")
    return pieces
