"""What the client returns, as typed records, and how each is read from JSON; fields of a newer service are ignored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from ocucb_client.checks import Label
from ocucb_client.errors import ClientError, error_of_item

T = TypeVar("T")

Status = Literal["active", "paused", "archived"]
Outcome = Literal["counted", "repeated", "late", "corrected"]
Role = Literal["admin", "decide", "reward", "correct", "read"]


@dataclass(frozen=True, slots=True)
class ArmStatistics:
    """What was known of an arm. None: nothing known yet.

    pulls            how often it had been chosen
    pending          how many of these pulls had no reward yet
    mean             its mean reward
    index            what the policy compared; None also if it was infinite, or the arm is retired
    effective_arms   how many arms the policy still took seriously; None also if it does not count them
    """

    pulls: int
    pending: int | None
    mean: float | None
    index: float | None
    effective_arms: float | None


@dataclass(frozen=True, slots=True)
class Decision:
    """An arm to play, and why.

    id               what its reward is given for
    experiment, arm  whose decision, and what to play
    unit             for whom it was made, if that was said
    at, deadline     when it was made, and when its reward is too late (None: never)
    statistics       what was known of the arm when it was chosen
    probability      with which it was chosen; None where that has no closed form
    repeated         it had been made before, for the same idempotency key or unit
    """

    id: str
    experiment: str
    arm: Label
    unit: str | None
    at: datetime
    deadline: datetime | None
    statistics: ArmStatistics
    probability: float | None
    repeated: bool


@dataclass(frozen=True, slots=True)
class RewardOutcome:
    """What became of a reward: "counted", "repeated" (it had been before), or "late" (accepted, and not counted)."""

    decision: str
    experiment: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class RewardResult:
    """What became of one reward, or one correction, among many: an outcome, or the error that stands for it."""

    decision: str
    outcome: Outcome | None
    error: ClientError | None


@dataclass(frozen=True, slots=True)
class RefusedReward:
    """A background reward that the service will never take, and why."""

    decision: str
    value: float
    error: ClientError


@dataclass(frozen=True, slots=True)
class BackgroundCounts:
    """Background rewards so far: accepted and on their way, delivered, refused for good, and parked.

    Those parked are those that the service fails at: they are sent again from time to time, and the others go on.
    """

    waiting: int
    delivered: int
    refused: int
    parked: int = 0


@dataclass(frozen=True, slots=True)
class ExperimentStatus:
    """An experiment after a change: how many entries its log has, and its status."""

    experiment: str
    entries: int
    status: Status


@dataclass(frozen=True, slots=True)
class ExperimentSummary:
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
    shares              of all decisions, by arm
    memory              the name and every parameter; None if everything is remembered
    winner_confidence   at which a winner is looked for, to be the only arm played; None for not at all
    winner              the only arm that is played, if there is one
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
    reward_bounds: tuple[float, float]
    partial_rewards: bool
    metadata: dict[str, Any]
    shares: dict[Label, float]
    winner_confidence: float | None
    winner: Label | None
    memory: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which arm is best, if that is certain.

    confidence     that no verdict, at any time, is wrong
    best           the best arm; None while more than one may be
    contenders     the arms that may be the best, by falling mean
    ruled_out      the arms that are certainly not
    rounds_needed  about how many more rounds until there is a best arm; None if that cannot be told
    """

    experiment: str
    confidence: float
    best: Label | None
    contenders: tuple[Label, ...]
    ruled_out: tuple[Label, ...]
    rounds_needed: int | None


@dataclass(frozen=True, slots=True)
class Arm:
    """An arm, what is known of it, and what it was created with."""

    arm: Label
    retired: bool
    statistics: ArmStatistics
    metadata: Any


@dataclass(frozen=True, slots=True)
class ExportedDecision:
    """A decision as it is exported: as it was made, and what became of it.

    seq          its place in the log
    statistics   what was known of the arm when it was chosen
    probability  with which it was chosen; None where that has no closed form, and of older decisions
    outcome      "pending", "reward", "default" (the window passed, and the experiment says this reward), "forgotten",
                 "corrected" or "void"
    reward       of "reward", "default" and "corrected"
    outcome_at   when, unless it is pending
    """

    seq: int
    decision: str
    arm: Label
    unit: str | None
    at: datetime
    deadline: datetime | None
    statistics: ArmStatistics
    probability: float | None
    outcome: Literal["pending", "reward", "default", "forgotten", "corrected", "void"]
    reward: float | None
    outcome_at: datetime | None


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key, less its secret; `experiments` is None for all."""

    id: str
    name: str
    roles: frozenset[str]
    experiments: frozenset[str] | None
    created: datetime
    revoked: datetime | None
    expires: datetime | None


@dataclass(frozen=True, slots=True)
class NewApiKey(ApiKey):
    """An API key that was just made: `text` is what clients are given, and can never be seen again."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A change and who made it: `api_key` is the id of the key, and empty for whoever can open the database."""

    id: int
    at: datetime
    api_key: str
    key_name: str | None
    action: str
    experiment: str | None
    details: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of many, and where the next page begins."""

    items: tuple[T, ...]
    next: str | int | None


def read_as(kind: type[T]) -> Callable[[Mapping[str, Any]], T]:
    """Return a function that reads such a record from JSON."""
    return lambda data: kind(**_fields(kind, data))


def read_decisions(data: Mapping[str, Any]) -> list[Decision]:
    """Return the decisions that were made."""
    return [Decision(**_fields(Decision, one)) for one in data["decisions"]]


def read_decision(data: Mapping[str, Any]) -> Decision:
    """Return the only decision that was made."""
    (decision,) = read_decisions(data)
    return decision


def read_results(data: Mapping[str, Any]) -> list[RewardResult]:
    """Return what became of many rewards."""
    return [_read_result(one) for one in data["results"]]


def _read_result(data: Mapping[str, Any]) -> RewardResult:
    error = data.get("error")
    if error is None:
        return RewardResult(str(data["decision"]), data["outcome"], None)
    return RewardResult(str(data["decision"]), None, error_of_item(str(error["code"]), str(error["message"])))


def read_experiment(data: Mapping[str, Any]) -> Experiment:
    """Return an experiment; its counts are a record of their own in JSON."""
    return Experiment(**_fields(Experiment, {**data, **data["counts"]}))


def read_new_api_key(data: Mapping[str, Any]) -> NewApiKey:
    """Return an API key that was just made."""
    return NewApiKey(**_fields(NewApiKey, {**data, "text": data["key"]}))


def read_page(name: str, kind: type[T]) -> Callable[[Mapping[str, Any]], Page[T]]:
    """Return a function that reads a page of the records that JSON has under a name."""
    read = read_as(kind)
    return lambda data: Page(tuple(read(one) for one in data[name]), data["next"])


def _read_statistics(data: Mapping[str, Any]) -> ArmStatistics:
    return ArmStatistics(data["pulls"], data.get("pending"), data["mean"], data["index"], data["effective_arms"])


_READERS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("at", "deadline", "created", "revoked", "expires", "outcome_at"), datetime.fromisoformat),
    **dict.fromkeys(("roles", "experiments"), frozenset),
    **dict.fromkeys(("contenders", "ruled_out"), tuple),
    "shares": lambda shares: {one["arm"]: one["share"] for one in shares},
    "statistics": _read_statistics,
    "reward_bounds": tuple,
}


def _fields(kind: type[Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record from plain data; all must be there."""
    return {one.name: _read_value(one.name, data[one.name]) for one in fields(kind)}


def _read_value(name: str, value: Any) -> Any:
    read = _READERS.get(name)
    return value if value is None or read is None else read(value)
