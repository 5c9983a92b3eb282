"""Two nodes on PostgreSQL beside one: decisions per second of all nodes together, and the nodes' CPU time for each.

Eight experiments of ten arms, 64 connections of `wrk` in all. "by experiment" is a balancer that sends each experiment
to its home; "round robin" one that does not look, so that half of all requests are passed on from node to node. The
cases are measured in turn, several times over, and then again with new processes, in one run; a part of one node is the
median of that part in each turn. Where experiments are at home is chance, and chance again in new processes: the last
rows have each start by itself. The same for engines without HTTP, 64 callers in all, each case with its own database;
"without homes" these pass nothing on, and take turns at the locks of all experiments. The database is on the same
machine, and takes its share of it. Then one of two nodes is stopped by SIGSTOP, or killed, while a caller asks the
other node for one decision after the other: the longest that an experiment of the lost node had to wait.

    python -m benchmarks.service_nodes postgresql://postgres@/postgres?host=/run/postgresql
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from sqlalchemy.engine import make_url

from benchmarks.engine_load import EXPERIMENTS, EngineCase, start_engines
from benchmarks.service import caller, free_port, prepare, running
from benchmarks.table import write
from ocucb.service.access import Access
from ocucb.service.node_directory import choose_home
from ocucb.service.stores import Store
from ocucb.service.stores.nodes import NodeRecord, list_nodes
from tools.programs import locate

CONNECTIONS = 64
STARTS = 6  # of all processes: of two that are the same one may be a tenth faster, and homes are by chance
SECONDS, ROUNDS = 2, 3
SCRIPT = """
local paths, turn = {{ {paths} }}, 0
wrk.method = "POST"
wrk.headers["Authorization"] = "Bearer {key}"
function request()
  turn = turn % #paths + 1
  return wrk.format(nil, "/v1/experiments/" .. paths[turn] .. "/decisions")
end
"""


@dataclass
class Node:
    """A running node."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def address(self) -> str:
        """Where it is reached."""
        return f"http://127.0.0.1:{self.port}"

    def cpu(self) -> float:
        """Return the seconds of processor that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass
class Case:
    """Which experiments are asked for at which node, and what was measured: requests per second, CPU for each in µs."""

    name: str
    nodes: Sequence[Node]
    asked: Sequence[Sequence[str]]
    key: str
    measured: list[tuple[float, float]] = field(default_factory=list)

    def measure(self, seconds: int) -> None:
        """Load all nodes at once."""
        with tempfile.TemporaryDirectory() as folder:
            self._measure(seconds, Path(folder))

    def _measure(self, seconds: int, folder: Path) -> None:
        before = sum(node.cpu() for node in self.nodes)
        with ThreadPoolExecutor(len(self.nodes)) as pool:
            loads = [pool.submit(self._load, place, seconds, folder) for place in range(len(self.nodes))]
            counts = [load.result() for load in loads]
        used = sum(node.cpu() for node in self.nodes) - before
        self.measured.append((sum(counts) / seconds, used / max(1, sum(counts)) * 1e6))

    def _load(self, place: int, seconds: int, folder: Path) -> int:
        script = folder / f"load{place}.lua"
        paths = ", ".join(f'"{name}"' for name in self.asked[place])
        script.write_text(SCRIPT.format(paths=paths, key=self.key), encoding="utf-8")
        connections = f"-c{CONNECTIONS // len(self.nodes)}"
        command = [locate("wrk"), "-t1", connections, f"-d{seconds}s", "--timeout", "10s", "-s", str(script)]
        done = subprocess.run([*command, self.nodes[place].address], capture_output=True, text=True, check=True)
        if "Non-2xx" in done.stdout or "Socket errors" in done.stdout:
            raise RuntimeError(f"{self.name}: requests failed: {done.stdout}")
        return int(re.search(r"(\d+) requests in", done.stdout)[1])  # type: ignore[index]


@contextmanager
def database(server: str, template: str = "template1") -> Iterator[str]:
    """Make a database of its own on a server, a copy of another one, and drop it in the end."""
    name = f"ocucb_{secrets.token_hex(4)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
    try:
        yield make_url(server).set(database=name).render_as_string(hide_password=False)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@contextmanager
def prepared(server: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Make a database with all experiments; yield its name and an API key."""
    with database(server) as address:
        store = Store(address)
        store.migrate()
        key = Access(store).make("benchmark", ["admin"])[1]
        store.close()
        with ExitStack() as stack:
            (node,) = start(stack, address, folder, 1)
            for name in EXPERIMENTS:
                prepare(node.port, key, name, 10)
        yield str(make_url(address).database), key


def start(stack: ExitStack, address: str, folder: Path, number: int) -> list[Node]:
    """Start nodes on a database."""
    nodes = []
    for _ in range(number):
        port = free_port()
        words = ["serve", "--port", str(port), "--database", address, "--rate-limit", "1000000"]
        command = [sys.executable, "-m", "ocucb.cli", *words, "--advertise", f"http://127.0.0.1:{port}"]
        nodes.append(Node(port, stack.enter_context(running(command, port, folder))))
    store = Store(address)
    while not {node.address for node in nodes} <= {record.address for record in _listed(store)}:
        time.sleep(0.1)
    store.close()
    time.sleep(2.0)  # until they have heard of each other
    return nodes


