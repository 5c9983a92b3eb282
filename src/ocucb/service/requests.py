"""Requests to the engine, and its answers. Plain data; each request has one answer or one error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ocucb.arm_statistics import ArmStatistics, Statistics
from ocucb.checks import as_float, one_of
from ocucb.confidence_sequences import clean_confidence
from ocucb.labels import Label
from ocucb.service.definition import Definition
from ocucb.service.errors import RequestError
from ocucb.service.history import Span
from ocucb.service.text import clean_arm, clean_text, encode
from ocucb.verdict import Verdict, find_verdict

MAX_DECISIONS_PER_REQUEST = 1000
MAX_ARMS_NAMED = 10_000
MAX_ARMS_JUDGED = 1000  # in play, for a verdict that nobody asked for
PAGE_CONFIDENCE = 0.95
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


class Decision(NamedTuple):
    """An arm to play, and why: what was known of it when it was chosen, and with which probability it was, if known."""

    id: str
    experiment: str
    arm: Label
    unit: str | None
    at: int
    deadline: int | None
    statistics: ArmStatistics
    probability: float | None
    repeated: bool


class Rewarded(NamedTuple):
    """What became of a reward: it was counted, it had been counted before, or it came too late and was not counted."""

    decision: str
    experiment: str
    outcome: Literal["counted", "repeated", "late"]


class Corrected(NamedTuple):
    """What became of a correction: it was made, or the reward was already so."""

    decision: str
    experiment: str
    outcome: Literal["corrected", "repeated"]


class Changed(NamedTuple):
    """An experiment after a change: the last entry of its log, and its status."""

    experiment: str
    seq: int
    status: str


class View(NamedTuple):
    """An experiment at entry `seq` of its log. Arrays are in the order of `arms`, those in play, or of `retired`.

    An arm has `pulls - pending` rewards. Decisions and rewards of `history` are those made here: no imported ones.
    `added` has the metadata of arms that were added later. `winner` is the only arm that is played, if there is one,
    and `winner_confidence` that at which one is looked for. `verdict` is None also for very many arms. Under a memory
    `means` are those of what is remembered, and `remembered` are the pulls that are.
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
    spreads: tuple[float, ...] | None = None
    remembered: tuple[float, ...] | None = None
    history: tuple[Span, ...] = ()
    shares: tuple[tuple[Label, float], ...] = ()
    winner_confidence: float | None = None
    winner: Label | None = None
    verdict: Verdict | None = None
    added: Mapping[Label, Any] = MappingProxyType({})


class UnreadVerdict(NamedTuple):
    """A verdict still to be found from what is known of all arms: by whoever asked, not by the writer."""

    definition: Definition
    known: Statistics
    rounds: int
    confidence: float

    def read(self) -> Verdict:
        """Return the verdict."""
        known, made = self.known, self.definition
        counts = (known.pulls - known.pending).astype(np.float64)
        means = np.where(counts > 0, known.means, 0.0)
        playing, first = ~known.retired, len(made.arms)
        return find_verdict(
            known.arms, made.noise, means, counts, playing, first, self.rounds, self.confidence, known.spreads
        )


class UnreadView(NamedTuple):
    """A view whose arms are still as the bandit gave them: whoever asked brings them into order, not the writer."""

    short: View
    known: Statistics
    added: Mapping[Label, Any]

    def read(self) -> View:
        """Return the view with all that is known of the arms."""
        known = self.known
        playing, retired = np.flatnonzero(~known.retired), np.flatnonzero(known.retired)
        in_order = sorted(retired.tolist(), key=lambda place: str(known.arms[place]))
        return self.short._replace(
            arms=tuple(known.arms[place] for place in playing.tolist()),
            added=self.added,
            retired=tuple(known.arms[place] for place in in_order),
            retired_pulls=tuple(known.pulls[in_order].tolist()),
            retired_means=tuple(known.means[in_order].tolist()),
            pulls=tuple(known.pulls[playing].tolist()),
            pending=tuple(known.pending[playing].tolist()),
            means=tuple(known.means[playing].tolist()),
            indices=tuple(known.indices[playing].tolist()),
            effective_arms=tuple(known.effective_arms[playing].tolist()),
            spreads=None if known.spreads is None else tuple(known.spreads[playing].tolist()),
            remembered=None if known.remembered is None else tuple(known.remembered[playing].tolist()),
            verdict=self._verdict(len(playing)),
        )

    def _verdict(self, playing: int) -> Verdict | None:
        made = self.short.definition
        if playing > MAX_ARMS_JUDGED or made.noise.evidence() is None or made.memory is not None:
            return None
        return UnreadVerdict(made, self.known, self.short.rounds, PAGE_CONFIDENCE).read()


class ArmPage(NamedTuple):
    """Some arms in the order in which they were added, and what is known of each; `next` is the place of the next page.

    `added` has the metadata of those that were added later.
    """

    definition: Definition
    arms: tuple[Label, ...]
    retired: tuple[bool, ...]
    statistics: tuple[ArmStatistics, ...]
    added: Mapping[Label, Any]
    next: int | None


Answer: TypeAlias = (
    tuple[Decision, ...] | Rewarded | Corrected | Changed | View | UnreadView | ArmPage | UnreadVerdict | Verdict | int
)
