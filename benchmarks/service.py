"""The service under load: durable decisions per second on SQLite, beside an app that does nothing.

`ocucb serve` as anyone would start it, one process, its database on disk; `wrk` on loopback with 64 connections that
stay open, or 8. The bare app is the smallest that ASGI allows: it answers every request with nothing, on uvicorn with
the same loop and parser; the empty POST is a FastAPI route that does the same. The cases are measured in turn, several
times over in one run, and the medians are shown; a part of the bare app is the median of that part in each turn, so
that it holds on a busy machine. Every arm starts with one reward (an imported log). "with keys" sends an idempotency
key with each decision, as clients do; "with rewards" sends each decision's reward as well. More connections make larger
batches, so more decisions per second, and each waits longer. The processor time is that of the server, for a request:
where others use the machine too, or its disk is slow, it says more than the rate. Needs `wrk` (Debian: apt-get install
wrk).

    python -m benchmarks.service
    python -m benchmarks.service million    # a million decisions, and the memory of the server meanwhile
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from benchmarks.table import write
from tools.programs import locate

FEW, MANY = 8, 64  # connections
SECONDS = 2
ROUNDS = 7
MILLION = 1_000_000
BATCH = 1000

BARE = """
import uvicorn

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            await send({{"type": (await receive())["type"] + ".complete"}})
    await receive()
    await send({{"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]}})
    await send({{"type": "http.response.body", "body": b""}})

uvicorn.run(app, port={port}, loop="uvloop", http="httptools", access_log=False, log_level="warning", lifespan="off")
"""

EMPTY = """
import uvicorn
from fastapi import FastAPI

app = FastAPI()

@app.post("/empty")
async def empty() -> None:
    return None

uvicorn.run(app, port={port}, loop="uvloop", http="httptools", access_log=False, log_level="warning")
"""

SCRIPT = """
local ids, keys = {{}}, 0
wrk.method = "POST"
wrk.headers["Authorization"] = "Bearer {key}"
wrk.headers["Content-Type"] = "application/json"
local threads = {{}}
function setup(thread) table.insert(threads, thread) end
function request()
  local id = {rewards} and table.remove(ids)
  if id then
    return wrk.format(nil, "/v1/rewards", nil, '{{"decision": "' .. id .. '", "reward": 0.5}}')
  end
  if {keyed} then
    keys = keys + 1
    wrk.headers["Idempotency-Key"] = "{run}-" .. keys
  end
  return wrk.format(nil, "{path}", nil, "{body}")
end
function response(status, headers, body)
  if {rewards} then
    local id = string.match(body, '"id": ?"([^"]+)"')
    if id then table.insert(ids, id) end
  end
end
function done(summary, latency, requests)
  local wrong = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout
  io.write(string.format('{{"requests": %d, "rate": %f, "p50": %f, "p99": %f, "wrong": %d}}',
    summary.requests, summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, wrong))
end
"""


@dataclass
class Case:
    """What is asked, of whom, and what was measured each time.

    That is requests per second, p50 and p99 in milliseconds, and microseconds of the server's processor time a request.
    """

    name: str
    server: int  # the id of its process
    port: int
    path: str
    key: str = "none"
    rewards: bool = False
    keyed: bool = False
    connections: int = MANY
    measured: list[tuple[float, float, float, float]] = field(default_factory=list)

    def measure(self, seconds: int, folder: Path) -> None:
        """Load the server for so many seconds."""
        script = folder / "load.lua"
        flags = {name: str(getattr(self, name)).lower() for name in ("rewards", "keyed")}
        run = secrets.token_hex(4)
        script.write_text(SCRIPT.format(key=self.key, path=self.path, body="", run=run, **flags), encoding="utf-8")
        command = [
            locate("wrk"),
            "-t1",
            f"-c{self.connections}",
            f"-d{seconds}s",
            "--timeout",
            "10s",
            "-s",
            str(script),
        ]
        before = processor_time(self.server)
        done = subprocess.run(
            [*command, f"http://127.0.0.1:{self.port}"],
            capture_output=True,
            text=True,
            check=True,
            timeout=seconds + 60,
        )
        found = json.loads(done.stdout[done.stdout.index("{") :])
        if found["wrong"]:
            raise RuntimeError(f"{self.name}: {found['wrong']} requests failed")
        used = processor_time(self.server) - before
        self.measured.append((found["rate"], found["p50"], found["p99"], used / found["requests"] * 1e6))

    def median(self) -> tuple[float, ...]:
        """Return the medians of what was measured."""
        return tuple(statistics.median(column) for column in zip(*self.measured, strict=True))


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(command: list[str], port: int, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the end of the block, which begins when it listens."""
    with (folder / f"{port}.txt").open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


@contextmanager
def service(folder: Path) -> Iterator[tuple[int, str, subprocess.Popen[bytes]]]:
    """`ocucb serve` on an empty database: its port, its first key, its process."""
    port = free_port()
    command = [shutil.which("ocucb", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}") or "ocucb", "serve"]
    with running([*command, "--port", str(port), "--rate-limit", "1000000"], port, folder) as process:
        key = re.search(r"ocucb_[a-z0-9]{12}_[A-Za-z0-9_-]{43}", (folder / f"{port}.txt").read_text("utf-8"))
        if key is None:
            raise RuntimeError("the server has not shown its first key")
        yield port, key[0], process


def caller(port: int, key: str) -> httpx.Client:
    """Return a client with a key."""
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {key}"}, timeout=60)


def prepare(port: int, key: str, name: str, arms: int) -> None:
    """Create an experiment whose arms have one reward each."""
    with caller(port, key) as ask:
        ask.post("/v1/experiments", json={"name": name, "arms": list(range(arms))}).raise_for_status()
        log = [{"arm": arm, "reward": arm % 10 / 10} for arm in range(arms)]
        ask.post(f"/v1/experiments/{name}/import", json={"log": log}).raise_for_status()


def processor_time(process: int) -> float:
    """Return the seconds of processor time that all threads of a process have used."""
    threads = Path(f"/proc/{process}/task").iterdir()
    return sum(int((thread / "schedstat").read_text("ascii").split()[0]) for thread in threads) / 1e9


def memory(process: subprocess.Popen[bytes]) -> float:
    """Return the resident memory of a process in MiB."""
    text = Path(f"/proc/{process.pid}/status").read_text("utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]


def compare() -> None:
    """Measure all cases in turn, and write the table."""
    with tempfile.TemporaryDirectory(dir=".") as name:
        folder, port, bare = Path(name).resolve(), free_port(), free_port()
        with (
            running([sys.executable, "-c", EMPTY.format(port=port)], port, folder) as empty_app,
            running([sys.executable, "-c", BARE.format(port=bare)], bare, folder) as bare_app,
            service(folder) as (at, key, ours),
        ):
            prepare(at, key, "few", 10)
            prepare(at, key, "many", 100_000)
            few, many = (f"/v1/experiments/{name}/decisions" for name in ("few", "many"))
            cases = [
                Case("bare ASGI app, 64 connections", bare_app.pid, bare, "/"),
                Case("empty POST of FastAPI, 64", empty_app.pid, port, "/empty"),
                Case("decisions, K = 10, 64", ours.pid, at, few, key),
                Case("with keys, K = 10, 64", ours.pid, at, few, key, keyed=True),
                Case("with rewards, K = 10, 64", ours.pid, at, few, key, rewards=True),
                Case("decisions, K = 100,000, 64", ours.pid, at, many, key),
                Case("with rewards, K = 100,000, 64", ours.pid, at, many, key, rewards=True),
                Case("bare ASGI app, 8 connections", bare_app.pid, bare, "/", connections=FEW),
                Case("decisions, K = 10, 8", ours.pid, at, few, key, connections=FEW),
            ]
            measure(cases, folder)
    bare_apps = {case.connections: case for case in cases if case.path == "/"}
    rows = []
    for case in cases:
        rate, middle, high, used = case.median()
        pairs = zip(case.measured, bare_apps[case.connections].measured, strict=True)
        share = statistics.median(ours[0] / theirs[0] for ours, theirs in pairs)
        rows.append([case.name, f"{rate:,.0f}", f"{share:.2f}", f"{middle:.1f}", f"{high:.1f}", f"{used:.0f}"])
    write(
        "service", __doc__ or "", ["", "requests/s", "of the bare app", "p50, ms", "p99, ms", "µs of processor"], rows
    )


def measure(cases: Sequence[Case], folder: Path) -> None:
    """Measure cases in turn, several times over."""
    for case in cases:  # a first time, which does not count
        case.measure(1, folder)
        case.measured.clear()
    for _ in range(ROUNDS):
        for case in cases:
            case.measure(SECONDS, folder)


def million() -> None:
    """Make a million decisions, give half of them rewards, and write how the memory of the server moves."""
    rows = []
    with tempfile.TemporaryDirectory(dir=".") as name, service(Path(name).resolve()) as (port, key, process):
        prepare(port, key, "few", 10)
        with caller(port, key) as ask:
            for number in range(MILLION // BATCH):
                if number % 100 == 0:
                    rows.append([f"{number * BATCH:,}", f"{memory(process):.0f}"])
                made = ask.post("/v1/experiments/few/decisions", json={"count": BATCH}).raise_for_status()
                ids = [decision["id"] for decision in made.json()["decisions"]]
                rewards = [{"decision": one, "reward": 0.5} for one in ids[::2]]
                ask.post("/v1/rewards", json={"rewards": rewards}).raise_for_status()
        rows.append([f"{MILLION:,}", f"{memory(process):.0f}"])
    about = (
        f"Memory of one server during a million decisions, {BATCH} at a time, half of them rewarded; K = 10, SQLite."
    )
    write("service_memory", f"{about}\n\n    python -m benchmarks.service million", ["decisions", "MiB"], rows)


def main() -> None:
    """Measure the one or the other."""
    million() if sys.argv[1:] == ["million"] else compare()


if __name__ == "__main__":
    main()
