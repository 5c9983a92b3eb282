"""Confidence sequences: intervals for means, and comparisons of two, that are right at all times at once.

A mean q is doubted once the evidence against it (`Noise.evidence`) reaches log(1/α). That ever happens to the true
mean with probability at most α, whatever the policy and however often one looks. Assumed: the rewards of an arm are
independent and have one mean; that a reward is late or lost does not depend on its value.

E. Kaufmann and W. M. Koolen, "Mixture martingales revisited with applications to sequential tests and confidence
intervals", 2021, multiply the martingales of several arms, which gives the comparison of two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ocucb.checks import real
from ocucb.compiled import BOUND, Floats, Integers, address, call_bound, kernel, reals
from ocucb.errors import ParameterError
from ocucb.noise import Noise
from ocucb.noise.noise import LARGEST_FLOAT

CLOSE = 1e-9  # an end of an interval is too far by at most that, relative to its distance from the mean
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
PIECES = 16  # among which the smallest value is looked for first
SECTIONS = 16  # golden sections, which find it to 1e-8
MARGIN = 1e-6  # for what is above the smallest value yet


# Where the first arm's parameters stand, and how far apart those of two arms are: 0 if all share them.
Families: TypeAlias = tuple[int, int]
ArmSample: TypeAlias = tuple[float, float, int]  # mean, count, where its parameters stand


@kernel
def family_at(families: Families, arm: int) -> int:
    """Return where the parameters of an arm stand."""
    return families[0] + families[1] * arm


@kernel
def doubted_end(function: int, family: int, mean: float, count: float, level: float, end: float) -> float:
    """Return the mean nearest to `mean`, towards `end` of the support, from which on all are doubted; or `end`."""
    inner = mean
    outer = end
    if abs(end) > 1e300:  # no end to halve from: double a step until it is too far
        step = math.copysign(1e-3 * max(abs(mean), 1e-3), end)
        outer = mean + step
        while abs(outer) < 1e300 and call_bound(function, (mean, count, outer, reals(family))) < level:
            inner = outer
            step *= 2.0
            outer = mean + step
        if abs(outer) >= 1e300:
            return end
    while abs(outer - inner) > CLOSE * abs(outer - mean):
        middle = 0.5 * (inner + outer)
        if middle in (inner, outer):
            break
        if call_bound(function, (mean, count, middle, reals(family))) < level:
            inner = middle
        else:
            outer = middle
    return outer


@kernel
def find_ends(
    function: int,
    families: Families,
    means: Floats,
    counts: Floats,
    level: float,
    low: float,
    high: float,
    ends: Floats,
) -> None:
    """Write both ends of each arm's interval; the whole support for an arm without rewards."""
    for i in range(len(means)):
        family = family_at(families, i)
        ends[0, i], ends[1, i] = low, high
        if counts[i] > 0.0:
            if means[i] > low:
                ends[0, i] = doubted_end(function, family, means[i], counts[i], level, low)
            if means[i] < high:
                ends[1, i] = doubted_end(function, family, means[i], counts[i], level, high)


@kernel
def against_both(function: int, one: ArmSample, other: ArmSample, null: float) -> float:
    """Return the evidence against two arms' having both the mean `null`."""
    mean, count, family = one
    evidence = call_bound(function, (mean, count, null, reals(family)))
    mean, count, family = other
    return float(evidence + call_bound(function, (mean, count, null, reals(family))))


@kernel
def lowest_between(function: int, one: ArmSample, other: ArmSample) -> tuple[float, float]:
    """Return between which means the q is for which there is least evidence: not all families have one valley only."""
    low, high = other[0], one[0]
    step = (high - low) / PIECES
    least, place = math.inf, 0
    for i in range(PIECES + 1):
        here = against_both(function, one, other, low + i * step)
        if here < least:
            least, place = here, i
    return low + max(place - 1, 0) * step, low + min(place + 1, PIECES) * step


