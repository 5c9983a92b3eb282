"""A snapshot is of one place in the log, whatever happens while it is written, and its text is that of plain JSON."""

from __future__ import annotations

import json
import threading
import zlib
from base64 import b64decode
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocucb import UCBV, Bernoulli, Window
from ocucb.service import experiment_cache
from ocucb.service.definition import Definition
from ocucb.service.engine import Limits
from ocucb.service.errors import RequestError
from ocucb.service.experiment_cache import decode_snapshot, encode_snapshot
from ocucb.service.experiment_state import ExperimentState, StateCopy
from ocucb.service.records import ARM_ADDED, ARM_RETIRED, REWARD, Entry
from service.helpers import Node, wait_until

NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [0.0, -0.0, 1e-3, 9.99e-4, 1e15, 123456789012345.6, 1e16, 1e-5, 5e-324, 0.1 + 0.2, 1 / 3, -1e22]
)


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
    monkeypatch.setattr(experiment_cache, "ITEMS_PER_PIECE", items)
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
    monkeypatch.setattr(experiment_cache, "MIN_COMPRESSED", 10)
    state = played(arms=tuple(range(6000)))
    snapshot = encode_snapshot(1, state.copy().to_columns())
    text = zlib.decompress(b64decode(snapshot.data.partition(":")[2])).decode()
    assert text == json.dumps(state.to_dict(), separators=(",", ":"))
