"""What a bandit knows of its arms: of one arm when it was chosen, or of all of them at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats, Integers
from ocucb.labels import Label
from ocucb.selection import Selector


class ArmStatistics(NamedTuple):
    """What is known of one arm.

    pulls           how often it was chosen, pending choices included
    pending         choices whose reward has not come
    mean            mean of its rewards; None before the first
    index           what the policy compares arms by; None for an arm that is not compared: never pulled (it is next),
                    waiting for its first reward, or retired
    effective_arms  k = Σ_j min{1, (T_j/T)^ρ}; None if it was never pulled, or is retired
    """

    pulls: int
    pending: int
    mean: float | None
    index: float | None  # type: ignore[assignment]  # in the place of tuple.index, for which there is no use here
    effective_arms: float | None


class Choice(NamedTuple):
    """The arm that was chosen, what was known of it just before, and how likely it was chosen.

    probability  exact for policies that choose the largest index and for those whose chances have a closed form, with
                 shares and named arms allowed for; None for others
    """

    arm: Label
    statistics: ArmStatistics
    probability: float | None


class Statistics(NamedTuple):
    """What is known of many arms: one entry per arm and column, in the order in which the arms were added.

    A mean is nan before the first reward. An index is inf before the first pull, -inf while the arm waits for its first
    reward and once it is retired. Effective arms are nan before the first pull and of retired arms. Spreads of the
    rewards are 0 while these are all equal, and None if the noise family has no use for them. Under a memory means are
    those of what is remembered, and `remembered` are the pulls that are; else it is None.
    """

    arms: tuple[Label, ...]
    retired: npt.NDArray[np.bool_]
    pulls: Integers
    pending: Integers
    means: Floats
    indices: Floats
    effective_arms: Floats
    spreads: Floats | None = None
    remembered: Floats | None = None


def arm_statistics(pulls: float, learned: float, mean: float, index: float, effective: float) -> ArmStatistics:
    """Return numbers as a selector has them, with None for what is not known."""
    return ArmStatistics(
        int(pulls),
        int(pulls - learned),
        mean if math.isfinite(mean) else None,
        index if math.isfinite(index) else None,
        effective if math.isfinite(effective) else None,
    )


def statistics_of(selector: Selector, labels: Sequence[Label], slots: npt.NDArray[np.intp]) -> Statistics:
    """Return what a selector knows of some slots, which have these labels."""
    known, spreads = selector.arms[slots], selector.spreads()
    pulls = selector.pulls[slots]
    return Statistics(
        arms=tuple(labels),
        retired=known["active"] == 0,
        pulls=pulls,
        pending=pulls - selector.learned[slots],
        means=selector.means[slots],
        indices=selector.indices()[slots],
        effective_arms=selector.effective()[slots],
        spreads=None if spreads is None else spreads[slots],
        remembered=None if (remembered := selector.remembered_pulls()) is None else remembered[slots],
    )
