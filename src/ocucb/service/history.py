"""The past of an experiment in a few equal pieces: what a page draws, without reading the log again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ocucb.labels import Label

MAX_SPANS = 240
MAX_ARMS_PER_SPAN = 20


class Span(NamedTuple):
    """A piece of the past.

    decisions       how many were made in it; the same in all pieces but the last
    at              when it began, in microseconds UTC
    pulls, others   decisions by arm, for the arms that had most of them, and for all others together
    rewards, total  how many rewards came in it, defaults included, and their sum
    """

    decisions: int
    at: int
    pulls: Mapping[Label, int]
    others: int
    rewards: int
    total: float


class History:
    """Folds decisions and rewards into at most MAX_SPANS spans: when there would be more, every two become one.

    All of it is a function of the log alone, so nodes agree on it. Rewards of imported logs are not part of it.
    """

    def __init__(self) -> None:
        self._width = 1
        self._spans: list[Span] = []
        self._pulls: dict[Label, int] = {}
        self._decisions = self._at = self._rewards = 0
        self._total = 0.0

    def decide(self, arm: Label, at: int) -> None:
        """Take in a decision."""
        if self._decisions == self._width:
            self._close()
        if not self._decisions:
            self._at = at
        self._decisions += 1
        self._pulls[arm] = self._pulls.get(arm, 0) + 1

    def reward(self, value: float) -> None:
        """Take in the reward of some decision before."""
        self._rewards += 1
        self._total += value

    def correct(self, at: int, rewards: int, total: float) -> None:
        """Add to the rewards, and to their sum, of the span in which time `at` was."""
        if at >= self._at or not self._spans:
            self._rewards, self._total = self._rewards + rewards, self._total + total
            return
        place = max((i for i, span in enumerate(self._spans) if span.at <= at), default=0)
        span = self._spans[place]
        self._spans[place] = span._replace(rewards=span.rewards + rewards, total=span.total + total)

    def spans(self) -> tuple[Span, ...]:
        """Return the past, oldest first; the last span may still grow."""
        return (*self._spans, self._last()) if self._decisions else tuple(self._spans)

    def copy(self) -> History:
        """Return a history that stays as this one is now."""
        copied = History()
        vars(copied).update(vars(self), _spans=list(self._spans), _pulls=dict(self._pulls))  # a span is never changed
        return copied

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data. Labels may be numbers, so pulls are pairs."""
        here = Span(self._decisions, self._at, self._pulls, 0, self._rewards, self._total)
        return {"width": self._width, "spans": [_plain(span) for span in (*self._spans, here)]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> History:
        """Return the history behind `to_dict`."""
        history = cls()
        history._width = int(data["width"])
        *history._spans, here = map(_span, data["spans"])
        history._pulls = dict(here.pulls)
        history._decisions, history._at = here.decisions, here.at
        history._rewards, history._total = here.rewards, here.total
        return history

    def _close(self) -> None:
        self._spans.append(self._last())
        self._pulls, self._decisions, self._rewards, self._total = {}, 0, 0, 0.0
        if len(self._spans) == MAX_SPANS:
            pairs = zip(self._spans[::2], self._spans[1::2], strict=True)
            self._spans = [_joined(one, two) for one, two in pairs]
            self._width *= 2

    def _last(self) -> Span:
        return _pruned(Span(self._decisions, self._at, self._pulls, 0, self._rewards, self._total))


def _joined(one: Span, two: Span) -> Span:
    pulls = dict(one.pulls)
    for arm, count in two.pulls.items():
        pulls[arm] = pulls.get(arm, 0) + count
    sums = one.others + two.others, one.rewards + two.rewards, one.total + two.total
    return _pruned(Span(one.decisions + two.decisions, one.at, pulls, *sums))


def _pruned(span: Span) -> Span:
    """Keep the arms with most pulls; among equals, those that came first."""
    if len(span.pulls) <= MAX_ARMS_PER_SPAN:
        return span._replace(pulls=dict(span.pulls))
    kept = dict(sorted(span.pulls.items(), key=lambda pair: -pair[1])[:MAX_ARMS_PER_SPAN])
    return span._replace(pulls=kept, others=span.others + sum(span.pulls.values()) - sum(kept.values()))


def _plain(span: Span) -> list[Any]:
    return [*span[:2], [list(pair) for pair in span.pulls.items()], *span[3:]]


def _span(plain: list[Any]) -> Span:
    decisions, at, pulls, others, rewards, total = plain
    return Span(decisions, at, dict(pulls), others, rewards, total)
