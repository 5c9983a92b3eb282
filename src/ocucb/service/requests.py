"""Requests to the engine: plain data, checked when it is built. Each has one answer (replies.py) or one error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ocucb.checks import as_float, one_of
from ocucb.confidence_sequences import clean_confidence
from ocucb.labels import Label
from ocucb.service.definition import Definition
from ocucb.service.errors import RequestError
from ocucb.service.text import clean_arm, clean_text, encode

MAX_DECISIONS_PER_REQUEST = 1000
MAX_ARMS_NAMED = 10_000
MAX_IMPORTED_REWARDS = 100_000
MAX_ARM_METADATA = 10_000  # characters of JSON


def _check_texts(experiment: object, idempotency_key: object = None, unit: object = None) -> None:
    clean_text("the name of an experiment", experiment)
    if idempotency_key is not None:
        clean_text("an idempotency key", idempotency_key)
    if unit is not None:
        clean_text("a unit", unit)


@dataclass(frozen=True, slots=True)
class Create:
    """Create an experiment. Answer: `Changed`."""

    definition: Definition
    idempotency_key: str | None = None

    def __post_init__(self) -> None:
        _check_texts(self.definition.name, self.idempotency_key)


@dataclass(frozen=True, slots=True)
class Decide:
    """Make `count` decisions. Answer: a tuple of `Decision`.

    With `among`, one of these arms is chosen; with `different`, each decision has another arm, by falling index.
    The same `unit` within the sticky window gets the same decision back: one pull, one reward. The same
    `idempotency_key` always does. A unit whose arm was retired in between gets a new decision.
    """

    experiment: str
    count: int = 1
    unit: str | None = None
    idempotency_key: str | None = None
    among: tuple[Label, ...] | None = None
    different: bool = False

    def __post_init__(self) -> None:
        _check_texts(self.experiment, self.idempotency_key, self.unit)
        if self.among is not None:
            if not isinstance(self.among, list | tuple):  # a text would be read as arms of one letter each
                raise RequestError(
                    f"among must be a list of labels of arms, got {self.among!r}; for one arm, a list of it"
                )
            if not 1 <= len(self.among) <= MAX_ARMS_NAMED:
                raise RequestError(f"among must name 1 to {MAX_ARMS_NAMED} arms, got {len(self.among)}")
            object.__setattr__(self, "among", tuple(dict.fromkeys(clean_arm(arm) for arm in self.among)))
            if self.different:
                raise RequestError("different decisions are made among all arms; leave out one of the two")
        if type(self.count) is not int or not 1 <= self.count <= MAX_DECISIONS_PER_REQUEST:
            raise RequestError(
                f"count must be a whole number from 1 to {MAX_DECISIONS_PER_REQUEST}, got {self.count!r}; "
                "ask again for more"
            )
        if self.unit is not None and self.count > 1:
            raise RequestError(f"a unit gets one decision at a time, got count {self.count}; leave out one of the two")


@dataclass(frozen=True, slots=True)
class Reward:
    """Give a decision its reward. Answer: `Rewarded`. Decisions of experiments not among `visible` are unknown.

    Where partial rewards are summed, `part` names this one: the same part counts once.
    """

    decision: str
    value: float
    visible: frozenset[str] | None = None
    part: str | None = None

    def __post_init__(self) -> None:
        if self.part is not None:
            clean_text("a part", self.part)


@dataclass(frozen=True, slots=True)
class Correct:
    """Put another reward in the place of one that was counted, or with None void it. Answer: `Corrected`.

    A decision whose reward is void counts as one that was forgotten.
    """

    decision: str
    value: float | None
    visible: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class SetStatus:
    """Pause, resume or archive an experiment. Answer: `Changed`, also if it was so already."""

    experiment: str
    status: Literal["active", "paused", "archived"]

    def __post_init__(self) -> None:
        _check_texts(self.experiment)
        one_of("status", self.status, ("active", "paused", "archived"))


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete an experiment that is archived, with its log. Answer: `Changed`."""

    experiment: str

    def __post_init__(self) -> None:
        _check_texts(self.experiment)


