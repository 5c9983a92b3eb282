"""`ocucb paper`: the paper, executed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from itertools import groupby
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text

from ocucb.checks import whole
from ocucb.cli.options import Count, Place
from ocucb.cli.playing import leave, open_folder
from ocucb.cli.screen import console, show_files
from ocucb.cli.watching import Watching
from ocucb.errors import OcucbError
from ocucb.lab.runners import open_executor
from ocucb.paper.claim import Claim, Effort
from ocucb.paper.execute import Result, choose, execute, in_order, name_of
from ocucb.paper.page import counts, mark, write_page

OUTPUT = Path("ocucb-paper")
PAGE = "paper.html"
STYLES = {"holds": "green", "fails": "red", "open": "blue", "error": "bold magenta"}
SHORT = {"open": "not decidable"}  # on the screen, where the summary says the rest
GUTTER = 2  # between columns
LEAST = 20  # characters of an outcome, however narrow the screen
Numbers = Annotated[tuple[Count, ...], Parameter(consume_multiple=True, metavar="NUMBER", show_default=False)]


def paper(
    *,
    full: Annotated[bool, Parameter(show_default=False)] = False,
    claim: Numbers = (),
    seed: Count = 0,
    output: Path = OUTPUT,
    executor: Place = None,
) -> None:
    """Execute the paper: check its theorems, lemmas and claims, and write a page with every verdict.

    Parameters
    ----------
    full
        Minutes for each check instead of seconds; under an hour on two cores.
    claim
        The number of a claim, as on the page; repeat it for more. All of them if not given.
    seed
        Another seed, other random numbers.
    output
        The folder for the page.
    """
    claims = choose(claim)
    effort = Effort("full" if full else "quick", whole("seed", seed, 0, "give another"))
    open_folder(output)
    results = _execute(claims, effort, executor)
    screen = console()
    _show(screen, results)
    write_page(results, effort, output / PAGE)
    show_files(screen, [output / PAGE])
    broken = [f"{result.name}: {result.error}" for result in results if result.finding is None]
    if broken:
        raise OcucbError(f"{len(broken)} of {len(results)} checks did not finish; {'; '.join(broken)}")


def _execute(claims: Sequence[Claim], effort: Effort, executor: str | None) -> list[Result]:
    """Execute all checks, with a watch on it; in processes of this machine if nothing else is said."""
    watch = Watch(claims)
    with open_executor(executor or "processes") as pool:
        try:
            with watch:
                for result in execute(claims, effort, pool):
                    watch.note(result)
        except KeyboardInterrupt:
            print(f"\nstopped: {len(watch.results)} of {watch.planned} checks were done; no page", file=sys.stderr)
            if executor is None or "://" not in executor:
                leave()
            raise
        except BrokenExecutor as problem:
            raise OcucbError(f"a worker broke down, and no page was written: {problem}") from None
    return in_order(watch.results)


class Watch(Watching):
    """Shows which checks are done: a live bar on a terminal, a line for each elsewhere."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        super().__init__()
        names = [name_of(claim, check) for claim in claims for check in claim.checks]
        self.planned = len(names)
        self.results: list[Result] = []
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

    def note(self, result: Result) -> None:
        """Take in that a check is done."""
        self.results.append(result)
        if self.screen.is_terminal:
            self._progress.update(self._task, completed=len(self.results), description=result.name)
        else:
            done = f"{len(self.results)}/{self.planned} checks"
            self.say(f"{done}: {result.name} {mark(result).words}, {result.seconds:.1f} seconds")


def _show(screen: Console, results: Sequence[Result]) -> None:
    """Print a table for each claim, one line for each check, and how many hold."""
    name = max((len(result.check.name) for result in results), default=0)
    verdict = max((len(_verdict(result)) for result in results), default=0)
    room = screen.width - (2 + GUTTER + name + GUTTER + verdict + GUTTER)
    for _, together in groupby(results, key=lambda result: result.claim.number):
        ours = list(together)
        table = Table.grid(Column(width=2), padding=(0, GUTTER, 0, 0))
        for width in (name, verdict):
            table.add_column(min_width=width, no_wrap=True)
        for result in ours:
            outcome = Text(_outcome(result))
            outcome.truncate(max(room, LEAST), overflow="ellipsis")
            table.add_row("", Text(result.check.name), _verdict(result), outcome)
        screen.print(Text(f"{ours[0].claim.number:>2}  {ours[0].claim.title}", "bold"), table, "", sep="\n")
    found = [f"{count} {look.words if count == 1 else look.many}" for look, count in counts(results)]
    screen.print(Text(f"{len(results)} checks: {', '.join(found)}", "bold"))


def _verdict(result: Result) -> Text:
    look = mark(result)
    return Text(SHORT.get(look.kind, look.words), STYLES[look.kind])


def _outcome(result: Result) -> str:
    """Return what came out as one line; the page has all of it."""
    return " ".join((result.error if result.finding is None else result.finding.outcome).split())
