"""Experiments played into their stores, with a watch on it, and left in order when Ctrl-C is pressed."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from ocucb.cli.progress import Watch
from ocucb.errors import ParameterError, StateError
from ocucb.lab.experiment import Experiment
from ocucb.lab.result import FORMAT
from ocucb.lab.runners import open_executor
from ocucb.lab.simulate import simulate
from ocucb.lab.statistics import Row, summary

STORE = "results.zarr"
INTERRUPTED = 130


class Part(NamedTuple):
    """An experiment, the folder of its results, and what to call it among others."""

    experiment: Experiment
    store: Path
    title: str = ""


class Played(NamedTuple):
    """The table of each part, and whether any run was played now."""

    rows: list[list[Row]]
    anew: bool


def play(parts: Sequence[Part], home: Path, executor: str | None, overwrite: bool) -> Played:
    """Play all parts, or what of them is missing in their stores, and return their tables."""
    open_folder(home)
    for part in parts:
        if overwrite and part.store.exists():
            _delete(part.store)
    watch = Watch([part.experiment for part in parts], [part.title for part in parts])
    rows = []
    with open_executor(executor) as pool:
        try:
            with watch:
                for part in parts:
                    watch.begin()
                    dataset = simulate(part.experiment, pool, part.store, watch)
                    watch.pace.end(int(dataset["finished"].sum()))
                    rows.append(summary(dataset, part.experiment))
        except KeyboardInterrupt:
            _stopped(watch)
            if executor is None or "://" not in executor:
                leave()
            raise
        except StateError as problem:
            raise StateError(f"{problem} (--output chooses, --overwrite deletes)") from None
    if not watch.played:
        print(f"{home} has all runs already; nothing was played", file=sys.stderr)
    return Played(rows, watch.played)


def open_folder(home: Path) -> None:
    """Make the output folder, if need be."""
    try:
        home.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ParameterError(
            f"output must be a folder, got {home}, which is or lies in a file; choose another"
        ) from None


def _delete(store: Path) -> None:
    """Delete a store, whole or half made; nothing else."""
    mark = store / "zarr.json"
    empty = store.is_dir() and not any(store.iterdir())
    if not empty and not (mark.is_file() and FORMAT in mark.read_text(encoding="utf-8", errors="replace")):
        raise StateError(
            f"{store} must hold results of ocucb to be overwritten, got something else; choose another output"
        )
    shutil.rmtree(store)


def _stopped(watch: Watch) -> None:
    pace = watch.pace
    done = f"{pace.runs_done:,} of {pace.runs_planned:,} runs are done; " if watch.played else ""
    print(f"\nstopped: {done}the same command continues it", file=sys.stderr)


def leave() -> NoReturn:
    """Leave at once. What is being played would be thrown away, and what is kept is whole: no need to wait."""
    for child in multiprocessing.active_children():
        child.terminate()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)
