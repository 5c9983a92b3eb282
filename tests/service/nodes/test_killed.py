"""Servers killed under load, over HTTP: nothing acknowledged is lost, nothing counts twice."""

from __future__ import annotations

import os
import random
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from ocucb.service.access import Access
from ocucb.service.stores import Store
from service.helpers import PATIENT
from service.load import EXPERIMENT, prepare
from service.nodes.callers import Callers
from service.test_crashes import check

FORGE = str(Path(__file__).with_name("forge.py"))


class Forge:
    """Starts and kills servers on one database."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def start(self, port: int) -> int:
        """Start a server, and return its process id."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{port}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


def kill(server: int) -> None:
    """Kill a server, and wait until it is dead: until then the port is its own."""
    watch = os.pidfd_open(server)
    os.kill(server, signal.SIGKILL)
    select.select([watch], [], [])
    os.close(watch)


@contextmanager
def forge(address: str) -> Iterator[Forge]:
    with subprocess.Popen([sys.executable, FORGE, address], stdin=-1, stdout=-1, text=True) as process:
        yield Forge(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0


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


def test_a_server_killed_twenty_times(address: str) -> None:
    prepare(address)
    key, [port], draw = make_key(address), free_ports(1), random.Random(8)
    with forge(address) as servers, Callers([f"http://127.0.0.1:{port}"], key, 6) as callers:
        for _ in range(20):
            server = servers.start(port)
            callers.wait(0, 6)
            time.sleep(draw.uniform(0.0, 0.25))
            kill(server)
        servers.start(port)
        callers.wait(0, 20)
    assert callers.problems == []
    assert callers.noted.rewarded
    check(address, callers.noted)


def pulls(urls: list[str], key: str) -> list[Any]:
    """Return what each node says of the arms."""
    return [
        httpx.get(
            f"{url}/v1/experiments/{EXPERIMENT}/arms", headers={"Authorization": f"Bearer {key}"}, timeout=30.0
        ).json()["arms"]
        for url in urls
    ]


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSTOP])
def test_three_nodes_one_lost_the_database_restarted(postgres: Any, postgresql: str, blow: signal.Signals) -> None:
    """A node that hangs must not hold up the others either."""
    prepare(postgresql)
    key, ports = make_key(postgresql), free_ports(3)
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    with forge(postgresql) as servers, Callers(urls, key, 3) as callers:
        running = [servers.start(port) for port in ports]
        for node in range(3):
            callers.wait(node, 20)
        if blow == signal.SIGKILL:
            kill(running[2])
        else:
            os.kill(running[2], blow)
        for node in range(2):
            callers.wait(node, 20)
        if blow == signal.SIGKILL:
            running[2] = servers.start(ports[2])
        else:
            os.kill(running[2], signal.SIGCONT)
        callers.wait(2, 20)
        postgres.stop()
        ready = httpx.get(f"{urls[0]}/readyz", timeout=30.0)
        lost = callers.statuses[503]
        end = time.monotonic() + 60.0
        while callers.statuses[503] < lost + 3:
            assert time.monotonic() < end, "no 503 while the database is away"
            time.sleep(0.01)
        postgres.ensure_postgres_running()
        for node in range(3):
            callers.wait(node, 20)
        callers.stop()
        end = time.monotonic() + 60.0
        while any(httpx.get(f"{url}/readyz", timeout=30.0).status_code != 200 for url in urls):
            assert time.monotonic() < end, "a node does not recover"
            time.sleep(0.05)
        time.sleep(1.0)  # of quiet: windows are shorter than that, and sweeps more frequent
        views = pulls(urls, key)
    assert ready.status_code in (200, 503)
    assert callers.problems == []
    assert views[0] == views[1] == views[2]
    check(postgresql, callers.noted)
