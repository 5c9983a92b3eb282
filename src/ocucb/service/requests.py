"""What callers ask, and what they are told. Plain data; each request has one answer or one error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

from ocucb.checks import as_float, one_of, whole
from ocucb.labels import Label
from ocucb.service.definition import Definition
from ocucb.service.errors import RequestError
from ocucb.service.history import Span
from ocucb.service.text import clean_arm, clean_text, encode

MOST_DECISIONS = 1000
LONGEST_LOG = 100_000
LARGEST_METADATA = 10_000


def _check(experiment: object, key: object = None, unit: object = None) -> None:
    clean_text("the name of an experiment", experiment)
    if key is not None:
        clean_text("an idempotency key", key)
    if unit is not None:
        clean_text("a unit", unit)


@dataclass(frozen=True, slots=True)
class Create:
    """Create an experiment. Answer: `Changed`."""

    definition: Definition
    key: str | None = None

    def __post_init__(self) -> None:
        _check(self.definition.name, self.key)


@dataclass(frozen=True, slots=True)
class Decide:
    """Make `count` decisions. Answer: a tuple of `Decision`.

    The same `unit` within the sticky window gets the same decision back: one pull, one reward. The same `key` always
    does. A unit whose arm was retired in between gets a new decision.
    """

    experiment: str
    count: int = 1
    unit: str | None = None
    key: str | None = None

    def __post_init__(self) -> None:
        _check(self.experiment, self.key, self.unit)
        if whole("count", self.count, 1, "ask for at least one decision") > MOST_DECISIONS:
            raise RequestError(f"count must be {MOST_DECISIONS} or less, got {self.count}; ask again for more")
        if self.unit is not None and self.count > 1:
            raise RequestError(f"a unit gets one decision at a time, got count {self.count}; leave out one of the two")


@dataclass(frozen=True, slots=True)
class Reward:
    """Give a decision its reward. Answer: `Rewarded`. Decisions of experiments not among `visible` are unknown."""

    decision: str
    value: float
    visible: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class SetStatus:
    """Pause, resume or archive an experiment. Answer: `Changed`, also if it was so already."""

    experiment: str
    status: Literal["active", "paused", "archived"]

    def __post_init__(self) -> None:
        _check(self.experiment)
        one_of("status", self.status, ("active", "paused", "archived"))


@dataclass(frozen=True, slots=True)
class AddArm:
    """Add an arm, or bring back a retired one. Answer: `Changed`."""

    experiment: str
    arm: Label
    metadata: Any = None

    def __post_init__(self) -> None:
        _check(self.experiment)
        object.__setattr__(self, "arm", clean_arm(self.arm))
        if len(encode(self.metadata)) > LARGEST_METADATA:
            raise RequestError(f"the metadata of an arm must be {LARGEST_METADATA} characters of JSON or less")


@dataclass(frozen=True, slots=True)
class RetireArm:
    """Stop choosing an arm; rewards of its past decisions still count. Answer: `Changed`."""

    experiment: str
    arm: Label

    def __post_init__(self) -> None:
        _check(self.experiment)
        object.__setattr__(self, "arm", clean_arm(self.arm))


@dataclass(frozen=True, slots=True)
class ImportLog:
    """Learn from pulls made elsewhere: pairs of an arm and its reward, all or none. Answer: `Changed`."""

    experiment: str
    log: tuple[tuple[Label, float], ...]
    key: str | None = None

    def __post_init__(self) -> None:
        _check(self.experiment, self.key)
        if not 1 <= len(self.log) <= LONGEST_LOG:
            raise RequestError(f"a log must have 1 to {LONGEST_LOG} rewards, got {len(self.log)}; import it in parts")
        object.__setattr__(self, "log", tuple((clean_arm(arm), as_float(reward)) for arm, reward in self.log))


@dataclass(frozen=True, slots=True)
class Look:
    """See an experiment as it is, with all that other nodes wrote. Answer: `View`."""

    experiment: str
    arms: bool = True

    def __post_init__(self) -> None:
        _check(self.experiment)


@dataclass(frozen=True, slots=True)
class Expire:
    """Close decisions whose window has passed, some at a time. Answer: how many. The service asks this itself."""

    experiment_id: int


Request: TypeAlias = Create | Decide | Reward | SetStatus | AddArm | RetireArm | ImportLog | Look | Expire


class Decision(NamedTuple):
    """An arm to play, and why: what was known of it when it was chosen. None stands for nothing known yet."""

    id: str
    experiment: str
    arm: Label
    unit: str | None
    at: int
    deadline: int | None
    pulls: int
    mean: float | None
    index: float | None  # type: ignore[assignment]  # nobody asks a decision, as a tuple, where something stands in it
    effective_arms: float | None
    repeated: bool


class Rewarded(NamedTuple):
    """What became of a reward: it was counted, it had been counted before, or it came too late and was not counted."""

    decision: str
    experiment: str
    outcome: Literal["counted", "repeated", "late"]


class Changed(NamedTuple):
    """An experiment after a change: the last entry of its log, and its status."""

    experiment: str
    seq: int
    status: str


class View(NamedTuple):
    """An experiment at entry `seq` of its log. Arrays are in the order of `arms`, those in play, or of `retired`.

    An arm has `pulls - pending` rewards. Decisions and rewards of `history` are those made here: no imported ones.
    `added` has the metadata of arms that were added later.
    """

    definition: Definition
    seq: int
    status: str
    rounds: int
    arms: tuple[Label, ...] = ()
    retired: tuple[Label, ...] = ()
    retired_pulls: tuple[int, ...] = ()
    retired_means: tuple[float, ...] = ()
    pulls: tuple[int, ...] = ()
    pending: tuple[int, ...] = ()
    means: tuple[float, ...] = ()
    indices: tuple[float, ...] = ()
    effective_arms: tuple[float, ...] = ()
    history: tuple[Span, ...] = ()
    added: Mapping[Label, Any] = MappingProxyType({})


Answer: TypeAlias = tuple[Decision, ...] | Rewarded | Changed | View | int
