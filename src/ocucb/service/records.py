"""What the log of an experiment is made of."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from ocucb.labels import Label

Clock = Callable[[], int]
"""Tells the time in microseconds since 1970, UTC. It may jump: nothing is ordered by it."""

SECOND = 1_000_000

CREATED = "created"
ARM_ADDED = "arm added"
ARM_RETIRED = "arm retired"
PAUSED = "paused"
RESUMED = "resumed"
ARCHIVED = "archived"
LOG_IMPORTED = "log imported"
DECISION = "decision"
REWARD = "reward"
FORGOTTEN = "forgotten"
DEFAULT = "default"

ACTIVE = "active"
"""The status of an experiment that decides; the others are called as the change that leads to them."""


class Entry(NamedTuple):
    """One line of an experiment's log. What a kind does not use is None.

    seq        1, 2, ... in each experiment: the order in which things happened
    kind       a change of the experiment, a decision, or the outcome of one
    at         when, in microseconds UTC; for people, never for order
    arm        of a decision, an outcome, or an arm added or retired
    decision   of an outcome: the seq of the decision it belongs to
    reward     of a reward or a default
    token      of a decision: the part of its id that nobody can guess
    unit       of a decision: for whom it was made
    deadline   of a decision: when its reward is too late
    pulls, mean, index_value, effective    of a decision: what was known of the arm when it was chosen
    data       of a change: all else it needs
    """

    seq: int
    kind: str
    at: int
    arm: Label | None = None
    decision: int | None = None
    reward: float | None = None
    token: str | None = None
    unit: str | None = None
    deadline: int | None = None
    pulls: int | None = None
    mean: float | None = None
    index_value: float | None = None
    effective: float | None = None
    data: dict[str, Any] | None = None


class KeyRecord(NamedTuple):
    """What an idempotency key stands for: a request made `at`, and entries `seq` to `seq + size - 1` that answer it."""

    key: str
    asked: str
    seq: int
    size: int
    at: int


class Head(NamedTuple):
    """An experiment as the list of experiments knows it: `seq` is the last entry of its log."""

    id: int
    name: str
    seq: int
    status: str
    created: int


def utc_now() -> int:
    """Return the time of day."""
    return time.time_ns() // 1000
