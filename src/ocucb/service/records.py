"""What the log of an experiment is made of."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from ocucb.arm_statistics import ArmStatistics
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
PARTIAL = "partial reward"
SUMMED = "summed reward"
CORRECTED = "corrected"
SHARES_SET = "shares set"
WINNER_RULE_SET = "winner rule set"
WINNER = "winner"

OUTCOMES = (REWARD, FORGOTTEN, DEFAULT, SUMMED)

DELETED = "deleted"
"""The status of an experiment that is there no more, while its rows are being deleted."""

ACTIVE = "active"
"""The status of an experiment that decides; the others are called as the change that leads to them."""


class Entry(NamedTuple):
    """One line of an experiment's log. What a kind does not use is None.

    seq        1, 2, ... in each experiment: the order in which things happened
    kind       a change of the experiment, a decision, or the outcome of one
    at         when, in microseconds UTC; for people, never for order
    arm        of a decision, an outcome, or an arm added or retired
    decision   of an outcome: the seq of the decision it belongs to; of a correction: the seq of the outcome, or of the
               correction, in whose place it comes
    reward     of a reward, partial or not, a default or a correction; None of a correction that voids
    token      of a decision: the part of its id that nobody can guess
    unit       of a decision: for whom it was made
    deadline   of a decision: when its reward is too late
    statistics of a decision: what was known of the arm when it was chosen; in a log that was written before `pending`
               was kept, that is None
    probability of a decision: with which its arm was chosen, if that is known; None also in older logs
    data       of a change: all else it needs; of a decision: the arms it was made "among", or its "place" in a list
               "of" so many that were chosen at once; of a partial reward: of which "decision", and which "part"; of a
               correction: what the reward "was", and since when it was "counted"
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
    statistics: ArmStatistics | None = None
    probability: float | None = None
    data: dict[str, Any] | None = None


class IdempotencyRecord(NamedTuple):
    """What an idempotency key stands for: a request made `at`, and the entries from `seq` on that answer it.

    It is known only to the API key with the id `api_key`; one stored before that was noted has "", and serves all.
    """

    idempotency_key: str
    api_key: str
    fingerprint: str
    seq: int
    entry_count: int
    at: int


class ExperimentRecord(NamedTuple):
    """What the store says of an experiment: `seq` is the last entry of the experiment's log."""

    id: int
    name: str
    seq: int
    status: str
    created: int


class Snapshot(NamedTuple):
    """The state of an experiment after entry `seq`, as text."""

    experiment: int
    seq: int
    digest: str
    data: str


def utc_now() -> int:
    """Return the time of day."""
    return time.time_ns() // 1000
