"""When to try again, and when to give up: exponential backoff with full jitter, inside a deadline."""

from __future__ import annotations

import random
import time

from ocucb.client.errors import ClientError, UnavailableError
from ocucb.client.exchange import Setup

_FIRST, _LONGEST = 0.1, 5.0
_LONGEST_ASKED = 300.0  # what asks for more is taken to be broken


class Pauses:
    """How long to wait before the next attempt: anything from nothing to twice as long as the last time."""

    def __init__(self) -> None:
        self._width = _FIRST

    def after(self, problem: ClientError) -> float:
        """Return how many seconds to wait; no less than the service asked for, within reason."""
        seconds = random.uniform(0.0, self._width)  # noqa: S311  # it spreads load, and guards nothing
        self._width = min(_LONGEST, 2.0 * self._width)
        asked = problem.retry_after if isinstance(problem, UnavailableError) else None
        return seconds + min(asked or 0.0, _LONGEST_ASKED)


class Attempts:
    """The attempts at one call."""

    def __init__(self, setup: Setup, repeatable: bool = True) -> None:
        self._setup, self._repeatable = setup, repeatable
        self._made = 1
        self._end = time.monotonic() + setup.timeout
        self._pauses = Pauses()

    @property
    def end(self) -> float:
        """When the attempt that begins now must end."""
        return min(time.monotonic() + self._setup.patience, self._end)

    def pause(self, problem: ClientError) -> float:
        """Return how many seconds to wait before trying again after a problem; raise it if there is no use."""
        again = isinstance(problem, UnavailableError) and (self._repeatable or problem.undone)
        seconds = self._pauses.after(problem)
        if not again or self._made > self._setup.retries or time.monotonic() + seconds >= self._end:
            if self._made > 1:
                problem.add_note(f"tried {self._made} times")
            raise problem
        self._made += 1
        return seconds