@dataclass(frozen=True, slots=True)
class AddArm:
    """Add an arm, or bring back a retired one. Answer: `Changed`."""

    experiment: str
    arm: Label
    metadata: Any = None

    def __post_init__(self) -> None:
        _check_texts(self.experiment)
        object.__setattr__(self, "arm", clean_arm(self.arm))
        if len(encode(self.metadata)) > MAX_ARM_METADATA:
            raise RequestError(f"the metadata of an arm must be {MAX_ARM_METADATA} characters of JSON or less")


@dataclass(frozen=True, slots=True)
class RetireArm:
    """Stop choosing an arm; rewards of its past decisions still count. Answer: `Changed`."""

    experiment: str
    arm: Label

    def __post_init__(self) -> None:
        _check_texts(self.experiment)
        object.__setattr__(self, "arm", clean_arm(self.arm))


@dataclass(frozen=True, slots=True)
class SetShares:
    """Give each of some arms a part of all decisions from now on; all others have none. Answer: `Changed`."""

    experiment: str
    shares: tuple[tuple[Label, float], ...]

    def __post_init__(self) -> None:
        _check_texts(self.experiment)
        clean = tuple((clean_arm(arm), as_float(share)) for arm, share in self.shares)
        if len({arm for arm, _ in clean}) < len(clean):
            raise RequestError("shares must be of different arms")
        object.__setattr__(self, "shares", clean)


@dataclass(frozen=True, slots=True)
class SetWinnerRule:
    """Play only the winner once there is one at this confidence, or with None no more so. Answer: `Changed`."""

    experiment: str
    confidence: float | None

    def __post_init__(self) -> None:
        _check_texts(self.experiment)
        if self.confidence is not None:
            object.__setattr__(self, "confidence", clean_confidence(self.confidence))


@dataclass(frozen=True, slots=True)
class AskVerdict:
    """Ask which arm is best, if that is certain. Answer: `Verdict`."""

    experiment: str
    confidence: float = 0.95

    def __post_init__(self) -> None:
        _check_texts(self.experiment)
        object.__setattr__(self, "confidence", clean_confidence(self.confidence))


@dataclass(frozen=True, slots=True)
class ImportLog:
    """Learn from pulls made elsewhere: pairs of an arm and its reward, all or none. Answer: `Changed`."""

    experiment: str
    log: tuple[tuple[Label, float], ...]
    idempotency_key: str | None = None

    def __post_init__(self) -> None:
        _check_texts(self.experiment, self.idempotency_key)
        if not 1 <= len(self.log) <= MAX_IMPORTED_REWARDS:
            raise RequestError(
                f"a log must have 1 to {MAX_IMPORTED_REWARDS} rewards, got {len(self.log)}; import it in parts"
            )
        object.__setattr__(self, "log", tuple((clean_arm(arm), as_float(reward)) for arm, reward in self.log))


@dataclass(frozen=True, slots=True)
class Inspect:
    """Read the state of an experiment, with all that other nodes wrote. Answer: `View`."""

    experiment: str
    arms: bool = True

    def __post_init__(self) -> None:
        _check_texts(self.experiment)


@dataclass(frozen=True, slots=True)
class InspectArms:
    """Read what is known of some arms: at most `limit` from place `after` on, in the order in which all were added.

    A place never changes, whichever arms are retired. Answer: `ArmPage`.
    """

    experiment: str
    after: int = 0
    limit: int = 100

    def __post_init__(self) -> None:
        _check_texts(self.experiment)


@dataclass(frozen=True, slots=True)
class Expire:
    """Close decisions whose window has passed, some at a time. Answer: how many. Only the engine asks this."""

    experiment_id: int


Request: TypeAlias = (
    Create
    | Decide
    | Reward
    | Correct
    | SetStatus
    | Delete
    | AddArm
    | RetireArm
    | SetShares
    | SetWinnerRule
    | AskVerdict
    | ImportLog
    | Inspect
    | InspectArms
    | Expire
)
