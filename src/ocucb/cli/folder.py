"""The output folder, and which files belong into it."""

from __future__ import annotations

import csv
import hashlib
import importlib
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from ocucb.cli.playing import Part
from ocucb.lab.statistics import Row
from ocucb.lab.study import Sweep

STAMP = ".made"

Points: TypeAlias = Sequence[tuple[float, Sequence[Row]]]


class Folder:
    """The output folder. A file in it is whole or not there, and is not made twice for the same experiments."""

    def __init__(self, home: Path, parts: Sequence[Part], anew: bool) -> None:
        texts = [f"{part.title}\n{part.experiment.describe()}" for part in parts]
        self._stamp = hashlib.sha256("\n".join(texts).encode()).hexdigest()
        self._home = home
        self._made = set() if anew else self._found()
        self.files = [home / name for name in dict.fromkeys(part.store.relative_to(home).parts[0] for part in parts)]

    def add(self, names: Sequence[str], write: Callable[[Path], object]) -> None:
        """Have some files, made by `write` in a folder of its choice if they are not there yet."""
        self.files += [self._home / name for name in names]
        if all(name in self._made and (self._home / name).exists() for name in names):
            return
        with tempfile.TemporaryDirectory(dir=self._home, prefix=".draft-") as draft:
            write(Path(draft))
            for name in names:
                (Path(draft) / name).replace(self._home / name)
        self._made.update(names)
        (self._home / STAMP).write_text("\n".join([self._stamp, *sorted(self._made)]), encoding="utf-8")

    def _found(self) -> set[str]:
        """Return the names of the files that were made for these experiments."""
        try:
            stamp, *names = (self._home / STAMP).read_text(encoding="utf-8").splitlines()
        except (FileNotFoundError, ValueError):
            return set()
        return set(names) if stamp == self._stamp else set()


def add_comparison(folder: Folder, part: Part, rows: Sequence[Row], report: bool) -> None:
    """Have the files of one experiment."""
    text = part.experiment.to_toml()
    folder.add(["experiment.toml"], lambda draft: (draft / "experiment.toml").write_text(text, encoding="utf-8"))
    folder.add(["table.csv"], lambda draft: _write_table(draft / "table.csv", None, [(0.0, rows)]))
    if report:
        for problem, stem in zip(part.experiment.problems, _figures(part), strict=True):
            folder.add([f"{stem}.png", f"{stem}.pdf"], _drawing("draw_regret", part, problem, stem))
        folder.add(["report.html"], _drawing("report", [part], "report.html"))


def add_sweep(folder: Folder, sweep: Sweep, parts: Sequence[Part], points: Points, report: bool) -> None:
    """Have the files of a sweep: final regret against what was swept, for each problem."""
    folder.add(["table.csv"], lambda draft: _write_table(draft / "table.csv", sweep.parameter, points))
    if report:
        policies = len(parts[0].experiment.policies)
        for i, stem in enumerate(_figures(parts[0])):
            ours = [(value, rows[i * policies : (i + 1) * policies]) for value, rows in points]
            folder.add([f"{stem}.png", f"{stem}.pdf"], _drawing("draw_sweep", sweep, ours, stem))
        for name, together in _reports(parts):
            folder.add([name], _drawing("report", together, name))


def _drawing(function: str, *given: object) -> Callable[[Path], object]:
    """Return a call of the drawing module, which is loaded only if it comes to that: Matplotlib takes its time."""

    def write(draft: Path) -> None:
        getattr(importlib.import_module("ocucb.cli.drawing"), function)(*given, draft)

    return write


def _reports(parts: Sequence[Part]) -> list[tuple[str, Sequence[Part]]]:
    """Return one report for all parts if they differ in their problems alone, else one for each."""
    alike = {(part.experiment.policies, part.experiment.horizon, part.experiment.checkpoints) for part in parts}
    names = [problem.name for part in parts for problem in part.experiment.problems]
    if len(alike) == 1 and len(set(names)) == len(names):
        return [("report.html", parts)]
    return [(f"report-{part.title}.html", [part]) for part in parts]


def _figures(part: Part) -> list[str]:
    """Return what the figures of the problems are called."""
    names = [re.sub(r"[^\w.=+]+", "-", problem.name).strip("-") for problem in part.experiment.problems]
    return ["regret"] if len(names) == 1 else [f"regret-{i}-{name}" for i, name in enumerate(names, 1)]


def _write_table(path: Path, parameter: str | None, points: Points) -> None:
    """Write the rows with all their digits, and before them the value that was swept, if any."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        fields = points[0][1][0]._fields
        writer.writerow(fields if parameter is None else (parameter, *fields))
        for value, rows in points:
            writer.writerows(row if parameter is None else (value, *row) for row in rows)