def _listed(store: Store) -> list[NodeRecord]:
    with store.read() as transaction:
        return list(list_nodes(transaction))


def homes(address: str, nodes: Sequence[Node]) -> list[tuple[Node, list[str]]]:
    """Return the nodes with the experiments that are at home there, and the node with most of them last."""
    store = Store(address)
    listed = _listed(store)
    store.close()
    home = {name: choose_home(listed, name).address for name in EXPERIMENTS}
    found = [(node, [name for name in EXPERIMENTS if home[name] == node.address]) for node in nodes]
    return sorted(found, key=lambda pair: len(pair[1]))


def longest_wait(asked: Node, lost: Node, key: str, name: str, blow: int) -> float:
    """Stop or kill a node, an experiment's home; return the longest wait for a decision at another."""
    longest, end = 0.0, time.monotonic() + 6.0
    with caller(asked.port, key) as ask:
        struck = False
        while time.monotonic() < end:
            began = time.monotonic()
            while ask.post(f"/v1/experiments/{name}/decisions").status_code != 200:
                time.sleep(0.02)
            longest = max(longest, time.monotonic() - began)
            if not struck and time.monotonic() > end - 5.0:
                struck = True
                lost.process.send_signal(blow)
    return longest


def measure_nodes(server: str, template: str, key: str, folder: Path) -> tuple[list[Case], list[list[str]], str]:
    """Start nodes and measure each case in turn; then how long experiments wait for a node that is lost.

    Returned with these is how many experiments were at home at each node.
    """
    with ExitStack() as stack:
        databases = [stack.enter_context(database(server, template)) for _ in range(2)]
        one, two = (start(stack, address, folder, number) for number, address in enumerate(databases, 1))
        at_home = homes(databases[1], two)
        (other, few), (lost, most) = at_home
        busy = [(node, names) for node, names in at_home if names]
        cases = [
            Case("one node", one, [EXPERIMENTS], key),
            Case("two nodes, by experiment", [node for node, _ in busy], [names for _, names in busy], key),
            Case("two nodes, round robin", two, [EXPERIMENTS, EXPERIMENTS], key),
        ]
        _measure_in_turn(cases)
        waits = []
        for word, blow in (("SIGSTOP", signal.SIGSTOP), ("SIGKILL", signal.SIGKILL)):
            wait = longest_wait(other, lost, key, most[0], blow)
            waits.append([f"longest wait after {word}", f"{wait:.2f} s", "", ""])
            lost.process.send_signal(signal.SIGCONT)
            time.sleep(3.0)
        for node in (*one, *two):
            node.process.kill()
    return cases, waits, f"{len(few)} and {len(most)}"


def measure_engines(server: str, template: str) -> list[EngineCase]:
    """Start engines and measure each case in turn."""
    first, second = EXPERIMENTS[:4], EXPERIMENTS[4:]
    with ExitStack() as stack:
        addresses = [stack.enter_context(database(server, template)) for _ in range(4)]
        cases = [
            start_engines(stack, "one engine", addresses[0], CONNECTIONS, [EXPERIMENTS]),
            start_engines(stack, "two engines, by experiment", addresses[1], CONNECTIONS, [first, second]),
            start_engines(stack, "two engines, round robin", addresses[2], CONNECTIONS, [EXPERIMENTS] * 2, homes=True),
            start_engines(stack, "the same without homes", addresses[3], CONNECTIONS, [EXPERIMENTS] * 2),
        ]
        _measure_in_turn(cases)
    return cases


def _measure_in_turn(cases: Sequence[Case] | Sequence[EngineCase]) -> None:
    for case in cases:  # a first time, which does not count
        case.measure(1)
        case.measured.clear()
    for _ in range(ROUNDS):
        for case in cases:
            case.measure(SECONDS)


def main() -> None:
    """Measure all cases, and write the table."""
    (server,) = sys.argv[1:]
    with tempfile.TemporaryDirectory(dir=".") as name, prepared(server, Path(name).resolve()) as (template, key):
        folder = Path(name).resolve()
        of_nodes = [measure_nodes(server, template, key, folder) for _ in range(STARTS)]
        of_engines = [measure_engines(server, template) for _ in range(STARTS)]
    same = zip(*(waits for _, waits, _ in of_nodes), strict=True)
    longest = [max(waits, key=lambda row: float(row[1].split()[0])) for waits in same]
    rows = [*_rows([cases for cases, _, _ in of_nodes]), *_rows(of_engines), *longest]
    for cases, _, split in of_nodes:
        *_, round_robin = _rows([cases])
        rows.append([f"round robin, {split} at home", *round_robin[1:]])
    write("service_nodes", __doc__ or "", ["", "decisions/s", "of one node", "CPU, µs"], rows)


def _rows(starts: Sequence[Sequence[Case]] | Sequence[Sequence[EngineCase]]) -> list[list[str]]:
    rows = []
    bases = [rate for cases in starts for rate, _ in cases[0].measured]
    for same in zip(*starts, strict=True):
        rates, cpu = zip(*(one for case in same for one in case.measured), strict=True)
        part = statistics.median(rate / base for rate, base in zip(rates, bases, strict=True))
        rows.append([same[0].name, f"{statistics.median(rates):,.0f}", f"{part:.2f}", f"{statistics.median(cpu):.0f}"])
    return rows


if __name__ == "__main__":
    main()
