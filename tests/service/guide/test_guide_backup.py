"""Backups under load, by the guide's commands: nothing acknowledged before is missing, and the service goes on."""

from __future__ import annotations

import stat
from pathlib import Path

from service.guide.machine import Machine
from service.load import EXPERIMENT, Noted, prepare
from service.nodes.callers import Callers
from service.test_crashes import check

DECISIONS = f"/v1/experiments/{EXPERIMENT}/decisions"


def survive(machine: Machine, nodes: int, backup: str, restore: str) -> None:
    """Back up under load, restore, and hold the restored database against what callers had been told before."""
    address = machine.environment()["OCUCB_DATABASE"]
    prepare(address)
    key = machine.shell("ocucb keys make --name callers --role decide --role reward").strip()
    servers = [machine.start() for _ in range(nodes)]
    with Callers([server.url for server in servers], key, 3) as callers:
        for node in range(nodes):
            callers.wait(node, 60)
        noted = callers.noted
        while len(noted.rewarded) <= 20:  # on a busy machine most rewards come after their window
            callers.wait(0, 20)
        before = Noted(dict(noted.asked), dict(noted.decided), dict(noted.rewarded))
        file = Path(machine.shell(backup).strip())
        during = dict(noted.decided)
        for node in range(nodes):
            callers.wait(node, 30)
    assert callers.problems == []
    assert len(before.rewarded) > 20
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]
    assert f"{EXPERIMENT}: verified " in machine.run(restore, BACKUP=file.stem)
    assert [server.process.poll() for server in servers] == [0] * nodes
    restored = machine.servers[-1]
    lost = (set(noted.decided) - set(during)).pop()
    answer = restored.ask("POST", "/v1/rewards", key, json={"decision": noted.decided[lost], "reward": 0.5})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown-decision")
    made = restored.ask("POST", DECISIONS, key, json={"count": 5}).json()["decisions"]
    rewards = [{"decision": decision["id"], "reward": 0.5} for decision in made]
    results = restored.ask("POST", "/v1/rewards", key, json={"rewards": rewards}).json()["results"]
    assert {one.get("outcome", one.get("error", {}).get("code")) for one in results} <= {"counted", "too-late"}
    machine.stop()
    before.decided.update((decision["id"], decision["id"]) for decision in made)
    check(address, before)


def test_sqlite(machine: Machine) -> None:
    machine.provide("sqlite3")
    survive(machine, 1, "ocucb-backup", "restore SQLite")
    assert (machine.path("/var/lib/ocucb/before-restore") / "ocucb.db").stat().st_size > 0


def test_the_old_journal_goes_with_the_old_file(machine: Machine) -> None:
    """A service that was killed leaves a journal; laid beside a restored file it would make nonsense of it."""
    machine.provide("sqlite3")
    server = machine.start()
    server.ask("POST", "/v1/experiments", server.key, json={"name": "old", "arms": [1, 2]}).raise_for_status()
    file = Path(machine.shell("ocucb-backup").strip())
    server.ask("POST", "/v1/experiments", server.key, json={"name": "new", "arms": [1, 2]}).raise_for_status()
    server.process.kill()
    server.process.wait()
    assert machine.path("/var/lib/ocucb/ocucb.db-wal").stat().st_size > 0
    machine.run("restore SQLite", BACKUP=file.stem)
    listed = machine.servers[-1].ask("GET", "/v1/experiments", server.key).json()["experiments"]
    assert [one["name"] for one in listed] == ["old"]


def test_postgresql(cluster: Machine) -> None:
    survive(cluster, 2, "ocucb-backup-postgresql", "restore PostgreSQL")
