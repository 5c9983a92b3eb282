"""The lazy selector: the choice of the scan, looking only at arms that could win.

Between two pulls of an arm its level moves one way with t, and its effective arms can only grow. So its index at a
later round, with today's effective arms, bounds it until then. The arm chosen last (the *leader*) has no bound: its
index is computed anew each round, and while it beats every bound it wins at once. Otherwise every arm whose bound
reaches the best index is looked at.

A bound that rises with t expires. Arms whose bounds expire in the same round share a *bucket*: bucket (c, parity) expires
at a multiple of 2^c, one to two times 2^c rounds after its bounds were made. An arm gets the largest c for which its bound
climbs at most half its distance to the best, but no less than about sqrt(t)/16: arms so close are looked at anyway.
"""

from __future__ import annotations

import math

from ocucb.compiled import kernel
from ocucb.policies.policy import Trend
from ocucb.selection.crown import highest, holder, next_arm, rebuild_crown, set_bound
from ocucb.selection.index import ceiling, exact
from ocucb.selection.order import rebuild_order
from ocucb.selection.scan import fewest
from ocucb.selection.state import BUCKETS, NEVER, State, arms_at, bounds_at, buckets_at, due_at

FALLS = int(Trend.FALLS)
NEITHER = int(Trend.NEITHER)
LONGEST = BUCKETS // 2 - 1
SHARE = 0.5


@kernel
def rebuild(state: State, t: int) -> None:
    """Make order and bounds from nothing, after a change that could raise an index."""
    arms = arms_at(state.arms)
    bounds = bounds_at(state.bounds)
    buckets = buckets_at(state.buckets)
    if state.ordered:
        rebuild_order(state)
    state.stale = 0
    state.leader = -1
    state.check = NEVER
    if state.trend == NEITHER:
        return
    for bucket in range(BUCKETS):
        buckets[bucket] = -1
    best = -math.inf
    for arm in range(state.slots):
        this = arms[arm]
        this.bucket = -1
        bounds[arm] = exact(state, arm, float(t)) if this.active else -math.inf
        best = max(best, bounds[arm])
    for arm in range(state.slots):
        if bounds[arm] > -math.inf:
            bounds[arm] = _bound(state, arm, t, bounds[arm], best)
    rebuild_crown(state)


@kernel
def touch(state: State, arm: int) -> None:
    """Note that an arm's index changed in a way no bound foresaw: it must be looked at next."""
    arms = arms_at(state.arms)
    if state.stale == 0 and state.trend != NEITHER and state.leader != arm:
        _leave(state, arm)
        set_bound(state, arm, math.inf if arms[arm].learned > 0 else -math.inf)


@kernel
def select(state: State, t: int) -> int:
    """Return the lowest arm with the largest index in round t."""
    leader = state.leader
    best = exact(state, leader, float(t)) if leader >= 0 else -math.inf
    if t >= state.check:
        _refresh(state, t, best)
    if best > highest(state):
        return int(leader)
    winner = leader
    first = -1
    if highest(state) > -math.inf:
        first = holder(state)  # likely the winner: the better the best, the fewer arms reach it
        value = exact(state, first, float(t))
        if value > best or (value == best and first < winner):
            best, winner = value, first
    arm = next_arm(state, -1, best)
    while arm >= 0:
        if arm != first:
            value = exact(state, arm, float(t))
            if value > best or (value == best and arm < winner):
                best, winner = value, arm
            else:
                _tighten(state, arm, t, value, best)
        arm = next_arm(state, arm, best)
    if winner < 0:
        return fewest(state)
    if first >= 0 and first != winner:
        _tighten(state, first, t, exact(state, first, float(t)), best)
    _follow(state, t, leader, winner, best)
    return int(winner)


