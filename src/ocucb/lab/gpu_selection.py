"""Choosing on a GPU: the lanes of a group share the arms of a run, and choose one together.

Arm i stands in slot i // lanes of lane i % lanes. For a choice each lane looks at all its arms; or, where bounds are
kept, only at those whose bound reaches the best. A bound is an arm's index some rounds later, a small part of t, until
which it holds; bounds are made anew slot by slot, in a circle, so that the oldest is next.

Effective arms are sums of powers T^ρ, each rounded to a multiple of a power of 2, so that no sum of them is rounded:
they can be corrected, in any order, and arms in equal states have the same.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ocucb.compiled import Floats, Integers
from ocucb.compiled.cuda import Group, device
from ocucb.lab.gpu_rule import DIVERGENCE, POSTERIOR, UPPER, index_of, score_of
from ocucb.noise.noise import Family
from ocucb.policies.policy import Rule, Trend
from ocucb.selection.index import LEVEL_MARGIN, index_margin
from ocucb.selection.leader import DEPTH, may_lead
from ocucb.selection.order import power
from ocucb.uniforms import stream, uniform

NEVER = 2**31 - 1
ROUND_UP = 1.0 + 2.0**-22  # a positive bound times this is no less in single precision


class Arms(NamedTuple):
    """What a lane knows of its arms, by slot. What every choice reads is small, so that it stays in the cache."""

    pulls: Integers  # of 32 bits
    bounds: Floats  # of single precision; of no use if none are kept, as is `expiries`
    sums: Floats  # Σ_j min(T, T_j)^ρ
    powers: Floats  # T^ρ
    means: Floats
    totals: Floats  # of rewards
    expiries: Integers  # until when bounds hold, of 32 bits


class Selection(NamedTuple):
    """Functions that all lanes of a group call together."""

    choose: Any  # the lowest arm with the largest index or score in a round, and what no other exceeds in some more
    lead_floor: Any  # a mean above which an arm wins these, too
    add_pulls: Any  # give an arm more pulls


class Indices(NamedTuple):
    """Functions that one lane calls for an arm of its own."""

    effective: Any  # its effective arms
    index: Any  # its index in a round
    upper_bound: Any  # what the index of a round does not exceed, if it is computed in another


def make_selection(rule: Rule, family: Family, group: Group, slots: int, span_shift: int) -> Selection:
    """Return the functions for one rule and family; a bound holds t >> span_shift rounds; 0: no bounds are kept."""
    if rule.score is not None:
        choose = _make_scores(rule, family, group, slots)
    elif span_shift:
        choose = _make_look(rule, group, slots, span_shift, _make_indices(rule, family))
    else:
        choose = _make_scan(rule, group, slots, _make_indices(rule, family))
    lead_floor = _make_lead_floor(rule, family, group)
    return Selection(choose, lead_floor, _make_add_pulls(rule, group, slots, span_shift > 0))


def _make_indices(rule: Rule, family: Family) -> Indices:
    level, bound = index_of(rule, family)
    ordered = bool(rule.rho)

    @device
    def effective(own: Arms, slot: int, arms: int) -> float:
        return own.sums[slot] / own.powers[slot] if ordered else float(arms)

    @device
    def index(own: Arms, slot: int, t: float, known_arms: float, arms: int, mine: Floats, constants: Floats) -> float:
        pulls = float(own.pulls[slot])
        known = level(t, pulls, known_arms, float(arms), mine)
        return float(bound(own.means[slot], pulls, known, constants))

    @device
    def upper_bound(
        own: Arms, slot: int, t: float, known_arms: float, arms: int, mine: Floats, constants: Floats
    ) -> float:
        pulls, mean = float(own.pulls[slot]), own.means[slot]
        known = level(t, pulls, known_arms, float(arms), mine)
        known += math.copysign(LEVEL_MARGIN * (1.0 + abs(known)), known)
        value = float(bound(mean, pulls, known, constants))
        return value + index_margin(value, mean)

    return Indices(effective, index, upper_bound)


def _make_scan(rule: Rule, group: Group, slots: int, indices: Indices) -> Any:
    effective, index, upper_bound = indices
    lanes, falls, leads = group.lanes, rule.trend is Trend.FALLS, may_lead(rule)

    @device
    def scan(
        own: Arms, lane: int, arms: int, t: int, length: int, oldest: int, seed: int, mine: Floats, constants: Floats
    ) -> tuple[int, float, int]:
        """Look at all arms."""
        when = float(t) if falls else float(t + length)
        best, winner = -math.inf, lane
        first, second, top = -math.inf, -math.inf, lane
        for slot in range(slots):
            arm = slot * lanes + lane
            if lanes == 1 or arm < arms:  # one lane has as many slots as there are arms
                known_arms = effective(own, slot, arms)
                value = index(own, slot, float(t), known_arms, arms, mine, constants)
                if value > best:
                    best, winner = value, arm
                if leads:
                    above = upper_bound(own, slot, when, known_arms, arms, mine, constants)
                    if above > first:
                        second = first
                        first, top = above, arm
                    elif above > second:
                        second = above
        winner = group.first_of_largest(best, winner)
        return winner, group.largest(second if top == winner else first), oldest

    return scan


def _make_renew(rule: Rule, group: Group, slots: int, span_shift: int, indices: Indices) -> tuple[Any, Any]:
    effective, _, upper_bound = indices
    lanes, falls = group.lanes, rule.trend is Trend.FALLS

    @device
    def set_bound(
        own: Arms, slot: int, t: float, known_arms: float, arms: int, mine: Floats, constants: Floats
    ) -> None:
        value = upper_bound(own, slot, t, known_arms, arms, mine, constants)
        own.bounds[slot] = np.float32(value * (ROUND_UP if value > 0.0 else 1.0 / ROUND_UP))

    @device
    def renew(own: Arms, lane: int, arms: int, t: int, oldest: int, mine: Floats, constants: Floats) -> int:
        """Make the oldest bounds anew, so that all hold a while; return the slot that is the oldest then."""
        span = t >> span_shift
        while own.expiries[oldest] < t + (span >> 1):
            until = NEVER if falls else t + span
            own.expiries[oldest] = np.int32(until)
            if oldest * lanes + lane < arms:
                known_arms = effective(own, oldest, arms)
                set_bound(own, oldest, float(t if falls else until), known_arms, arms, mine, constants)
            oldest = oldest + 1 if oldest + 1 < slots else 0
        return oldest

    return set_bound, renew


def _make_look(rule: Rule, group: Group, slots: int, span_shift: int, indices: Indices) -> Any:
    effective, index, _ = indices
    set_bound, renew = _make_renew(rule, group, slots, span_shift, indices)
    lanes, falls = group.lanes, rule.trend is Trend.FALLS

    @device
    def look(
        own: Arms, lane: int, arms: int, t: int, length: int, oldest: int, seed: int, mine: Floats, constants: Floats
    ) -> tuple[int, float, int]:
        """Look at each lane's highest bound, then at all that reach the best index of these."""
        oldest = renew(own, lane, arms, t, oldest, mine, constants)
        slot, highest = 0, own.bounds[0]
        for other in range(1, slots):
            if own.bounds[other] > highest:
                slot, highest = other, own.bounds[other]
        top, best, winner, least, following = slot, -math.inf, slot * lanes + lane, math.inf, 0
        while slot < slots:  # one place for all indices: compiled twice, equal states need not give equal bits
            arm = slot * lanes + lane
            if arm < arms:
                known_arms = effective(own, slot, arms)
                value = index(own, slot, float(t), known_arms, arms, mine, constants)
                if value > best or (value == best and arm < winner):
                    best, winner = value, arm
                if own.bounds[slot] == math.inf:  # it was pulled
                    when = float(t if falls else own.expiries[slot])
                    set_bound(own, slot, when, known_arms, arms, mine, constants)
            if least == math.inf:
                least = group.largest(best)
            while following < slots and (following == top or own.bounds[following] < least):
                following += 1
            slot = following
            following += 1
        winner = group.first_of_largest(best, winner)
        rival = -math.inf
        for other in range(slots):
            if other * lanes + lane != winner:
                rival = max(rival, float(own.bounds[other]))
        return winner, group.largest(rival), oldest

    return look


