"""Archives, deleted experiments, erased units: what is kept no longer, and that all else goes on as before."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest
from sqlalchemy import delete, func, select, update

from ocucb import UCB, Bernoulli
from ocucb.service import archive
from ocucb.service.archive import archive_log, replay_archive
from ocucb.service.engine import Limits
from ocucb.service.erasure import erase_from_file, erase_unit
from ocucb.service.errors import (
    ArchivedDecisionError,
    NotArchivedError,
    RequestError,
    UnknownDecisionError,
    UnknownExperimentError,
)
from ocucb.service.requests import Correct, Decide, Delete, Expire, Inspect, Reward, SetStatus
from ocucb.service.stores import retention
from ocucb.service.stores.retention import find_base
from ocucb.service.stores.tables import experiments, idempotency_keys, log, snapshots
from service.helpers import PATIENCE, ManualClock, Node, live_state, wait_until

DAY = 86_400.0


def rows(node: Node, table: Any = log) -> int:
    with node.store.read() as transaction:
        return int(transaction.connection.execute(select(func.count()).select_from(table)).scalar_one())


def play(node: Node, rounds: int) -> list[str]:
    """Play with pending decisions, corrections and parts in between; return the ids of what is left open."""
    opened = []
    for number in range(rounds):
        decision = node.decide(unit=f"visitor {number}")
        if number % 5 == 4:
            opened.append(decision.id)
            continue
        node.ask(Reward(decision.id, number % 3 / 3.0))
        if number % 7 == 0:
            node.ask(Correct(decision.id, 0.9))
    return opened


def test_the_old_part_of_a_log_is_archived(
    node: Node, clock: ManualClock, start: Callable[..., Node], tmp_path: Path
) -> None:
    node.create(policy=UCB())
    opened = play(node, 60)
    corrected = node.decide()
    node.ask(Reward(corrected.id, 0.2))
    clock.advance(40 * DAY)
    node.ask(Correct(corrected.id, 0.3))  # refers to an entry that is old
    young = play(node, 20)
    before, entries = live_state(node), len(node.log())
    done = archive_log(node.store, "colours", tmp_path, 30.0, clock)
    assert done.file is not None
    assert rows(node) < entries / 2
    assert rows(node, snapshots) == 0
    fresh = start()
    assert live_state(fresh) == live_state(node) == before
    found = fresh.replay()
    assert found.verified, found.problem
    for decision in opened + young:  # their rewards still come
        assert fresh.ask(Reward(decision, 0.5)).outcome == "counted"
    with pytest.raises(ArchivedDecisionError, match=f"entries up to {done.upto} of this experiment are archived"):
        fresh.ask(Reward(pd.read_parquet(done.file)["seq"].astype(str).map(lambda seq: f"1-{seq}-{'a' * 22}")[2], 1.0))
    assert replay_archive([done.file]).problem is None
    clock.advance(40 * DAY)
    fresh.play(5)
    again = archive_log(fresh.store, "colours", tmp_path, 30.0, clock)
    assert again.file is not None
    assert again.after == done.upto
    whole = replay_archive([done.file, again.file])
    assert whole.problem is None
    assert whole.entries == again.upto
    assert "after entry" in str(replay_archive([again.file]).problem)
    node.play(5)
    assert node.replay().verified
    assert archive_log(node.store, "colours", tmp_path, 30.0, clock).file is None


def test_an_archive_is_read_by_pandas_and_proves_what_was_decided(
    node: Node, clock: ManualClock, tmp_path: Path
) -> None:
    node.create(policy=UCB(), noise=Bernoulli(), window=60.0, partial_rewards=True)
    decision = node.decide()
    node.ask(Reward(decision.id, 1.0, part="one"))
    clock.advance(61.0)
    node.ask(Expire(1))
    node.ask(Decide("colours", count=10))
    node.ask(SetStatus("colours", "archived"))
    state, entries = live_state(node), node.log()
    done = archive_log(node.store, "colours", tmp_path, 30.0, clock)
    assert done.upto == len(entries)
    assert done.file is not None
    frame = pd.read_parquet(done.file)
    assert frame["kind"].tolist() == [entry.kind for entry in entries]
    assert frame["seq"].tolist() == [entry.seq for entry in entries]
    assert live_state(node) == state
    assert node.replay().verified
    assert replay_archive([done.file]).verified
    frame.loc[frame["kind"] == "decision", "arm"] = '"blue"'
    frame.to_parquet(tmp_path / "forged.parquet")
    assert not replay_archive([tmp_path / "forged.parquet"]).verified


def test_an_archive_of_a_log_that_is_wrong_drops_nothing(node: Node, clock: ManualClock, tmp_path: Path) -> None:
    node.create()
    node.play(10)
    with node.store.write() as transaction:
        transaction.connection.execute(update(log).where(log.c.seq == 5).values(reward=0.123))
    before = rows(node)
    clock.advance(40 * DAY)
    with pytest.raises(Exception, match="entry"):
        archive_log(node.store, "colours", tmp_path, 30.0, clock)
    assert rows(node) == before
    with node.store.read() as transaction:
        assert find_base(transaction, 1) is None


def test_an_archive_that_was_interrupted_is_finished(
    node: Node, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if nothing has become old enough since: an experiment that is archived never has more to move."""
    node.create()
    node.play(20)
    node.ask(SetStatus("colours", "archived"))
    monkeypatch.setattr(archive, "ENTRIES_PER_DROP", 10)
    real, calls = retention.drop_entries, []

    def drop(*what: Any) -> int:
        calls.append(what)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*what)

    monkeypatch.setattr(retention, "drop_entries", drop)
    with pytest.raises(KeyboardInterrupt):
        archive_log(node.store, "colours", tmp_path, 30.0, clock)
    assert rows(node) == 42 - 20
    again = archive_log(node.store, "colours", tmp_path, 30.0, clock)
    assert again.file is None
    assert again.dropped == 22
    assert rows(node) == 0
    assert archive_log(node.store, "colours", tmp_path, 30.0, clock).dropped == 0


