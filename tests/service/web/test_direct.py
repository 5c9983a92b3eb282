"""Requests of the hot routes need no ASGI; a caller cannot tell."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from ocucb.service import connections
from ocucb.service.web.decisions import HOT_ROUTES
from ocucb.service.web.gateway import Gateway
from ocucb.service.web.limits import TokenBuckets
from ocucb.service.web.route_table import ROUTE_POLICIES
from service.web.api import Api

DECIDE = "POST /v1/experiments/colours/decisions HTTP/1.1"
CHANGING = re.compile(rb"(?i)(x-request-id|date): [^\r]*")


@pytest.fixture
def direct(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was served without ASGI."""
    served: list[Any] = []
    serve = Gateway.serve_direct

    def noted(self: Gateway, context: Any, respond: Any) -> None:
        served.append(context)
        serve(self, context, respond)

    monkeypatch.setattr(Gateway, "serve_direct", noted)
    return served


def request(api: Api, body: bytes = b"", *headers: str, line: str = DECIDE, key: str | None = None) -> bytes:
    lines = [line, "Host: x", f"Authorization: Bearer {key or api.admin}", "Content-Type: application/json", *headers]
    if "Transfer-Encoding: chunked" in headers:
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
    elif not line.endswith("1.0") or body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join((*lines, "", "")).encode() + body


def read(connection: Any) -> tuple[bytes, bytes]:
    """Read one answer: head and body."""
    got = b""
    while b"\r\n\r\n" not in got:
        got += (piece := connection.recv(1))
        assert piece, got
    length = int(re.search(rb"content-length: (\d+)", got)[1])  # type: ignore[index]
    body = b""
    while len(body) < length:
        body += connection.recv(length - len(body))
    return got, body


def plain(body: bytes) -> Any:
    """Return what an answer says, less what is different each time."""
    said = json.loads(body)
    for one in said.get("decisions", [said.get("error")]):
        for name in ("id", "at", "statistics", "arm", "request_id", "probability"):
            one.pop(name, None)
    return said


CASES = [
    (b"", "decide", DECIDE),
    (b'{"count": 2}', "decide", DECIDE),
    (b'{"count": 0}', "decide", DECIDE),
    (b"{", "decide", DECIDE),
    (b"", "read", DECIDE),
    (b"", "decide", DECIDE.replace("colours", "none")),
    (b'{"decision": "1-2-AAAAAAAAAAAAAAAAAAAAAA", "reward": 1}', "reward", "POST /v1/rewards HTTP/1.1"),
]


@pytest.mark.parametrize(("body", "role", "line"), CASES)
def test_the_answer_is_that_of_asgi(api: Api, direct: list[Any], body: bytes, role: str, line: str) -> None:
    api.create()
    key = api.key(role)
    answers = []
    with api.raw() as connection:
        for headers in ((), ("Transfer-Encoding: chunked",)):
            connection.sendall(request(api, body, *headers, line=line, key=key))
            answers.append(read(connection))
    assert len(direct) == 1
    heads = [CHANGING.sub(b"", head).lower() for head, _ in answers]
    assert re.sub(rb"content-length: \d+", b"", heads[0]) == re.sub(rb"content-length: \d+", b"", heads[1])
    assert plain(answers[0][1]) == plain(answers[1][1])


def test_requests_of_one_connection_may_have_different_keys(api: Api, direct: list[Any]) -> None:
    """A key that was recognised is remembered for its connection, and asked for each time."""
    api.create()
    reads, decides, one, two = api.key("read"), api.key("decide"), api.key("decide"), api.key("decide")
    with api.raw() as connection:
        for key, status in ((decides, 200), (decides, 200), (reads, 403), (reads, 403), (decides, 200)):
            connection.sendall(request(api, key=key))
            assert read(connection)[0].startswith(b"HTTP/1.1 %d " % status)
        assert len(direct) == 5
        for key, status in ((one, 200), (f"{one[:-1]}{'a' if one[-1] != 'a' else 'b'}", 401), (one, 200), ("", 401)):
            connection.sendall(request(api, key=key or "none"))
            assert read(connection)[0].startswith(b"HTTP/1.1 %d " % status)
        connection.sendall(request(api, key=two))
        assert read(connection)[0].startswith(b"HTTP/1.1 200 ")
        api.http.delete(f"/v1/keys/{two.split('_')[1]}").raise_for_status()
        connection.sendall(request(api, key=two))
        assert read(connection)[0].startswith(b"HTTP/1.1 401 ")


