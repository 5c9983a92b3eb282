"""What a command answers once all is played: tables on the screen, files in the output folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ocucb.cli.folder import Folder, add_comparison, add_sweep
from ocucb.cli.playing import Part, Played
from ocucb.cli.screen import console, drawing, show_files
from ocucb.cli.tables import comparison, sweep_tables
from ocucb.lab.study import Sweep


def answer_comparison(part: Part, home: Path, played: Played, report: bool) -> None:
    """Show a table for each problem of an experiment, and have its files."""
    screen, rows, experiment = console(), played.rows[0], part.experiment
    for problem in experiment.problems:
        screen.print(comparison(problem.name, [row for row in rows if row.problem == problem.name], experiment))
        screen.print()
    folder = Folder(home, [part], played.anew)
    with drawing():
        add_comparison(folder, part, rows, report)
    show_files(screen, folder.files)


def answer_sweep(
    sweep: Sweep, values: Sequence[float], parts: Sequence[Part], home: Path, played: Played, report: bool
) -> None:
    """Show a table for each problem of a sweep, and have its files."""
    screen = console()
    points = list(zip(values, played.rows, strict=True))
    policies = len(parts[0].experiment.policies)
    for i in range(len(parts[0].experiment.problems)):
        names = dict.fromkeys(part.experiment.problems[i].name for part in parts)
        title = " … ".join(list(names)[:: max(1, len(names) - 1)])
        ours = [(value, rows[i * policies : (i + 1) * policies]) for value, rows in points]
        screen.print(*sweep_tables(sweep, title, ours, screen.width), sep="\n")
        screen.print()
    folder = Folder(home, parts, played.anew)
    with drawing():
        add_sweep(folder, sweep, parts, points, report)
    show_files(screen, folder.files)
