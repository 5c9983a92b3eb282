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
from ocucb.lab.gpu_arms import (
    HIGHEST,
    LOWEST,
    ArmAccess,
    LaneArms,
    bound_in_order,
    bound_of,
    in_order,
    last_bits,
    single,
    word,
)
from ocucb.lab.gpu_index import Indices, Numbers, make_add_pulls, make_exact_sum, make_indices, make_lead_floor
from ocucb.lab.gpu_moments import Moments
from ocucb.lab.gpu_scores import make_scores
from ocucb.noise.noise import Family
from ocucb.policies.policy import Rule, Trend
from ocucb.selection.leader import may_lead

NEVER = 2**31 - 1
LEAST_SPAN = 2  # rounds for each slot that a bound holds at least
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
    """The highest bounds of a lane, as numbers in order whose last bits are their slots."""

    first: Any
    second: Any
    third: Any


def make_selection(
    rule: Rule, family: Family, group: Group, slots: int, span_shift: int, rough: bool, memory: ArmAccess,
    moments: Moments,
) -> Selection:  # fmt: skip
    """Return the functions for one rule and family.

    span_shift : bounds are kept for t >> span_shift rounds; 0: none are kept.
    rough : estimates are made in single precision.
    """
    whole, falls = rough and span_shift > 0, rule.trend is Trend.FALLS
    indices = make_indices(rule, family, memory, moments, rough, whole)
    if rule.score is not None:
        choose = make_scores(rule, family, group, slots, indices, moments, rough)
    elif span_shift:
        exact_sum = make_exact_sum(rule, group, memory, indices, whole)
        choose = _make_look(group, slots, span_shift, memory, indices, exact_sum, falls, rough)
    else:
        leads = may_lead(rule) and not moments.kept
        choose = _make_scan(rule, group, slots, memory, indices, falls, rough, leads)
    lead_floor = make_lead_floor(indices, group, falls, rough)
    return Selection(choose, lead_floor, make_add_pulls(rule, group, slots, memory, indices, rough, whole))


