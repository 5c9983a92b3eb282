"""What the service answers, as typed records; fields that a newer service adds are passed over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from ocucb.client.errors import ClientError, error_for
from ocucb.labels import Label

T = TypeVar("T")

Status = Literal["active", "paused", "archived"]
Outcome = Literal["counted", "repeated", "late"]
Role = Literal["admin", "decide", "reward", "read"]


@dataclass(frozen=True, slots=True)
class Decision:
    """An arm to play, and why: what was known of it when it was chosen.

    id               what its reward is given for
    experiment, arm  whose decision, and what to play
    unit             for whom it was made, if that was said
    at, deadline     when it was made, and when its reward is too late (None: never)
    pulls, mean      how often the arm was chosen before, and its mean reward (None: none yet)
    index            what the policy compared (None: infinite, or not known yet)
    effective_arms   how many arms the policy still took seriously
    repeated         it had been made before, for the same idempotency key or unit
    """

    id: str
    experiment: str
    arm: Label
    unit: str | None
    at: datetime
    deadline: datetime | None
    pulls: int
    mean: float | None
    index: float | None
    effective_arms: float | None
    repeated: bool


@dataclass(frozen=True, slots=True)
class Rewarded:
    """What became of a reward: "counted", "repeated" (it had been before), or "late" (accepted, and not counted)."""

    decision: str
    experiment: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one reward among many: an outcome, or the error it would have raised alone."""

    decision: str
    outcome: Outcome | None
    error: ClientError | None


@dataclass(frozen=True, slots=True)
class Refused:
    """A background reward that the service will never take, and why."""

    decision: str
    value: float
    error: ClientError


@dataclass(frozen=True, slots=True)
class Counts:
    """Background rewards so far: accepted and on their way, delivered, refused for good."""

    waiting: int
    delivered: int
    refused: int


@dataclass(frozen=True, slots=True)
class Changed:
    """An experiment after a change: how many entries its log has, and its status."""

    experiment: str
    entries: int
    status: Status


@dataclass(frozen=True, slots=True)
class Listed:
    """An experiment in the list of all."""

    name: str
    status: Status
    created: datetime
    entries: int


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment: how it was defined, and how far it is.

    entries             of its log
    rounds              pulls that its policy knows of, imported ones included
    decisions, rewards  so far; `total` is the sum of these rewards
    policy, noise       the name and every parameter
    the others          as they were given to `create`
    """

    name: str
    status: Status
    entries: int
    rounds: int
    decisions: int
    rewards: int
    total: float | None
    policy: dict[str, Any]
    noise: dict[str, Any]
    seed: int
    window: float | None
    on_expiry: Literal["forget"] | float
    late: Literal["refuse", "accept"]
    sticky: float | None
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Arm:
    """An arm, and what is known of it. None stands for nothing known yet; a retired one has no index."""

    arm: Label
    retired: bool
    pulls: int | None
    pending: int | None
    mean: float | None
    index: float | None
    effective_arms: float | None
    metadata: Any


@dataclass(frozen=True, slots=True)
class Row:
    """A decision as it is exported: as it was made, and what became of it.

    seq         its place in the log
    outcome     "pending", "reward", "default" (the window passed, and the experiment says this reward) or "forgotten"
    reward      of "reward" and "default"
    outcome_at  when, unless it is pending
    """

    seq: int
    decision: str
    arm: Label
    unit: str | None
    at: datetime
    deadline: datetime | None
    pulls: int
    mean: float | None
    index: float | None
    effective_arms: float | None
    outcome: Literal["pending", "reward", "default", "forgotten"]
    reward: float | None
    outcome_at: datetime | None


@dataclass(frozen=True, slots=True)
class Key:
    """An API key, less its secret; `experiments` is None for all."""

    id: str
    name: str
    roles: frozenset[str]
    experiments: frozenset[str] | None
    created: datetime
    revoked: datetime | None


@dataclass(frozen=True, slots=True)
class NewKey(Key):
    """An API key that was just made: `text` is what clients are given, and can never be seen again."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of many, and where the next page begins."""

    items: tuple[T, ...]
    next: str | int | None


def decision(data: Mapping[str, Any]) -> Decision:
    """Read a decision."""
    return Decision(**_fields(Decision, data))


def rewarded(data: Mapping[str, Any]) -> Rewarded:
    """Read what became of a reward."""
    return Rewarded(**_fields(Rewarded, data))


def results(data: Mapping[str, Any]) -> list[Result]:
    """Read what became of many rewards."""
    return [_result(one) for one in data["results"]]


def _result(data: Mapping[str, Any]) -> Result:
    error = data.get("error")
    if error is None:
        return Result(str(data["decision"]), data["outcome"], None)
    return Result(str(data["decision"]), None, error_for(str(error["code"]), str(error["message"])))


def changed(data: Mapping[str, Any]) -> Changed:
    """Read what an experiment is after a change."""
    return Changed(**_fields(Changed, data))


def listed(data: Mapping[str, Any]) -> Listed:
    """Read an experiment of the list."""
    return Listed(**_fields(Listed, data))


def experiment(data: Mapping[str, Any]) -> Experiment:
    """Read an experiment."""
    return Experiment(**_fields(Experiment, {**data, **data["counts"]}))


def arm(data: Mapping[str, Any]) -> Arm:
    """Read an arm."""
    return Arm(**_fields(Arm, data))


def row(data: Mapping[str, Any]) -> Row:
    """Read a line of an export."""
    return Row(**_fields(Row, data))


def key(data: Mapping[str, Any]) -> Key:
    """Read an API key."""
    return Key(**_fields(Key, data))


def new_key(data: Mapping[str, Any]) -> NewKey:
    """Read an API key that was just made."""
    return NewKey(**_fields(NewKey, {**data, "text": data["key"]}))


def page(name: str, read: Callable[[Mapping[str, Any]], T]) -> Callable[[Mapping[str, Any]], Page[T]]:
    """Return how to read a page of what is listed under a name."""
    return lambda data: Page(tuple(read(one) for one in data[name]), data["next"])


_TIMES = frozenset(("at", "deadline", "created", "revoked", "outcome_at"))
_SETS = frozenset(("roles", "experiments"))


def _fields(kind: type[Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record from plain data; all must be there."""
    return {one.name: _value(one.name, data[one.name]) for one in fields(kind)}


def _value(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in _TIMES:
        return datetime.fromisoformat(value)
    return frozenset(value) if name in _SETS else value
