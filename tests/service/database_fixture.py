"""Makes a database of the newest schema, with data of every kind, and writes it to `data` for both databases as SQL.

To be run before a migration is added, so that the test of upgrades has a database made by the commit before:

    python -m service.database_fixture          (in the folder tests)
"""

from __future__ import annotations

import re
import sqlite3
import subprocess
import tempfile
from pathlib import Path

from alembic.script import ScriptDirectory

from ocucb import UCB, Bernoulli, Discount, GaussianUnknownScale, ThompsonSampling, Window
from ocucb.service.access import Access
from ocucb.service.archive import archive_log
from ocucb.service.engine import Limits
from ocucb.service.requests import (
    AddArm,
    Correct,
    Decide,
    Expire,
    ImportLog,
    RetireArm,
    Reward,
    SetShares,
    SetStatus,
    SetWinnerRule,
)
from ocucb.service.stores.nodes import NodeRecord, beat
from ocucb.service.stores.schema import MIGRATIONS
from service.helpers import ManualClock, Node
from service.postgresql import PostgreSQL

DATA = Path(__file__).parent / "data"
DAY = 86_400.0


def fill(address: str, folder: Path) -> None:
    """Make a database with data of every kind. The clock stands still but for what is said here."""
    clock = ManualClock()
    node = Node(address, clock, Limits(sweep=3600.0, snapshot=20))
    access = Access(node.store, clock)
    access.make("old admin", ["admin"])
    access.make("short", ["decide", "reward"], ["colours"], DAY)
    node.create(policy=UCB(), shares=(("blue", 0.1),), sticky=3600.0, metadata={"team": "Ada"})
    for number in range(12):
        decision = node.decide(unit=f"unit {number % 5}", idempotency_key=f"key {number}")
        if not decision.repeated:
            node.ask(Reward(decision.id, number / 7.0))
        clock.advance(1000.0)
    clock.advance(40 * DAY)
    assert archive_log(node.store, "colours", folder, 30.0, clock).file is not None
    node.play(5)
    node.ask(AddArm("colours", "black", {"hex": "#000"}))
    node.ask(RetireArm("colours", "red"))
    node.ask(SetShares("colours", (("green", 0.25),)))
    wrong = node.decide(among=("green", "black"))
    node.ask(Reward(wrong.id, 1e9))
    node.ask(Correct(wrong.id, 0.1))
    node.ask(Correct(wrong.id, None))
    node.create("parts", noise=Bernoulli(), window=60.0, partial_rewards=True, on_expiry=0.0, late="accept")
    first, *_ = node.ask(Decide("parts", count=3, different=True))
    node.ask(Reward(first.id, 1.0, part="click"))
    clock.advance(61.0)
    node.ask(Expire(2))
    node.ask(Reward(node.decide("parts").id, 1.0, part="open"))
    node.create("certain", noise=Bernoulli(), policy=ThompsonSampling())
    node.ask(ImportLog("certain", (("red", 1.0), ("green", 0.0), ("blue", 0.0)) * 40))
    node.ask(SetWinnerRule("certain", 0.95))
    node.decide("certain")
    for name, memory in (("window", Window(15)), ("faded", Discount(0.9))):
        node.create(name, memory=memory)
        node.play(25, name)
    node.create("unknown scale", noise=GaussianUnknownScale())
    node.play(8, "unknown scale")
    node.create("ended")
    node.play(2, "ended")
    node.ask(SetStatus("ended", "archived"))
    node.decide("window", idempotency_key="open")
    with node.store.write() as transaction:
        beat(transaction, NodeRecord("node", "http://127.0.0.1:1", 3))
    node.close()


def dump_sqlite(folder: Path) -> str:
    """Return a filled SQLite database as SQL."""
    fill(f"sqlite:///{folder / 'filled.db'}", folder)
    connection = sqlite3.connect(folder / "filled.db")
    text = "\n".join(connection.iterdump())
    connection.close()
    return text + "\n"


def dump_postgresql(folder: Path) -> str:
    """Return a filled PostgreSQL database as SQL, less what only its own shell reads."""
    server = PostgreSQL()
    try:
        fill(server.address, folder)
        words = [str(server.programs / "pg_dump"), "--inserts", "--no-owner", "--no-privileges"]
        dumped = subprocess.run(
            [*words, "--dbname", server.address], check=True, capture_output=True, text=True, timeout=120
        )
        return re.sub(r"(?m)^(--.*|\\.*|SET transaction_timeout.*)?\n", "", dumped.stdout)
    finally:
        server.close()


def main() -> None:
    """Write both."""
    newest = ScriptDirectory(str(MIGRATIONS)).get_current_head()
    for name, dump in (("sqlite", dump_sqlite), ("postgresql", dump_postgresql)):
        with tempfile.TemporaryDirectory() as folder:
            (DATA / f"schema_{newest}_{name}.sql").write_text(dump(Path(folder)), encoding="utf-8")


if __name__ == "__main__":
    main()
