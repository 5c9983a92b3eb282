"""The paper's checks, executed with a progress bar and shown as tables."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from itertools import groupby

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text

from ocucb.cli.interrupts import exit_if_local
from ocucb.cli.progress import ProgressDisplay
from ocucb.errors import OcucbError
from ocucb.lab.runners import open_executor
from ocucb.paper.claim import Claim, Effort
from ocucb.paper.execute import CheckResult, execute, in_order, name_of
from ocucb.paper.page import counts, mark

STYLES = {"proved": "bold green", "holds": "green", "fails": "red", "open": "blue", "error": "bold magenta"}
SHORT = {"open": "not decidable"}  # on the screen, where the summary says the rest
GUTTER = 2  # between columns
LEAST_OUTCOME = 20  # characters of an outcome, however narrow the screen


def execute_checks(claims: Sequence[Claim], effort: Effort, executor: str | None) -> list[CheckResult]:
    """Execute all checks, with a progress bar; in processes of this machine if nothing else is said."""
    progress = CheckProgress(claims)
    with open_executor(executor or "processes") as pool:
        try:
            with progress:
                for result in execute(claims, effort, pool):
                    progress.note(result)
        except KeyboardInterrupt:
            print(
                f"\nstopped: {len(progress.results)} of {progress.planned} checks were done; no page", file=sys.stderr
            )
            exit_if_local(executor)
            raise
        except BrokenExecutor as problem:
            raise OcucbError(f"a worker broke down, and no page was written: {problem}") from None
    return in_order(progress.results)


class CheckProgress(ProgressDisplay):
    """Shows which checks are done: a live bar on a terminal, a line for each elsewhere."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        super().__init__()
        names = [name_of(claim, check) for claim in claims for check in claim.checks]
        self.planned = len(names)
        self.results: list[CheckResult] = []
        widest = max(map(len, [*names, "starting"]))
        self._progress = self.bar(
            TextColumn("[bold]{task.description}", table_column=Column(width=widest, no_wrap=True)),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("checks"),
            TimeElapsedColumn(),
        )
        self._task = self._progress.add_task("starting", total=self.planned)

    def summary(self, seconds: float) -> str:
        """Return how much was executed."""
        return f"executed {self.planned} checks in {seconds:.1f} seconds"

    def note(self, result: CheckResult) -> None:
        """Take in that a check is done."""
        self.results.append(result)
        if self.console.is_terminal:
            self._progress.update(self._task, completed=len(self.results), description=result.name)
        else:
            done = f"{len(self.results)}/{self.planned} checks"
            self.say(f"{done}: {result.name} {mark(result).words}, {result.seconds:.1f} seconds")


def print_results(console: Console, results: Sequence[CheckResult]) -> None:
    """Print a table for each claim, one line for each check, and how many hold."""
    name = max((len(result.check.name) for result in results), default=0)
    verdict = max((len(_verdict(result)) for result in results), default=0)
    room = console.width - (2 + GUTTER + name + GUTTER + verdict + GUTTER)
    for _, together in groupby(results, key=lambda result: result.claim.number):
        ours = list(together)
        table = Table.grid(Column(width=2), padding=(0, GUTTER, 0, 0))
        for width in (name, verdict):
            table.add_column(min_width=width, no_wrap=True)
        for result in ours:
            outcome = Text(_outcome(result))
            outcome.truncate(max(room, LEAST_OUTCOME), overflow="ellipsis")
            table.add_row("", Text(result.check.name), _verdict(result), outcome)
        console.print(Text(f"{ours[0].claim.number:>2}  {ours[0].claim.title}", "bold"), table, "", sep="\n")
    found = [f"{count} {look.words if count == 1 else look.many}" for look, count in counts(results)]
    console.print(Text(f"{len(results)} checks: {', '.join(found)}", "bold"))


def _verdict(result: CheckResult) -> Text:
    look = mark(result)
    return Text(SHORT.get(look.kind, look.words), STYLES[look.kind])


def _outcome(result: CheckResult) -> str:
    """Return what came out as one line; the page has all of it."""
    return " ".join((result.error if result.finding is None else result.finding.outcome).split())
