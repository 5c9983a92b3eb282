"""A snapshot is of one place in the log, whatever happens while it is written, and its text is that of plain JSON."""

from __future__ import annotations

import itertools
import json
import threading
import time
import zlib
from base64 import b64decode
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocucb import UCBV, Bernoulli, Window
from ocucb.service import snapshot_text, snapshots
from ocucb.service.definition import Definition
from ocucb.service.engine import Limits
from ocucb.service.errors import RequestError
from ocucb.service.exact_sums import Pairs
from ocucb.service.experiment_state import ExperimentState, StateCopy
from ocucb.service.records import ARM_ADDED, ARM_RETIRED, REWARD, Entry
from ocucb.service.snapshot_text import SnapshotEncoder, decode_snapshot, encode_snapshot
from service.helpers import Node, wait_until

NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [0.0, -0.0, 1e-3, 9.99e-4, 1e15, 123456789012345.6, 1e16, 1e-5, 5e-324, 0.1 + 0.2, 1 / 3, -1e22, 1e-9, 1e-10, 9e-11]
)
TINY = st.floats(-1e-10, 1e-10) | st.sampled_from([9.999999999999999e-11, -2.5e-17, 1e-99, 1e-100, -1e-300])


def played(**definition: Any) -> ExperimentState:
    """Return the state of an experiment in which much has happened."""
    state = ExperimentState(1, Definition("colours", **{"arms": ("rot", "grün", 3), "seed": 1, **definition}))
    play(state, 40)
    state.apply(Entry(state.seq + 1, ARM_ADDED, 50, "new", data={"metadata": {"price": 0.3}}))
    state.apply(Entry(state.seq + 1, ARM_RETIRED, 60, 3))
    play(state, 10)
    return state


def play(state: ExperimentState, rounds: int) -> None:
    for number in range(rounds):
        made = state.choose(number, "token", None)
        reward = (number % 2) if state.definition.noise == Bernoulli() else number / 7
        state.apply(Entry(state.seq + 1, REWARD, number, made.arm, made.seq, float(reward)))


@pytest.mark.parametrize("what", [{}, {"memory": Window(20)}, {"policy": UCBV(), "noise": Bernoulli()}], ids=str)
def test_a_copy_stays_as_it_was(what: dict[str, Any]) -> None:
    state = played(**what)
    before, copy = json.dumps(state.to_dict()), state.copy()
    play(state, 30)
    state.apply(Entry(state.seq + 1, ARM_ADDED, 90, "newer", data={"metadata": 1}))
    assert json.dumps(copy.to_dict()) == before
    assert json.dumps(state.to_dict()) != before
    again = decode_snapshot(encode_snapshot(1, copy.to_columns()))
    assert again is not None
    assert json.dumps(again.to_dict()) == before