def _make_scan(
    rule: Rule, group: Group, slots: int, memory: ArmAccess, indices: Indices, falls: bool, rough: bool, leads: bool
) -> Any:
    """Return a choice that looks at all arms of each lane."""
    ordered = bool(rule.rho)
    index, known, level, upper, lower = indices[1:6]
    lanes = group.lanes

    @device
    def scan_exactly(own: LaneArms, lane: int, arms: int, t: int, numbers: Numbers) -> int:
        best, winner = -math.inf, lane
        for arm in range(lane, arms, lanes):  # as many as the compiler cannot foresee: it is not worth much code
            total = float(memory.sum(own, arm // lanes)) if ordered else 0.0
            value = index(own, arm // lanes, t, arms, total, numbers)
            if value > best:
                best, winner = value, arm
        return int(group.first_of_largest(best, winner))

    @device
    def scan(
        own: LaneArms, lane: int, arms: int, t: int, length: int, last: int, renewal: Renewal, seed: int, picks: bool,
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
            winner = group.of_lane(winner, max(word(0), group.first(first >= least)))
        if group.any_in_warp(picks and not sure):
            decided = scan_exactly(own, lane, arms, t, numbers)
            if not sure:
                winner = decided
        until = word(NEVER if falls else t + length)
        return winner, next_highest if top == winner else highest, Renewal(renewal.place, until, renewal.target)

    return scan


def _make_set_bound(slots: int, memory: ArmAccess, indices: Indices, rough: bool) -> Any:
    known, level, upper = indices.known, indices.level, indices.upper

    @device
    def set_bound(own: LaneArms, slot: int, t: int, arms: int, numbers: Numbers) -> None:
        mean, pulls, effective = known(own, slot, arms)
        value = upper(mean, pulls, level(t, pulls, effective, arms, numbers), numbers)
        rounded = single(value if rough else value * (ROUND_UP if value > 0.0 else 1.0 / ROUND_UP))
        memory.set_bound(own, slot, word(bound_in_order(rounded, slot, slots)))

    return set_bound


def _make_renew(
    group: Group, slots: int, span_shift: int, memory: ArmAccess, indices: Indices, falls: bool, rough: bool
) -> Any:
    set_bound = _make_set_bound(slots, memory, indices, rough)

    @device
    def renew(
        own: LaneArms, lane: int, arms: int, t: int, last: int, renewal: Renewal, picks: bool, numbers: Numbers
    ) -> Renewal:
        """Make the bound of the arm that was pulled last, and in other lanes the next one that is due."""
        place, until, target = renewal
        slot = group.slot(last) if lane == group.owner(last) else place
        while True:
            if slot < slots:
                if group.arm(slot, lane) < arms:
                    set_bound(own, slot, t if falls else target, arms, numbers)
                if slot == place:
                    place = word(place + 1)
            slot = place
            if not group.any_in_warp(picks and t > until and place < slots):
                break
        if group.count(place < slots) == 0:
            span = max(word(t >> span_shift), word(LEAST_SPAN * slots))
            until, place, target = target, word(0), word(NEVER) if falls else max(word(t + span), word(target + 1))
        return Renewal(place, until, target)

    return renew


def _make_look(
    group: Group, slots: int, span_shift: int, memory: ArmAccess, indices: Indices, exact_sum: Any, falls: bool,
    rough: bool,
) -> Any:  # fmt: skip
    """Return a choice that looks at each lane's highest bound, then at all that reach the best of these."""
    slot_of = _make_slot_of(slots, memory)
    renew = _make_renew(group, slots, span_shift, memory, indices, falls, rough)
    find_highest = _make_find_highest(slots, memory)
    estimate = _make_estimate(group, slots, memory, indices)
    decide = _make_decide(group, slots, memory, indices, exact_sum, rough)

    @device
    def look(
        own: LaneArms, lane: int, arms: int, t: int, length: int, last: int, renewal: Renewal, seed: int, picks: bool,
        numbers: Numbers,
    ) -> tuple[int, float, Renewal]:  # fmt: skip
        renewal = renew(own, lane, arms, t, last, renewal, picks, numbers)
        high = find_highest(own)
        top = slot_of(own, high.first, word(-1))
        winner, sure, least = group.arm(top, lane), False, LOW
        if rough:
            winner, sure, least = estimate(own, lane, arms, t, high, top, picks, numbers)
        if group.any_in_warp(picks and not sure):
            decided = decide(own, lane, arms, t, top, least, picks and not sure, numbers)
            if not sure:
                winner = decided
        return winner, bound_of(high.second if group.arm(top, lane) == winner else high.first), renewal

    return look


def _make_slot_of(slots: int, memory: ArmAccess) -> Any:
    last = last_bits(slots)

    @device
    def slot_of(own: LaneArms, number: int, other: int) -> Any:
        """Return a slot whose bound is a number, but not the other one."""
        slot = word(number & last)
        if slots > last + 1:
            for place in range(slot, slots, last + 1):
                if memory.bound(own, place) == number and place != other:
                    slot = word(place)
        return slot

    return slot_of


def _make_find_highest(slots: int, memory: ArmAccess) -> Any:
    @device
    def find_highest(own: LaneArms) -> Highest:
        first, second, third = memory.bound(own, 0), LOWEST, LOWEST
        for slot in range(1, slots):
            here = memory.bound(own, slot)
            third = max(third, min(second, here))
            second = max(second, min(first, here))
            first = max(first, here)
        return Highest(first, second, third)

    return find_highest


def _make_estimate(group: Group, slots: int, memory: ArmAccess, indices: Indices) -> Any:
    known, level, upper, lower = indices[2:6]
    slot_of = _make_slot_of(slots, memory)

    @device
    def estimate(
        own: LaneArms, lane: int, arms: int, t: int, high: Highest, top: int, picks: bool, numbers: Numbers
    ) -> tuple[int, bool, float]:
        """Return the arm that wins by its estimates, whether that is sure, and what the largest index is not below."""
        first, second, lowest = LOW, LOW, LOW
        slot, following, best, waiting = top, word(-1), top, high.second
        next_slot = slot_of(own, high.second, top)
        while True:
            if slot < slots and group.arm(slot, lane) < arms:
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
            reached = word(in_order(least))
            if not group.any_in_warp(picks and waiting >= reached):
                break
            if following < 0:  # most lanes have no more than two that may win: no need to look for others
                slot, waiting, following = next_slot, high.third, word(0)
            else:
                while following < slots and (
                    following == top or following == next_slot or memory.bound(own, following) < reached
                ):
                    following = word(following + 1)
                slot, waiting = following, LOWEST if following >= slots else HIGHEST
                following = word(following + 1)
        sure = group.count(first >= least) + group.count(second >= least) == 1
        winner = group.of_lane(group.arm(best, lane), max(word(0), group.first(first >= least)))
        return winner, sure, least

    return estimate


def _make_decide(group: Group, slots: int, memory: ArmAccess, indices: Indices, exact_sum: Any, rough: bool) -> Any:
    index, known, level, upper = indices[1:5]

    @device
    def may_win(own: LaneArms, slot: int, t: int, arms: int, least: float, numbers: Numbers) -> bool:
        """Return whether an arm's estimate reaches what the largest index is not below: its bound is a looser one."""
        if not rough:
            return True
        mean, pulls, effective = known(own, slot, arms)
        return bool(upper(mean, pulls, level(t, pulls, effective, arms, numbers), numbers) >= least)

    @device
    def decide(
        own: LaneArms, lane: int, arms: int, t: int, top: int, least: float, picks: bool, numbers: Numbers
    ) -> int:
        """Return the lowest arm with the largest index, of those whose bound reaches what that is not below."""
        slot, following, best, winner = word(top), word(0), -math.inf, group.arm(top, lane)
        while True:
            looks = picks and slot < slots and group.arm(slot, lane) < arms
            if looks:
                looks = may_win(own, slot, t, arms, least, numbers)
            total = exact_sum(own, slot, lane, arms, looks, numbers)
            if looks:
                value = index(own, slot, t, arms, total, numbers)
                if value > best or (value == best and group.arm(slot, lane) < winner):
                    best, winner = value, group.arm(slot, lane)
            reached = max(in_order(least), in_order(single(group.largest(best))) - 1)  # no more than in double
            while following < slots and (following == top or memory.bound(own, following) < reached):
                following = word(following + 1)
            slot = following
            following = word(following + 1)
            if not group.any_in_warp(picks and slot < slots):
                break
        return int(group.first_of_largest(best, winner))

    return decide
