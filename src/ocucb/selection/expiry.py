"""Upper bounds that expire, and the clock by which they do.

The clock counts what can raise an index of an arm that is not pulled. If the level rises with t, each round is a tick.
If it falls with t, a forgotten pull is a tick, since it takes back a round. A retired arm lowers the effective arms of
any other by at most 1, and a forgotten pull of an arm with T pulls by at most 1 - ((T-1)/T)^ρ <= 1/T: for each
effective arm lost the clock moves by 16 t/K ticks. A bound is made for some ticks, and allows for all they can bring.

Arms whose bounds expire at the same tick share a *bucket*: bucket (span, parity) expires at a multiple of 2^span, one
to two times 2^span ticks after its bounds were made. An arm gets the longest span in which its bound climbs at most a
share of its distance to the best. How long that is, it tells from how its last bound climbed, so that one bound is
computed and not one for each span that is tried. An index that has come up to its bound when this expires need not be
computed, either. No span is shorter than about sqrt(t)/2 ticks, or 25 if that is less: arms that close are evaluated
anyway.

The best falls towards an arm while the arm climbs. A bound that the best reaches before it expires was made too high:
one that is made in its place gets a smaller share, by how fast the best falls lately. Shares and spans decide how many
arms are evaluated, never the choice.
"""

from __future__ import annotations

import math

from ocucb.compiled import bit_length, inlined, kernel, lowest_bit
from ocucb.policies.policy import Trend
from ocucb.selection.bound_tree import set_bound
from ocucb.selection.index import FALLS_WITH_ARMS, arm_index, index_margin, upper_bound
from ocucb.selection.order import effective_arms
from ocucb.selection.state import BUCKETS, NEVER, State, arms_at, bounds_at, buckets_at, due_at

RISES = int(Trend.RISES)
FALLS = int(Trend.FALLS)
LONGEST = BUCKETS // 2 - 1
SHORTEST = 4
SHARE = 0.4
SMALLEST_SHARE = 0.02
# A bound at c/(c + f) of the distance, if it climbs as c and the best falls as f, expires when both meet. The best does
# not fall evenly, and a bound that expires too early costs more than one that is reached too early.
SHARE_OF_MEETING = 3.0
FIRST_FALL = 32  # rounds, over which it is first measured how fast the best falls
TOLERANCE = 1.5  # times as far as its share a bound may climb before one for a shorter span is made
FURTHEST = 2.0  # times t: as far as a climb is foreseen
# With k near K a bound climbs by a sixteenth faster than with t alone, and losing K/16 arms is like doubling t.
TICKS_PER_SHARE = 16.0


@kernel
def clock(state: State, t: int) -> int:
    """Return what the clock says in round t."""
    return int(t + state.clock_shift) if state.trend == RISES else int(state.clock_shift)


@kernel
def start_clock(state: State, t: int) -> None:
    """Set the clock before all bounds are made."""
    state.clock_shift = 0
    state.fall = 0.0
    state.fall_round = 0
    state.fall_due = t
    state.next_expiry = NEVER
    state.ticks_per_arm = 0.0
    state.arms_per_tick = 0.0
    if state.changing and (state.reads_effective or state.with_arms == FALLS_WITH_ARMS):
        state.ticks_per_arm = 1.0
        _adapt_clock(state, t)
    buckets = buckets_at(state.buckets)
    state.used_buckets = 0
    for bucket in range(BUCKETS):
        buckets[bucket] = -1


@kernel
def _adapt_clock(state: State, t: int) -> None:
    """Let the clock move further for each arm lost, as t grows. Bounds made before were made for no less."""
    if state.ticks_per_arm > 0.0:
        state.ticks_per_arm = max(state.ticks_per_arm, TICKS_PER_SHARE * t / state.active)
        state.arms_per_tick = 1.0 / state.ticks_per_arm


@kernel
def move_clock(state: State, rounds: int, lost: float) -> None:
    """Move the clock after so many rounds were taken back and effective arms, or arms, fell by at most `lost`."""
    ticks = math.ceil(lost * state.ticks_per_arm)
    state.clock_shift += ticks + rounds if state.trend == RISES else max(ticks, rounds)
    if state.clock_shift > NEVER >> 2:
        state.stale = 1


@kernel
def refresh(state: State, t: int, best: float) -> None:
    """Renew the bounds that have expired."""
    arms = arms_at(state.arms)
    buckets = buckets_at(state.buckets)
    due = due_at(state.due)
    _adapt_clock(state, t)
    arm = _take_expired(state, clock(state, t))
    while arm >= 0:
        after = arms[arm].after
        set_bound(state, arm, _renewed(state, arm, t, best))
        arm = after
    state.next_expiry = NEVER
    left = state.used_buckets
    while left:
        bucket = lowest_bit(left)
        left &= left - 1
        if buckets[bucket] >= 0:
            state.next_expiry = min(state.next_expiry, due[bucket])
        else:
            state.used_buckets ^= 1 << bucket


@kernel
def _take_expired(state: State, now: int) -> int:
    """Take all arms out of buckets that have expired; return the first of them, each of which has the next `after` it.

    All leave before the first joins another bucket, which may be the same.
    """
    arms = arms_at(state.arms)
    buckets = buckets_at(state.buckets)
    due = due_at(state.due)
    expired = -1
    left = state.used_buckets
    while left:
        bucket = lowest_bit(left)
        left &= left - 1
        if due[bucket] > now:
            continue
        state.used_buckets ^= 1 << bucket
        arm = buckets[bucket]
        buckets[bucket] = -1
        while arm >= 0:
            this = arms[arm]
            after = this.after
            this.bucket = -1
            this.after = expired
            expired = arm
            arm = after
    return expired


