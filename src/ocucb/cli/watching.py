"""Watching long work: a live bar on a terminal, lines elsewhere, and one line at the end."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import Progress, ProgressColumn


class Watching:
    """A bar while the block lasts, if there is a terminal; and what `summary` says once it has ended well."""

    def __init__(self) -> None:
        self.screen = Console(stderr=True)
        self.started = time.monotonic()

    def bar(self, *columns: ProgressColumn) -> Progress:
        """Return the bar, made of columns."""
        self._bar = Progress(*columns, console=self.screen, expand=True, transient=True)
        return self._bar

    def __enter__(self) -> Self:
        if self.screen.is_terminal:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.screen.is_terminal:
            self._bar.stop()
        words = "" if kind is not None else self.summary(time.monotonic() - self.started)
        if words:
            self.say(words)

    def summary(self, seconds: float) -> str:
        """Return what to say at the end; nothing if it is empty."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        """Print a line beside the bar."""
        self.screen.print(text, style="dim", highlight=False, markup=False, soft_wrap=True)