@pytest.mark.parametrize("items", [3, 5000], ids=["in pieces", "whole"])
@pytest.mark.parametrize("what", [{}, {"memory": Window(20)}, {"policy": UCBV(), "noise": Bernoulli()}], ids=str)
def test_the_text_is_that_of_plain_data(what: dict[str, Any], items: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that digests of older services, and those in archives, are those of this one."""
    monkeypatch.setattr(snapshot_text, "ITEMS_PER_PIECE", items)
    state = played(**what)
    text = json.dumps(state.to_dict(), separators=(",", ":"))
    assert encode_snapshot(1, state.copy().to_columns()).data == encode_snapshot(1, state.to_dict()).data == text


@given(st.lists(NUMBERS, min_size=1, max_size=20), st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=20))
def test_numbers_are_written_as_python_writes_them(numbers: list[float], integers: list[int]) -> None:
    for values in (np.array(numbers), np.array(integers), np.array(integers) > 0):
        plain = {"seq": 1, "column": values.tolist()}
        text = json.dumps(plain, separators=(",", ":"))
        assert encode_snapshot(1, {"seq": 1, "column": values}).data == text
        assert encode_snapshot(1, plain).data == text


@given(st.lists(TINY, min_size=1, max_size=20), st.lists(st.text(max_size=5), min_size=1, max_size=5))
def test_labels_and_rounding_errors_are_written_as_python_writes_them(numbers: list[float], labels: list[str]) -> None:
    for label in labels:
        text = json.dumps({"seq": 1, "pairs": [[label, numbers], [7, [0.5]]]}, separators=(",", ":"))
        assert encode_snapshot(1, {"seq": 1, "pairs": Pairs([label, 7], [tuple(numbers), (0.5,)])}).data == text
    array = {"seq": 1, "column": np.array(numbers)}
    assert encode_snapshot(1, array).data == json.dumps({"seq": 1, "column": numbers}, separators=(",", ":"))


def test_what_is_remembered_is_written_only_where_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever has changed between two snapshots: a zero's sign, an arm, a rounding error, the experiment."""
    monkeypatch.setattr(snapshot_text, "ITEMS_PER_PIECE", 3)
    monkeypatch.setattr(snapshot_text, "MIN_COMPRESSED", 10)
    labels, totals = ["a", "b", "c", "d", "e"], np.array([0.0, 1.0, 2.0, 3.0, 0.1 + 0.2])
    states = [
        {"seq": 1, "labels": labels, "totals": totals, "errors": Pairs(["a"], [(1e-17,)])},
        {"seq": 2, "labels": [*labels, "f"], "totals": totals, "errors": Pairs(["a"], [(2e-17,)])},
        {"seq": 3, "labels": labels, "totals": totals * -1.0, "errors": Pairs(["a", "c"], [(2e-17,), (1.0,)])},
        {"seq": 4, "labels": labels[::-1], "totals": totals > 1.0, "errors": Pairs([], [])},
        {
            "seq": 5,
            "labels": [True, 1.0, 0.0, -0.0],
            "totals": np.array([1, 0, 0, 0]),
            "errors": Pairs(["a"], [(1e-17,)]),
        },
        {
            "seq": 6,
            "labels": [True, 1.0, -0.0, 0.0],
            "totals": totals.astype(np.int64),
            "errors": Pairs(["a"], [(1.0,)]),
        },
    ]
    zeros = np.zeros(4)
    states += [{"seq": 7, "column": column} for column in (zeros, zeros.astype(np.int64), zeros, -zeros)]
    for most in (10**6, 100, 0):  # characters: all, some and none of these are remembered
        monkeypatch.setattr(snapshot_text, "MAX_REMEMBERED", most)
        encoder = SnapshotEncoder()
        for experiment, state in itertools.product((1, 2), [*states, *states[::-1]]):
            assert encoder.encode(experiment, state) == encode_snapshot(experiment, state)
        assert encoder.encode(1, states[1]) == encode_snapshot(1, states[1])
        assert encoder.encode(3, states[4]) == encode_snapshot(3, states[4])
        assert sum(map(snapshot_text._characters, encoder._remembered.values())) == encoder._characters <= most


def test_what_has_not_changed_is_not_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a hundred thousand arms that is three quarters of the work."""
    state, encoder = played(arms=tuple(range(12_000))), SnapshotEncoder()
    encoder.encode(1, state.copy().to_columns())
    written: list[int] = []
    write = snapshot_text._encode_list

    def count(items: Any) -> str:
        written.append(len(items))
        return write(items)

    monkeypatch.setattr(snapshot_text, "_encode_list", count)
    play(state, 2)
    snapshot = encoder.encode(1, state.copy().to_columns())
    assert len(written) == 3  # pulls, rewards and their sums, of the piece in which both arms are
    assert snapshot == encode_snapshot(1, state.to_dict())


def test_the_thread_that_takes_snapshots_pauses_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """While it works, those that answer requests wait for Python's lock: up to 20 ms for a batch, before it paused."""
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    pause = snapshots._Throttle()
    end = time.thread_time() + 5 * snapshots.WORK_SECONDS
    while time.thread_time() < end:
        pause()
    assert 1 <= len(slept) <= 5
    assert set(slept) == {snapshots.PAUSE_SECONDS}
    calls: list[None] = []
    state = played(arms=tuple(range(12_000)))
    SnapshotEncoder().encode(1, state.copy().to_columns(), lambda: calls.append(None))
    assert len(calls) > 2 * 6 * 3  # for each piece of six lists, when it is written and when it is compressed


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(RequestError):
        encode_snapshot(1, {"seq": 1, "column": np.array([0.5, np.nan])})


def test_the_writer_only_copies(start: Callable[..., Node], monkeypatch: pytest.MonkeyPatch) -> None:
    """With a hundred thousand arms, lists of them took the writer 8 to 16 ms, in which it served nobody."""
    threads: list[str] = []
    make = StateCopy.to_columns

    def to_columns(copy: StateCopy) -> dict[str, Any]:
        threads.append(threading.current_thread().name)
        return make(copy)

    monkeypatch.setattr(StateCopy, "to_columns", to_columns)
    node = start(limits=Limits(sweep=3600.0, snapshot=20))
    node.create()
    node.play(15)
    wait_until(lambda: bool(threads), "a snapshot is taken")
    assert set(threads) == {"ocucb snapshots"}


def test_many_arms_are_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_text, "MIN_COMPRESSED", 10)
    state = played(arms=tuple(range(6000)))
    snapshot = encode_snapshot(1, state.copy().to_columns())
    text = zlib.decompress(b64decode(snapshot.data.partition(":")[2])).decode()
    assert text == json.dumps(state.to_dict(), separators=(",", ":"))
