"""Messages between nodes: whole or in pieces they say the same, and what is none is refused."""

from __future__ import annotations

import socket
import struct

import pytest

from ocucb.service.web import node_messages
from ocucb.service.web.node_messages import ForwardedRequest, HttpAnswer, MessageReader, pack_answers, pack_requests
from service.web.api import Api

MOST = node_messages.MAX_REQUEST_BYTES
REQUESTS = [
    (1, ForwardedRequest(b"/v1/rewards", b"a", {b"authorization": b"Bearer \xe9: x", b"tracestate": b""}, b"\x00{}")),
    (2, ForwardedRequest("/v1/experiments/zwölf/decisions".encode(), b"b", {}, b"")),
    (2**32 - 1, ForwardedRequest(b"", b"c", {b"authorization": b"Bearer \xe9"}, b"")),
]
ANSWERS = [(2, HttpAnswer(200, b"{}", {})), (1, HttpAnswer(503, b"no", {"Retry-After": "1"}, not_stored=True))]


@pytest.mark.parametrize("size", [1, 3, 7, 8, 50, 10_000])
def test_pieces_of_any_size(size: int) -> None:
    data = pack_requests(REQUESTS) + pack_requests([]) + pack_requests(REQUESTS[1:]) + pack_requests(REQUESTS[:1])
    reader = MessageReader(MOST)
    pieces = [data[begin : begin + size] for begin in range(0, len(data), size)]
    found = [message for piece in pieces for message in reader.read_requests(piece)]
    assert found == [REQUESTS, [], REQUESTS[1:], REQUESTS[:1]]


def test_answers() -> None:
    data = pack_answers(ANSWERS)
    reader = MessageReader(MOST)
    assert list(reader.read_answers(data[:20])) == []
    assert list(reader.read_answers(data[20:] + data)) == [ANSWERS, ANSWERS]


def framed(head: bytes, texts: bytes = b"") -> bytes:
    return struct.pack("!II", len(head), len(texts)) + head + texts


def head(path: int, request_id: int, headers: int, body: int) -> bytes:
    return struct.pack("!IIIII", 1, path, request_id, headers, body)


@pytest.mark.parametrize(
    "data",
    [
        framed(b"["),
        framed(head(0, 0, 0, 0)[:-1]),
        framed(head(0, 0, 0, 0) + b"x"),
        framed(head(1, 0, 0, 0)),
        framed(head(1, 0, 0, 2), b"/x"),
        framed(head(1, 0, 0, 2**32 - 1), b"/x"),
        framed(head(0, 0, 0, 0), b"x"),
        framed(head(1, 1, 0, 1) * 2, b"/ix/i"),
        framed(head(1, 1, 2, 0), b"/iab"),
        framed(head(1, 1, 4, 0), b"/ia:b\n"),
        struct.pack("!II", node_messages.MAX_HEAD_BYTES + 1, 0),
        struct.pack("!II", 0, MOST + 1),
        b"GET / HTTP/1.1\r\n",
    ],
)
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"a message|a header"):
        list(MessageReader(MOST).read_requests(data))


def test_headers_that_cannot_be_read_are_never_others() -> None:
    """Not even if what comes after them is read, which it is until the connection is closed."""
    reader = MessageReader(MOST)
    assert list(reader.read_requests(pack_requests(REQUESTS[:1]))) == [REQUESTS[:1]]
    for _ in range(2):
        with pytest.raises(ValueError, match="a header"):
            list(reader.read_requests(framed(head(1, 1, 2, 0), b"/iab")))


@pytest.mark.parametrize("body", [b"garbage, and not as nodes speak", framed(b"{}")])
def test_who_speaks_otherwise_is_hung_up_on(api: Api, body: bytes) -> None:
    """Nobody needs a key to come so far."""
    url = api.http.base_url
    with socket.create_connection((url.host, url.port or 80), timeout=20.0) as connection:
        connection.sendall(b"POST /v1/forwarded HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
        connection.sendall(b"%x\r\n%b\r\n" % (len(body), body))
        said = b""
        while piece := connection.recv(1000):
            said += piece
    assert said.startswith(b"HTTP/1.1 200")
    assert said.endswith(b"\r\n\r\n")
    assert api.http.get("/healthz").status_code == 200
