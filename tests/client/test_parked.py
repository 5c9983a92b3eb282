"""Rewards that the service fails at: they are left alone for a while, and the others go on."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from client.admin_queries import PATIENCE, decide, key_of, rewarded
from client.blocking import Blocking
from ocucb_client import Client, UndeliveredError
from ocucb_client.outbox import Outbox
from service.server import Server


@pytest.mark.parametrize("kind", [Client, Blocking])
def test_a_damaged_experiment_holds_up_no_other(kind: Callable[..., Any], tmp_path: Path) -> None:
    with Server(tmp_path) as first:
        key = key_of(first)
        with Client(first.url, key) as admin:
            for name in ("damaged", "good"):
                admin.create(name, ["red", "green"])
            damaged, good = decide(admin, "damaged", 1100), decide(admin, "good", 50)
        assert first.stop() == 0
    with sqlite3.connect(tmp_path / "ocucb.db") as database:
        database.execute("DELETE FROM log WHERE experiment = 1 AND seq = 2")
        database.execute("DELETE FROM snapshots")
    database.close()
    with Server(tmp_path) as second:
        client = kind(second.url, key, timeout=PATIENCE)
        for decision in damaged + good:
            client.reward_later(decision, 0.5)
        with pytest.raises(UndeliveredError) as caught:
            client.flush(PATIENCE)
        assert [decision for decision, _ in caught.value.parked] == damaged
        assert client.background.parked == len(damaged)
        assert client.background.delivered == len(good)
        with Client(second.url, key) as admin:
            assert rewarded(admin, "good") == dict.fromkeys(good, 0.5)
        with pytest.raises(UndeliveredError, match=f"fails at {len(damaged)} of them.*{damaged[0]}") as caught:
            client.close(PATIENCE)
        assert caught.value.parked == caught.value.rewards == tuple((decision, 0.5) for decision in damaged)


def test_what_is_parked_comes_back_at_the_end() -> None:
    outbox = Outbox(100)
    for place in range(4):
        token = object()
        assert outbox.reserve(token)
        outbox.put(token, f"d{place}", 0.0, None)
    flushed = outbox.when_flushed()
    batch = outbox.take_batch(2, 0.0)
    outbox.settle([], postponed=batch[1:], parked=batch[:1], seconds=3600.0)
    assert [item.decision for item in outbox.take_batch(9, 0.0)] == ["d2", "d3", "d1"]
    assert not flushed.done()
    outbox.settle(outbox.unsettled()[:3])
    assert flushed.done(), "nobody waits for what is parked"
    assert [item.decision for item in outbox.parked()] == ["d0"]
    outbox._unpark_at = 0.0
    assert [item.decision for item in outbox.take_batch(9, 0.0)] == ["d0"]
    assert outbox.parked() == ()
