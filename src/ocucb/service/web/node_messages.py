"""What nodes say to each other: messages of many requests, or of many answers, over a connection that stays open.

A message is two lengths of four bytes, that of its heads and that of its texts. Each request, and each answer, has a
head of the same size, with its number and the lengths of its texts; these follow, one after the other. An answer has
the number of its request.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

MAX_HEAD_BYTES = 4_000_000
MAX_REQUEST_BYTES = 2_000_000  # of the texts of a message of requests, which anybody can send
MAX_ANSWER_BYTES = 64_000_000  # of those of answers
_LENGTHS = struct.Struct("!II")
_REQUEST_HEAD = struct.Struct("!IIIII")  # its number; the lengths of path, id, headers and body
_ANSWER_HEAD = struct.Struct("!IH?II")  # its number, its status, `not_stored`; the lengths of headers and body


class ForwardedRequest(NamedTuple):
    """A request that is passed on: where to, how it is called in logs, some of its headers, and its body."""

    path: bytes
    request_id: bytes
    headers: dict[bytes, bytes]
    body: bytes


class HttpAnswer(NamedTuple):
    """What the home answered. If `not_stored`, it has not done what was asked, and will not."""

    status: int
    body: bytes
    headers: dict[str, str]
    not_stored: bool = False


def pack_requests(requests: Iterable[tuple[int, ForwardedRequest]]) -> bytes:
    """Return a message of requests and their numbers."""
    heads: list[bytes] = []
    texts: list[bytes] = []
    last: dict[bytes, bytes] = {}
    lines = b""
    for number, (path, request_id, headers, body) in requests:
        if headers is not last:  # most are of the same caller
            last, lines = headers, _pack_headers(headers)
        heads.append(_REQUEST_HEAD.pack(number, len(path), len(request_id), len(lines), len(body)))
        texts += (path, request_id, lines, body)
    return _pack(heads, texts)


def pack_answers(answers: Iterable[tuple[int, HttpAnswer]]) -> bytes:
    """Return a message of answers, with the numbers of what they answer."""
    heads: list[bytes] = []
    texts: list[bytes] = []
    for number, (status, body, headers, not_stored) in answers:
        lines = _pack_headers({name.encode(): value.encode() for name, value in headers.items()}) if headers else b""
        heads.append(_ANSWER_HEAD.pack(number, status, not_stored, len(lines), len(body)))
        texts += (lines, body)
    return _pack(heads, texts)


def _pack(heads: list[bytes], texts: list[bytes]) -> bytes:
    head, text = b"".join(heads), b"".join(texts)
    return b"".join((_LENGTHS.pack(len(head), len(text)), head, text))


def _pack_headers(headers: dict[bytes, bytes]) -> bytes:
    return b"\n".join([b"%b:%b" % pair for pair in headers.items()])


def _read_headers(lines: bytes) -> dict[bytes, bytes]:
    headers = {}
    for line in lines.split(b"\n") if lines else ():
        name, colon, value = line.partition(b":")
        if not colon:
            raise ValueError(f"a header must have a colon, got {line[:50]!r}")
        headers[name] = value
    return headers


class MessageReader:
    """Finds the messages in what arrives piece by piece, with texts of at most so many bytes each.

    ValueError if it is something else.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._arrived, self._wanted = bytearray(), 0
        self._lines = b""  # the headers of the last request, as they were sent and as they were read
        self._headers: dict[bytes, bytes] = {}

    def read_requests(self, data: bytes) -> Iterator[list[tuple[int, ForwardedRequest]]]:
        """Yield the requests of each message that is whole now."""
        for heads, texts in self._messages(data):
            requests: list[tuple[int, ForwardedRequest]] = []
            begin = 0
            for number, path, request_id, headers, body in _heads(_REQUEST_HEAD, heads):
                named = begin + path
                headed = named + request_id
                told = headed + headers
                end = told + body
                if texts[headed:told] != self._lines:  # most are of the same caller
                    self._headers = _read_headers(texts[headed:told])
                    self._lines = texts[headed:told]
                request = ForwardedRequest(texts[begin:named], texts[named:headed], self._headers, texts[told:end])
                requests.append((number, request))
                begin = end
            _check_end(begin, texts)
            yield requests

    def read_answers(self, data: bytes) -> Iterator[list[tuple[int, HttpAnswer]]]:
        """Yield the answers of each message that is whole now."""
        for heads, texts in self._messages(data):
            answers: list[tuple[int, HttpAnswer]] = []
            begin = 0
            for number, status, not_stored, headers, body in _heads(_ANSWER_HEAD, heads):
                told = begin + headers
                given = _read_headers(texts[begin:told]) if headers else {}
                plain = {name.decode(): value.decode() for name, value in given.items()} if given else {}
                begin = told + body
                answers.append((number, HttpAnswer(status, texts[told:begin], plain, bool(not_stored))))
            _check_end(begin, texts)
            yield answers

    def _messages(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        if self._arrived:
            self._arrived += data
            if len(self._arrived) < self._wanted:
                return
            data = bytes(self._arrived)
            self._arrived.clear()
        begin, size = 0, len(data)
        self._wanted = _LENGTHS.size
        while size - begin >= _LENGTHS.size:
            head, text = _LENGTHS.unpack_from(data, begin)
            if head > MAX_HEAD_BYTES or text > self._most:
                raise ValueError(f"a message of {head} and {text} bytes is too long")
            middle = begin + _LENGTHS.size + head
            end = middle + text
            if end > size:
                self._wanted = end - begin
                break
            yield data[begin + _LENGTHS.size : middle], data[middle:end]
            begin = end
        self._arrived += data[begin:]


def _heads(kind: struct.Struct, heads: bytes) -> Iterator[tuple[int, ...]]:
    if len(heads) % kind.size:
        raise ValueError(f"a message has heads of {len(heads)} bytes, and each has {kind.size}")
    return kind.iter_unpack(heads)


def _check_end(end: int, texts: bytes) -> None:
    if end != len(texts):
        raise ValueError(f"a message has texts of {len(texts)} bytes, and names {end}")