def test_what_takes_several_questions_is_answered_past_asgi_too(api: Api, direct: list[Any]) -> None:
    api.create()
    with api.raw() as connection:
        connection.sendall(request(api, b'{"units": ["a", "b"]}'))
        made = json.loads(read(connection)[1])["decisions"]
        assert [one["unit"] for one in made] == ["a", "b"]
        rewards = [{"decision": one["id"], "reward": 1} for one in made]
        connection.sendall(request(api, json.dumps({"rewards": rewards}).encode(), line="POST /v1/rewards HTTP/1.1"))
        assert [one["outcome"] for one in json.loads(read(connection)[1])["results"]] == ["counted", "counted"]
        connection.sendall(request(api, b'{"units": []}'))
        assert read(connection)[0].startswith(b"HTTP/1.1 422 ")
    assert len(direct) == 3


def test_hot_routes_need_a_key_and_are_called_by_the_gateway() -> None:
    for name in HOT_ROUTES:
        policy = ROUTE_POLICIES[name]
        assert policy.direct, name
        assert policy.role is not None, name


def test_a_media_type_and_a_rate_are_checked_as_ever(
    api: Api, direct: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    api.create()
    with api.raw() as connection:
        connection.sendall(request(api, b"{}").replace(b"application/json", b"text/plain"))
        assert read(connection)[0].startswith(b"HTTP/1.1 415 ")
        monkeypatch.setattr(TokenBuckets, "take", lambda buckets, name: 1.5)
        connection.sendall(request(api))
        head, body = read(connection)
    assert head.startswith(b"HTTP/1.1 429 ")
    assert b"retry-after: 2\r\n" in head
    assert json.loads(body)["error"]["code"] == "too-many-requests"
    assert len(direct) == 2


def test_a_body_may_follow_its_head(api: Api, direct: list[Any]) -> None:
    api.create()
    head, body = request(api, b'{"count": 2}')[:-12], b'{"count": 2}'
    with api.raw() as connection:
        connection.sendall(head)
        connection.sendall(body[:5])
        connection.sendall(body[5:])
        assert len(json.loads(read(connection)[1])["decisions"]) == 2


def test_asgi_waits_for_a_body_that_is_slow(api: Api, direct: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.0)
    api.create()
    head, body = request(api, b'{"count": 2}')[:-12], b'{"count": 2}'
    with api.raw() as connection:
        connection.sendall(head + body[:5])
        api.http.get("/healthz")  # by then the server has seen that the rest is missing
        connection.sendall(body[5:])
        assert len(json.loads(read(connection)[1])["decisions"]) == 2
        connection.sendall(request(api))
        assert len(json.loads(read(connection)[1])["decisions"]) == 1
    assert len(direct) == 1


def test_requests_in_a_row_are_answered_in_order(api: Api, direct: list[Any]) -> None:
    api.create()
    many = [request(api, b'{"count": %d}' % count) for count in (1, 2, 3)]
    with api.raw() as connection:
        connection.sendall(b"".join(many))
        counts = [len(json.loads(read(connection)[1])["decisions"]) for _ in many]
    assert counts == [1, 2, 3]
    assert len(direct) == 1  # the others were waiting behind it, in the row that uvicorn keeps


@pytest.mark.parametrize(("line", "headers"), [(DECIDE, ["Connection: close"]), (DECIDE.replace("1.1", "1.0"), [])])
def test_a_caller_may_end_it(api: Api, direct: list[Any], line: str, headers: list[str]) -> None:
    api.create()
    with api.raw() as connection:
        connection.sendall(request(api, b"", *headers, line=line))
        head, _ = read(connection)
        assert b"connection: close\r\n" in head
        assert connection.recv(1) == b""
    assert len(direct) == 1


def test_a_caller_who_leaves_harms_nobody(api: Api, direct: list[Any]) -> None:
    api.create()
    for part in (request(api), request(api, b"{}")[:-1]):
        with api.raw() as connection:
            connection.sendall(part)
    api.verify()