def test_dropping_rows_does_not_take_longer_the_more_were_dropped_before(
    node: Node, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node.create()
    monkeypatch.setattr(archive, "ENTRIES_PER_DROP", 10)
    real, spans = retention.drop_entries, []

    def drop(transaction: Any, experiment: int, after: int, upto: int, base: int) -> int:
        spans.append((after, upto))
        return real(transaction, experiment, after, upto, base)

    monkeypatch.setattr(retention, "drop_entries", drop)
    transactions = []
    for _ in range(3):
        node.play(20)
        clock.advance(40 * DAY)
        archive_log(node.store, "colours", tmp_path, 30.0, clock)
        assert rows(node) == 0
        transactions.append(len(spans))
        spans.clear()
    assert max(transactions) <= 5


def test_others_write_while_rows_are_dropped(
    node: Node, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever drops rows in one transaction after the other must not be the only one to write."""
    node.create()
    node.play(100)
    clock.advance(40 * DAY)
    monkeypatch.setattr(archive, "ENTRIES_PER_DROP", 2)
    real, drops = retention.drop_entries, []

    def slow(*what: Any) -> int:
        drops.append(what)
        time.sleep(0.02)
        return real(*what)

    monkeypatch.setattr(retention, "drop_entries", slow)
    written = 0
    with ThreadPoolExecutor(1) as threads:
        archived = threads.submit(archive_log, node.store, "colours", tmp_path, 30.0, clock)
        wait_until(lambda: bool(drops), "rows are dropped")
        while not archived.done():
            node.decide()
            written += 1
    assert len(drops) == 101
    assert written >= 25


def test_a_file_is_on_the_disk_under_its_name_before_its_rows_are_dropped(
    node: Node, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut after the rows were dropped must find the file: its content and its name must be synced before."""
    node.create()
    node.play(10)
    clock.advance(40 * DAY)
    names: set[str] = set()
    contents: dict[int, bytes] = {}
    real_sync, real_add = os.fsync, retention.add_base
    left: dict[str, bytes] = {}

    def sync(file: int) -> None:
        synced = os.fstat(file)
        if synced.st_ino == tmp_path.stat().st_ino:
            names.update(path.name for path in tmp_path.iterdir())
        for path in tmp_path.iterdir():
            if path.stat().st_ino == synced.st_ino:
                contents[synced.st_ino] = path.read_bytes()
        real_sync(file)

    def add(transaction: Any, base: Any) -> None:
        file = tmp_path / base.file
        if file.name in names:
            left[file.name] = contents.get(file.stat().st_ino, b"")
        real_add(transaction, base)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(retention, "add_base", add)
    done = archive_log(node.store, "colours", tmp_path, 30.0, clock)
    assert done.file is not None
    assert left == {done.file.name: done.file.read_bytes()}


def test_two_archives_at_once_do_not_write_one_file(node: Node, clock: ManualClock, tmp_path: Path) -> None:
    """As when a timer starts the next before the last has ended: the second waits, and finds nothing left to do."""
    node.create()
    node.play(30)
    clock.advance(40 * DAY)
    inside, goes_on = threading.Event(), threading.Event()
    main = threading.current_thread()

    def slow() -> int:
        if threading.current_thread() is not main and not inside.is_set():
            inside.set()
            assert goes_on.wait(PATIENCE)
        return clock()

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(archive_log, node.store, "colours", tmp_path, 30.0, slow)
        assert inside.wait(PATIENCE)
        second = threads.submit(archive_log, node.store, "colours", tmp_path, 30.0, clock)
        time.sleep(0.2)
        assert not second.done()
        goes_on.set()
        one, two = first.result(PATIENCE), second.result(PATIENCE)
    assert one.file is not None
    assert two.file is None
    assert replay_archive([one.file]).verified
    assert [path.name for path in tmp_path.glob("*.part")] == []


def test_a_folder_that_takes_no_file(node: Node, clock: ManualClock, tmp_path: Path) -> None:
    """It is full, or not there: one line says so, nothing is dropped, and no half of a file is left."""
    node.create()
    node.play(10)
    clock.advance(40 * DAY)
    with pytest.raises(RequestError, match="absent is no folder"):
        archive_log(node.store, "colours", tmp_path / "absent", 30.0, clock)
    part = tmp_path / "experiment-1-from-1.part"
    part.symlink_to("/dev/full")
    with pytest.raises(RequestError, match=r"no archive can be written to .*No space left.*; nothing was dropped"):
        archive_log(node.store, "colours", tmp_path, 30.0, clock)
    assert not part.is_symlink()
    assert rows(node) == 21
    assert archive_log(node.store, "colours", tmp_path, 30.0, clock).dropped == 21


def test_sticky_units_are_not_archived_away(node: Node, clock: ManualClock, tmp_path: Path) -> None:
    node.create(sticky=50 * DAY)
    node.play(5)
    clock.advance(40 * DAY)
    with pytest.raises(RequestError, match="keep their decision"):
        archive_log(node.store, "colours", tmp_path, 30.0, clock)


def test_an_experiment_is_deleted(start: Callable[..., Node], clock: ManualClock) -> None:
    node, other = start(limits=Limits(sweep=0.05)), start()
    node.create(window=60.0)
    node.create("others")
    decision = node.decide(idempotency_key="key")
    node.play(10)
    assert other.decide().id
    with pytest.raises(NotArchivedError):
        node.ask(Delete("colours"))
    node.ask(SetStatus("colours", "archived"))
    node.ask(Delete("colours"))
    for one in (node, other):
        with pytest.raises(UnknownExperimentError):
            one.ask(Inspect("colours"))
        with pytest.raises(UnknownDecisionError):
            one.ask(Reward(decision.id, 1.0))
        assert one.decide("others").id
    node.create()  # the name is free
    assert other.decide().statistics.pulls == 0

    def gone() -> bool:
        with node.store.read() as transaction:
            left = select(func.count()).select_from(log).where(log.c.experiment == 1)
            return transaction.connection.execute(left).scalar_one() == 0

    wait_until(gone, "its rows are deleted")
    assert rows(node, idempotency_keys) == 0
    for name in ("colours", "others"):
        assert node.replay(name).verified


def test_no_archive_of_another_log_is_overwritten(sqlite: str, clock: ManualClock, tmp_path: Path) -> None:
    """As SQLite gives the id of a deleted experiment to the next one, and other services have the same ids."""
    node = Node(sqlite, clock, Limits(sweep=0.02))
    node.create()
    node.play(10)
    node.ask(SetStatus("colours", "archived"))
    first = archive_log(node.store, "colours", tmp_path, 30.0, clock).file
    assert first is not None
    content = first.read_bytes()
    node.ask(Delete("colours"))
    wait_until(lambda: rows(node, experiments) == 0, "its rows are deleted")
    clock.advance(1.0)
    node.create()
    node.play(3)
    clock.advance(31 * DAY)
    with pytest.raises(RequestError, match=r"is the archive of another log.*nothing was dropped"):
        archive_log(node.store, "colours", tmp_path, 30.0, clock)
    assert first.read_bytes() == content
    assert sorted(file.name for file in tmp_path.glob("experiment*")) == [first.name]
    assert rows(node) == 7
    first.write_bytes(b"something else")
    with pytest.raises(RequestError, match="cannot be read as an archive"):
        archive_log(node.store, "colours", tmp_path, 30.0, clock)
    (tmp_path / "other").mkdir()
    assert archive_log(node.store, "colours", tmp_path / "other", 30.0, clock).dropped == 7
    node.close()


def test_an_archive_that_was_killed_before_it_said_so_is_written_again(
    node: Node, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node.create()
    node.play(10)
    clock.advance(31 * DAY)
    with monkeypatch.context() as patch:
        patch.setattr(retention, "add_base", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            archive_log(node.store, "colours", tmp_path, 30.0, clock)
    assert rows(node) == 21
    done = archive_log(node.store, "colours", tmp_path, 30.0, clock)
    assert (done.dropped, rows(node)) == (21, 0)
    assert done.file is not None
    assert replay_archive([done.file]).entries == 21


def test_an_archive_is_not_replaced_by_a_shorter_one(
    node: Node, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a restore from a backup, which has less than the archive."""
    node.create()
    node.play(10)
    clock.advance(31 * DAY)
    with monkeypatch.context() as patch:
        patch.setattr(retention, "add_base", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            archive_log(node.store, "colours", tmp_path, 30.0, clock)
    with node.store.write() as transaction:
        transaction.connection.execute(delete(log).where(log.c.seq > 11))
        transaction.connection.execute(update(experiments).values(seq=11))
    with pytest.raises(RequestError, match="is the archive of another log"):
        archive_log(node.store, "colours", tmp_path, 30.0, clock)
    assert replay_archive([tmp_path / "experiment-1-from-1.parquet"]).entries == 21
    assert rows(node) == 11


def test_files_that_are_no_archive(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="there is no file"):
        replay_archive([tmp_path / "nothing.parquet"])
    empty = tmp_path / "empty.parquet"
    empty.touch()
    with pytest.raises(RequestError, match="cannot be read as an archive"):
        replay_archive([empty])


def test_a_unit_is_erased_from_archives(node: Node, clock: ManualClock, tmp_path: Path) -> None:
    node.create(policy=UCB())
    for unit in ("Ada", "Bob", "Ada"):
        node.ask(Reward(node.decide(unit=unit).id, 0.5))
    node.decide(unit="Ada")  # open, so that it stays in the log
    clock.advance(40 * DAY)
    file = archive_log(node.store, "colours", tmp_path, 30.0, clock).file
    assert file is not None
    assert erase_unit(node.store, "Ada") == (1, [file.name])
    before = pd.read_parquet(file)
    assert erase_from_file("Ada", file) == 3
    assert erase_from_file("Ada", file) == 0
    after = pd.read_parquet(file)
    assert [unit for unit in after["unit"] if isinstance(unit, str)] == ["Bob"]
    assert after.drop(columns="unit").equals(before.drop(columns="unit"))
    assert [one.name for one in tmp_path.glob("*.part")] == []
    assert replay_archive([file]).verified
    assert node.replay().verified
    for wrong in (tmp_path / "nothing.parquet", tmp_path / "text.parquet", tmp_path / "plain.parquet"):
        if wrong.stem == "text":
            wrong.write_text("no archive")
        if wrong.stem == "plain":
            after.to_parquet(wrong)
        with pytest.raises(RequestError, match="archive"):
            erase_from_file("Ada", wrong)


def test_a_unit_is_erased(node: Node) -> None:
    node.create(sticky=3600.0)
    node.create("others")
    first = node.decide(unit="Ada", idempotency_key="key")
    node.decide("others", unit="Ada", idempotency_key="other", among=("red", "blue"))
    node.ask(Reward(first.id, 1.0))
    node.decide("others", unit="Ada")
    kept = node.decide(unit="Bob")
    before = live_state(node)
    assert erase_unit(node.store, "Ada") == (3, [])
    assert erase_unit(node.store, "Ada") == (0, [])
    with pytest.raises(UnknownExperimentError):
        erase_unit(node.store, "Ada", "nowhere")
    assert "Ada" not in str(node.log()) + str(node.log("others"))
    assert rows(node, idempotency_keys) == 0
    assert live_state(node) == before
    assert node.decide(unit="Bob").id == kept.id
    assert node.decide(unit="Ada").id != first.id
    for name in ("colours", "others"):
        assert node.replay(name).verified
