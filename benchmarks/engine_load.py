"""An engine without HTTP, under load in a process of its own: what `service_nodes` measures beside whole nodes.

    python -m benchmarks.engine_load ADDRESS CALLERS HOMES EXPERIMENT ...

With "homes" it passes on to the other engine what is at home there, as nodes do. Says "ready" once all are in memory;
for each line with a number of seconds it then lets its callers ask for so long, and says how many decisions were made,
and how many seconds of processor that took.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import httptools
import uvloop

from ocucb.service.callers import LoopCaller, PendingRequest
from ocucb.service.connections import chunk
from ocucb.service.engine import Engine
from ocucb.service.node_directory import NodeDirectory
from ocucb.service.requests import Decide, Inspect
from ocucb.service.stores import Store
from ocucb.service.web.forwarding import Forwarder
from ocucb.service.web.homes import ForwardedRequests
from ocucb.service.web.node_messages import ForwardedRequest, HttpAnswer

EXPERIMENTS = [f"experiment{number}" for number in range(8)]


@dataclass
class EngineCase:
    """Engines on one database, each asked for some experiments; measured are decisions per second and µs for each."""

    name: str
    processes: Sequence[subprocess.Popen[str]]
    measured: list[tuple[float, float]] = field(default_factory=list)

    def measure(self, seconds: int) -> None:
        """Load all engines at once."""
        for process in self.processes:
            process.stdin.write(f"{seconds}\n")  # type: ignore[union-attr]  # it is a pipe
            process.stdin.flush()  # type: ignore[union-attr]
        said = [_line(process).split() for process in self.processes]
        decisions = sum(int(count) for count, _ in said)
        used = sum(float(cpu) for _, cpu in said)
        self.measured.append((decisions / seconds, used / max(1, decisions) * 1e6))


def start_engines(
    stack: ExitStack, name: str, address: str, callers: int, asked: Sequence[Sequence[str]], homes: bool = False
) -> EngineCase:
    """Start an engine for each list of experiments; `callers` is how many there are of all of them."""
    processes = []
    for names in asked:
        words = [address, str(callers // len(asked)), "homes" if homes else "no-homes", *names]
        command = [sys.executable, "-m", "benchmarks.engine_load", *words]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        processes.append(stack.enter_context(process))
    for process in processes:
        if _line(process) != "ready":
            raise RuntimeError(f"{name}: an engine did not start")
    return EngineCase(name, processes)


def _line(process: subprocess.Popen[str]) -> str:
    return process.stdout.readline().strip()  # type: ignore[union-attr]  # it is a pipe


class _Served(asyncio.Protocol):
    """What the other engine passes on: decisions for the experiment that a path names."""

    def __init__(self, caller: LoopCaller) -> None:
        self._caller, self._parser = caller, httptools.HttpRequestParser(self)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]
        self._requests = ForwardedRequests(self._serve, self._send, self._transport.close)
        self._transport.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        """Take a piece of what the other engine says."""
        self._requests.take(body)

    def _send(self, message: bytes) -> None:
        self._transport.write(chunk(message))

    def _serve(self, request: ForwardedRequest, answer: Callable[[HttpAnswer], None], _: object) -> None:
        def done(asked: PendingRequest) -> None:
            made = asked.result()
            answer(HttpAnswer(200, made[0].id.encode(), {}))  # type: ignore[index,union-attr]

        self._caller.submit(Decide(request.path.decode()), None, done)


async def _load(
    caller: LoopCaller, forwarder: Forwarder | None, names: Sequence[str], callers: int, seconds: float
) -> int:
    end = time.monotonic() + seconds

    async def ask(place: int) -> int:
        made = 0
        while time.monotonic() < end:
            await _decide(caller, forwarder, names[(place + made) % len(names)])
            made += 1
        return made

    return sum(await asyncio.gather(*(ask(place) for place in range(callers))))


async def _decide(caller: LoopCaller, forwarder: Forwarder | None, name: str) -> None:
    home = None if forwarder is None else forwarder.home(name)
    if forwarder is not None and home is not None:
        answered: asyncio.Future[HttpAnswer | None] = asyncio.get_running_loop().create_future()
        forwarder.pass_on(home, ForwardedRequest(name.encode(), b"", {}, b""), answered.set_result)
        if await answered is not None:
            return
    await caller.ask(Decide(name))


async def _run(engine: Engine, store: Store, callers: int, homes: bool, names: Sequence[str]) -> None:
    loop, caller = asyncio.get_running_loop(), LoopCaller(engine, 60.0, told_last=True)
    for name in names:
        await caller.ask(Inspect(name))  # a decision would be one of another engine, for most of them
    directory: NodeDirectory | None = None
    forwarder: Forwarder | None = None
    if homes:
        forwarded_caller = LoopCaller(engine, 60.0)
        server = await loop.create_server(lambda: _Served(forwarded_caller), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        directory = await asyncio.to_thread(NodeDirectory(store, f"http://127.0.0.1:{port}").start)
        forwarder = Forwarder(directory)
        while not directory.live:
            await asyncio.sleep(0.1)
        await asyncio.sleep(2.0)  # until the other one has heard, too
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        before = time.process_time()
        made = await _load(caller, forwarder, names, callers, float(line))
        print(made, time.process_time() - before, flush=True)
    if forwarder is not None and directory is not None:
        await forwarder.close()
        await asyncio.to_thread(directory.close)


def main() -> None:
    """Be such a process, until the input ends."""
    address, callers, homes, *names = sys.argv[1:]
    store = Store(address)
    engine = Engine(store).start()
    uvloop.run(_run(engine, store, int(callers), homes == "homes", names))
    engine.close()
    store.close()


if __name__ == "__main__":
    main()
