"""Connections that break and services that are busy: a call is repeated until it is answered, and done once."""

from __future__ import annotations

import logging
import re
import socket
import time
import traceback
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest

from client.proxy import BUSY, CUT, DROPPED, HANGS, LIED, PASS, TORN, TRICKLES, Fault, Proxy
from ocucb_client import AnswerError, Client, ClosedError, DeniedError, InvalidError, UnavailableError
from ocucb_client.codec import LineSplitter, decode_retry_after

KEY = "ocucb_abcdefghijkl_not-a-real-secret"
ONE_OF_EACH = [DROPPED, CUT, TORN, BUSY, LIED, *(Fault(status=status) for status in (408, 429, 502, 504))]


def unused() -> str:
    """Return an address where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.mark.parametrize("fault", ONE_OF_EACH)
def test_a_decision_is_made_once(client: Any, proxy: Proxy, admin: Client, name: str, fault: Fault) -> None:
    proxy.faults.extend([fault, fault])
    decision = client.decide(name)
    assert decision.repeated == fault.forward
    keys = [seen.headers["Idempotency-Key"] for seen in proxy.seen]
    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert [row.decision for row in admin.export(name)] == [decision.id]
    client.decide(name)
    assert proxy.seen[-1].headers["Idempotency-Key"] != keys[0]


def test_everything_that_can_be_is_repeated(client: Any, proxy: Proxy, admin: Client, name: str) -> None:
    decisions = client.decide(name, count=3)
    again: list[Callable[[], Any]] = [
        lambda: client.create(f"{name} again", ["a", "b"]),
        lambda: client.import_log(f"{name} again", [("a", 0.5), ("b", 0.25)]),
        lambda: client.reward(decisions[0], 1.0),
        lambda: client.rewards([(decisions[1], 0.5), (decisions[2], 0.25)]),
        lambda: client.pause(name),
        lambda: client.resume(name),
        lambda: client.retire_arm(name, "green"),
        lambda: client.experiment(name),
        lambda: list(client.experiments()),
        lambda: list(client.arms(name)),
        lambda: list(client.api_keys()),
        lambda: list(client.export(name)),
    ]
    for call in again:
        proxy.seen.clear()
        proxy.faults.append(CUT)
        call()
        assert len(proxy.seen) == 2
    assert [(arm.statistics.pulls, arm.statistics.mean) for arm in admin.arms(f"{name} again")] == [(1, 0.5), (1, 0.25)]
    found = admin.experiment(name)
    assert (found.decisions, found.rewards, found.total, found.entries) == (3, 3, 1.75, 10)


def test_what_would_be_done_twice_is_not_repeated(client: Any, proxy: Proxy, admin: Client, name: str) -> None:
    for fault in (CUT, TORN, LIED):
        for call, what in ((client.add_arm, "yellow"), (client.create_api_key, ["read"])):
            proxy.seen.clear()
            proxy.faults.append(fault)
            with pytest.raises(UnavailableError):
                call(name, what)
            assert len(proxy.seen) == 1
        admin.retire_arm(name, "yellow")
    assert len([key for key in admin.api_keys() if key.name == name]) == 3


def test_what_was_surely_not_done_is_repeated(client: Any, proxy: Proxy, name: str) -> None:
    proxy.faults.extend([Fault(forward=False, status=429), Fault(forward=False, status=408)])
    client.add_arm(name, "yellow")
    assert len(proxy.seen) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 410, 413, 415, 418, 422, 500, 501])
def test_a_refusal_is_not_repeated(client: Any, proxy: Proxy, name: str, status: int) -> None:
    body = b'{"error": {"code": "some-code", "message": "some words", "request_id": "r"}}'
    proxy.faults.append(Fault(forward=False, status=status, headers={"X-Request-Id": "r-1"}, body=body))
    with pytest.raises(Exception, match="some words") as caught:
        client.decide(name)
    error: Any = caught.value
    assert (error.status, error.code, error.message, error.request_id) == (status, "some-code", "some words", "r-1")
    assert len(proxy.seen) == 1


@pytest.mark.parametrize("body", [b"<html>Not Found</html>", b"[]", b'{"error": "no"}', b'{"error": {"code": 1}}'])
@pytest.mark.parametrize("status", [200, 301, 401, 404, 422])
def test_an_answer_of_somebody_else(client: Any, proxy: Proxy, name: str, status: int, body: bytes) -> None:
    proxy.faults.append(Fault(forward=False, status=status, body=body))
    with pytest.raises(AnswerError, match="not one of the service") as caught:
        client.decide(name)
    assert caught.value.status == status
    assert len(proxy.seen) == 1


def test_attempts_come_to_an_end(make: Callable[..., Any], proxy: Proxy, name: str) -> None:
    proxy.always = BUSY
    for retries in (0, 1, 3):
        proxy.seen.clear()
        with pytest.raises(UnavailableError) as caught:
            make(retries=retries).decide(name)
        assert (caught.value.status, len(proxy.seen)) == (503, retries + 1)


def test_nobody_there(make: Callable[..., Any], name: str) -> None:
    with pytest.raises(UnavailableError, match="no answer from") as caught:
        make(url=unused(), retries=2).add_arm(name, "yellow")
    assert (caught.value.status, caught.value.code) == (None, "no-answer")
    assert caught.value.__notes__ == ["tried 3 times"]
    assert re.fullmatch("[0-9a-f]{16}", caught.value.request_id or "")


@pytest.mark.parametrize("fault", [HANGS, TRICKLES])
def test_an_answer_that_never_comes(make: Callable[..., Any], proxy: Proxy, name: str, fault: Fault) -> None:
    """The proxy would keep it waiting for ever: that this ends at all is the test."""
    proxy.always = fault
    with pytest.raises(UnavailableError, match="no answer in time"):
        make(timeout=1.5, attempt_timeout=0.3).decide(name)
    assert len(proxy.seen) >= 2
    proxy.heal()
    proxy.faults.append(fault)
    assert make(attempt_timeout=0.5).decide(name).repeated


def test_the_service_says_how_long_to_wait(client: Any, proxy: Proxy, name: str) -> None:
    proxy.faults.append(Fault(forward=False, status=503, headers={"Retry-After": "1"}))
    client.decide(name)
    first, second = proxy.seen
    assert second.at - first.at >= 1.0


def test_no_waiting_beyond_the_deadline(make: Callable[..., Any], proxy: Proxy, name: str) -> None:
    """Were it to wait, it would wait for an hour."""
    proxy.faults.append(Fault(forward=False, status=429, headers={"Retry-After": "3600"}))
    with pytest.raises(UnavailableError) as caught:
        make(timeout=60.0).decide(name)
    assert (caught.value.retry_after, len(proxy.seen)) == (3600.0, 1)


def test_how_retry_after_is_read() -> None:
    assert decode_retry_after(None) is None
    assert decode_retry_after("2") == 2.0
    assert decode_retry_after("-2") == 0.0
    assert decode_retry_after("nan") is None
    assert decode_retry_after("soon") is None
    assert 3500.0 < (decode_retry_after(formatdate(time.time() + 3600.0, usegmt=True)) or 0.0) <= 3600.0
    assert decode_retry_after(formatdate(time.time() - 3600.0)) == 0.0


def test_a_stream_that_breaks_goes_on_where_it_broke(client: Any, proxy: Proxy, admin: Client, name: str) -> None:
    decisions = client.decide(name, count=1000)
    proxy.seen.clear()
    proxy.faults.extend([TORN, TORN, DROPPED, BUSY, TORN])
    rows = list(client.export(name))
    assert [row.decision for row in rows] == [decision.id for decision in decisions]
    assert len({seen.path for seen in proxy.seen}) >= 4
    assert rows == list(admin.export(name))


def test_a_stream_that_nobody_reads_to_its_end(client: Any, name: str) -> None:
    client.decide(name, count=1000)
    rows = client.export(name)
    assert next(rows).arm == "red"
    rows.close()
    assert client.decide(name).statistics.pulls > 300


def test_a_stream_that_is_refused(client: Any) -> None:
    with pytest.raises(Exception, match="no experiment 'nothing'"):
        list(client.export("nothing"))


def test_lines_are_cut_at_line_feeds_only() -> None:
    lines = LineSplitter()
    text = '{"a": "x\u2028y\x85z"}\n\n{"b": 1}\r\n{"c"'.encode()
    found = [line for place in range(0, len(text), 3) for line in lines.feed(text[place : place + 3])]
    assert [line.strip() for line in [*found, *lines.rest()]] == [
        '{"a": "x\u2028y\x85z"}'.encode(),
        b'{"b": 1}',
        b'{"c"',
    ]
    assert lines.feed(b"\n") == [b'{"c"']
    assert lines.rest() == []


def test_after_close(client: Any, name: str) -> None:
    client.decide(name)
    close_only(client)
    with pytest.raises(ClosedError, match="closed"):
        client.decide(name)
    with pytest.raises(ClosedError, match="closed"):
        client.reward_later("x", 1.0)
    close_only(client)


def close_only(client: Any) -> None:
    """Close a client, and leave it the loop."""
    if isinstance(client, Client):
        client.close()
    else:
        client._run(client.twin.close())


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:8000", "ftp://x", "http://", "http://x?y", None, "http://a:b@x", "http://x:port"]
)
def test_an_address_that_is_none(make: Callable[..., Any], url: Any) -> None:
    with pytest.raises(InvalidError, match="url must"):
        make(url=url)


@pytest.mark.parametrize("key", ["", "a b", "ocucb_x\n", "grün", None, "x\r\nEvil: y"])
def test_a_key_that_is_none_is_not_repeated(make: Callable[..., Any], key: Any) -> None:
    with pytest.raises(InvalidError, match="key must be") as caught:
        make(api_key=key)
    assert not key or key not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("timeout", 0),
        ("timeout", True),
        ("attempt_timeout", -1.0),
        ("retries", 1.5),
        ("queue_size", 0),
        ("retries", -1),
    ],
)
def test_limits_that_are_none(make: Callable[..., Any], name: str, value: Any) -> None:
    with pytest.raises(InvalidError, match=f"^{name} must be"):
        make(**{name: value})


def test_the_key_is_shown_nowhere(
    make: Callable[..., Any], proxy: Proxy, name: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for logger in ("httpx", "httpcore", "ocucb_client", "asyncio"):
        caplog.set_level(logging.DEBUG, logger)
    client = make(api_key=KEY, retries=1, timeout=1.0, attempt_timeout=0.3)
    texts = [repr(client), repr(vars(client)), repr(vars(getattr(client, "twin", client)))]
    for fault in (PASS, BUSY, CUT, HANGS, Fault(forward=False, status=404, body=b"?")):
        proxy.always = fault
        with pytest.raises(Exception) as caught:  # noqa: PT011  # whatever it is, it must not tell
            client.decide(name)
        texts += ["".join(traceback.format_exception(caught.value)), repr(caught.value), repr(vars(caught.value))]
    proxy.heal()
    refused = make(api_key=KEY)
    refused.reward_later("1-1-x", 1.0)
    refused.flush(60.0)
    with pytest.raises(DeniedError) as denied:
        refused.reward_later("1-1-x", 1.0)
    texts += [str(denied.value), caplog.text, *(repr(vars(record)) for record in caplog.records)]
    assert len(caplog.records) > 20
    assert "not-a-real-secret" not in "".join(texts)
    assert any("not-a-real-secret" in seen.headers["Authorization"] for seen in proxy.seen)


def test_a_client_calls_itself_by_name_and_version(client: Any, proxy: Proxy, name: str) -> None:
    client.decide(name)
    headers = proxy.seen[-1].headers
    assert headers["User-Agent"].startswith("ocucb-client/")
    assert headers["Content-Type"] == "application/json"


def test_a_path_before_the_service(make: Callable[..., Any], proxy: Proxy, name: str) -> None:
    """A proxy may keep the service under a path of its own."""
    for url in (f"{proxy.url}/bandits", f"{proxy.url}/bandits/"):
        with pytest.raises(Exception, match="nothing at this path"):
            make(url=url).decide("a/b c")
        assert proxy.seen[-1].path == "/bandits/v1/experiments/a%2Fb%20c/decisions"
