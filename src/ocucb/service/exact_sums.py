"""What running sums of rewards leave out, so that a reward can be taken out of a sum without a trace.

A bandit adds rewards one by one, and each addition is rounded: 1e100 added and taken out again would leave nothing of
the others. So an experiment keeps the errors of these additions, exactly; for most rewards, counts or yes and no, there
are none, and nothing is kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ocucb.errors import RewardError
from ocucb.labels import Label


class Pairs(NamedTuple):
    """A list of pairs, as two lists: of labels, and of numbers, none of which is 0."""

    labels: list[Label]
    numbers: list[tuple[float, ...]]


class RoundingErrors:
    """For each arm the numbers whose sum with the bandit's own sum of rewards is exact. None for arms without error."""

    def __init__(self) -> None:
        self._by_arm: dict[Label, tuple[float, ...]] = {}

    def added(self, arm: Label, before: float, value: float) -> None:
        """Note that a bandit has added `value` to a sum of `before`."""
        after = before + value
        part = after - before
        error = (before - (after - part)) + (value - part)  # exact, as Knuth has shown
        if error:
            self._keep(arm, [*self._by_arm.get(arm, ()), error])

    def replaced(self, arm: Label, before: float, values: Iterable[float], after: float) -> None:
        """Note that a bandit has added `values` to a sum of `before`, in whatever order, and has now `after`."""
        self._keep(arm, [*self._by_arm.get(arm, ()), before, *values, -after])

    def sum_after(self, arm: Label, before: float, values: Iterable[float]) -> float:
        """Return what a sum of `before` would be with `values` added, rounded once. Nothing is noted."""
        try:
            return math.fsum([*self._by_arm.get(arm, ()), before, *values])
        except OverflowError:
            raise RewardError("the sum of an arm's rewards would no longer be a finite number") from None

    def copy(self) -> RoundingErrors:
        """Return errors that stay as these are now."""
        copied = RoundingErrors()
        copied._by_arm = dict(self._by_arm)  # the numbers of an arm are replaced, never changed
        return copied

    def to_list(self) -> list[list[Any]]:
        """Return everything as plain data."""
        return [[arm, list(errors)] for arm, errors in self._by_arm.items()]

    def to_pairs(self) -> Pairs:
        """Return what `to_list` does, without a list for each arm: many new lists would be searched for garbage."""
        return Pairs(list(self._by_arm), list(self._by_arm.values()))

    @classmethod
    def from_list(cls, data: Iterable[Sequence[Any]]) -> RoundingErrors:
        """Return what is behind `to_list`."""
        errors = cls()
        errors._by_arm = {arm: tuple(parts) for arm, parts in data}
        return errors

    def _keep(self, arm: Label, values: list[float]) -> None:
        parts = _parts(values)
        if parts and all(map(math.isfinite, parts)):  # near the largest number there is, sums may be as they are
            self._by_arm[arm] = tuple(parts)
        else:
            self._by_arm.pop(arm, None)


def _parts(values: Iterable[float]) -> list[float]:
    """Return a few numbers, of which none overlaps another, with exactly the same sum (Shewchuk 1997)."""
    parts: list[float] = []
    for value in values:
        rest, kept = value, []
        for part in parts:
            large, small = (rest, part) if abs(rest) >= abs(part) else (part, rest)
            rest = large + small
            if error := small - (rest - large):
                kept.append(error)
        parts = [*kept, rest] if rest else kept
    return parts


def sum_of(values: Mapping[str, float]) -> float:
    """Return the sum of partial rewards, rounded once, whatever their order."""
    return math.fsum(values.values())
