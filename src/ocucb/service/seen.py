"""What the database was seen to have a moment ago: it need not be looked at again before it is written to."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable

SEEN_SECONDS = 1.0  # for which an experiment is taken to be as it was seen


class Seen:
    """Experiments that the database had as they are in memory, and which version the API keys had. For one thread.

    Another node may have written since. So nothing is written for an experiment whose log has grown, or by a version of
    the API keys that is not the last one; and what is answered without a write is looked at again.
    """

    def __init__(self) -> None:
        self.key_version: int | None = None
        self._until: dict[int, float] = {}

    def note(self, experiments: Collection[int], at: float, key_version: int | None) -> None:
        """Note that experiments were seen, at a time of `time.monotonic`."""
        if experiments:  # without any, nobody has looked
            self.key_version = key_version
            self._until.update(dict.fromkeys(experiments, at + SEEN_SECONDS))

    def has(self, experiments: Iterable[int]) -> bool:
        """Tell whether all these experiments were seen a moment ago."""
        now, until = time.monotonic(), self._until
        return all(now < until.get(experiment, 0.0) for experiment in experiments)

    def forget(self, experiment: int) -> None:
        """Note that an experiment is not in memory any more."""
        self._until.pop(experiment, None)
