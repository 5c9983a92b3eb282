"""`ocucb serve --demo`: the service with simulated visitors, so that the page has something to show."""

from __future__ import annotations

import contextlib
import heapq
import os
import random
import socket
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

from ocucb.cli.demo_experiments import DEMO_EXPERIMENTS, DemoExperiment
from ocucb.errors import ParameterError
from ocucb.service.serve import Announcer, serve
from ocucb.service.settings import Settings, load_settings
from ocucb_client import Client, ClientError, ConflictError, NotFoundError, UnavailableError

TICK = 0.05  # seconds
DECISIONS = 5  # in a tick: about 100 in a second

Coming: TypeAlias = tuple[float, str, float]  # when a reward comes, the id of its decision, the reward


def serve_demo(flags: Mapping[str, object], config: Path | None) -> None:
    """Serve from a database in a temporary folder, with a simulated stream, until Ctrl-C."""
    if flags.get("database") is not None:
        raise ParameterError("--demo makes a database of its own, got --database too; leave out one of the two")
    quiet = {"log_level": flags.get("log_level") or "warning"}
    announcer = DemoAnnouncer()
    with tempfile.TemporaryDirectory(prefix="ocucb-demo-") as folder, announcer:
        own = {**flags, **quiet, "database": f"sqlite:///{folder}/demo.db"}
        settings = load_settings(own, os.environ, config)
        with contextlib.suppress(KeyboardInterrupt):  # the way to end it
            serve(settings if flags.get("port") is not None else _with_free_port(settings), announcer=announcer)
    print("\nThe demo has ended, and its database is deleted.")


class DemoAnnouncer(Announcer):
    """Says where to open the page and with which key, and starts the simulated visitors."""

    def __init__(self) -> None:
        self._key = ""
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> DemoAnnouncer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(5.0)

    def show_key(self, key: str) -> None:
        self._key = key

    def show_address(self, url: str) -> None:
        names = " and ".join(f"{one.name!r} ({len(one.means)} arms)" for one in DEMO_EXPERIMENTS)
        print(
            f"\n  Open    {url}\n  Key     {self._key}\n\n"
            f"Log in with the key. Simulated visitors play {names},\n"
            "about 100 decisions a second; some rewards come late, some never.\n"
            "Ctrl-C ends the demo and deletes all of it.\n",
            flush=True,
        )
        visitors = SimulatedVisitors(url, self._key, self._stopped)
        self._thread = threading.Thread(target=visitors.run, name="ocucb demo", daemon=True)
        self._thread.start()


@dataclass
class SimulatedVisitors:
    """Visitors of two experiments, from a thread of its own. Whatever a person does on the page, it goes on."""

    url: str
    key: str
    stopped: threading.Event

    def run(self) -> None:
        """Create the experiments, and play them until told to stop."""
        try:
            with Client(self.url, self.key, retries=0) as client:
                for one in DEMO_EXPERIMENTS:
                    client.create(one.name, list(one.means), noise=one.noise, window=one.window)
                self._play(client)
        except ClientError as problem:
            if not self.stopped.is_set():
                print(f"the simulated stream has ended: {problem}", flush=True)

    def _play(self, client: Client) -> None:
        rng, coming = random.Random(), list[Coming]()  # noqa: S311
        tick = time.monotonic()
        for experiment in cycle(DEMO_EXPERIMENTS):
            tick = max(tick + TICK, time.monotonic() - 1.0)
            if self.stopped.wait(max(0.0, tick - time.monotonic())):
                return
            try:
                _decide(client, experiment, rng, coming)
                _reward(client, coming)
            except (ConflictError, NotFoundError):  # paused or archived, by whoever is looking
                continue
            except UnavailableError:
                self.stopped.wait(1.0)


def _decide(client: Client, experiment: DemoExperiment, rng: random.Random, coming: list[Coming]) -> None:
    """Play some decisions; their rewards will come, or not."""
    for decision in client.decide(experiment.name, count=DECISIONS):
        delay = experiment.delay(rng)
        if delay is not None:
            heapq.heappush(coming, (time.monotonic() + delay, decision.id, experiment.reward(decision.arm, rng)))


def _reward(client: Client, coming: list[Coming]) -> None:
    """Give the rewards that have come; one that is refused is nobody's loss here."""
    there = []
    while coming and coming[0][0] <= time.monotonic():
        there.append(heapq.heappop(coming)[1:])
    if there:
        client.rewards(there)


def _with_free_port(settings: Settings) -> Settings:
    """Return the settings with any free port, if theirs is taken."""
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((settings.host, settings.port))
        except OSError:
            return replace(settings, port=0)
    return settings
