"""What a lane of a GPU knows of its arms, their indices, and estimates of these.

An estimate is two numbers between which an index is. Where a rule and a family allow it, it is made in single
precision, which takes a fraction of the time: then most choices need no index at all, since one arm is ahead of all
others by more than the estimates can be wrong.

Effective arms are sums of powers T^ρ, each rounded to a multiple of a power of 2, so that no sum of them is rounded:
they can be corrected, in any order, and arms in equal states have the same.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ocucb.compiled import Floats, Integers
from ocucb.compiled.cuda import Group, device
from ocucb.lab.gpu_rule import index_of, power_of
from ocucb.noise.noise import Family
from ocucb.policies.policy import Rule
from ocucb.selection.index import INDEX_MARGIN, LEVEL_MARGIN
from ocucb.selection.leader import DEPTH

# In single precision, with the logarithms and quotients of the hardware: 64 and 8 times its rounding.
ROUGH_LEVEL_MARGIN = 2.0**-17
ROUGH_INDEX_MARGIN = 2.0**-20
DISTURBANCE = 2.0**-20  # of what a level is given, which stands for all its roundings


class Arms(NamedTuple):
    """What a lane knows of its arms, by slot: arm i stands in slot i // lanes of lane i % lanes."""

    pulls: Integers  # of 32 bits
    bounds: Floats  # of single precision: what no index exceeds for some rounds, where bounds are kept
    sums: Floats  # Σ_j min(T, T_j)^ρ
    totals: Floats  # of rewards
    means: Floats  # these two only if indices are not estimated in single precision
    powers: Floats  # T^ρ


class Numbers(NamedTuple):
    """What levels and bounds of a run read, in double and in single precision."""

    parameters: Floats
    constants: Floats  # of the family
    rough_parameters: Floats
    rough_constants: Floats
    unit: float  # of powers of pulls
    per_unit: float  # 1/unit


class Indices(NamedTuple):
    """Functions that one lane calls for an arm of its own."""

    mean: Any  # of its rewards
    index: Any  # in a round
    known: Any  # mean, pulls and effective arms, from which estimates are made
    level: Any  # an estimate of its level in a round
    upper: Any  # what its index with such a level does not exceed
    lower: Any  # below which it is not
    rounded_power: Any  # T^ρ, as a multiple of the unit


def level_is_stable(rule: Rule, arms: int) -> bool:
    """Return whether what is rounded in single precision moves a level by far less than its margin."""
    level: Any = rule.level
    if level is None:
        return True
    parameters = np.append(np.asarray(rule.parameters, dtype=np.float64), 0.0)
    for given in _points(arms):
        found = level(*given, float(arms), parameters)
        moved = 0.0
        for which in range(len(given)):
            near = [one * (1.0 + DISTURBANCE) if place == which else one for place, one in enumerate(given)]
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


def make_indices(rule: Rule, family: Family, rough: bool) -> Indices:
    """Return the functions for one rule and family; with estimates in single precision or not."""
    level, bound = index_of(rule, family)
    rough_level, rough_bound = index_of(rule, family, rough)
    real: Any = np.float32 if rough else np.float64
    ordered, rho = bool(rule.rho), float(rule.rho or 0.0)
    power, rough_power, rough_rho = power_of(False), power_of(rough), real(rho)
    level_margin = real(ROUGH_LEVEL_MARGIN if rough else LEVEL_MARGIN)
    index_margin = real(ROUGH_INDEX_MARGIN if rough else INDEX_MARGIN)
    one, zero = real(1.0), real(0.0)

    @device
    def rounded_power(pulls: float, numbers: Numbers) -> Any:
        return math.floor(power(pulls, rho) * numbers.per_unit + 0.5) * numbers.unit

    @device
    def mean(own: Arms, slot: int) -> Any:
        return own.totals[slot] / float(own.pulls[slot]) if rough else own.means[slot]

    @device
    def index(own: Arms, slot: int, t: int, arms: int, numbers: Numbers) -> float:
        pulls, effective = float(own.pulls[slot]), float(arms)
        if ordered:
            effective = own.sums[slot] / (rounded_power(pulls, numbers) if rough else own.powers[slot])
        found = level(float(t), pulls, effective, float(arms), numbers.parameters)
        return float(bound(mean(own, slot), pulls, found, numbers.constants))

    @device
    def known(own: Arms, slot: int, arms: int) -> tuple[float, float, float]:
        pulls, effective = real(own.pulls[slot]), real(arms)
        if ordered:
            divisor = rough_power(pulls, rough_rho) if rough else own.powers[slot]
            effective = real(own.sums[slot]) / divisor
        return real(own.totals[slot]) / pulls if rough else own.means[slot], pulls, effective

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

    return Indices(mean, index, known, estimated_level, upper, lower, rounded_power)


