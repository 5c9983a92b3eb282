"""Two nodes on PostgreSQL beside one: decisions per second of all nodes together, and the nodes' CPU time for each.

Eight experiments of ten arms, 64 connections of `wrk` in all. "by experiment" is a balancer that sends each experiment
to its home; "round robin" one that does not look, so that half of all requests are passed on from node to node. The
cases are measured in turn, several times over in one run; a part of one node is the median of that part in each turn.
The same for engines without HTTP, 64 callers in all; "without homes" these pass nothing on, and take turns at the locks
of all experiments. The database is on the same machine, and takes its share of it. Then one of two nodes is
stopped by SIGSTOP, or killed, while a caller asks the other node for one decision after the other: the longest that an
experiment of the lost node had to wait.

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

from benchmarks.engine_load import EngineCase, start_engines
from benchmarks.service import caller, free_port, prepare, running
from benchmarks.table import write
from ocucb.service.access import Access
from ocucb.service.node_directory import choose_home
from ocucb.service.stores import Store
from ocucb.service.stores.nodes import NodeRecord, list_nodes
from tools.programs import locate

EXPERIMENTS = [f"experiment{number}" for number in range(8)]
CONNECTIONS = 64
SECONDS, ROUNDS = 3, 3
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
def database(server: str) -> Iterator[str]:
    """Make a database of its own on a server, and drop it in the end."""
    name = f"ocucb_{secrets.token_hex(4)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    try:
        yield make_url(server).set(database=name).render_as_string(hide_password=False)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def start(stack: ExitStack, address: str, folder: Path, number: int) -> tuple[list[Node], str]:
    """Start nodes on a database with all experiments; return them and an API key."""
    store = Store(address)
    store.migrate()
    key = Access(store).make("benchmark", ["admin"])[1]
    store.close()
    nodes = []
    for _ in range(number):
        port = free_port()
        words = ["serve", "--port", str(port), "--database", address, "--rate", "1000000"]
        command = [sys.executable, "-m", "ocucb.cli", *words, "--advertise", f"http://127.0.0.1:{port}"]
        nodes.append(Node(port, stack.enter_context(running(command, port, folder))))
    for name in EXPERIMENTS:
        prepare(nodes[0].port, key, name, 10)
    store = Store(address)
    while len(_listed(store)) < number:
        time.sleep(0.1)
    store.close()
    time.sleep(2.0)  # until they have heard of each other
    return nodes, key


def _listed(store: Store) -> list[NodeRecord]:
    with store.read() as transaction:
        return list(list_nodes(transaction))


def homes(address: str, nodes: Sequence[Node]) -> list[list[str]]:
    """Return the experiments that are at home at each node."""
    store = Store(address)
    listed = _listed(store)
    store.close()
    found = {name: choose_home(listed, name).address for name in EXPERIMENTS}
    return [[name for name in EXPERIMENTS if found[name] == node.address] for node in nodes]


def longest_wait(nodes: Sequence[Node], key: str, name: str, blow: int) -> float:
    """Stop or kill the second node, an experiment's home; return the longest wait for a decision at the first."""
    longest, end = 0.0, time.monotonic() + 6.0
    with caller(nodes[0].port, key) as ask:
        struck = False
        while time.monotonic() < end:
            began = time.monotonic()
            while ask.post(f"/v1/experiments/{name}/decisions").status_code != 200:
                time.sleep(0.02)
            longest = max(longest, time.monotonic() - began)
            if not struck and time.monotonic() > end - 5.0:
                struck = True
                nodes[1].process.send_signal(blow)
    return longest


def measure_cases(server: str) -> tuple[list[list[Case] | list[EngineCase]], list[list[str]]]:
    """Measure nodes, and then engines, each case in turn; also how long experiments wait for a node that is lost."""
    with tempfile.TemporaryDirectory(dir=".") as name, ExitStack() as stack:
        folder = Path(name).resolve()
        one_database, two_database = (stack.enter_context(database(server)) for _ in range(2))
        one, one_key = start(stack, one_database, folder, 1)
        two, key = start(stack, two_database, folder, 2)
        at_home = homes(two_database, two)
        nodes = [
            Case("one node", one, [EXPERIMENTS], one_key),
            Case("two nodes, by experiment", two, at_home, key),
            Case("two nodes, round robin", two, [EXPERIMENTS, EXPERIMENTS], key),
        ]
        _measure_in_turn(nodes)
        waits = []
        for word, blow in (("SIGSTOP", signal.SIGSTOP), ("SIGKILL", signal.SIGKILL)):
            waits.append([f"longest wait after {word}", f"{longest_wait(two, key, at_home[1][0], blow):.2f} s", "", ""])
            two[1].process.send_signal(signal.SIGCONT)
            time.sleep(3.0)
        for node in (*one, *two):
            node.process.kill()
        engines = [
            start_engines(stack, "one engine", one_database, CONNECTIONS, [EXPERIMENTS]),
            start_engines(stack, "two engines, by experiment", two_database, CONNECTIONS, at_home),
            start_engines(stack, "two engines, round robin", two_database, CONNECTIONS, [EXPERIMENTS] * 2, homes=True),
            start_engines(stack, "the same without homes", two_database, CONNECTIONS, [EXPERIMENTS] * 2),
        ]
        _measure_in_turn(engines)
    return [nodes, engines], waits


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
    measured, waits = measure_cases(server)
    rows = []
    for cases in measured:
        for case in cases:
            rate, cpu = (statistics.median(column) for column in zip(*case.measured, strict=True))
            parts = [one / base for (one, _), (base, _) in zip(case.measured, cases[0].measured, strict=True)]
            rows.append([case.name, f"{rate:,.0f}", f"{statistics.median(parts):.2f}", f"{cpu:.0f}"])
    write("service_nodes", __doc__ or "", ["", "decisions/s", "of one node", "CPU, µs"], rows + waits)


if __name__ == "__main__":
    main()
