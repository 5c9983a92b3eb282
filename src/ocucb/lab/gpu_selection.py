"""Choosing on a GPU: one lane looks at all arms of its run, or the lanes of a group share the arms and choose together.

A lane that is alone estimates all indices in each choice. Lanes of a group keep bounds instead: an arm's bound is its
index in a later round, until which it holds, and only arms whose bound reaches the best are looked at. In each choice
every lane makes one bound anew, slot by slot: when all are made they hold until a later round, and it begins again. The
lane of the arm that was pulled last makes that arm's bound instead. So lanes do the same, and none waits for another.

Indices themselves are computed only if estimates do not tell the largest, and all of them at one place: compiled twice,
equal states need not give equal bits.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ocucb.compiled.cuda import Group, device
from ocucb.lab.gpu_index import Arms, Indices, Numbers, make_add_pulls, make_indices, make_lead_floor
from ocucb.lab.gpu_scores import make_scores
from ocucb.noise.noise import Family
from ocucb.policies.policy import Rule, Trend
from ocucb.selection.leader import may_lead

NEVER = 2**31 - 1
LOW: Any = np.float32(-math.inf)
ROUND_UP = 1.0 + 2.0**-22  # a positive bound times this is no less in single precision


class Selection(NamedTuple):
    """Functions that all lanes of a group call together."""

    choose: Any  # the lowest arm with the largest index or score, what no other of the lane exceeds, and until when
    lead_floor: Any  # a mean above which an arm wins until then
    add_pulls: Any  # give an arm more pulls


class Renewal(NamedTuple):
    """How far the bounds of a group are made anew."""

    place: int  # the next slot, of this lane
    until: int  # the last round in which all bounds hold
    target: int  # the last one in which those before `place` do


class Highest(NamedTuple):
    """The highest bounds of a lane, and where they are."""

    slot: Any  # whole numbers of 32 bits, and single precision
    bound: Any
    second: Any
    second_bound: Any
    third_bound: Any


def make_selection(rule: Rule, family: Family, group: Group, slots: int, span_shift: int, rough: bool) -> Selection:
    """Return the functions for one rule and family.

    span_shift : bounds are kept for t >> span_shift rounds; 0: none are kept.
    rough : estimates are made in single precision.
    """
    indices, falls = make_indices(rule, family, rough), rule.trend is Trend.FALLS
    if rule.score is not None:
        choose = make_scores(rule, family, group, slots, indices, rough)
    elif span_shift:
        choose = _make_look(group, slots, span_shift, indices, falls, rough)
    else:
        choose = _make_scan(group, slots, indices, falls, rough, may_lead(rule))
    lead_floor = make_lead_floor(indices, group, falls, rough)
    return Selection(choose, lead_floor, make_add_pulls(rule, group, slots, indices, rough))


def _make_scan(group: Group, slots: int, indices: Indices, falls: bool, rough: bool, leads: bool) -> Any:
    """Return a choice that looks at all arms of each lane."""
    _, index, known, level, upper, lower, _ = indices
    lanes = group.lanes

    @device
    def scan_exactly(own: Arms, lane: int, arms: int, t: int, numbers: Numbers) -> int:
        best, winner = -math.inf, lane
        for arm in range(lane, arms, lanes):  # as many as the compiler cannot foresee: it is not worth much code
            value = index(own, arm // lanes, t, arms, numbers)
            if value > best:
                best, winner = value, arm
        return int(group.first_of_largest(best, winner))

    @device
    def scan(
        own: Arms, lane: int, arms: int, t: int, length: int, last: int, renewal: Renewal, seed: int, picks: bool,
        numbers: Numbers,
    ) -> tuple[int, float, Renewal]:  # fmt: skip
        winner, sure, top = lane, False, lane
        first, second, least = LOW, LOW, LOW
        highest, next_highest = LOW, LOW  # in some rounds
        if rough or leads:
            for slot in range(slots):
                if slot * lanes + lane < arms:
                    mean, pulls, effective = known(own, slot, arms)
                    if rough:
                        found = level(t, pulls, effective, arms, numbers)
                        above = upper(mean, pulls, found, numbers)
                        least = max(least, lower(mean, pulls, found, numbers))
                        if above > first:
                            second = first
                            first, winner = above, slot * lanes + lane
                        else:
                            second = max(second, above)
                    later = upper(
                        mean, pulls, level(t if falls else t + length, pulls, effective, arms, numbers), numbers
                    )
                    if later > highest:
                        next_highest = highest
                        highest, top = later, slot * lanes + lane
                    else:
                        next_highest = max(next_highest, later)
        if rough:
            least = group.largest(least)
            sure = group.count(first >= least) + group.count(second >= least) == 1
            winner = group.of_lane(winner, max(0, group.first(first >= least)))
        if group.any_in_warp(picks and not sure):
            decided = scan_exactly(own, lane, arms, t, numbers)
            if not sure:
                winner = decided
        return winner, next_highest if top == winner else highest, Renewal(0, NEVER if falls else t + length, 0)

    return scan


def _make_set_bound(indices: Indices, rough: bool) -> Any:
    _, _, known, level, upper, _, _ = indices

    @device
    def set_bound(own: Arms, slot: int, t: int, arms: int, numbers: Numbers) -> None:
        mean, pulls, effective = known(own, slot, arms)
        value = upper(mean, pulls, level(t, pulls, effective, arms, numbers), numbers)
        own.bounds[slot] = np.float32(value if rough else value * (ROUND_UP if value > 0.0 else 1.0 / ROUND_UP))

    return set_bound


def _make_renew(group: Group, slots: int, span_shift: int, indices: Indices, falls: bool, rough: bool) -> Any:
    lanes, set_bound = group.lanes, _make_set_bound(indices, rough)

    @device
    def renew(
        own: Arms, lane: int, arms: int, t: int, last: int, renewal: Renewal, picks: bool, numbers: Numbers
    ) -> Renewal:
        """Make the bound of the arm that was pulled last, and in other lanes the next one that is due."""
        place, until, target = renewal
        slot = last // lanes if lane == last % lanes else place
        while True:
            if slot < slots:
                if slot * lanes + lane < arms:
                    set_bound(own, slot, t if falls else target, arms, numbers)
                if slot == place:
                    place += 1
            slot = place
            if not group.any_in_warp(picks and t > until and place < slots):
                break
        if group.count(place < slots) == 0:
            span = max(t >> span_shift, 2 * slots)
            until, place, target = target, 0, NEVER if falls else max(t + span, target + 1)
        return Renewal(place, until, target)

    return renew


def _make_look(group: Group, slots: int, span_shift: int, indices: Indices, falls: bool, rough: bool) -> Any:
    """Return a choice that looks at each lane's highest bound, then at all that reach the best of these."""
    lanes = group.lanes
    renew = _make_renew(group, slots, span_shift, indices, falls, rough)
    find_highest = _make_find_highest(slots)
    estimate, decide = _make_estimate(group, slots, indices), _make_decide(group, slots, indices)

    @device
    def look(
        own: Arms, lane: int, arms: int, t: int, length: int, last: int, renewal: Renewal, seed: int, picks: bool,
        numbers: Numbers,
    ) -> tuple[int, float, Renewal]:  # fmt: skip
        renewal = renew(own, lane, arms, t, last, renewal, picks, numbers)
        high = find_highest(own)
        winner, sure, least = high.slot * lanes + lane, False, -math.inf
        if rough:
            winner, sure, least = estimate(own, lane, arms, t, high, picks, numbers)
        if group.any_in_warp(picks and not sure):
            decided = decide(own, lane, arms, t, high.slot, least, picks and not sure, numbers)
            if not sure:
                winner = decided
        return winner, high.second_bound if high.slot * lanes + lane == winner else high.bound, renewal

    return look


