"""`ocucb identify`: rounds until it is certain which arm is best, beside the fewest possible."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from ocucb.cli.console import add_number_column, new_console, new_table, print_paths, show_status, titled
from ocucb.cli.options import (
    Assumed,
    Count,
    Data,
    Late,
    Means,
    NoReport,
    Overwrite,
    Place,
    Problems,
    Real,
    Spread,
    Texts,
    read_problems,
)
from ocucb.errors import ParameterError, StateError

if TYPE_CHECKING:
    from ocucb.lab.identification import Identification, IdentificationRow
    from ocucb.lab.identification_result import IdentificationResult

POLICIES = ("top-two", "kl-lucb", "ocucb-n", "uniform")
PROBLEM = "bernoulli_worst_case(5, 0.5, 0.2)"
DELTA = 0.05
RUNS = 100
MAX_ROUNDS = 1_000_000
OUTPUT = Path("ocucb-identify")


def identify(
    *,
    means: Means = None,
    problem: Problems = (),
    noise: Spread = None,
    assumed: Assumed = None,
    delay: Late = None,
    data: Data = (),
    policy: Texts = POLICIES,
    delta: Real | None = None,
    rounds: Count | None = None,
    runs: Count = RUNS,
    max_rounds: Count = MAX_ROUNDS,
    seed: Count = 0,
    output: Path = OUTPUT,
    executor: Place = None,
    no_report: NoReport = False,
    overwrite: Overwrite = False,
) -> None:
    """Measure verdicts: rounds until one arm is certainly the best, how often it is not, and the fewest possible.

    With --rounds instead of --delta, every run has so many rounds, and its verdict is the arm of the largest mean. The
    same command again goes on where it was stopped, or shows what it has.

    Parameters
    ----------
    policy
        A policy, as in "top-two(0.3)"; repeat it for more.
    delta
        Probability of a wrong verdict; 0.05 if neither this nor rounds is given.
    rounds
        Instead of delta: the rounds of each run.
    runs
        Runs of each policy.
    max_rounds
        Where a run without a verdict ends.
    seed
        Another seed, other rewards.
    output
        The folder for runs and files.
    """
    from ocucb.cli.output_folder import make_folder
    from ocucb.lab.identification import Identification
    from ocucb.lab.identification_runs import delete_runs
    from ocucb.lab.spec import read_policies

    named = problem or ((PROBLEM,) if means is None and not data else ())
    problems = read_problems(means, named, noise, data=data, assumed=assumed, delay=delay)
    if len(problems) != 1:
        raise ParameterError(f"identify takes one problem, got {len(problems)}; call it for each")
    error = DELTA if delta is None and rounds is None else delta
    horizon = max_rounds if rounds is None else rounds
    experiment = Identification(
        problems[0], tuple(read_policies(list(policy), horizon)), error, rounds, runs, seed, max_rounds
    )
    make_folder(output)
    if overwrite:
        delete_runs(output)
    result = _play(experiment, executor, output)
    console = new_console()
    console.print(_table(result))
    console.print()
    _write_rows(output / "table.csv", result.summary())
    names = ["runs.jsonl", "table.csv"]
    if not no_report:
        with show_status("drawing"):
            names += _draw(result, output)
    print_paths(console, [output / name for name in names])


def _play(experiment: Identification, executor: str | None, output: Path) -> IdentificationResult:
    """Play the runs that the folder has not got, with a bar; if stopped, say how to go on."""
    from ocucb.cli.interrupts import exit_if_local
    from ocucb.cli.progress import IdentificationProgress
    from ocucb.lab.identification_runs import identify as play
    from ocucb.lab.runners import open_executor

    progress = IdentificationProgress(experiment.runs * len(experiment.policies))
    try:
        with open_executor(executor) as pool:
            try:
                with progress:
                    result = play(experiment, pool, progress.note, output)
            except KeyboardInterrupt:  # before the executor is closed, which waits for the runs that are being played
                print(f"\nstopped: {progress.done()}the same command continues it", file=sys.stderr)
                exit_if_local(executor)
                raise
    except StateError as problem:
        raise StateError(f"{problem} (--output chooses, --overwrite deletes)") from None
    if not progress.played:
        print(f"{output} has all runs already; nothing was played", file=sys.stderr)
    return result


def _draw(result: IdentificationResult, output: Path) -> list[str]:
    """Write figures and report; return their names."""
    from ocucb.lab.figure_style import save_figure

    stem = "verdicts" if result.experiment.delta is not None else "errors"
    figure = result.plot()
    for suffix in (".png", ".pdf"):
        save_figure(figure, output / f"{stem}{suffix}")
    result.report(output / "report.html")
    return [f"{stem}.png", f"{stem}.pdf", "report.html"]


def _table(result: IdentificationResult) -> object:
    header, *lines = result.table()
    columns = list(zip(*lines, strict=True))
    table = new_table()
    table.add_column(header[0], overflow="fold")
    for title, cells in zip(header[1:], columns[1:], strict=True):
        add_number_column(table, title, [Text(cell) for cell in cells])
    for label, *texts in lines:
        table.add_row(label, *map(Text, texts))
    return titled(result.title(), table, result.remark())


def _write_rows(path: Path, rows: list[IdentificationRow]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(rows[0]._fields)
        writer.writerows(rows)
