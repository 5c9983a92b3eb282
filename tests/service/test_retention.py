"""Archives, deleted experiments, erased units: what is kept no longer, and that all else goes on as before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest
from sqlalchemy import func, select, update

from ocucb import UCB, Bernoulli
from ocucb.service.archive import archive_log, drop_archived, replay_archive
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
from ocucb.service.stores.retention import find_base
from ocucb.service.stores.tables import idempotency_keys, log, snapshots
from service.helpers import ManualClock, Node, live_state, wait_until

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


def test_an_archive_that_was_interrupted_is_finished(node: Node, clock: ManualClock, tmp_path: Path) -> None:
    node.create()
    node.play(20)
    clock.advance(40 * DAY)
    archive_log(node.store, "colours", tmp_path, 30.0, clock)
    with node.store.read() as transaction:
        base = find_base(transaction, 1)
    assert base is not None
    assert drop_archived(node.store, base) == 0


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
