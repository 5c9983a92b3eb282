"""Nothing is unbounded: how large, how often, how slow, how many."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import httpx
import pytest

from ocucb.service.web import limits
from ocucb.service.web.errors import Refusal
from ocucb.service.web.limits import TokenBuckets, network_of, read_body
from service.helpers import PATIENCE
from service.server import NO_TLS
from service.web.api import Api, check_error

DECIDE = "/v1/experiments/colours/decisions"
JSON = {"Content-Type": "application/json"}
MEGABYTE = 1_000_000


def test_a_large_body_is_refused(lasting: Api) -> None:
    body = b'{"unit": "' + b"x" * (10 * MEGABYTE) + b'"}'
    for path in (DECIDE, "/v1/rewards", "/v1/keys", "/v1/experiments/colours/arms"):
        error = check_error(lasting.http.post(path, content=body, headers=JSON), 413, "too-large")
        assert "1000000" in error["message"]
    lasting.verify()


def test_a_large_body_in_pieces_is_refused(lasting: Api) -> None:
    """Nobody has said how large it will be."""

    def pieces() -> Iterator[bytes]:
        yield b'{"unit": "'
        for _ in range(100):
            yield b"x" * (MEGABYTE // 10)

    check_error(lasting.http.post(DECIDE, content=pieces(), headers=JSON), 413, "too-large")
    lasting.verify()


def test_a_small_body_in_pieces_is_read(lasting: Api) -> None:
    pieces = (bytes([byte]) for byte in b'{"count": 3}')
    answer = lasting.http.post(DECIDE, content=pieces, headers=JSON)
    assert len(answer.json()["decisions"]) == 3


def test_experiments_and_logs_may_be_larger(serve: Callable[..., Api]) -> None:
    api = serve(max_body_bytes=2000, max_import_bytes=100_000)
    arms = [f"arm {number:04d}" for number in range(1000)]
    api.create(arms=arms)
    log = {"log": [{"arm": arm, "reward": 1} for arm in arms]}
    assert api.http.post("/v1/experiments/colours/import", json=log).status_code == 200
    check_error(api.http.post("/v1/rewards", json=log), 413)
    check_error(api.http.post("/v1/experiments", json={"name": "x", "arms": ["x" * 100_000]}), 413)


def test_nobody_without_a_key_can_send_a_body(lasting: Api) -> None:
    """A stranger is refused before the body is read."""
    with lasting.raw() as connection:
        connection.sendall(b"POST /v1/rewards HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
        assert connection.recv(12) == b"HTTP/1.1 401"


def test_a_slow_body_is_not_waited_for(serve: Callable[..., Api]) -> None:
    api = serve(request_timeout=0.2)
    with api.raw() as connection:
        head = f"POST /v1/rewards HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {api.admin}\r\nContent-Length: 9\r\n\r\n"
        connection.sendall(head.encode() + b"{")
        assert connection.recv(12) == b"HTTP/1.1 408"


def test_a_caller_who_goes_away_harms_nobody(lasting: Api) -> None:
    for reset in (False, True):
        with lasting.raw() as connection:
            head = f"POST {DECIDE} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {lasting.admin}\r\n"
            connection.sendall(f"{head}Content-Length: 100\r\n\r\n".encode() + b"{")
            if reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    lasting.verify()


def test_a_key_has_its_rate(serve: Callable[..., Api]) -> None:
    api = serve(rate_limit=5)
    hasty, calm = api.client(api.key("read")), api.client(api.key("read"))
    answers = [hasty.get("/v1/experiments") for _ in range(30)]
    refused = [answer for answer in answers if answer.status_code != 200]
    assert refused
    for answer in refused:
        check_error(answer, 429, "too-many-requests")
        assert int(answer.headers["retry-after"]) >= 1
    assert calm.get("/v1/experiments").status_code == 200, "another key has its own"
    assert hasty.get("/healthz").status_code == 200


def test_wrong_keys_are_limited_by_address(serve: Callable[..., Api]) -> None:
    api = serve()
    stranger = api.client("ocucb_aaaaaaaaaaaa_" + "x" * 43)
    answers = [stranger.get("/v1/experiments") for _ in range(200)]
    statuses = {answer.status_code for answer in answers}
    assert statuses == {401, 429}
    last = next(answer for answer in reversed(answers) if answer.status_code == 429)
    assert int(last.headers["retry-after"]) >= 1
    assert api.http.get("/v1/experiments").status_code == 200, "a valid key from the same address goes on"


def test_buckets_fill_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: now))
    buckets = TokenBuckets(rate=2.0, most=3.0)
    assert [buckets.take("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    assert buckets.take("b") == 0.0
    now = 100.25
    assert buckets.take("a") == 0.25
    now = 100.5
    assert [buckets.take("a") for _ in range(2)] == [0.0, 0.5]
    now = 1000.0
    assert [buckets.take("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]


def test_buckets_are_not_kept_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_TOKEN_BUCKETS", 10)
    buckets = TokenBuckets(rate=0.001, most=1.0)
    granted = 0
    for number in range(100):
        buckets.take(str(number))
        granted += buckets.take("often") == 0.0
    assert len(buckets._full_at) == 10
    assert granted == 1, "who asks again and again is not forgotten"


@pytest.mark.parametrize(
    ("client", "name"),
    [
        (("192.0.2.7", 1), "192.0.2.7"),
        (("2001:db8:1:2:3:4:5:6", 1), "2001:db8:1:2::/64"),
        (("2001:db8:1:2::ffff", 1), "2001:db8:1:2::/64"),
        (("::ffff:192.0.2.7", 1), "192.0.2.7"),
        (None, ""),
        (("x" * 1000, 1), "x" * 100),
    ],
)
def test_whose_address_it_is(client: tuple[str, int] | None, name: str) -> None:
    assert network_of(client) == name


@pytest.mark.parametrize("pieces", [[b"x" * 10], [b"x" * 4, b"x" * 6], [b"x"] * 10])
def test_a_body_of_the_largest_size_is_read_and_one_byte_more_is_not(pieces: list[bytes]) -> None:
    def read(pieces: list[bytes], said: bytes | None) -> bytes:
        left = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
        left[-1]["more_body"] = False

        async def receive() -> dict[str, object]:
            return left.pop(0)

        headers = {b"transfer-encoding": b"chunked"} if said is None else {b"content-length": said}
        return asyncio.run(read_body(receive, headers, 10, PATIENCE))

    assert read(pieces, None) == read(pieces, b"10") == b"x" * 10
    for said in (None, b"11", b"1_0", b"-1"):
        with pytest.raises(Refusal, match="10 bytes or less"):
            read([*pieces, b"x"], said)


def test_many_at_once(lasting: Api) -> None:
    """Requests of many connections share rounds, and every one is answered."""
    answers: list[httpx.Response] = []

    def call() -> None:
        with httpx.Client(base_url=lasting.url, headers=lasting.http.headers, timeout=PATIENCE, verify=NO_TLS) as one:
            for _ in range(20):
                answers.append(one.post(DECIDE))  # noqa: PERF401  # what came so far is kept if one fails

    callers = [threading.Thread(target=call) for _ in range(16)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    ids = {answer.json()["decisions"][0]["id"] for answer in answers}
    assert len(ids) == 320
    lasting.verify()


def test_requests_in_a_row_on_one_connection(lasting: Api) -> None:
    """Also when they are sent without waiting for answers."""
    body = json.dumps({"count": 1}).encode()
    head = f"POST {DECIDE} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {lasting.admin}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    with lasting.raw() as connection:
        connection.sendall((head.encode() + b"\r\n" + body) * 4)
        connection.sendall(head.encode() + b"Connection: close\r\n\r\n" + body)
        data = b""
        while piece := connection.recv(65536):
            data += piece
    assert data.count(b"HTTP/1.1 200") == 5


def test_a_key_has_its_rate_on_the_page_too(serve: Callable[..., Api], monkeypatch: pytest.MonkeyPatch) -> None:
    api = serve(rate_limit=3)
    hasty, calm = api.client(), api.client()
    for visitor in (hasty, calm):
        assert visitor.post("/login", data={"key": api.key("read")}).status_code == 303
    now = time.monotonic() + 60.0  # all buckets are full, and stay so until somebody takes
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: now))
    assert [hasty.get("/").status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = hasty.get("/live")
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) >= 1
    assert calm.get("/").status_code == 200, "another key has its own"
