"""What a command prepares while runs are played, and what it need not import at all."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ocucb import OCUCBn
from ocucb.cli import preparation
from ocucb.lab import Experiment, figure_style, mixed_gaps, statistics
from ocucb.lab.curves import _regret_bound, bound_curves

COMPARE = """
import sys
from ocucb.cli import exit_code
code = exit_code(["compare", "--horizon", "60", "--runs", "4", "--output", sys.argv[1]])
print(code, sorted({"xarray", "pandas"} & set(sys.modules)), "ocucb.lab.plots" in sys.modules)
"""


def test_a_comparison_imports_neither_xarray_nor_pandas(tmp_path: Path) -> None:
    """They take longer to import than the default comparison takes to play."""
    done = subprocess.run(
        [sys.executable, "-c", COMPARE, str(tmp_path / "out")], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "0 [] True"


def test_bounds_are_computed_beforehand() -> None:
    experiment = Experiment((mixed_gaps(),), (("OCUCB-n", OCUCBn()),), horizon=77, runs=2)
    with preparation.preparing([experiment], report=True):
        pass
    computed = _regret_bound.cache_info().misses
    assert bound_curves(experiment.problems[0], experiment.checkpoints)
    assert _regret_bound.cache_info().misses == computed


def test_what_cannot_be_prepared_is_left_to_whoever_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ModuleNotFoundError("scipy")

    done: list[str] = []
    monkeypatch.setattr(statistics, "prepare_intervals", fail)
    monkeypatch.setattr(figure_style, "prepare_figures", lambda: done.append("figures"))
    with preparation.preparing([], report=True):  # warnings are errors here, that of a thread's exception too
        pass
    assert done == ["figures"]


def test_what_was_not_begun_when_it_is_stopped_is_not_done() -> None:
    stopped = threading.Event()
    done: list[str] = []
    preparation._prepare([lambda: done.append("first"), stopped.set, lambda: done.append("last")], stopped)
    assert done == ["first"]


def test_an_error_of_the_command_ends_the_preparation(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[threading.Event] = []
    monkeypatch.setattr(preparation, "_prepare", lambda steps, stopped: given.append(stopped))
    with pytest.raises(ZeroDivisionError), preparation.preparing([], report=True):
        raise ZeroDivisionError
    assert given[0].is_set()
