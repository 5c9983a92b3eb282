"""What the tests of the service share: a clock to turn, a node to ask, and the log to look at."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ocucb.service.definition import Definition
from ocucb.service.doors import ThreadDoor
from ocucb.service.engine import Engine, Limits
from ocucb.service.lives import catch_up, load
from ocucb.service.records import SECOND, Clock, Entry, utc_now
from ocucb.service.replay import Replayed, replay
from ocucb.service.requests import Create, Decide, Decision, Reward
from ocucb.service.stores import Store
from ocucb.service.stores.databases import Timeouts

PATIENCE = 60.0
QUIET = Limits(sweep=3600.0)
PATIENT = Timeouts(connect=30.0, lock=30.0, statement=60.0)  # a busy machine is no failure
HASTY = Timeouts(lock=0.5)


class Hands:
    """A clock that stands still until it is turned, forwards or backwards."""

    def __init__(self) -> None:
        self.time = 1_700_000_000 * SECOND

    def __call__(self) -> int:
        return self.time

    def turn(self, seconds: float) -> None:
        self.time += round(seconds * SECOND)


class Node:
    """A store with an engine, asked from this thread."""

    def __init__(
        self, address: str, now: Clock = utc_now, limits: Limits = QUIET, timeouts: Timeouts = PATIENT
    ) -> None:
        self.store = Store(address, timeouts)
        self.store.migrate()
        self.engine = Engine(self.store, now, limits).start()
        self.door = ThreadDoor(self.engine, PATIENCE)
        self.ask = self.door.ask

    def create(self, name: str = "colours", **what: Any) -> None:
        self.ask(Create(Definition(name, **{"arms": ("red", "green", "blue"), "seed": 1, **what})))

    def decide(self, name: str = "colours", **what: Any) -> Decision:
        return self.ask(Decide(name, **what))[0]

    def play(self, rounds: int, name: str = "colours") -> None:
        for number in range(rounds):
            self.ask(Reward(self.decide(name).id, number % 7 / 7.0))

    def log(self, name: str = "colours") -> list[Entry]:
        with self.store.read() as transaction:
            head = transaction.find([name])[0]
            return transaction.entries(head.id, 0, head.seq, limit=10**9)

    def kinds(self, name: str = "colours") -> list[str]:
        return [entry.kind for entry in self.log(name)]

    def replay(self, name: str = "colours") -> Replayed:
        return replay(self.store, name)

    def close(self) -> None:
        self.engine.close()
        self.store.close()


def live_state(node: Node, name: str = "colours") -> dict[str, Any]:
    """Return the state that a node has in memory, which is only safe to read while nobody asks it."""
    found, _ = node.engine._lives.get([name], [])
    return next(iter(found.values())).to_dict()


def folded_state(store: Store, name: str = "colours", snapshots: bool = False) -> dict[str, Any]:
    """Return the state that the log alone gives."""
    with store.read() as transaction:
        head = transaction.find([name])[0]
        if snapshots:
            return load(transaction, head.id, head.seq).to_dict()
        return catch_up(transaction, head.id, None, head.seq).to_dict()


def wait_until(ready: Callable[[], bool], what: str) -> None:
    """Wait for something to come true, and long enough for a busy machine."""
    end = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < end, f"still waiting: {what}"
        time.sleep(0.02)