@kernel
def _follow(state: State, t: int, leader: int, winner: int, best: float) -> None:
    """Make the winner the leader."""
    if winner == leader:
        return
    _leave(state, winner)
    set_bound(state, winner, -math.inf)
    state.leader = winner
    if leader >= 0:
        _place(state, leader, t, exact(state, leader, float(t)), best)


@kernel
def _tighten(state: State, arm: int, t: int, value: float, best: float) -> None:
    """Renew a bound that reached the best in vain, if it could be lower."""
    arms = arms_at(state.arms)
    bucket = arms[arm].bucket
    if state.trend == FALLS or bucket < 0 or bucket >> 1 > _shortest(t):
        _place(state, arm, t, value, best)


@kernel
def _refresh(state: State, t: int, best: float) -> None:
    """Renew the bounds that expire in this round."""
    arms = arms_at(state.arms)
    buckets = buckets_at(state.buckets)
    due = due_at(state.due)
    expired = -1
    for bucket in range(BUCKETS):
        if due[bucket] <= t:
            arm = buckets[bucket]
            buckets[bucket] = -1
            while arm >= 0:  # all of them leave before the first joins another bucket
                this = arms[arm]
                after = this.after
                this.bucket = -1
                this.after = expired
                expired = arm
                arm = after
    while expired >= 0:
        after = arms[expired].after
        set_bound(state, expired, _bound(state, expired, t, exact(state, expired, float(t)), best))
        expired = after
    state.check = NEVER
    for bucket in range(BUCKETS):
        if buckets[bucket] >= 0:
            state.check = min(state.check, due[bucket])


@kernel
def _place(state: State, arm: int, t: int, value: float, best: float) -> None:
    _leave(state, arm)
    set_bound(state, arm, _bound(state, arm, t, value, best))


@kernel
def _bound(state: State, arm: int, t: int, value: float, best: float) -> float:
    """Return a bound on the index of an arm that is in no bucket, after it joined the bucket where that expires."""
    arms = arms_at(state.arms)
    if value == -math.inf:
        return value
    if state.trend == FALLS:
        return ceiling(state, arm, float(t))
    this = arms[arm]
    aim = value + SHARE * (best - value)
    shortest = _shortest(t)
    span = max(shortest, this.span) if aim > value else shortest
    bound = ceiling(state, arm, float(_due(t, span)))
    if span < LONGEST and aim - value > 2.5 * (bound - value):  # an index climbs about as fast as time passes
        longer = ceiling(state, arm, float(_due(t, span + 1)))
        if longer <= aim:
            span, bound = span + 1, longer
    while bound > aim and span > shortest:
        excess = (bound - value) / (aim - value)
        while excess > 1.0 and span > shortest:
            excess *= 0.5
            span -= 1
        bound = ceiling(state, arm, float(_due(t, span)))
    this.span = span
    _join(state, arm, t, span)
    return bound


@kernel
def _shortest(t: int) -> int:
    return max(0, math.frexp(float(t))[1] // 2 - 1)


@kernel
def _due(t: int, span: int) -> int:
    return ((t >> span) + 2) << span


@kernel
def _join(state: State, arm: int, t: int, span: int) -> None:
    arms = arms_at(state.arms)
    buckets = buckets_at(state.buckets)
    due = due_at(state.due)
    end = _due(t, span)
    bucket = 2 * span + ((end >> span) & 1)
    this = arms[arm]
    first = buckets[bucket]
    this.bucket = bucket
    this.before = -1
    this.after = first
    if first >= 0:
        arms[first].before = arm
    buckets[bucket] = arm
    due[bucket] = end
    state.check = min(state.check, end)


@kernel
def _leave(state: State, arm: int) -> None:
    arms = arms_at(state.arms)
    buckets = buckets_at(state.buckets)
    this = arms[arm]
    if this.bucket < 0:
        return
    if this.before >= 0:
        arms[this.before].after = this.after
    else:
        buckets[this.bucket] = this.after
    if this.after >= 0:
        arms[this.after].before = this.before
    this.bucket = -1