def make_lead_floor(indices: Indices, group: Group, falls: bool, rough: bool) -> Any:
    """Return a function that finds how far the mean of a leader may fall."""
    _, _, known, level, _, lower, _ = indices
    lanes, real = group.lanes, np.float32 if rough else np.float64
    depth = real(DEPTH)

    @device
    def lead_floor(own: Arms, arm: int, arms: int, t: int, length: int, rival: float, numbers: Numbers) -> float:
        """Return a mean above which the winner of round t wins so many more; inf if none is safe."""
        mean, pulls, effective = known(own, arm // lanes, arms)
        if lanes > 1:
            mean, pulls = group.of_lane(mean, arm % lanes), group.of_lane(pulls, arm % lanes)
            effective = group.of_lane(effective, arm % lanes)
        after = pulls + real(length + 1)
        found = level(t + length if falls else t, after, effective, arms, numbers)
        floor = mean - depth * (lower(mean, after, found, numbers) - real(rival))
        return float(floor) if floor < mean and lower(floor, after, found, numbers) > real(rival) else math.inf

    return lead_floor


def make_add_pulls(rule: Rule, group: Group, slots: int, indices: Indices, rough: bool) -> Any:
    """Return a function that gives an arm more pulls."""
    lanes, ordered, rounded_power = group.lanes, bool(rule.rho), indices.rounded_power
    whole = slots - slots % 4

    @device
    def raise_sums(own: Arms, before: int, after: int, step: float) -> tuple[float, bool]:
        """Raise the sums of arms with `after` pulls or more; return by how much in all, and if some are between."""
        above, between = 0, False
        for slot in range(0, whole, 4):  # all that is read comes before all that is written: nobody waits four times
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
        for slot in range(whole, slots):
            pulls = own.pulls[slot]
            own.sums[slot] += step if pulls >= after else 0.0
            above += 1 if pulls >= after else 0
            between |= before < pulls < after
        return above * step, between

    @device
    def add_pulls(
        own: Arms, lane: int, arm: int, before: int, after: int, total: float, numbers: Numbers, done: bool
    ) -> None:
        """Give an arm its new pulls and sum of rewards, and make effective arms right that this changes, if done."""
        slot, owner = arm // lanes, arm % lanes
        new, rises = 0.0, 0.0
        if ordered:
            new, old = rounded_power(float(after), numbers), rounded_power(float(before), numbers)
            rises, between = raise_sums(own, np.int32(before), np.int32(after), new - old if done else 0.0)
            if group.any_in_warp(done and between):
                for other in range(slots):
                    if done and before < own.pulls[other] < after:
                        rise = rounded_power(float(own.pulls[other]), numbers) - old
                        own.sums[other] += rise
                        rises += rise
            rises = group.sum(rises) + (new - old)
        if done and lane == owner:
            own.pulls[slot] = np.int32(after)
            own.totals[slot] = total
            if ordered:
                own.sums[slot] += rises
            if not rough:
                own.means[slot] = total / after
                if ordered:
                    own.powers[slot] = new

    return add_pulls
