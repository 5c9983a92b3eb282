"""Rewards in the background: whatever happens on the way, each is counted once."""

from __future__ import annotations

import gc
import json
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from client.admin_queries import PATIENCE, decide, key_of, rewarded
from client.proxy import BUSY, CUT, DROPPED, LIED, TORN, Fault, Proxy
from ocucb_client import (
    BackgroundCounts,
    Client,
    ClosedError,
    ConflictError,
    DeniedError,
    InvalidError,
    NotFoundError,
    QueueFullError,
    RefusedReward,
    TooLateError,
    UnavailableError,
    UndeliveredError,
)
from service.helpers import wait_until
from service.server import Server


def test_five_thousand_through_a_flaky_proxy(make: Callable[..., Any], proxy: Proxy, admin: Client, name: str) -> None:
    decisions = decide(admin, name, 5000)
    values = {decision: number % 7 / 7.0 for number, decision in enumerate(decisions)}
    proxy.be_flaky(1, 0.6, DROPPED, CUT, CUT, TORN, BUSY, LIED)
    client = make()
    for decision, value in values.items():
        client.reward_later(decision, value)
        if len(proxy.seen) < 5:
            time.sleep(0.002)  # so that batches are of all sizes
    client.flush(PATIENCE)
    assert client.background == BackgroundCounts(waiting=0, delivered=5000, refused=0)
    assert rewarded(admin, name) == values
    found = admin.experiment(name)
    assert (found.decisions, found.rewards) == (5000, 5000)
    assert len({seen.fault.cut for seen in proxy.seen}) == 3