def _make_lead_floor(rule: Rule, family: Family, group: Group) -> Any:
    level, bound = index_of(rule, family)
    effective = _make_indices(rule, family).effective
    lanes, falls = group.lanes, rule.trend is Trend.FALLS

    @device
    def lead_floor(
        own: Arms, arm: int, arms: int, t: int, length: int, rival: float, mine: Floats, constants: Floats
    ) -> float:
        """Return a mean above which the winner of round t wins so many more; inf if none is safe."""
        slot, owner = arm // lanes, arm % lanes
        mean = group.of_lane(own.means[slot], owner)
        after = group.of_lane(float(own.pulls[slot]), owner) + length + 1.0
        known_arms = group.of_lane(effective(own, slot, arms), owner)
        known = level(float(t + length) if falls else float(t), after, known_arms, float(arms), mine)
        known = max(0.0, known * (1.0 - LEVEL_MARGIN) - LEVEL_MARGIN)
        value = bound(mean, after, known, constants)
        value -= index_margin(value, mean)
        floor = mean - DEPTH * (value - rival)
        there = bound(floor, after, known, constants)
        return floor if value > rival and there - index_margin(there, floor) > rival else math.inf

    return lead_floor


def _make_add_pulls(rule: Rule, group: Group, slots: int, keeps_bounds: bool) -> Any:
    lanes, ordered, rho = group.lanes, bool(rule.rho), float(rule.rho or 0.0)

    @device
    def add_pulls(own: Arms, lane: int, arm: int, before: int, after: int, total: float, unit: float) -> None:
        """Give an arm more pulls and its new sum of rewards, and make the effective arms right that this changes."""
        slot, owner = arm // lanes, arm % lanes
        old, new, rises = 0.0, 0.0, 0.0
        if ordered:
            old = group.of_lane(own.powers[slot], owner)
            new = math.floor(power(float(after), rho) / unit + 0.5) * unit
            for other in range(slots):
                if own.pulls[other] > before and other * lanes + lane != arm:
                    rise = (new if own.pulls[other] >= after else own.powers[other]) - old
                    own.sums[other] += rise
                    rises += rise
            rises = group.sum(rises)
        if lane == owner:
            own.pulls[slot] = np.int32(after)
            own.totals[slot] = total
            own.means[slot] = total / after
            if ordered:
                own.powers[slot] = new
                own.sums[slot] += rises + (new - old)
            if keeps_bounds:
                own.bounds[slot] = np.float32(math.inf)

    return add_pulls


