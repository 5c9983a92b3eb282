"""Memory, tables and start-up of a service over many decisions, whose log is archived as it grows.

One experiment of ten arms on SQLite, by the engine alone: decisions 1000 at a time, all of them rewarded. After each
tenth of them the log is archived to Parquet and its rows dropped, and the experiment is read from the database as a
node that starts does. All but the files stays as it is, however many decisions there were.

    python -m benchmarks.service_retention 10000000
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.table import write
from ocucb.service.archive import archive_log
from ocucb.service.callers import LoopCaller
from ocucb.service.definition import Definition
from ocucb.service.engine import Engine
from ocucb.service.loader import Loader
from ocucb.service.requests import Create, Decide, Reward
from ocucb.service.stores import Store

DECISIONS = 10_000_000
STEPS = 10
AT_ONCE = 1000
NAME = "buttons"
HEADER = [
    "decisions",
    "MiB of memory",
    "MiB of database",
    "rows",
    "s to read it",
    "MiB of files",
    "s to play",
    "s to archive",
]


def main(decisions: int = DECISIONS) -> None:
    """Play, archive and measure, step by step."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        store = Store(f"sqlite:///{folder / 'service.db'}")
        store.migrate()
        engine = Engine(store).start()
        asyncio.run(_create(engine))
        for step in range(STEPS + 1):
            began = time.perf_counter()
            if step:
                asyncio.run(_play(engine, decisions // STEPS))
            played = time.perf_counter() - began
            began = time.perf_counter()
            done = archive_log(store, NAME, folder, 0.0)
            archived = time.perf_counter() - began
            so_far = step * (decisions // STEPS)
            rows.append(_measure(store, folder, so_far, played, archived, done.upto))
            write("service_retention", f"{__doc__}\nHere {so_far:,} of {decisions:,} decisions.", HEADER, rows)
        engine.close()
        store.close()


async def _create(engine: Engine) -> None:
    await LoopCaller(engine, 60.0).ask(Create(Definition(NAME, tuple(range(10)), seed=1)))


async def _play(engine: Engine, decisions: int) -> None:
    caller = LoopCaller(engine, 60.0)
    for _ in range(decisions // AT_ONCE):
        made = await caller.ask(Decide(NAME, AT_ONCE))
        await caller.ask_all([Reward(one.id, float(place % 2)) for place, one in enumerate(made)])


def _measure(store: Store, folder: Path, decisions: int, played: float, archived: float, upto: int) -> list[str]:
    with store.read() as transaction:
        kept = transaction.connection.exec_driver_sql("SELECT count(*) FROM log").scalar_one()
    began = time.perf_counter()
    loaded = Loader(store, lambda _: None).load(NAME)
    seconds = time.perf_counter() - began
    if loaded.state is None or loaded.state.seq < upto:
        raise RuntimeError("the experiment was not read as it was")
    sizes = {kind: sum(file.stat().st_size for file in folder.glob(kind)) for kind in ("service.db*", "*.parquet")}
    numbers = [_resident(), sizes["service.db*"] / 2**20, kept, seconds, sizes["*.parquet"] / 2**20, played, archived]
    return [f"{decisions:,}", *(f"{number:,}" if isinstance(number, int) else f"{number:.3g}" for number in numbers)]


def _resident() -> float:
    """Return the MiB that this process has in memory now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
