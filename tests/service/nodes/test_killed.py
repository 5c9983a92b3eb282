"""Servers killed under load, over HTTP: nothing acknowledged is lost, nothing counts twice."""

from __future__ import annotations

import random
import signal
import socket
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from ocucb import Discount, Window
from ocucb.service.access import Access
from ocucb.service.node_directory import choose_home
from ocucb.service.records import SECOND
from ocucb.service.stores import Store
from ocucb.service.stores.nodes import list_nodes
from service.helpers import PATIENT
from service.launcher import Launched, launch
from service.load import EXPERIMENT, prepare
from service.nodes.callers import Callers
from service.postgresql import PostgreSQL
from service.server import NO_TLS, environment
from service.test_crashes import check

WORDS = ("--sweep", "0.05", "--snapshot", "200", "--request-timeout", "20", "--log-level", "error")


class Servers:
    """Starts servers on one database, and leaves none running."""

    def __init__(self, address: str, folder: Path) -> None:
        self._address, self._folder = address, folder
        self._started: list[Launched] = []

    def start(self, port: int, **variables: str) -> Launched:
        """Start a server."""
        nodes = ("--advertise", f"http://127.0.0.1:{port}") if self._address.startswith("postgresql") else ()
        words = ("serve", "--database", self._address, "--port", str(port), *WORDS, *nodes)
        files = (self._folder / f"{name}.{len(self._started)}" for name in ("out", "err"))
        self._started.append(launch(words, self._folder, environment(**variables), *files))
        return self._started[-1]

    def __enter__(self) -> Servers:
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._started:
            kill(server)


