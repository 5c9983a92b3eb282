"""An upgrade by the guide's commands: an older database is served with all that is in it, and there is a way back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from service.guide.machine import Machine
from service.helpers import Node, write_first_schema

ROUNDS = 40


def make_old(address: str, model: str) -> str:
    """Make a database of the first schema, with a log as services write it; return its last decision."""
    node = Node(model)
    node.create()
    node.play(ROUNDS)
    decision, log = node.decide().id, node.log()
    node.close()
    assert write_first_schema(address, "colours", log) == 1
    return decision


def version(file: Path) -> str:
    with closing(sqlite3.connect(file)) as database:
        return str(database.execute("SELECT version_num FROM alembic_version").fetchone()[0])


def test_an_older_database_is_served_and_there_is_a_way_back(machine: Machine, tmp_path: Path) -> None:
    machine.provide("sqlite3")
    file = machine.path("/var/lib/ocucb/ocucb.db")
    decision = make_old(machine.environment()["OCUCB_DATABASE"], f"sqlite:///{tmp_path / 'model.db'}")
    assert version(file) == "0001"
    backup = Path(machine.run("upgrade").strip())
    server = machine.servers[-1]
    assert version(file) > "0001"
    assert server.ask("GET", "/v1/experiments/colours", server.key).json()["rounds"] == ROUNDS + 1
    reward = {"decision": decision, "reward": 1.0}
    for outcome in ("counted", "repeated"):
        assert server.ask("POST", "/v1/rewards", server.key, json=reward).json()["outcome"] == outcome
    machine.stop()
    assert machine.shell("ocucb replay --all").startswith(f"colours: verified {2 * ROUNDS + 3} entries")
    assert version(backup) == "0001"
    with pytest.raises(AssertionError, match="start the service once to bring an older one up to date"):
        machine.run("restore SQLite", BACKUP=backup.stem)
    restored = machine.start()
    assert machine.shell("ocucb replay --all").startswith(f"colours: verified {2 * ROUNDS + 2} entries")
    assert restored.ask("POST", "/v1/rewards", restored.key, json=reward).json()["outcome"] == "counted"