def test_many_threads(proxy: Proxy, server: Server, admin: Client, name: str) -> None:
    decisions = decide(admin, name, 4000)
    proxy.be_flaky(2, 0.3, DROPPED, CUT, BUSY)
    with Client(proxy.url, key_of(server), timeout=PATIENCE) as client:

        def give(part: list[str]) -> None:
            for decision in part:
                client.reward_later(decision, 0.5)
            client.flush(PATIENCE)

        threads = [threading.Thread(target=give, args=(decisions[place::8],)) for place in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert rewarded(admin, name) == dict.fromkeys(decisions, 0.5)


def test_batches_are_as_large_as_can_be(client: Any, proxy: Proxy, admin: Client, name: str) -> None:
    decisions = decide(admin, name, 3000)
    proxy.faults.extend([BUSY, BUSY])
    for decision in decisions:
        client.reward_later(decision, 0.5)
    client.flush(PATIENCE)
    sizes = [len(json.loads(seen.body)["rewards"]) for seen in proxy.seen]
    assert max(sizes) == 1000
    assert len(sizes) < 20


def test_rewards_leave_by_themselves(client: Any, admin: Client, name: str) -> None:
    (decision,) = decide(admin, name, 1)
    client.reward_later(decision, 1.0)
    wait_until(lambda: rewarded(admin, name) == {decision: 1.0}, "a reward that nobody flushes")


def test_a_server_killed_and_restarted(make: Callable[..., Any], proxy: Proxy, tmp_path: Path) -> None:
    with Server(tmp_path) as first:
        key = key_of(first)
        proxy.upstream = first.url
        client = make(api_key=key, timeout=PATIENCE, retries=100)
        client.create("colours", ["red", "green"])
        decisions = [decision.id for _ in range(3) for decision in client.decide("colours", count=1000)]
        given = iter(decisions)
        for _ in range(1500):
            client.reward_later(next(given), 0.5)
        wait_until(lambda: client.background.delivered > 0, "the first batch")
        first.process.kill()
        first.process.wait()
        for _ in range(1000):
            client.reward_later(next(given), 0.5)
        with pytest.raises(UndeliveredError):
            client.flush(0.5)
        with Server(tmp_path) as second:
            proxy.upstream = second.url
            last = client.decide("colours")
            for decision in given:
                client.reward_later(decision, 0.5)
            client.flush(PATIENCE)
            with Client(second.url, key) as admin:
                assert rewarded(admin, "colours") == dict.fromkeys(decisions, 0.5)
                assert admin.experiment("colours").decisions == 3001
                assert not last.repeated
            client.close()


def test_a_full_queue_waits_and_then_refuses(make: Callable[..., Any], proxy: Proxy, admin: Client, name: str) -> None:
    decisions = decide(admin, name, 60)
    client = make(queue_size=50, timeout=0.5)
    proxy.always = BUSY
    for decision in decisions[:50]:
        client.reward_later(decision, 0.5)
    with pytest.raises(QueueFullError, match="50 rewards wait"):
        client.reward_later(decisions[50], 0.5)
    assert client.background.waiting == 50
    proxy.heal()
    client.flush(PATIENCE)
    for decision in decisions[50:]:
        client.reward_later(decision, 0.5)
    client.flush(PATIENCE)
    assert rewarded(admin, name) == dict.fromkeys(decisions, 0.5)


def test_a_full_queue_lets_in_when_there_is_room(
    make: Callable[..., Any], proxy: Proxy, admin: Client, name: str
) -> None:
    decisions = decide(admin, name, 200)
    client = make(queue_size=20)
    proxy.be_flaky(3, 0.3, CUT)
    for decision in decisions:
        client.reward_later(decision, 0.5)
        assert client.background.waiting <= 20
    client.flush(PATIENCE)
    assert rewarded(admin, name) == dict.fromkeys(decisions, 0.5)


def test_what_is_refused_for_good_is_told(
    make: Callable[..., Any], admin: Client, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    refused: list[RefusedReward] = []
    client = make(on_refused=refused.append)
    admin.create(f"{name} short", ["a"], window=0.001)
    late = admin.decide(f"{name} short").id
    good, other = decide(admin, name, 2)
    time.sleep(0.01)
    for decision, value in ((good, 0.25), (good, 0.75), (late, 1.0), ("1-1-aaaaaaaaaaaaaaaaaaaaaa", 1.0), (other, 0.5)):
        client.reward_later(decision, value)
    client.flush(PATIENCE)
    assert [(one.decision, one.value, type(one.error)) for one in refused] == [
        (good, 0.75, ConflictError),
        (late, 1.0, TooLateError),
        ("1-1-aaaaaaaaaaaaaaaaaaaaaa", 1.0, NotFoundError),
    ]
    assert client.background == BackgroundCounts(waiting=0, delivered=2, refused=3)
    assert rewarded(admin, name) == {good: 0.25, other: 0.5}
    said = [record.getMessage() for record in caplog.records if record.name == "ocucb_client"]
    assert f"the reward of decision {late} was refused: too-late" in said
    assert not any("0.75" in line for line in said)


def test_one_that_spoils_the_batch_is_found(make: Callable[..., Any], proxy: Proxy, admin: Client, name: str) -> None:
    """An id of a thousand characters makes the service refuse the whole request."""
    refused: list[RefusedReward] = []
    client = make(on_refused=refused.append)
    decisions = decide(admin, name, 1000)
    proxy.always = BUSY  # nothing is taken before all is in the queue
    for place, decision in enumerate(decisions):
        client.reward_later("x" * 1000 if place in (300, 301, 999) else decision, 0.5)
    proxy.heal()
    client.flush(PATIENCE)
    assert [type(one.error) for one in refused] == [InvalidError] * 3
    assert len(rewarded(admin, name)) == 997
    assert client.background == BackgroundCounts(waiting=0, delivered=997, refused=3)


def test_a_callback_that_fails_stops_nothing(make: Callable[..., Any], admin: Client, name: str) -> None:
    client = make(on_refused=lambda _: 1 / 0)
    (decision,) = decide(admin, name, 1)
    client.reward_later("nothing", 1.0)
    client.reward_later(decision, 1.0)
    client.flush(PATIENCE)
    assert client.background == BackgroundCounts(waiting=0, delivered=1, refused=1)


def test_one_item_that_must_wait(client: Any, proxy: Proxy, admin: Client, name: str) -> None:
    first, second = decide(admin, name, 2)
    results = [
        {"decision": first, "error": {"code": "busy", "message": "too many are waiting"}},
        {"decision": second, "error": {"code": "of-a-newer-service", "message": "not known here"}},
    ]
    for body in (json.dumps({"results": results}), json.dumps({"results": results[:1]}), '{"results": 1}', "<html>"):
        proxy.faults.append(Fault(forward=False, status=200, body=body.encode()))
    proxy.faults.append(Fault(forward=False, status=404, body=b"<html>no such page</html>"))
    proxy.faults.append(Fault(forward=False, status=404, body=b'{"error": {"code": "not-found", "message": "no"}}'))
    proxy.faults.append(Fault(forward=False, status=500, body=b'{"error": {"code": "internal-error", "message": ""}}'))
    client.reward_later(first, 0.5)
    client.reward_later(second, 0.5)
    client.flush(PATIENCE)
    assert not proxy.faults
    assert client.background == BackgroundCounts(waiting=0, delivered=2, refused=0)
    assert rewarded(admin, name) == {first: 0.5, second: 0.5}


def test_a_key_that_is_revoked(make: Callable[..., Any], admin: Client, name: str) -> None:
    refused: list[RefusedReward] = []
    made = admin.create_api_key(name, ["reward"])
    client = make(api_key=made.text, on_refused=refused.append)
    first, second, third = decide(admin, name, 3)
    client.reward_later(first, 1.0)
    client.flush(PATIENCE)
    admin.revoke_api_key(made.id)
    client.reward_later(second, 1.0)
    client.flush(PATIENCE)
    assert [(one.decision, type(one.error)) for one in refused] == [(second, DeniedError)]
    with pytest.raises(DeniedError):
        client.reward_later(third, 1.0)
    assert rewarded(admin, name) == {first: 1.0}


def test_flush_says_what_is_missing(make: Callable[..., Any], proxy: Proxy, admin: Client, name: str) -> None:
    client = make()
    client.flush(0.0)
    decisions = decide(admin, name, 3)
    proxy.always = BUSY
    for decision in decisions:
        client.reward_later(decision, 0.5)
    with pytest.raises(UndeliveredError, match="3 rewards are not delivered") as caught:
        client.flush(0.6)
    assert caught.value.rewards == tuple((decision, 0.5) for decision in decisions)
    assert isinstance(caught.value, UnavailableError)
    assert "503" in str(caught.value)
    proxy.heal()
    client.flush(PATIENCE)
    assert rewarded(admin, name) == dict.fromkeys(decisions, 0.5)


def test_close_delivers(make: Callable[..., Any], proxy: Proxy, admin: Client, name: str) -> None:
    decisions = decide(admin, name, 1200)
    proxy.faults.extend([CUT, BUSY])
    with make() as client:
        for decision in decisions:
            client.reward_later(decision, 0.5)
        client.close()
        assert rewarded(admin, name) == dict.fromkeys(decisions, 0.5)
        with pytest.raises(ClosedError):
            getattr(client, "twin", client)._sender.offer(decisions[0], 0.5)


def test_close_gives_up_in_time_and_gives_back(server: Server, proxy: Proxy, admin: Client, name: str) -> None:
    decisions = decide(admin, name, 5)
    proxy.always = BUSY
    client = Client(proxy.url, key_of(server))
    for decision in decisions:
        client.reward_later(decision, 0.5)
    with pytest.raises(UndeliveredError) as caught:
        client.close(0.5)
    assert caught.value.rewards == tuple((decision, 0.5) for decision in decisions)
    with pytest.raises(UndeliveredError):
        client.flush()
    proxy.heal()
    time.sleep(0.5)
    assert rewarded(admin, name) == {}
    admin.rewards(caught.value.rewards)
    assert rewarded(admin, name) == dict.fromkeys(decisions, 0.5)


def test_a_client_that_is_forgotten_still_delivers(server: Server, proxy: Proxy, admin: Client, name: str) -> None:
    decisions = decide(admin, name, 10)
    proxy.always = BUSY
    client = Client(proxy.url, key_of(server))
    for decision in decisions:
        client.reward_later(decision, 0.5)
    (thread,) = (one for one in threading.enumerate() if one is client._sender._thread)
    del client
    gc.collect()
    proxy.heal()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert rewarded(admin, name) == dict.fromkeys(decisions, 0.5)


def test_no_thread_without_need(server: Server) -> None:
    before = set(threading.enumerate())  # of others, which may end meanwhile
    with Client(server.url, key_of(server)) as client:
        list(client.experiments())
        assert set(threading.enumerate()) <= before


def test_trouble_is_said_once(
    client: Any, proxy: Proxy, admin: Client, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ocucb_client")
    (decision,) = decide(admin, name, 1)
    proxy.faults.extend([BUSY] * 4)
    client.reward_later(decision, 1.0)
    client.flush(PATIENCE)
    said = [record.getMessage() for record in caplog.records if record.name == "ocucb_client"]
    assert [line.split(",")[0] for line in said] == [
        "rewards are not delivered for now",
        "rewards are delivered again",
    ]


def test_a_decision_must_have_an_id(client: Any) -> None:
    with pytest.raises(InvalidError, match="a decision must be"):
        client.reward_later(None, 1.0)
    assert client.background == BackgroundCounts(waiting=0, delivered=0, refused=0)