class WrongClocks:
    """Clocks of servers that jump every now and then, each by itself, by up to a day ahead or back."""

    def __init__(self, folder: Path, number: int) -> None:
        self._files = [folder / f"clock {place}" for place in range(number)]
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._jump)
        self._set([0] * number)
        self.jumps = 0

    def variables(self, place: int) -> dict[str, str]:
        """Return the variables of a server that has the clock at this place."""
        return {"CLOCK_FILE": str(self._files[place])}

    def __enter__(self) -> WrongClocks:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Let all of them be right from now on."""
        self._done.set()
        self._thread.join()
        self._set([0] * len(self._files))

    def _jump(self) -> None:
        draw = random.Random(4)
        while not self._done.wait(0.1):
            self._set([draw.choice([-86_400, -60, -1, 0, 0, 1, 60, 86_400]) for _ in self._files])
            self.jumps += 1

    def _set(self, errors: list[int]) -> None:
        for file, seconds in zip(self._files, errors, strict=True):
            draft = file.with_suffix(".draft")
            draft.write_text(str(seconds), encoding="ascii")
            draft.rename(file)  # at once: it is read all the time


def kill(server: Launched) -> None:
    """Kill a server, and wait until it is dead: until then the port is its own."""
    server.kill()
    server.wait()


def free_ports(number: int) -> list[int]:
    probes = [socket.socket() for _ in range(number)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def make_key(address: str) -> str:
    store = Store(address, PATIENT)
    text = Access(store).make("callers", ["admin"])[1]
    store.close()
    return text


@pytest.mark.parametrize("memory", [Window(300), Discount(0.99)])
def test_a_server_killed_whose_experiment_has_a_memory_and_shares(
    sqlite: str, tmp_path: Path, memory: Window | Discount
) -> None:
    """What a memory has forgotten is a function of the log, too, and so is which arm a share was given to."""
    kill_often(sqlite, tmp_path, 3, memory=memory, shares=((0, 0.2), (3, 0.1)))


def test_a_server_killed_twenty_times(address: str, tmp_path: Path) -> None:
    kill_often(address, tmp_path, 20)


def kill_often(address: str, tmp_path: Path, times: int, **more: Any) -> None:
    """Kill a server so often under load, and check what is left."""
    prepare(address, **more)
    key, [port], draw = make_key(address), free_ports(1), random.Random(8)
    with Servers(address, tmp_path) as servers, Callers([f"http://127.0.0.1:{port}"], key, 6) as callers:
        for _ in range(times):
            server = servers.start(port)
            callers.wait(0, 6)
            time.sleep(draw.uniform(0.0, 0.25))
            kill(server)
        servers.start(port)
        callers.wait(0, 20)
    assert callers.problems == []
    assert callers.noted.rewarded
    check(address, callers.noted)


def find_home(address: str) -> str:
    """Return the address of the node that is the home of the experiment."""
    store = Store(address, PATIENT)
    with store.read() as transaction:
        home = choose_home(list_nodes(transaction), EXPERIMENT)
    store.close()
    return home.address


def pulls(urls: list[str], key: str) -> list[Any]:
    """Return what each node says of the arms."""
    with httpx.Client(headers={"Authorization": f"Bearer {key}"}, timeout=30.0, verify=NO_TLS) as client:
        answers = [client.get(f"{url}/v1/experiments/{EXPERIMENT}/arms") for url in urls]
    assert [answer.status_code for answer in answers] == [200] * len(urls), [answer.text for answer in answers]
    return [answer.json()["arms"] for answer in answers]


def spread_of_times(address: str) -> float:
    """Return how many seconds lie between the first and the last time in the log, whatever their order."""
    store = Store(address, PATIENT)
    with store.read() as transaction:
        (head,) = transaction.find_experiments([EXPERIMENT])
        times = [entry.at for entry in transaction.read_entries(head.id, 0, head.seq)]
    store.close()
    return (max(times) - min(times)) / SECOND


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSTOP])
def test_three_nodes_one_lost_the_database_restarted(
    postgres: PostgreSQL, postgresql: str, blow: signal.Signals, tmp_path: Path
) -> None:
    """The home of the experiment is lost, to which all pass their requests on: it must not hold up the others.

    Meanwhile the clocks of all three jump, each by itself.
    """
    prepare(postgresql)
    key, ports = make_key(postgresql), free_ports(3)
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    with (
        WrongClocks(tmp_path, 3) as clocks,
        Servers(postgresql, tmp_path) as servers,
        Callers(urls, key, 3) as callers,
    ):
        running = [servers.start(port, **clocks.variables(node)) for node, port in enumerate(ports)]
        for node in range(3):
            callers.wait(node, 20)
        lost_node = urls.index(find_home(postgresql))
        others = [node for node in range(3) if node != lost_node]
        if blow == signal.SIGKILL:
            kill(running[lost_node])
        else:
            running[lost_node].send_signal(blow)
        for node in others:
            callers.wait(node, 20)
        if blow == signal.SIGKILL:
            running[lost_node] = servers.start(ports[lost_node], **clocks.variables(lost_node))
        else:
            running[lost_node].send_signal(signal.SIGCONT)
        callers.wait(lost_node, 20)
        postgres.stop()
        ready = httpx.get(f"{urls[0]}/readyz", timeout=30.0, verify=NO_TLS)
        lost = callers.statuses[503]
        end = time.monotonic() + 60.0
        while callers.statuses[503] < lost + 3:
            assert time.monotonic() < end, "no 503 while the database is away"
            time.sleep(0.01)
        postgres.start()
        for node in range(3):
            callers.wait(node, 20)
        callers.stop()
        clocks.stop()
        end = time.monotonic() + 60.0
        while any(httpx.get(f"{url}/readyz", timeout=30.0, verify=NO_TLS).status_code != 200 for url in urls):
            assert time.monotonic() < end, "a node does not recover"
            time.sleep(0.05)
        time.sleep(1.0)  # of quiet: windows are shorter than that, and sweeps more frequent
        views, end = pulls(urls, key), time.monotonic() + 30.0
        while not views[0] == views[1] == views[2] and time.monotonic() < end:  # a busy machine sweeps later
            time.sleep(0.2)
            views = pulls(urls, key)
    assert ready.status_code in (200, 503)
    assert clocks.jumps > 10
    assert callers.problems == []
    assert views[0] == views[1] == views[2]
    check(postgresql, callers.noted)
    assert spread_of_times(postgresql) > 80_000.0, "no clock was wrong"
