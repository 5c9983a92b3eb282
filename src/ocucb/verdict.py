"""Which arm is best, if that is certain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats
from ocucb.confidence_sequences import ConfidenceSequences, Errors
from ocucb.labels import Label
from ocucb.noise import Noise
from ocucb.notebook_table import MAX_ROWS, html_table

FOR_FIRST_ARMS = 0.9  # of the error is for the arms there at the start; what is left, for all that may be added
FARTHEST = 2.0**30  # times the rewards so far: a forecast beyond is none
PRECISE = 0.01  # relative error of a forecast


@dataclass(frozen=True)
class Verdict:
    """Which arm is best, if that is certain.

    best           the best of the arms in play; None while more than one may be
    contenders     the arms that may be the best, by falling mean
    ruled_out      the arms that are certainly not
    rounds_needed  about how many more rounds until there is a best arm, if means and shares of pulls stay as they are:
                   0 if there is one; None if that cannot be told, as for two arms of equal means
    confidence     that no verdict over the whole life of the bandit names an arm that is not a best one
    """

    best: Label | None
    contenders: tuple[Label, ...]
    ruled_out: tuple[Label, ...]
    rounds_needed: int | None
    confidence: float

    def _repr_html_(self) -> str:
        found = "none yet" if self.best is None else str(self.best)
        needed = "unknown" if self.rounds_needed is None else f"about {self.rounds_needed:,}"
        lists = [", ".join(map(str, arms[:MAX_ROWS])) or "none" for arms in (self.contenders, self.ruled_out)]
        names = ("best", "may be the best", "ruled out", "rounds still needed")
        rows = zip(names, (found, *lists, needed), strict=True)
        return html_table([f"Verdict, {self.confidence:.4g} confident"], ("", ""), rows)


def pair_errors(beater: int, arms: int, first: int, error: float) -> list[Errors]:
    """Return what of the error is spent on an arm's being beaten by one arm though it is a best one.

    For any arm this adds up, over all others, to the error at most, however many are added to the `first` ones.
    """
    early = np.arange(arms) < first
    if beater >= first:
        added = beater - first + 1
        return [Errors(error * (1.0 - FOR_FIRST_ARMS) / (added * (added + 1.0)), np.ones_like(early))]
    spent = [Errors(error * FOR_FIRST_ARMS / max(first - 1, 1), early)]
    return spent if first == arms else [*spent, Errors(error * FOR_FIRST_ARMS / first, ~early)]


class Comparison:
    """Compares arms in pairs.

    Parameters
    ----------
    noise : the family of the rewards.
    means, counts : of the rewards of all arms ever added, in that order.
    playing : whether each is in play.
    first : how many there were at the start.
    error : probability of a wrong verdict.
    spreads : of each arm's rewards, if the family has them.
    """

    def __init__(
        self,
        noise: Noise,
        means: Floats,
        counts: Floats,
        playing: npt.NDArray[np.bool_],
        first: int,
        error: float,
        spreads: Floats | None = None,
    ) -> None:
        self._sequences = ConfidenceSequences(noise, means, counts, spreads)
        self._playing = playing
        low, _ = self._sequences.intervals(error)
        known = playing & (counts > 0)
        # Every arm is compared with two others: that of the largest mean, and that of the largest lower bound. Another
        # might rule out one arm more, at the cost of all pairs; a verdict is then late, never wrong.
        leaders = {int(np.argmax(np.where(known, bound, -np.inf))) for bound in (means, low) if known.any()}
        self._errors = {leader: pair_errors(leader, len(playing), first, error) for leader in leaders}

    def beaten(self, rewards: float = 1.0) -> npt.NDArray[np.bool_]:
        """Return which arms are certainly not the best, were there `rewards` times as many of each."""
        beaten = ~self._playing
        for leader, errors in self._errors.items():
            beaten |= self._sequences.beaten_by(leader, errors, rewards)
        return beaten

    def rewards_needed(self) -> float:
        """Return how many times the rewards so far are needed until one arm is left; inf if that cannot be told."""
        enough = 1.0
        while np.count_nonzero(~self.beaten(enough)) > 1:
            enough *= 2.0
            if enough > FARTHEST:
                return math.inf
        short = enough / 2.0
        while enough > 1.0 and enough - short > PRECISE * enough:
            middle = 0.5 * (short + enough)
            if np.count_nonzero(~self.beaten(middle)) > 1:
                short = middle
            else:
                enough = middle
        return enough


def find_verdict(
    labels: Sequence[Label],
    noise: Noise,
    means: Floats,
    counts: Floats,
    playing: npt.NDArray[np.bool_],
    first: int,
    rounds: int,
    confidence: float,
    spreads: Floats | None = None,
) -> Verdict:
    """Return the verdict on arms in the order in which they were added, `first` of them at the start."""
    comparison = Comparison(noise, means, counts, playing, first, 1.0 - confidence, spreads)
    beaten = comparison.beaten()
    left = np.flatnonzero(~beaten)
    contenders = left[np.argsort(-np.where(counts[left] > 0, means[left], np.inf), kind="stable")]
    more = (comparison.rewards_needed() - 1.0) * rounds
    return Verdict(
        best=labels[int(left[0])] if len(left) == 1 else None,
        contenders=tuple(labels[arm] for arm in contenders.tolist()),
        ruled_out=tuple(labels[arm] for arm in np.flatnonzero(beaten & playing).tolist()),
        rounds_needed=math.ceil(more) if math.isfinite(more) else None,
        confidence=confidence,
    )
