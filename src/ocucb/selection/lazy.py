"""The lazy selector: the choice of the scan, looking only at arms that could win.

Between two pulls of an arm its level moves one way with t, and its effective arms can only grow. So its index at a
later round, with today's effective arms, bounds it until then. Two arms at most have no bound, and their indices are
computed anew each round: the *leader*, and the *hot* arm, which won the last round against it. While the leader beats
every bound it wins at once. Otherwise every arm whose bound reaches the best index is looked at, but of arms in the
same state only the first (ties.py). A hot arm that wins again becomes the leader.

A bound that rises with t expires. Arms whose bounds expire in the same round share a *bucket*: bucket (span, parity)
expires at a multiple of 2^span, one to two times 2^span rounds after its bounds were made. An arm gets the longest span
in which its bound climbs at most a share of its distance to the best: a large share if time wore out the last bound
(the best stands still), a small one if the best came down to it. No span is shorter than about sqrt(t)/2 rounds, or if
that is less a hundred or sqrt(K): arms that close are looked at anyway. The shares decide how many arms are looked at,
never the choice.
"""

from __future__ import annotations

import math
import sys

from ocucb.compiled import bit_length, kernel
from ocucb.policies.policy import Trend
from ocucb.selection.crown import first_arm, highest, holder, next_arm, rebuild_crown, set_bound
from ocucb.selection.index import INDEX_ROOM, ceiling, exact
from ocucb.selection.order import rebuild_order
from ocucb.selection.scan import fewest
from ocucb.selection.state import BUCKETS, NEVER, RECENT, State, arms_at, bounds_at, buckets_at, due_at, recent_at
from ocucb.selection.ties import alone, join, line_of, part

FALLS = int(Trend.FALLS)
NEITHER = int(Trend.NEITHER)
LOWEST = -sys.float_info.max  # a bound of -inf is no arm's, or an arm's that cannot win
LONGEST = BUCKETS // 2 - 1
PATIENT = 0.6
WARY = 0.2


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
    state.hot = -1
    state.when = 0.0
    state.check = NEVER
    if state.trend == NEITHER:
        return
    for bucket in range(BUCKETS):
        buckets[bucket] = -1
    recent = recent_at(state.recent)
    for place in range(RECENT):
        recent[place] = -1
    best = -math.inf
    for arm in range(state.slots):
        this = arms[arm]
        this.bucket = -1
        alone(state, arm)
        bounds[arm] = exact(state, arm, float(t)) if this.active else -math.inf
        best = max(best, bounds[arm])
    for arm in range(state.slots):
        if bounds[arm] > -math.inf:
            bounds[arm] = _bound(state, arm, t, bounds[arm], best, PATIENT)
    rebuild_crown(state)


@kernel
def touch(state: State, arm: int) -> None:
    """Note that an arm's index changed in a way no bound foresaw: it must be looked at next."""
    arms = arms_at(state.arms)
    if state.stale or state.trend == NEITHER:
        return
    step_out(state, arm)
    if state.leader != arm and state.hot != arm:
        _leave(state, arm)
        set_bound(state, arm, math.inf if arms[arm].learned > 0 else -math.inf)


@kernel
def step_out(state: State, arm: int) -> None:
    """Take an arm whose state changes out of its line; the next one there must be looked at."""
    first = part(state, arm)
    if first >= 0:
        set_bound(state, first, math.inf)


