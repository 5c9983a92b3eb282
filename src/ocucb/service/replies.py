"""What the engine answers to requests. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ocucb.arm_statistics import ArmStatistics, Statistics
from ocucb.labels import Label
from ocucb.service.definition import Definition
from ocucb.service.history import Span
from ocucb.verdict import Verdict, find_verdict

MAX_ARMS_JUDGED = 1000  # in play, for a verdict that nobody asked for
PAGE_CONFIDENCE = 0.95


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
    known: Statistics
    added: Mapping[Label, Any]
    next: int | None


Answer: TypeAlias = (
    tuple[Decision, ...] | Rewarded | Corrected | Changed | View | UnreadView | ArmPage | UnreadVerdict | Verdict | int
)
