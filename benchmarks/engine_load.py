"""An engine without HTTP, under load in a process of its own: what `service_nodes` measures beside whole nodes.

    python -m benchmarks.engine_load ADDRESS CALLERS EXPERIMENT ...

Says "ready" once all experiments are in memory; for each line with a number of seconds it then lets its callers ask for
so long, and says how many decisions were made, and how many seconds of processor that took.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from ocucb.service.callers import LoopCaller
from ocucb.service.engine import Engine
from ocucb.service.requests import Decide
from ocucb.service.stores import Store


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
    stack: ExitStack, name: str, address: str, callers: int, asked: Sequence[Sequence[str]]
) -> EngineCase:
    """Start an engine for each list of experiments; `callers` is how many there are of all of them."""
    processes = []
    for names in asked:
        command = [sys.executable, "-m", "benchmarks.engine_load", address, str(callers // len(asked)), *names]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        processes.append(stack.enter_context(process))
    for process in processes:
        if _line(process) != "ready":
            raise RuntimeError(f"{name}: an engine did not start")
    return EngineCase(name, processes)


def _line(process: subprocess.Popen[str]) -> str:
    return process.stdout.readline().strip()  # type: ignore[union-attr]  # it is a pipe


async def _load(engine: Engine, names: Sequence[str], callers: int, seconds: float) -> int:
    caller, end = LoopCaller(engine, 60.0), time.monotonic() + seconds

    async def ask(place: int) -> int:
        made = 0
        while time.monotonic() < end:
            await caller.ask(Decide(names[(place + made) % len(names)]))
            made += 1
        return made

    return sum(await asyncio.gather(*(ask(place) for place in range(callers))))


def main() -> None:
    """Be such a process, until the input ends."""
    address, callers, *names = sys.argv[1:]
    store = Store(address)
    engine = Engine(store).start()
    asyncio.run(_load(engine, names, len(names), 0.5))
    print("ready", flush=True)
    for line in sys.stdin:
        before = time.process_time()
        made = asyncio.run(_load(engine, names, int(callers), float(line)))
        print(made, time.process_time() - before, flush=True)
    engine.close()
    store.close()


if __name__ == "__main__":
    main()