@kernel
def select(state: State, t: int) -> int:
    """Return the lowest arm with the largest index in round t."""
    leader, hot = state.leader, state.hot
    led = exact(state, leader, float(t)) if leader >= 0 else -math.inf
    if hot < 0 and led > highest(state) and t < state.check:
        return int(leader)
    value = exact(state, hot, float(t)) if hot >= 0 else -math.inf
    best, winner = led, leader
    if value > best or (value == best and hot < winner):
        best, winner = value, hot
    if t >= state.check:
        _refresh(state, t, best)
    if highest(state) >= max(best, LOWEST):
        best, winner = _contest(state, t, best, winner)
    if best == -math.inf:  # no arm has a reward
        return fewest(state)
    if hot >= 0 and winner != hot:
        _place(state, hot, t, value, best)
    state.hot = -1
    if winner == leader:
        return int(leader)
    if winner != hot:
        _leave(state, winner)
        set_bound(state, winner, -math.inf)
        state.hot = winner
        return int(winner)
    if leader >= 0:
        _place(state, leader, t, led, best)
    state.leader = hot
    return int(hot)


@kernel
def _contest(state: State, t: int, best: float, winner: int) -> tuple[float, int]:
    """Look at every arm whose bound reaches the best; return the best index and its lowest arm."""
    likely = holder(state)  # look at it first: the larger the best, the fewer others need a look
    first = exact(state, likely, float(t))
    if first > best or (first == best and likely < winner):
        best, winner = first, likely
    arm = first_arm(state, max(best, LOWEST))
    while arm >= 0:
        line = line_of(state, arm) if arm != winner else -1
        if line >= 0:  # its first arm is lower and has the same index
            after = next_arm(state, arm, max(best, LOWEST))
            join(state, arm, line)
            _leave(state, arm)
            set_bound(state, arm, -math.inf)
            arm = after
            continue
        value = first if arm == likely else exact(state, arm, float(t))
        after = next_arm(state, arm, max(best, value, LOWEST))
        if value > best or (value == best and arm < winner):
            best, winner = value, arm
        elif arm != winner:
            _tighten(state, arm, t, value, best)
        arm = after
    return best, winner


@kernel
def _tighten(state: State, arm: int, t: int, value: float, best: float) -> None:
    """Renew a bound that reached the best in vain, if it could be lower."""
    arms = arms_at(state.arms)
    bucket = arms[arm].bucket
    if state.trend == FALLS or bucket < 0 or bucket >> 1 > _shortest(state, t):
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
        set_bound(state, expired, _bound(state, expired, t, exact(state, expired, float(t)), best, PATIENT))
        expired = after
    state.check = NEVER
    for bucket in range(BUCKETS):
        if buckets[bucket] >= 0:
            state.check = min(state.check, due[bucket])


@kernel
def _place(state: State, arm: int, t: int, value: float, best: float) -> None:
    _leave(state, arm)
    set_bound(state, arm, _bound(state, arm, t, value, best, WARY))


@kernel
def _bound(state: State, arm: int, t: int, value: float, best: float, share: float) -> float:
    """Return a bound on the index of an arm that is in no bucket, after it joined the bucket where that expires."""
    arms = arms_at(state.arms)
    if value == -math.inf:
        return value
    this = arms[arm]
    if state.trend == FALLS:
        room = INDEX_ROOM * (abs(value) + abs(this.mean))
        # Near the mean an index is steep in its level, and only `ceiling` leaves room enough there.
        return value + room if value - this.mean > 1e5 * room else ceiling(state, arm, float(t))
    aim = value + share * (best - value)
    shortest = _shortest(state, t)
    span = max(shortest, this.span) if aim > value else shortest
    bound = ceiling(state, arm, float(_due(t, span)))
    longer = _longer(span, (aim - value) / (bound - value))
    if longer > span:
        further = ceiling(state, arm, float(_due(t, longer)))
        if further <= aim:
            span, bound = longer, further
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
def _longer(span: int, ratio: float) -> int:
    """Return the span in which an index climbs `ratio` times as far: it climbs about as fast as time passes."""
    while ratio > 2.5 and span < LONGEST:
        ratio *= 0.5
        span += 1
    return span


@kernel
def _shortest(state: State, t: int) -> int:
    most = max(6, bit_length(state.active) // 2 + 1)
    return int(min(most, max(0, bit_length(t) // 2 - 1)))


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
