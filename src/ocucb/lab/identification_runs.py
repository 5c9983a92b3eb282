"""The runs of an identification: plays them, or those that a folder has not got yet, on any executor.

The folder has a file with a line for each run, so that an identification which was stopped goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ocucb.errors import StateError
from ocucb.lab.identification import Cell, Identification, Identified, identify_once
from ocucb.lab.identification_result import IdentificationResult
from ocucb.lab.runners import open_executor

FORMAT = "ocucb identification"
NAME = "runs.jsonl"


def identify(
    experiment: Identification,
    executor: Executor | str | None = None,
    progress: Callable[[str, int, int], object] | None = None,
    folder: str | Path | None = None,
) -> IdentificationResult:
    """Play all runs of all policies.

    Parameters
    ----------
    experiment : what to play.
    executor : as for `simulate`.
    progress : called with a label, how many runs of all are done, and how many there are.
    folder : where to keep finished runs. What it has is not played again, so that one which was stopped goes on.
    """
    if not isinstance(executor, Executor):
        with open_executor(executor) as pool:
            return identify(experiment, pool, progress, folder)
    found: dict[Cell, Identified] = {}
    cells = [(policy, run) for run in range(experiment.runs) for policy in range(len(experiment.policies))]
    if folder is None:
        _play(experiment, executor, cells, found, found.__setitem__, progress)
    else:
        with IdentifiedRuns(Path(folder), experiment) as kept:
            found = kept.found
            _play(experiment, executor, cells, found, kept.add, progress)
    runs = {
        label: [found[policy, run] for run in range(experiment.runs)]
        for policy, (label, _) in enumerate(experiment.policies)
    }
    return IdentificationResult(experiment, runs)


def _play(
    experiment: Identification,
    executor: Executor,
    cells: Sequence[Cell],
    found: Mapping[Cell, Identified],
    keep: Callable[[Cell, Identified], object],
    progress: Callable[[str, int, int], object] | None,
) -> None:
    """Play what is not found yet, and keep it."""
    missing = [cell for cell in cells if cell not in found]
    futures = {executor.submit(identify_once, experiment, *cell): cell for cell in missing}
    try:
        for done, future in enumerate(as_completed(futures), len(cells) - len(missing) + 1):
            keep(futures[future], future.result())
            if progress is not None:
                progress(experiment.policies[futures[future][0]][0], done, len(cells))
    finally:
        for future in futures:
            future.cancel()


class IdentifiedRuns:
    """A file whose first line says of which identification it is, and each other line what came of one run.

    A line that a power cut left half written is dropped, and that run is played again.
    """

    def __init__(self, folder: Path, experiment: Identification) -> None:
        self._experiment, self._path = experiment, folder / NAME
        self.found: dict[Cell, Identified] = {}
        head = {"format": FORMAT, "identification": experiment.describe()}
        lines = self._lines()
        if lines and lines[0] != head:
            theirs = isinstance(lines[0], dict) and lines[0].get("format") == FORMAT
            what = "those of another identification" if theirs else "something else"
            raise StateError(f"{self._path} must hold runs of this identification, got {what}; choose another output")
        for line in lines[1:]:
            self._take(line)
        folder.mkdir(parents=True, exist_ok=True)
        kept = [head, *([*cell, one.rounds, one.arm] for cell, one in self.found.items())]
        self._path.write_text("".join(f"{json.dumps(one)}\n" for one in kept), encoding="utf-8")

    def _lines(self) -> list[Any]:
        try:
            text = self._path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return []
        lines: list[Any] = []
        for line in text.splitlines():
            try:
                lines.append(json.loads(line))
            except ValueError:
                lines.append(None)
        return lines

    def _take(self, line: object) -> None:
        """Remember a run, if a line tells one of ours."""
        if not isinstance(line, list) or len(line) != 4 or any(type(one) is not int for one in line):
            return
        policy, run, rounds, arm = line
        gaps = self._experiment.problem.gaps
        if 0 <= policy < len(self._experiment.policies) and run >= 0 and -1 <= arm < len(gaps):
            self.found[policy, run] = Identified(rounds, arm, gaps[arm] if arm >= 0 else float("nan"))

    def __enter__(self) -> Self:
        self._file = self._path.open("a", encoding="utf-8")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, cell: Cell, one: Identified) -> None:
        """Keep what came of a run."""
        self.found[cell] = one
        self._file.write(f"{json.dumps([*cell, one.rounds, one.arm])}\n")
        self._file.flush()


def delete_runs(folder: Path) -> None:
    """Delete the runs of any identification in a folder; nothing else."""
    path = folder / NAME
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        if FORMAT not in file.readline():
            raise StateError(f"{path} must hold runs of ocucb to be overwritten, got something else")
    path.unlink()