@kernel
def note_best(state: State, t: int, best: float) -> None:
    """Measure how fast the best index falls, over more and more rounds."""
    if t < state.fall_due:
        return
    rounds = state.fall_due - state.fall_round
    if state.fall_round > 0 and math.isfinite(best) and math.isfinite(state.fall_best):
        state.fall = 0.5 * (state.fall + (state.fall_best - best) * t / (t - state.fall_round))
        rounds += rounds >> 3
    else:
        rounds = FIRST_FALL
    state.fall_best = best
    state.fall_round = t
    state.fall_due = t + rounds


@kernel
def rebound(state: State, arm: int, t: int, value: float, best: float) -> None:
    """Give an arm a bound again, from its index in round t."""
    leave_bucket(state, arm)
    set_bound(state, arm, bound(state, arm, t, value, best, SHARE))


@kernel
def tighten(state: State, arm: int, t: int, value: float, best: float) -> None:
    """Renew a bound that reached the best in vain, if it could be lower."""
    this = arms_at(state.arms)[arm]
    if state.trend == FALLS or this.bucket < 0 or this.bucket >> 1 > _shortest(t):
        share = SHARE
        if state.fall > 0.0 and this.climb > 0.0:
            share = SHARE_OF_MEETING * this.climb / (this.climb + state.fall)
        leave_bucket(state, arm)
        set_bound(state, arm, bound(state, arm, t, value, best, min(max(share, SMALLEST_SHARE), SHARE)))


@inlined
def bound(state: State, arm: int, t: int, value: float, best: float, share: float) -> float:
    """Return a bound on the index of an arm that is in no bucket, after it joined the bucket where that expires.

    Until then it climbs about that share of its distance to the best.
    """
    if value == -math.inf:
        return value
    this = arms_at(state.arms)[arm]
    if state.trend == FALLS and state.changing == 0:
        margin = index_margin(value, this.mean)
        # Near the mean an index is steep in its level: there, and if rounded sums enter it, the level needs a margin.
        steep = value - this.mean <= 1e5 * margin
        return upper_bound(state, arm, t, 0) if steep or state.ordered else value + margin
    if this.climb == 0.0:  # its first bound: how fast it climbs is not known
        now = clock(state, t)
        ticks = _due(now, _shortest(t)) - now
        this.climb = (upper_bound(state, arm, t, ticks) - value) * t / ticks
    found, ticks = _bound_after(state, arm, t, value, best, share)
    this.climb = (found - value) * t / ticks
    return found


@kernel
def _renewed(state: State, arm: int, t: int, best: float) -> float:
    """Return a new bound in place of one that has expired."""
    if state.changing:
        return bound(state, arm, t, arm_index(state, arm, t), best, SHARE)
    # Nothing was lost, so that the index has come close to its bound and need not be computed.
    arms_at(state.arms)[arm].effective = effective_arms(state, arm)
    return _bound_after(state, arm, t, bounds_at(state.bounds)[arm], best, SHARE)[0]


@inlined
def _bound_after(state: State, arm: int, t: int, value: float, best: float, share: float) -> tuple[float, int]:
    """Return a bound on an index that is about `value` now, and for how many ticks it holds; the arm joins a bucket.

    It reads the effective arms of now.
    """
    this = arms_at(state.arms)[arm]
    now = clock(state, t)
    room = share * (best - value)
    shortest = _shortest(t)
    climb = this.climb
    span = _span(now, t, room, climb, shortest)
    ticks = _due(now, span) - now
    found = upper_bound(state, arm, t, ticks)
    while found - value > TOLERANCE * room and span > shortest:
        climb = (found - value) * t / ticks
        span = min(span - 1, _span(now, t, room, climb, shortest))
        ticks = _due(now, span) - now
        found = upper_bound(state, arm, t, ticks)
    _join_bucket(state, arm, now, span)
    return found, ticks


@kernel
def _span(now: int, t: int, room: float, climb: float, shortest: int) -> int:
    """Return the longest span in which an index is expected to climb no further than `room`."""
    if not (room > 0.0 and climb > 0.0):
        return shortest
    part = min(room / climb, FURTHEST)
    most = int(t * (part + 0.5 * part * part))  # it climbs as the logarithm of t does
    span = bit_length(most) - 1
    if span > shortest and _due(now, span) - now > most:
        span -= 1
    return int(min(max(span, shortest), LONGEST))


@kernel
def _shortest(t: int) -> int:
    return int(min(SHORTEST, max(0, bit_length(t) // 2 - 1)))


@kernel
def _due(now: int, span: int) -> int:
    return ((now >> span) + 2) << span


@inlined
def _join_bucket(state: State, arm: int, now: int, span: int) -> None:
    arms = arms_at(state.arms)
    buckets = buckets_at(state.buckets)
    due = due_at(state.due)
    end = _due(now, span)
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
    state.used_buckets |= 1 << bucket
    state.next_expiry = min(state.next_expiry, end)


@inlined
def leave_bucket(state: State, arm: int) -> None:
    """Take an arm out of its bucket, if it is in one."""
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
