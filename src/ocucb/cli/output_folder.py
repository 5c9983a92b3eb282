"""The output folder, and which files belong into it."""

from __future__ import annotations

import csv
import functools
import hashlib
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ocucb.errors import ParameterError, StateError
from ocucb.lab import Experiment, Problem, Result, Summary, SummaryRow, Sweep
from ocucb.lab.result import join_results
from ocucb.lab.store import FORMAT

STAMP = ".made"
FIGURES = (".png", ".pdf")
REPORT_BYTES = 2**29  # of results that one report may gather

Points: TypeAlias = Sequence[tuple[float, Sequence[SummaryRow]]]


@dataclass(frozen=True)
class StoredResult:
    """The result of an experiment in memory, if there is room, and on the disk; and what to call it among others."""

    experiment: Experiment
    store: Path
    title: str
    summary: Summary
    kept: Result | None

    def result(self) -> Result:
        """Return the result, read from the disk if it was not kept."""
        return Result.load(self.store, self.experiment) if self.kept is None else self.kept


class OutputFolder:
    """The output folder. A file in it is whole or not there, and is not made twice for the same experiments."""

    def __init__(self, home: Path, stored: Sequence[StoredResult], anew: bool) -> None:
        texts = [f"{one.title}\n{one.experiment.describe()}" for one in stored]
        self._stamp = hashlib.sha256("\n".join(texts).encode()).hexdigest()
        self._home = home
        self._made = set() if anew else self._made_before()
        self.paths = [home / name for name in dict.fromkeys(one.store.relative_to(home).parts[0] for one in stored)]

    def add(self, names: Sequence[str], write: Callable[[Path], object]) -> None:
        """Have some files, made by `write` in a folder of its choice if they are not there yet."""
        self.paths += [self._home / name for name in names]
        if all(name in self._made and (self._home / name).exists() for name in names):
            return
        with tempfile.TemporaryDirectory(dir=self._home, prefix=".draft-") as draft:
            write(Path(draft))
            for name in names:
                (Path(draft) / name).replace(self._home / name)
        self._made.update(names)
        (self._home / STAMP).write_text("\n".join([self._stamp, *sorted(self._made)]), encoding="utf-8")

    def _made_before(self) -> set[str]:
        """Return the names of the files that were made for these experiments."""
        try:
            stamp, *names = (self._home / STAMP).read_text(encoding="utf-8").splitlines()
        except (FileNotFoundError, ValueError):
            return set()
        return set(names) if stamp == self._stamp else set()


def make_folder(home: Path) -> None:
    """Make the output folder, if need be."""
    try:
        home.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ParameterError(
            f"output must be a folder, got {home}, which is or lies in a file; choose another"
        ) from None


def delete_results(store: Path) -> None:
    """Delete a store, whole or half made; nothing else."""
    mark = store / "zarr.json"
    empty = store.is_dir() and not any(store.iterdir())
    if not empty and not (mark.is_file() and FORMAT in mark.read_text(encoding="utf-8", errors="replace")):
        raise StateError(
            f"{store} must hold results of ocucb to be overwritten, got something else; choose another output"
        )
    shutil.rmtree(store)


def write_comparison(folder: OutputFolder, stored: StoredResult, report: bool) -> None:
    """Have the files of one experiment."""
    text = stored.experiment.to_toml()
    folder.add(["experiment.toml"], lambda draft: (draft / "experiment.toml").write_text(text, encoding="utf-8"))
    folder.add(["table.csv"], lambda draft: _write_table(draft / "table.csv", None, [(0.0, stored.summary)]))
    if report:
        for problem, stem in zip(stored.experiment.problems, _figure_stems(stored.experiment), strict=True):
            names = [f"{stem}{suffix}" for suffix in FIGURES]
            folder.add(names, functools.partial(_draw_regret, stored, problem, names))
        folder.add(["report.html"], functools.partial(_write_report, [stored], "report.html"))


def write_sweep(
    folder: OutputFolder, sweep: Sweep, values: Sequence[float], stored: Sequence[StoredResult], report: bool
) -> None:
    """Have the files of a sweep: final regret against what was swept, for each problem."""
    points = [(value, one.summary) for value, one in zip(values, stored, strict=True)]
    folder.add(["table.csv"], lambda draft: _write_table(draft / "table.csv", sweep.parameter, points))
    if report:
        policies = len(stored[0].experiment.policies)
        for i, stem in enumerate(_figure_stems(stored[0].experiment)):
            names = [f"{stem}{suffix}" for suffix in FIGURES]
            ours = [(value, rows[i * policies : (i + 1) * policies]) for value, rows in points]
            folder.add(names, functools.partial(_draw_sweep, sweep, ours, names))
        for name, together in _reports(stored):
            folder.add([name], functools.partial(_write_report, together, name))


def _write_table(path: Path, parameter: str | None, points: Points) -> None:
    """Write the rows with all their digits, and before them the value that was swept, if any."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        fields = points[0][1][0]._fields
        writer.writerow(fields if parameter is None else (parameter, *fields))
        for value, rows in points:
            writer.writerows(row if parameter is None else (value, *row) for row in rows)


def _figure_stems(experiment: Experiment) -> list[str]:
    """Return what the figures of the problems are called, less their suffixes."""
    names = [re.sub(r"[^\w.=+]+", "-", problem.name).strip("-") for problem in experiment.problems]
    return ["regret"] if len(names) == 1 else [f"regret-{i}-{name}" for i, name in enumerate(names, 1)]


def _reports(stored: Sequence[StoredResult]) -> list[tuple[str, Sequence[StoredResult]]]:
    """Return one report for all experiments if they differ in their problems alone, else one for each."""
    alike = {(one.experiment.policies, one.experiment.horizon, one.experiment.checkpoints) for one in stored}
    names = [problem.name for one in stored for problem in one.experiment.problems]
    if len(alike) == 1 and len(set(names)) == len(names):
        return [("report.html", stored)]
    return [(f"report-{one.title}.html", [one]) for one in stored]


def _draw_regret(stored: StoredResult, problem: Problem, names: Sequence[str], draft: Path) -> None:
    """Draw regret against t."""
    from ocucb.lab.figure_style import save_figure  # brings Matplotlib, which takes its time

    figure = stored.result().plot(problem)
    for name in names:
        save_figure(figure, draft / name)


def _draw_sweep(sweep: Sweep, points: Points, names: Sequence[str], draft: Path) -> None:
    """Draw final regret against what was swept."""
    from ocucb.lab.figure_style import save_figure
    from ocucb.lab.plots import sweep_figure

    figure = sweep_figure(points, sweep.label, x_scale=sweep.scale)
    for name in names:
        save_figure(figure, draft / name)


def _write_report(stored: Sequence[StoredResult], name: str, draft: Path) -> None:
    """Write a report on experiments that differ in their problems alone; on some if all would fill the memory."""
    size = sum(one.experiment.capacity * _run_bytes(one.experiment) for one in stored)
    chosen = stored[:: -(-size // REPORT_BYTES)]
    if len(chosen) < len(stored):
        print(f"note: {name} shows {len(chosen)} of {len(stored)} values, so as not to fill memory", file=sys.stderr)
    join_results([one.result() for one in chosen]).report(draft / name)


def _run_bytes(experiment: Experiment) -> int:
    """Return how much a run of every policy on every problem takes in memory."""
    arms = max(problem.arms for problem in experiment.problems)
    return 8 * len(experiment.problems) * len(experiment.policies) * (len(experiment.checkpoints) + arms)
