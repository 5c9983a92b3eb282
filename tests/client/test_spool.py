"""The spool file: what is in it survives, and nothing else is ever taken for it."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from client.admin_queries import PATIENCE, decide, key_of, rewarded
from client.proxy import BUSY, Proxy
from ocucb_client import Client, DeniedError, RefusedReward, SpoolError, spool
from ocucb_client.spool import Spool, SpooledReward
from service.server import Server


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rewards.spool"


def pairs(path: Path) -> list[tuple[str, float]]:
    """Return what the next life finds."""
    found = Spool(path)
    try:
        return [(item.decision, item.value) for item in found.unsettled()]
    finally:
        found.close()


def fill(path: Path, number: int, settle: int = 0) -> None:
    kept = Spool(path)
    items = [kept.append(f"d{place}", place / 3.0) for place in range(number)]
    if settle:
        kept.settle(item.number for item in items[:settle])
    kept.close()


def test_what_is_not_settled_is_left(path: Path) -> None:
    fill(path, 5, settle=2)
    assert pairs(path) == [("d2", 2 / 3.0), ("d3", 1.0), ("d4", 4 / 3.0)]
    assert pairs(path) == [("d2", 2 / 3.0), ("d3", 1.0), ("d4", 4 / 3.0)]
    fill(path, 1)
    assert pairs(path)[3:] == [("d0", 0.0)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_numbers_go_on_where_an_earlier_client_stopped(path: Path) -> None:
    fill(path, 3, settle=1)
    kept = Spool(path)
    assert [kept.append(f"e{place}", 1.0).number for place in range(3)] == [4, 5, 6]
    kept.close()
    assert [name for name, _ in pairs(path)] == ["d1", "d2", "e0", "e1", "e2"]


def test_a_line_cut_short_was_never_accepted(path: Path) -> None:
    fill(path, 3)
    whole = path.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for end in range(last, len(whole)):
        path.write_bytes(whole[:end])
        assert pairs(path) == [("d0", 0.0), ("d1", 1 / 3.0)]
    path.write_bytes(b"")
    assert pairs(path) == []


def test_damage_is_put_aside(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    fill(path, 3)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = b"\0\0\0\0\xff\n"
    path.write_bytes(b"".join(lines))
    assert pairs(path) == [("d0", 0.0), ("d2", 2 / 3.0)]
    assert path.with_name("rewards.spool.damaged").read_bytes() == b"\0\0\0\0\xff\n"
    assert "1 lines of the spool" in caplog.text


@pytest.mark.parametrize("text", [b"arm,reward\nred,1\n", b'{"ocucb":"spool","version":2}\n', b"x"])
def test_a_file_of_somebody_else_is_left_alone(path: Path, text: bytes) -> None:
    path.write_bytes(text)
    for _ in range(2):
        with pytest.raises(SpoolError, match="not a spool of this version"):
            Spool(path)
    assert path.read_bytes() == text


def test_one_client_at_a_time(path: Path, server: Server) -> None:
    with Client(server.url, key_of(server), spool=path):
        with pytest.raises(SpoolError, match="in use by another client"):
            Client(server.url, key_of(server), spool=path)
        with pytest.raises(SpoolError, match="in use by another client"):
            Spool(path)
    Spool(path).close()


def test_one_spool_at_a_time(path: Path) -> None:
    kept = Spool(path)
    with pytest.raises(SpoolError, match="in use by another client"):
        Spool(path)
    kept.close()
    Spool(path).close()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SpoolError, match="No such file or directory"):
        Spool(tmp_path / "nowhere" / "rewards.spool")
    with pytest.raises(SpoolError, match="Is a directory"):
        Spool(tmp_path)


def test_the_file_does_not_grow_for_ever(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "_SMALLEST_LIMIT", 2000)
    kept = Spool(path)
    first = kept.append("stays", 0.5)
    largest = 0
    for place in range(500):
        kept.settle([kept.append(f"d{place}", 1.0).number])
        largest = max(largest, path.stat().st_size)
    last = kept.append("stays too", 0.25)
    kept.close()
    assert largest < 2300
    assert pairs(path) == [("stays", 0.5), ("stays too", 0.25)]
    assert (first.number, last.number) == (1, 502)


def test_one_sync_serves_many(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever writes during a sync is served by the next one, all together, and nobody goes on before that."""
    writers, rounds = 8, 5
    syncs: list[bytes] = []  # what was in the file when each sync began
    real = os.fsync
    kept = Spool(path)

    def sync_when_all_have_written(file: int) -> None:
        written = path.read_bytes()
        deadline = time.monotonic() + 60
        while len(kept.unsettled()) % writers and time.monotonic() < deadline:
            time.sleep(0.001)
        real(file)
        syncs.append(written)

    monkeypatch.setattr(os, "fsync", sync_when_all_have_written)
    together = threading.Barrier(writers, timeout=60)
    early: list[SpooledReward] = []

    def write(name: int) -> None:
        for place in range(rounds):
            together.wait()
            item = kept.append(f"{name} {place}", 1.0)
            if not any(item.line() in written for written in syncs):
                early.append(item)

    threads = [threading.Thread(target=write, args=(name,)) for name in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept.close()
    assert rounds <= len(syncs) <= 2 * rounds
    assert not early
    assert len(pairs(path)) == writers * rounds


def test_a_sync_that_fails_accepts_nothing_more(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Spool(path)
    kept.append("before", 1.0)

    def fail(file: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        with pytest.raises(SpoolError, match="Input/output error"):
            kept.append("lost", 1.0)
    with pytest.raises(SpoolError, match="Input/output error"):
        kept.append("after", 1.0)
    assert [item.decision for item in kept.unsettled()] == ["before"]
    kept.settle([1])
    kept.close()
    with pytest.raises(SpoolError):
        kept.append("after close", 1.0)


FULL = """
import resource, sys
from ocucb_client import SpoolError
from ocucb_client.spool import Spool, SpooledReward
spool = Spool(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
accepted = 0
for place in range(1000):
    try:
        spool.append("d" * (place % 50), 1.0)
        accepted += 1
    except SpoolError as problem:
        assert "rewards.spool cannot be used" in str(problem), problem
print(accepted)
"""


def test_a_full_disk(path: Path) -> None:
    """Whatever was accepted is there, whole; what was not, is not."""
    done = subprocess.run([sys.executable, "-c", FULL, path], capture_output=True, text=True, check=True)
    accepted = int(done.stdout)
    assert 20 < accepted < 100
    assert len(pairs(path)) == accepted
    assert not path.with_name("rewards.spool.damaged").exists()


def test_half_a_line_is_taken_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no room for one reward, and then there is again: the next one does not begin in the middle of a line."""
    kept = Spool(path)
    real = os.write
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", lambda file, line: real(file, line[: len(line) // 2]))
        with pytest.raises(SpoolError, match="no room for a whole line"):
            kept.append("lost", 1.0)
    kept.append("after", 1.0)
    kept.close()
    assert pairs(path) == [("after", 1.0)]
    assert not path.with_name("rewards.spool.damaged").exists()


def test_a_denied_key_leaves_rewards_in_the_spool(
    path: Path, proxy: Proxy, server: Server, admin: Client, name: str
) -> None:
    decisions = decide(admin, name, 30)
    made = admin.create_api_key(name, ["reward"])
    refused: list[RefusedReward] = []
    proxy.always = BUSY
    with Client(proxy.url, made.text, spool=path, on_refused=refused.append) as client:
        for decision in decisions:
            client.reward_later(decision, 0.5)
        admin.revoke_api_key(made.id)
        proxy.heal()
        client.flush(PATIENCE)
        with pytest.raises(DeniedError):
            client.reward_later(decisions[0], 0.5)
    assert [one.decision for one in refused] == decisions
    with Client(proxy.url, key_of(server), spool=path, queue_size=10) as client:
        client.flush(PATIENCE)
        assert client.background.delivered == 30
    assert rewarded(admin, name) == dict.fromkeys(decisions, 0.5)
    assert pairs(path) == []


def test_what_is_delivered_or_refused_is_not_sent_again(path: Path, server: Server, admin: Client, name: str) -> None:
    (decision,) = decide(admin, name, 1)
    counts: list[Any] = []
    for _ in range(2):
        with Client(server.url, key_of(server), spool=path) as client:
            if not counts:
                client.reward_later(decision, 0.5)
                client.reward_later("nothing", 0.5)
            client.flush(PATIENCE)
            counts.append(client.background)
    assert [(one.delivered, one.refused) for one in counts] == [(1, 1), (0, 0)]
