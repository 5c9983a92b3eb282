"""Indices of arms on a GPU, and estimates of these.

An estimate is two numbers between which an index is. Where a rule and a family allow it, it is made in single
precision, which takes a fraction of the time: then most choices need no index at all, since one arm is ahead of all
others by more than the estimates can be wrong.

Effective arms are sums of powers T^ρ, each rounded to a multiple of a unit, so that no sum of them is rounded: they
can be corrected, in any order, and arms in equal states have the same. Where bounds are kept and estimated in single
precision, the unit is so large that sums are whole numbers of 32 bits, good enough for estimates; the lanes of a group
add up the powers again, in double precision, for the few arms whose index is computed.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from ocucb.compiled import Floats
from ocucb.compiled.cuda import Group, device, rough_device
from ocucb.lab.gpu_arms import ArmAccess, LaneArms
from ocucb.lab.gpu_moments import Moments
from ocucb.lab.gpu_rule import index_of, power_of
from ocucb.noise.noise import Family
from ocucb.policies.policy import Rule
from ocucb.selection.index import INDEX_MARGIN, LEVEL_MARGIN
from ocucb.selection.leader import DEPTH

# In single precision, with the logarithms and quotients of the hardware: 64 and 8 times its rounding.
ROUGH_LEVEL_MARGIN = 2.0**-17
ROUGH_INDEX_MARGIN = 2.0**-20
DISTURBANCE = 2.0**-20  # of what a level is given, which stands for all its roundings
EFFECTIVE = 2  # place of effective arms among what a level is given


class Numbers(NamedTuple):
    """What levels and bounds of a run read, in double and in single precision."""

    parameters: Floats
    constants: Floats  # of the family
    rough_parameters: Floats
    rough_constants: Floats
    unit: float  # of powers of pulls
    per_unit: float  # 1/unit
    scale: float  # units in 1 of powers that are whole numbers, in single precision
    powers: Floats  # of few pulls, each a multiple of the unit


class Indices(NamedTuple):
    """Functions that one lane calls for an arm of its own."""

    mean: Any  # of its rewards
    index: Any  # in a round, with the sum of powers that `make_exact_sum` finds
    known: Any  # mean, pulls and effective arms, from which estimates are made
    level: Any  # an estimate of its level in a round
    upper: Any  # what its index with such a level does not exceed
    lower: Any  # below which it is not
    rounded_power: Any  # T^ρ, as a multiple of the unit
    known_power: Any  # the same, looked up if T is not large


@functools.cache
def level_is_stable(rule: Rule, arms: int, rounding: float = 0.0) -> bool:
    """Return whether what is rounded in single precision moves a level by far less than its margin.

    rounding : of effective arms, where powers are whole numbers.
    """
    level: Any = rule.level
    if level is None:
        return True
    parameters = np.append(np.asarray(rule.parameters, dtype=np.float64), 0.0)
    for given in _points(arms):
        found = level(*given, float(arms), parameters)
        moved = 0.0
        for which in range(len(given)):
            part = 1.0 + DISTURBANCE + (rounding if which == EFFECTIVE else 0.0)
            near = [one * part if place == which else one for place, one in enumerate(given)]
            moved += abs(level(*near, float(arms), parameters) - found)
        if not moved <= ROUGH_LEVEL_MARGIN / 2.0 * (1.0 + abs(found)):
            return False
    return True


def _points(arms: int) -> list[tuple[float, float, float]]:
    """Return rounds, pulls and effective arms of all sizes."""
    rounds = [arms * 4.0**step for step in range(1, 14)]
    return [
        (t, t**share, max(1.0, arms**part)) for t in rounds for share in (0.0, 0.3, 0.6, 0.99) for part in (0.2, 0.9)
    ]


def make_indices(rule: Rule, family: Family, memory: ArmAccess, moments: Moments, rough: bool, whole: bool) -> Indices:
    """Return the functions for one rule and family.

    rough : estimates are made in single precision. whole : sums of powers are whole numbers.
    """
    level, bound = index_of(rule, family)
    rough_level, rough_bound = index_of(rule, family, rough)
    real: Any = np.float32 if rough else np.float64
    ordered, rho = bool(rule.rho), float(rule.rho or 0.0)
    power, rough_power, rough_rho = power_of(False), power_of(rough), real(rho)
    level_margin = real(ROUGH_LEVEL_MARGIN if rough else LEVEL_MARGIN)
    index_margin = real(ROUGH_INDEX_MARGIN if rough else INDEX_MARGIN)
    one, zero = real(1.0), real(0.0)
    spreads, set_spread = moments.kept, moments.set_spread
    pulls_of, power_at, sum_at, mean_at, total_of = memory.pulls, memory.power, memory.sum, memory.mean, memory.total

    @device
    def rounded_power(pulls: float, numbers: Numbers) -> Any:
        return math.floor(power(pulls, rho) * numbers.per_unit + 0.5) * numbers.unit

    @device
    def known_power(pulls: Any, numbers: Numbers) -> Any:
        place = np.uint64(pulls)
        return numbers.powers[place] if place < len(numbers.powers) else rounded_power(float(pulls), numbers)

    @device
    def mean(own: LaneArms, slot: int) -> Any:
        return total_of(own, slot) / float(pulls_of(own, slot)) if rough else mean_at(own, slot)

    @device
    def index(own: LaneArms, slot: int, t: int, arms: int, total: float, numbers: Numbers) -> float:
        pulls, effective = float(pulls_of(own, slot)), float(arms)
        if ordered:
            if whole:
                effective = total / known_power(pulls_of(own, slot), numbers)
            else:
                effective = total / (rounded_power(pulls, numbers) if rough else power_at(own, slot))
        found = level(float(t), pulls, effective, float(arms), numbers.parameters)
        if spreads:
            set_spread(own, slot, numbers)
            return float(bound(mean(own, slot), pulls, found, own.spread))
        return float(bound(mean(own, slot), pulls, found, numbers.constants))

    @(rough_device if rough else device)
    def known(own: LaneArms, slot: int, arms: int) -> tuple[float, float, float]:
        pulls, effective = real(pulls_of(own, slot)), real(arms)
        if ordered and whole:
            effective = real(np.uint32(sum_at(own, slot))) / real(power_at(own, slot))
        elif ordered:
            effective = real(sum_at(own, slot)) / (rough_power(pulls, rough_rho) if rough else power_at(own, slot))
        return mean_at(own, slot), pulls, effective

    @device
    def estimated_level(t: int, pulls: float, effective: float, arms: int, numbers: Numbers) -> Any:
        if rough:
            return real(rough_level(real(t), pulls, effective, real(arms), numbers.rough_parameters))
        return real(level(real(t), pulls, effective, real(arms), numbers.parameters))

    @device
    def bound_at(mean: float, pulls: float, found: float, numbers: Numbers) -> Any:
        if rough:
            return real(rough_bound(mean, pulls, found, numbers.rough_constants))
        return real(bound(mean, pulls, found, numbers.constants))

    @device
    def upper(mean: float, pulls: float, found: float, numbers: Numbers) -> Any:
        size = abs(found)
        size += level_margin * (one + size)
        value = bound_at(mean, pulls, size if found >= zero else -size, numbers)
        return value + index_margin * (abs(value) + abs(mean))

    @device
    def lower(mean: float, pulls: float, found: float, numbers: Numbers) -> Any:
        size = abs(found)
        size = max(zero, size - level_margin * (one + size))
        value = bound_at(mean, pulls, size if found >= zero else -size, numbers)
        return value - index_margin * (abs(value) + abs(mean))

    return Indices(mean, index, known, estimated_level, upper, lower, rounded_power, known_power)


def make_lead_floor(indices: Indices, group: Group, falls: bool, rough: bool) -> Any:
    """Return a function that finds how far the mean of a leader may fall."""
    known, level, lower = indices.known, indices.level, indices.lower
    lanes, real = group.lanes, np.float32 if rough else np.float64
    depth = real(DEPTH)

    @device
    def lead_floor(own: LaneArms, arm: int, arms: int, t: int, length: int, rival: float, numbers: Numbers) -> float:
        """Return a mean above which the winner of round t wins so many more; inf if none is safe."""
        mean, pulls, effective = known(own, group.slot(arm), arms)
        if lanes > 1:
            owner = group.owner(arm)
            mean, pulls = group.of_lane(mean, owner), group.of_lane(pulls, owner)
            effective = group.of_lane(effective, owner)
        after = pulls + real(np.int32(length + 1))
        found = level(t + length if falls else t, after, effective, arms, numbers)
        floor = mean - depth * (lower(mean, after, found, numbers) - real(rival))
        return float(floor) if floor < mean and lower(floor, after, found, numbers) > real(rival) else math.inf

    return lead_floor


def make_exact_sum(rule: Rule, group: Group, memory: ArmAccess, indices: Indices, whole: bool) -> Any:
    """Return a function that finds Σ_j min(T, T_j)^ρ of an arm for the lanes that want it; they call together."""
    lanes, ordered, known_power, pulls_of = group.lanes, bool(rule.rho), indices.known_power, memory.pulls

    @device
    def kept_sum(own: LaneArms, slot: int, lane: int, arms: int, wanted: bool, numbers: Numbers) -> float:
        return float(memory.sum(own, slot)) if ordered and wanted else 0.0

    @device
    def exact_sum(own: LaneArms, slot: int, lane: int, arms: int, wanted: bool, numbers: Numbers) -> float:
        found = 0.0
        while group.any_in_warp(wanted):
            source = max(0, group.first(wanted))
            most = group.of_lane(pulls_of(own, slot if wanted else 0), source)
            total = 0.0
            for arm in range(lane, arms, lanes):
                total += known_power(min(most, pulls_of(own, group.slot(arm))), numbers)
            total = group.sum(total)
            if wanted and lane == source:
                found, wanted = total, False
        return found

    return exact_sum if ordered and whole else kept_sum


def make_add_pulls(
    rule: Rule, group: Group, slots: int, memory: ArmAccess, indices: Indices, rough: bool, whole: bool
) -> Any:
    """Return a function that gives an arm more pulls."""
    ordered, rounded_power, set_mean = bool(rule.rho), indices.rounded_power, memory.set_mean
    keeps_powers = whole or not rough
    real: Any = np.float32 if rough else np.float64
    total_rises = group.sum_of_words if whole else group.sum
    raise_sums = (
        _make_raise_whole_sums(rule, slots, memory) if whole else _make_raise_sums(group, slots, memory, indices)
    )

    @device
    def add_pulls(
        own: LaneArms, lane: int, arm: int, before: int, after: int, total: float, numbers: Numbers, done: bool
    ) -> None:
        """Give an arm its new pulls and sum of rewards, and make effective arms right that this changes, if done."""
        slot, owner = group.slot(arm), group.owner(arm)
        if ordered:
            if keeps_powers:
                old = group.of_lane(memory.power(own, slot), owner)
            else:
                old = rounded_power(float(before), numbers)
            new, rises = raise_sums(own, old, before, after, done, numbers)
            rises = total_rises(rises) + (new - old)
            if done and lane == owner:
                if keeps_powers:
                    memory.set_power(own, slot, new)
                memory.set_sum(own, slot, memory.sum(own, slot) + rises)
        if done and lane == owner:
            memory.set_pulls(own, slot, np.int32(after))
            memory.set_total(own, slot, total)
            set_mean(own, slot, real(total) / real(after))

    return add_pulls


def _make_raise_whole_sums(rule: Rule, slots: int, memory: ArmAccess) -> Any:
    rough_power, rho, single = power_of(True), np.float32(rule.rho or 0.0), np.float32

    @device
    def raise_sums(own: LaneArms, old: Any, before: int, after: int, done: bool, numbers: Numbers) -> tuple[Any, Any]:
        """Raise the sums that a power has part in; return what it becomes, and by how much they rose in all."""
        new = np.int32(rough_power(single(after), rho) * numbers.scale) if done else old
        none = rises = np.int32(0)
        step = np.int32(new - old)
        for slot in range(slots):
            # One instruction of the hardware: how much of the step from old to new lies below this power.
            rise = max(min(np.int32(memory.power(own, slot) - old), step), none)
            memory.set_sum(own, slot, np.int32(memory.sum(own, slot) + rise))
            rises = np.int32(rises + rise)
        return new, rises

    return raise_sums


def _make_raise_sums(group: Group, slots: int, memory: ArmAccess, indices: Indices) -> Any:
    rounded_power, even = indices.rounded_power, slots - slots % 4

    @device
    def raise_sums(
        own: LaneArms, old: float, before: int, after: int, done: bool, numbers: Numbers
    ) -> tuple[float, float]:
        """Raise the sums that a power has part in; return what it becomes, and by how much they rose in all."""
        new = rounded_power(float(after), numbers)
        step, above, between = new - old if done else 0.0, 0, False
        for slot in range(0, even, 4):  # all that is read comes before all that is written: nobody waits four times
            pulls_0, pulls_1, pulls_2, pulls_3 = (
                own.pulls[slot], own.pulls[slot + 1], own.pulls[slot + 2], own.pulls[slot + 3],
            )  # fmt: skip
            sum_0, sum_1, sum_2, sum_3 = own.sums[slot], own.sums[slot + 1], own.sums[slot + 2], own.sums[slot + 3]
            own.sums[slot] = sum_0 + (step if pulls_0 >= after else 0.0)
            own.sums[slot + 1] = sum_1 + (step if pulls_1 >= after else 0.0)
            own.sums[slot + 2] = sum_2 + (step if pulls_2 >= after else 0.0)
            own.sums[slot + 3] = sum_3 + (step if pulls_3 >= after else 0.0)
            above += (1 if pulls_0 >= after else 0) + (1 if pulls_1 >= after else 0)
            above += (1 if pulls_2 >= after else 0) + (1 if pulls_3 >= after else 0)
            between |= before < pulls_0 < after or before < pulls_1 < after
            between |= before < pulls_2 < after or before < pulls_3 < after
        for slot in range(even, slots):
            pulls = own.pulls[slot]
            own.sums[slot] += step if pulls >= after else 0.0
            above += 1 if pulls >= after else 0
            between |= before < pulls < after
        rises = above * step
        if group.any_in_warp(done and between):
            for other in range(slots):
                if done and before < own.pulls[other] < after:
                    rise = rounded_power(float(own.pulls[other]), numbers) - old
                    own.sums[other] += rise
                    rises += rise
        return new, rises

    return raise_sums