@kernel
def is_better(function: int, one: ArmSample, other: ArmSample, level: float) -> bool:
    """Return whether one arm is certainly better than another.

    It is, if the evidence against both having a mean q adds up to `level`, for every q in between.
    """
    if not one[0] > other[0]:
        return False
    # In most families the q for which there is least:
    pooled = (one[1] * one[0] + other[1] * other[0]) / (one[1] + other[1])
    if against_both(function, one, other, pooled) < level:
        return False
    low, high = lowest_between(function, one, other)
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = against_both(function, one, other, left), against_both(function, one, other, right)
    for _ in range(SECTIONS):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = against_both(function, one, other, left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = against_both(function, one, other, right)
    return min(at_left, at_right) * (1.0 - MARGIN) >= level


@kernel
def find_beaten(
    function: int,
    families: Families,
    means: Floats,
    counts: Floats,
    best: int,
    level: float,
    beaten: npt.NDArray[np.bool_],
) -> None:
    """Mark the arms than which the arm `best` is certainly better."""
    one = means[best], counts[best], family_at(families, best)
    for i in range(len(means)):
        if counts[i] > 0.0 and counts[best] > 0.0:
            beaten[i] = is_better(function, one, (means[i], counts[i], family_at(families, i)), level)


class Intervals(NamedTuple):
    """Intervals for the means of arms, one entry per arm; of an arm without rewards, all that a mean can be."""

    low: Floats
    high: Floats


class Errors(NamedTuple):
    """With which probability one arm is ever called better than any of some arms that is as good."""

    error: float
    arms: npt.NDArray[np.bool_]


def clean_confidence(confidence: object) -> float:
    """Return a confidence as a float, or raise one clear line."""
    value = real("confidence", confidence, "0.95 is usual")
    if not 0.0 < value < 1.0:
        raise ParameterError(f"confidence must be between 0 and 1, got {value:g}; 0.95 is usual")
    return value


class ConfidenceSequences:
    """What is certain of the means of arms, from their numbers of rewards and their means so far.

    Parameters
    ----------
    noise : the family of the rewards.
    means, counts : of each arm's rewards; the mean of none is not looked at.
    spreads : of each arm's rewards, 0 if they are all equal; for families that need it.
    """

    def __init__(self, noise: Noise, means: Floats, counts: Floats, spreads: Floats | None = None) -> None:
        evidence = noise.evidence()
        if evidence is None:
            raise ParameterError(
                f"{noise} has no confidence sequence; define its method evidence(), or use Gaussian(scale) "
                "if its rewards are subgaussian"
            )
        if evidence.spreads and spreads is None:
            raise ParameterError(f"{noise} has no confidence sequence without the spreads of the arms' rewards")
        self._address = address(evidence.function, BOUND)
        self._support = noise.support()
        # Of arms in equal states, of which there are many if rewards are 0 and 1, one is looked at.
        states = np.zeros((len(means), 3))
        states[:, 0], states[:, 1] = np.where(counts > 0, means, 0.0), counts
        if evidence.spreads:
            states[:, 2] = spreads
        states, state_of = _different(states)
        self._state_of = state_of
        self._means, self._counts = states[:, 0].copy(), states[:, 1].copy()
        self._parameters = (
            states[:, 2].copy() if evidence.spreads else np.asarray(evidence.parameters, dtype=np.float64)
        )
        self._stride = self._parameters.itemsize if evidence.spreads else 0

    def intervals(self, error: float) -> Intervals:
        """Return both ends of each arm's interval, which ever leaves out the mean with probability at most `error`."""
        low, high = self._support
        ends = np.empty((2, len(self._means)))
        level = math.log(1.0 / error)
        find_ends(self._address, self._families, self._means, self._counts, level, low, high, ends)
        least, most = (low if low > -LARGEST_FLOAT else -math.inf), (high if high < LARGEST_FLOAT else math.inf)
        lower, upper = np.where(ends[0] <= low, least, ends[0]), np.where(ends[1] >= high, most, ends[1])
        return Intervals(lower[self._state_of], upper[self._state_of])

    def beaten_by(self, arm: int, errors: Sequence[Errors], rewards: float = 1.0) -> npt.NDArray[np.bool_]:
        """Return than which of some arms one arm is certainly better, were there `rewards` times as many of each."""
        beaten = np.zeros(len(self._state_of), dtype=np.bool_)
        best, counts = int(self._state_of[arm]), self._counts * rewards
        for error, arms in errors:
            states = np.zeros(len(counts), dtype=np.bool_)
            find_beaten(self._address, self._families, self._means, counts, best, math.log(1.0 / error), states)
            beaten |= arms & states[self._state_of]
        return beaten

    @property
    def _families(self) -> Families:
        return int(self._parameters.ctypes.data), self._stride


def _different(states: Floats) -> tuple[Floats, Integers]:
    """Return the different rows, and for each row which of them it is."""
    words = np.ascontiguousarray(states + 0.0).view(np.dtype((np.void, states.itemsize * states.shape[1]))).ravel()
    _, first, which = np.unique(words, return_index=True, return_inverse=True)
    return states[first], which
