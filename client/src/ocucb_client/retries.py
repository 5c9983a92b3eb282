"""When to try again, and when to give up: exponential backoff with full jitter, inside a deadline."""

from __future__ import annotations

import random
import time

from ocucb_client.config import Config
from ocucb_client.errors import ClientError, UnavailableError

_FIRST_DELAY, _LONGEST_DELAY = 0.1, 5.0
_LONGEST_RETRY_AFTER = 300.0  # what asks for more is taken to be broken


class Backoff:
    """How long to wait before the next attempt: anything from nothing to twice as long as the last time."""

    def __init__(self) -> None:
        self._longest = _FIRST_DELAY

    def next_delay(self, problem: ClientError) -> float:
        """Return how many seconds to wait; no less than the service asked for, within reason."""
        seconds = random.uniform(0.0, self._longest)  # noqa: S311  # it spreads load, and guards nothing
        self._longest = min(_LONGEST_DELAY, 2.0 * self._longest)
        asked = problem.retry_after if isinstance(problem, UnavailableError) else None
        return seconds + min(asked or 0.0, _LONGEST_RETRY_AFTER)


class RetryState:
    """How many attempts at one call were made, and when they must end."""

    def __init__(self, config: Config, repeatable: bool = True) -> None:
        self._config, self._repeatable = config, repeatable
        self._attempts = 1
        self._deadline = time.monotonic() + config.timeout
        self._backoff = Backoff()

    def attempt_deadline(self) -> float:
        """Return when the attempt that begins now must end."""
        return min(time.monotonic() + self._config.attempt_timeout, self._deadline)

    def delay_or_raise(self, problem: ClientError) -> float:
        """Return how many seconds to wait before trying again after a problem; raise it if there is no use."""
        again = isinstance(problem, UnavailableError) and (self._repeatable or problem.undone)
        seconds = self._backoff.next_delay(problem)
        if not again or self._attempts > self._config.retries or time.monotonic() + seconds >= self._deadline:
            if self._attempts > 1:
                problem.add_note(f"tried {self._attempts} times")
            raise problem
        self._attempts += 1
        return seconds
