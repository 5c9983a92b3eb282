"""Experiments as a command runs them: simulated with a progress bar, shown as tables, written into a folder."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from ocucb.cli.console import new_console, print_paths, show_status
from ocucb.cli.interrupts import exit_if_local
from ocucb.cli.output_folder import (
    OutputFolder,
    StoredResult,
    delete_results,
    make_folder,
    write_comparison,
    write_sweep,
)
from ocucb.cli.preparation import preparing
from ocucb.cli.progress import SimulationProgress
from ocucb.cli.regret_tables import comparison_table, sweep_tables
from ocucb.errors import StateError
from ocucb.lab import Experiment, Sweep, simulate
from ocucb.lab.runners import open_executor

STORE = "results.zarr"
KEPT_BYTES = 2**29  # of results; what is beyond is read again from the disk


def run_experiment(experiment: Experiment, home: Path, *, executor: str | None, overwrite: bool, report: bool) -> None:
    """Simulate an experiment, print a table for each of its problems, and write its files."""
    # A folder that is there may have all runs, and files: then nothing is played or drawn.
    with nullcontext() if (home / STORE).exists() and not overwrite else preparing([experiment], report):
        (stored,), played = _simulate([(experiment, home / STORE, "")], home, executor, overwrite)
    console = new_console()
    for problem in experiment.problems:
        rows = [row for row in stored.summary if row.problem == problem.name]
        console.print(comparison_table(problem, rows, experiment))
        console.print()
    folder = OutputFolder(home, [stored], anew=played)
    with show_status("drawing"):
        write_comparison(folder, stored, report)
    print_paths(console, folder.paths)


def run_sweep(
    sweep: Sweep,
    values: Sequence[float],
    experiments: Sequence[Experiment],
    home: Path,
    *,
    executor: str | None,
    overwrite: bool,
    report: bool,
) -> None:
    """Simulate the experiments of a sweep, print tables for each of their problems, and write their files."""
    titles = [f"{sweep.parameter}={sweep.text(value)}" for value in values]
    planned = [
        (experiment, home / "results" / f"{title}.zarr", title)
        for experiment, title in zip(experiments, titles, strict=True)
    ]
    stored, played = _simulate(planned, home, executor, overwrite)
    console = new_console()
    policies = len(experiments[0].policies)
    for i in range(len(experiments[0].problems)):
        names = dict.fromkeys(experiment.problems[i].name for experiment in experiments)
        title = " … ".join(list(names)[:: max(1, len(names) - 1)])
        points = [
            (value, one.summary[i * policies : (i + 1) * policies]) for value, one in zip(values, stored, strict=True)
        ]
        console.print(*sweep_tables(sweep, title, points, console.width), sep="\n")
        console.print()
    folder = OutputFolder(home, stored, anew=played)
    with show_status("drawing"):
        write_sweep(folder, sweep, values, stored, report)
    print_paths(console, folder.paths)


def _simulate(
    planned: Sequence[tuple[Experiment, Path, str]], home: Path, executor: str | None, overwrite: bool
) -> tuple[list[StoredResult], bool]:
    """Play what the stores of experiments, each with a title, have not got; return all, and whether any was played."""
    make_folder(home)
    for _, store, _ in planned:
        if overwrite and store.exists():
            delete_results(store)
    progress = SimulationProgress([experiment for experiment, _, _ in planned], [title for _, _, title in planned])
    stored: list[StoredResult] = []
    room = KEPT_BYTES
    with open_executor(executor) as pool:
        try:
            with progress:
                for experiment, store, title in planned:
                    progress.begin()
                    result = simulate(experiment, pool, store, progress)
                    progress.pace.end(int(result.runs.finished.sum()))
                    room -= result.runs.size
                    kept = result if room >= 0 else None
                    stored.append(StoredResult(experiment, store, title, result.summary(), kept))
        except KeyboardInterrupt:
            print(f"\nstopped: {progress.done()}the same command continues it", file=sys.stderr)
            exit_if_local(executor)
            raise
        except StateError as problem:
            raise StateError(f"{problem} (--output chooses, --overwrite deletes)") from None
    if not progress.played:
        print(f"{home} has all runs already; nothing was played", file=sys.stderr)
    return stored, progress.played