def _make_scores(rule: Rule, family: Family, group: Group, slots: int) -> Any:
    score, lanes = score_of(rule, family), group.lanes

    @device
    def choose(
        own: Arms, lane: int, arms: int, t: int, length: int, oldest: int, seed: int, mine: Floats, constants: Floats
    ) -> tuple[int, float, int]:
        """Look at the scores of all arms."""
        leader, largest = lane, -math.inf
        for slot in range(slots):
            arm = slot * lanes + lane
            if arm < arms and own.means[slot] > largest:
                leader, largest = arm, own.means[slot]
        leader = group.first_of_largest(largest, leader)
        largest = group.of_lane(own.means[leader // lanes], leader % lanes)
        most = group.of_lane(float(own.pulls[leader // lanes]), leader % lanes)
        luck = np.uint64(stream(np.uint64(seed), t))
        best, winner = -math.inf, lane
        for slot in range(slots):
            arm = slot * lanes + lane
            if arm < arms:
                value = score(
                    float(t), float(arms), float(own.pulls[slot]), own.means[slot], arm == leader, largest, most,
                    uniform(luck, 0), uniform(luck, arm + 1), mine, DIVERGENCE, UPPER, POSTERIOR, constants,
                )  # fmt: skip
                if value > best:
                    best, winner = value, arm
        return group.first_of_largest(best, winner), math.inf, oldest

    return choose