def _make_find_highest(slots: int) -> Any:
    @device
    def find_highest(own: Arms) -> Highest:
        slot, bound, second, second_bound, third_bound = np.int32(0), own.bounds[0], np.int32(0), LOW, LOW
        for other in range(1, slots):
            here = own.bounds[other]
            third_bound = max(third_bound, min(second_bound, here))
            if here > second_bound:
                second, second_bound = np.int32(other), here
            if here > bound:
                second, second_bound = slot, bound
                slot, bound = np.int32(other), here
        return Highest(slot, bound, second, second_bound, third_bound)

    return find_highest


def _make_estimate(group: Group, slots: int, indices: Indices) -> Any:
    _, _, known, level, upper, lower, _ = indices
    lanes = group.lanes

    @device
    def estimate(
        own: Arms, lane: int, arms: int, t: int, high: Highest, picks: bool, numbers: Numbers
    ) -> tuple[int, bool, float]:
        """Return the arm that wins by its estimates, whether that is sure, and what the largest index is not below."""
        first, second, lowest = LOW, LOW, LOW
        slot, following, best, waiting = high.slot, np.int32(-1), high.slot, high.second_bound
        while True:
            if slot < slots and slot * lanes + lane < arms:
                mean, pulls, effective = known(own, slot, arms)
                found = level(t, pulls, effective, arms, numbers)
                above = upper(mean, pulls, found, numbers)
                lowest = max(lowest, lower(mean, pulls, found, numbers))
                if above > first:
                    second = first
                    first, best = above, slot
                else:
                    second = max(second, above)
            least = group.largest(lowest)
            if not group.any_in_warp(picks and waiting >= least):
                break
            if following < 0:  # most lanes have no more than two that may win: no need to look for others
                slot, waiting, following = high.second, high.third_bound, np.int32(0)
            else:
                while following < slots and (
                    following == high.slot or following == high.second or own.bounds[following] < least
                ):
                    following += np.int32(1)
                slot, waiting = following, LOW if following >= slots else -LOW
                following += np.int32(1)
        sure = group.count(first >= least) + group.count(second >= least) == 1
        winner = group.of_lane(np.int32(best * lanes + lane), max(0, group.first(first >= least)))
        return winner, sure, least

    return estimate


def _make_decide(group: Group, slots: int, indices: Indices) -> Any:
    lanes, index = group.lanes, indices.index

    @device
    def decide(own: Arms, lane: int, arms: int, t: int, top: int, least: float, picks: bool, numbers: Numbers) -> int:
        """Return the lowest arm with the largest index, of those whose bound reaches what that is not below."""
        slot, following, best, winner = top, 0, -math.inf, top * lanes + lane
        least = float(least)
        while True:
            if slot < slots and slot * lanes + lane < arms:
                value = index(own, slot, t, arms, numbers)
                if value > best or (value == best and slot * lanes + lane < winner):
                    best, winner = value, slot * lanes + lane
            least = max(least, group.largest(best))
            while following < slots and (following == top or own.bounds[following] < least):
                following += 1
            slot = following
            following += 1
            if not group.any_in_warp(picks and slot < slots):
                break
        return int(group.first_of_largest(best, winner))

    return decide
