"""What a person sees during long work: a live bar on a terminal, a line now and then elsewhere, a line at the end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

if TYPE_CHECKING:
    from ocucb.lab import Experiment
    from ocucb.lab import Progress as Event

LINE_INTERVAL = 5.0  # seconds between lines where there is no terminal
SLOW_START_SECONDS = 2.0  # seconds after which a slow start is explained
SETTLED = 1.0  # seconds after which the first shards say how fast the rest will be
WIDEST = 26  # characters of what is being played
STARTING, COMPILING = "starting", "starting, may compile"  # it does the first time


class ProgressDisplay:
    """A bar while the block lasts, if there is a terminal; and what `summary` says once it has ended well."""

    def __init__(self) -> None:
        self.console = Console(stderr=True)
        self.started = time.monotonic()

    def bar(self, *columns: ProgressColumn) -> Progress:
        """Return the bar, made of columns."""
        self._bar = Progress(*columns, console=self.console, expand=True, transient=True)
        return self._bar

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.console.is_terminal:
            self._bar.stop()
        words = "" if kind is not None else self.summary(time.monotonic() - self.started)
        if words:
            self.say(words)

    def summary(self, seconds: float) -> str:
        """Return what to say at the end; nothing if it is empty."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        """Print a line beside the bar."""
        self.console.print(text, style="dim", highlight=False, markup=False, soft_wrap=True)


class Pace:
    """How far experiments, played one after the other, have come, and how fast."""

    def __init__(self, experiments: Sequence[Experiment], now: float) -> None:
        self._coming = [(_runs(experiment), experiment.horizon) for experiment in experiments]
        self._over = (0, 0)  # runs done and steps played, of the experiments that are over
        self._horizon = 0
        self._started = now
        self._first: tuple[float, int] | None = None  # when the first shard came, and the steps played by then
        self.runs_done = self.runs_planned = 0
        self.steps_played = self.steps_left = 0

    def begin(self) -> None:
        """Count the next experiment no longer as one to come."""
        self._horizon = self._coming.pop(0)[1]

    def end(self, runs: int) -> None:
        """Count an experiment, which has so many runs now, as over."""
        self._over = self._over[0] + runs, self.steps_played

    def note(self, event: Event, now: float) -> None:
        """Take in that a shard is finished."""
        self.runs_done = self._over[0] + event.runs_done
        self.runs_planned = self._over[0] + event.runs_planned + sum(runs for runs, _ in self._coming)
        self.steps_played = self._over[1] + (event.runs_done - event.runs_found) * self._horizon
        self.steps_left = event.steps_planned - event.steps_done + sum(runs * rounds for runs, rounds in self._coming)
        if self._first is None:
            self._first = now, self.steps_played

    def rate(self, now: float) -> float:
        """Return the steps per second since the first shard came, for what was before may be compiling."""
        since, before = self._first or (now, 0)
        if now - since < SETTLED:  # a few shards that come at once would mislead
            since, before = self._started, 0
        return (self.steps_played - before) / max(now - since, 1e-9)

    def words(self, now: float) -> tuple[str, str, str]:
        """Return runs done, steps per second and the time left; empty before the first shard."""
        if self._first is None:
            return "", "", ""
        rate = self.rate(now)
        return (
            f"{self.runs_done:,}/{self.runs_planned:,} runs",
            f"{rate / 1e6:.3g} M steps/s",
            f"{clock(self.steps_left / max(rate, 1.0))} left",
        )


class SimulationProgress(ProgressDisplay):
    """Shows what is played. `played` says whether anything was."""

    def __init__(self, experiments: Sequence[Experiment], titles: Sequence[str]) -> None:
        super().__init__()
        self._spoken = self.started
        self._titles = list(titles)
        self._title = ""
        self.played = False
        self.pace = Pace(experiments, self.started)
        labels = [f"{title} {label}" for title, one in zip(titles, experiments, strict=True) for label in one.labels]
        self._progress = self.bar(
            _Doing(Column(width=min(WIDEST, max(map(len, [*labels, COMPILING]))), no_wrap=True)),
            BarColumn(bar_width=None),
            *(_Word(self.pace, i, style) for i, style in enumerate(("", "cyan", "green"))),
        )
        self._task = self._progress.add_task("", total=None)

    def summary(self, seconds: float) -> str:
        """Return how much was played, if anything was."""
        played = f"played {self.pace.steps_played / 1e6:,.4g} million steps in {seconds:.1f} seconds"
        return played if self.played else ""

    def done(self) -> str:
        """Return how many runs are done, if any were played."""
        return f"{self.pace.runs_done:,} of {self.pace.runs_planned:,} runs are done; " if self.played else ""

    def begin(self) -> None:
        """Show the next experiment."""
        self._title = self._titles.pop(0)
        self.pace.begin()

    def __call__(self, event: Event) -> None:
        now = time.monotonic()
        if event.runs_found and not self.played:
            self.say(f"found {event.runs_found:,} runs, playing the rest")
        self.played = True
        self.pace.note(event, now)
        doing, pace = f"{self._title} {event.policy}".strip(), self.pace
        if self.console.is_terminal:
            total = pace.steps_played + pace.steps_left
            self._progress.update(self._task, total=total, completed=pace.steps_played, description=doing)
        elif now - self._spoken >= LINE_INTERVAL:
            self._spoken = now
            self.say(f"{', '.join(pace.words(now))}: {doing}")


class _Doing(ProgressColumn):
    """What is being played; before the first shard, why it takes so long."""

    def render(self, task: Task) -> Text:
        waiting = COMPILING if (task.elapsed or 0.0) > SLOW_START_SECONDS else STARTING
        return Text(task.description or waiting, style="bold", no_wrap=True, overflow="ellipsis")


class _Word(ProgressColumn):
    """One of the words of a pace, as it is now, not as it was when the last shard came."""

    def __init__(self, pace: Pace, which: int, style: str) -> None:
        super().__init__(Column(no_wrap=True, justify="right"))
        self._pace, self._which, self._style = pace, which, style

    def render(self, task: Task) -> Text:
        return Text(self._pace.words(time.monotonic())[self._which], style=self._style)


def clock(seconds: float) -> str:
    """Return seconds as minutes and seconds, and hours if need be."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _runs(experiment: Experiment) -> int:
    """Return how many runs are planned, of all policies on all problems; 0 where precision will decide."""
    return (experiment.runs or 0) * len(experiment.policies) * len(experiment.problems)


class IdentificationProgress(ProgressDisplay):
    """Progress of runs that end with a verdict."""

    def __init__(self, runs: int) -> None:
        super().__init__()
        self._runs, self._told = runs, self.started
        self._first = self._done = 0
        self.played = False
        bar = self.bar(BarColumn(), TextColumn("{task.completed:,.0f}/{task.total:,.0f} runs {task.description}"))
        self._task = bar.add_task(COMPILING, total=runs)

    def note(self, label: str, done: int, runs: int) -> None:
        """Show that a run is over."""
        now = time.monotonic()
        if not self.played:
            self.played, self._first = True, done - 1
            if done > 1:
                self.say(f"found {done - 1:,} runs, playing the rest")
        self._done = done
        self._bar.update(self._task, completed=done, description=label[:WIDEST])
        if not self.console.is_terminal and now - self._told > LINE_INTERVAL:
            self._told = now
            self.say(f"{done:,}/{runs:,} runs: {label}")

    def summary(self, seconds: float) -> str:
        return f"played {self._done - self._first:,} runs in {seconds:.1f} seconds" if self.played else ""

    def done(self) -> str:
        """Return how many runs are done, if any were played."""
        return f"{self._done:,} of {self._runs:,} runs are done; " if self.played else ""
