"""What the tests of the service share: a clock to turn, a node to ask, and the log to look at."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import text

from ocucb.arm_statistics import ArmStatistics
from ocucb.service.callers import ThreadCaller
from ocucb.service.definition import Definition
from ocucb.service.engine import Engine, Limits
from ocucb.service.experiment_cache import catch_up, load
from ocucb.service.records import ACTIVE, SECOND, Clock, Entry, utc_now
from ocucb.service.replay import Replayed, replay
from ocucb.service.replies import Decision
from ocucb.service.requests import Create, Decide, Reward
from ocucb.service.stores import Store, schema
from ocucb.service.stores.dialects import Timeouts
from ocucb.service.text import encode

PATIENCE = 60.0
QUIET = Limits(sweep=3600.0)
PATIENT = Timeouts(connect=30.0, lock=30.0, statement=60.0, idle=60.0)  # a busy machine is no failure
HASTY = Timeouts(lock=0.5)


class ManualClock:
    """A clock that stands still until it is advanced, also by less than nothing."""

    def __init__(self) -> None:
        self.time = 1_700_000_000 * SECOND

    def __call__(self) -> int:
        return self.time

    def advance(self, seconds: float) -> None:
        self.time += round(seconds * SECOND)


class Node:
    """A store with an engine, asked from this thread."""

    def __init__(
        self, address: str, now: Clock = utc_now, limits: Limits = QUIET, timeouts: Timeouts = PATIENT
    ) -> None:
        self.store = Store(address, timeouts)
        self.store.migrate()
        self.engine = Engine(self.store, now, limits).start()
        self.caller = ThreadCaller(self.engine, PATIENCE)
        self.ask = self.caller.ask

    def create(self, name: str = "colours", **what: Any) -> None:
        self.ask(Create(Definition(name, **{"arms": ("red", "green", "blue"), "seed": 1, **what})))

    def decide(self, name: str = "colours", **what: Any) -> Decision:
        return self.ask(Decide(name, **what))[0]

    def play(self, rounds: int, name: str = "colours") -> None:
        for number in range(rounds):
            self.ask(Reward(self.decide(name).id, number % 7 / 7.0))

    def log(self, name: str = "colours") -> list[Entry]:
        with self.store.read() as transaction:
            head = transaction.find_experiments([name])[0]
            return transaction.read_entries(head.id, 0, head.seq, limit=10**9)

    def kinds(self, name: str = "colours") -> list[str]:
        return [entry.kind for entry in self.log(name)]

    def replay(self, name: str = "colours") -> Replayed:
        return replay(self.store, name)

    def close(self) -> None:
        self.engine.close()
        self.store.close()


def live_state(node: Node, name: str = "colours") -> dict[str, Any]:
    """Return the state that a node has in memory, which is only safe to read while nobody asks it."""
    state = node.engine._cache.find(name) or node.engine._loader.load(name).state
    assert state is not None
    return state.to_dict()


def forget_seen(node: Node) -> None:
    """Let an engine look at everything again, as if seconds had passed."""
    node.engine._cache.seen._until.clear()


def folded_state(store: Store, name: str = "colours", snapshots: bool = False) -> dict[str, Any]:
    """Return the state that the log alone gives."""
    with store.read() as transaction:
        head = transaction.find_experiments([name])[0]
        if snapshots:
            return load(transaction, head.id, head.seq).to_dict()
        return catch_up(transaction, head.id, None, head.seq).to_dict()


def write_first_schema(address: str, name: str, entries: Sequence[Entry]) -> int:
    """Make a database as the first service did, with an experiment of this log; return its id."""
    store = Store(address)
    with store.write() as transaction:
        schema.migrate(transaction.connection, "0001")
        experiment = transaction.create_experiment(name, entries[0].at, ACTIVE)
        assert experiment is not None
        names = ("experiment", *Entry._fields[:9], "pulls", "mean", "index_value", "effective", "data")
        query = f"INSERT INTO log ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"
        for entry in entries:
            known = entry.statistics or ArmStatistics(None, None, None, None, None)  # type: ignore[arg-type]
            infinite = None if known.pulls is None else -math.inf if known.pulls else math.inf
            values = {
                **entry._asdict(),
                "experiment": experiment,
                "arm": None if entry.arm is None else encode(entry.arm),
                "data": None if entry.data is None else encode(entry.data),
                "pulls": known.pulls,
                "mean": known.mean,
                "index_value": infinite if known.index is None else known.index,
                "effective": known.effective_arms,
            }
            transaction.connection.execute(text(query), {name: values[name] for name in names})
        transaction.update_experiments([(experiment, len(entries), ACTIVE)])
    store.close()
    return experiment


def wait_until(ready: Callable[[], bool], what: str) -> None:
    """Wait for something to come true, and long enough for a busy machine."""
    end = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < end, f"still waiting: {what}"
        time.sleep(0.02)
