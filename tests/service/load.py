"""Load on a service, in processes that can be killed: what was acknowledged is written down, line by line, at once.

`be_node` is such a process, which works until it is told to end. `kill_often` forks nodes and kills them.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import select
import signal
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from ocucb.service.callers import ThreadCaller
from ocucb.service.definition import Definition
from ocucb.service.engine import Engine, Limits
from ocucb.service.errors import RewardConflictError, TooLateError, UnavailableError
from ocucb.service.requests import Create, Decide, Request, Reward
from ocucb.service.stores import Store

EXPERIMENT = "under load"
CALLERS = 6
LIMITS = Limits(sweep=0.03, snapshot=50, retry_delay=0.05)


class Noted(NamedTuple):
    """What callers asked, by key and for which unit, and what they were told: decisions, and rewards that counted."""

    asked: dict[str, str | None]
    decided: dict[str, str]
    rewarded: dict[str, float]


def prepare(address: str, **more: Any) -> None:
    """Make the experiment. Windows are short, so that sweeps are part of the load."""
    store = Store(address)
    store.migrate()
    engine = Engine(store).start()
    what: dict[str, Any] = {"window": 0.2, "sticky": 5.0, "seed": 7, **more}
    caller = ThreadCaller(engine, 60.0)
    caller.ask(Create(Definition(EXPERIMENT, tuple(range(12)), **what)))
    with contextlib.suppress(TooLateError):  # loads all that children need, before they are forked
        caller.ask(Reward(caller.ask(Decide(EXPERIMENT))[0].id, 0.5))
    engine.close()
    store.close()


def work(address: str, name: str, out: int, done: threading.Event) -> None:
    """Be a node with a few callers, until done."""
    store = Store(address)
    engine = Engine(store, limits=LIMITS).start()
    caller = ThreadCaller(engine, 60.0)
    threads = [threading.Thread(target=_call, args=(caller, f"{name}.{i}", out, done)) for i in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    engine.close()
    store.close()


def _call(caller: ThreadCaller, name: str, out: int, done: threading.Event) -> None:
    draw = random.Random(name)
    number = 0
    while not done.is_set():
        number += 1
        key = f"{name}.{number}"
        unit = f"unit {draw.randrange(1000)}" if draw.random() < 0.2 else None
        _note(out, "asked", key, unit)
        decision = _insist(caller, Decide(EXPERIMENT, unit=unit, idempotency_key=key), done)
        if decision is None:
            return
        _note(out, "decided", key, decision[0].id)
        if draw.random() < 0.8:
            value = draw.random()
            with contextlib.suppress(TooLateError, _Taken):
                rewarded = _insist(caller, Reward(decision[0].id, value), done)
                if rewarded is None:
                    return
                if rewarded.outcome == "counted":
                    _note(out, "rewarded", decision[0].id, value)


class _Taken(Exception):  # noqa: N818  # no error: a sticky decision had its reward from another caller
    pass


def _insist(caller: ThreadCaller, request: Request, done: threading.Event) -> Any:
    """Ask until there is an answer, as a client with an idempotency key does."""
    while True:
        try:
            return caller.ask(request)
        except UnavailableError:
            if done.is_set():
                return None
            time.sleep(0.02)
        except RewardConflictError:
            raise _Taken from None


def _note(out: int, *what: object) -> None:
    os.write(out, (json.dumps(what) + "\n").encode())


def read(text: str) -> Noted:
    """Return what the lines say; the last of a killed node may be only half of one."""
    noted = Noted({}, {}, {})
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            kind, name, *rest = json.loads(line)
            if kind == "asked":
                noted.asked[name] = rest[0]
            else:
                known = noted.decided if kind == "decided" else noted.rewarded
                assert name not in known, f"{line} was acknowledged twice"
                known[name] = rest[0]
    return noted


def kill_often(address: str, times: int, output: Path) -> None:
    """Start a node and kill it while it works, so many times; write down what its callers were told."""
    prepare(address)
    draw = random.Random(5)
    with output.open("wb") as file:
        for number in range(times):
            file.flush()  # what a child has, too, is written once
            inlet, outlet = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(inlet)
                work(address, f"life {number}", outlet, threading.Event())
                os._exit(0)
            os.close(outlet)
            for piece in _until_killed(child, inlet, draw.uniform(0.02, 0.4)):
                file.write(piece)
            file.write(b"\n")
            os.close(inlet)
            os.waitpid(child, 0)


def _until_killed(child: int, inlet: int, seconds: float) -> Iterator[bytes]:
    """Yield what a child writes. It is killed so long after it has told somebody a decision."""
    end: float | None = None
    while True:
        if select.select([inlet], [], [], 0.01)[0]:
            piece = os.read(inlet, 1 << 16)
            if not piece:
                return
            yield piece
            if end is None and b'"decided"' in piece:
                end = time.monotonic() + seconds
        if end is not None and time.monotonic() >= end:
            os.kill(child, signal.SIGKILL)
            end = float("inf")


def be_node(address: str, name: str, output: Path, end: Connection) -> None:
    """Be a node until the other end of a connection is closed."""
    done = threading.Event()

    def wait_for_the_end() -> None:
        end.poll(None)
        done.set()

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    with output.open("wb") as file:
        work(address, name, file.fileno(), done)
