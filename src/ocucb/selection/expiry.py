"""Upper bounds that expire, and the clock by which they do.

The clock counts what can raise an index of an arm that is not pulled. If the level rises with t, each round is a tick.
If it falls with t, a forgotten pull is a tick, since it takes back a round. A retired arm lowers the effective arms of
any other by at most 1, and a forgotten pull of an arm with T pulls by at most 1 - ((T-1)/T)^ρ <= 1/T: for each
effective arm lost the clock moves by 16 t/K ticks. A bound is made for some ticks, and allows for all they can bring.

Arms whose bounds expire at the same tick share a *bucket*: bucket (span, parity) expires at a multiple of 2^span, one
to two times 2^span ticks after its bounds were made. An arm gets the longest span in which its bound climbs at most a
share of its distance to the best: a large share if the clock wore out the last bound (the best stands still), a small
one if the best came down to it. No span is shorter than about sqrt(t)/2 ticks, or if that is less fifty or sqrt(K):
arms that close are evaluated anyway. The shares decide how many arms are evaluated, never the choice.
"""

from __future__ import annotations

import math

from ocucb.compiled import bit_length, kernel
from ocucb.policies.policy import Trend
from ocucb.selection.bound_tree import set_bound
from ocucb.selection.index import FALLS_WITH_ARMS, arm_index, index_margin, upper_bound
from ocucb.selection.state import BUCKETS, NEVER, State, arms_at, buckets_at, due_at

RISES = int(Trend.RISES)
FALLS = int(Trend.FALLS)
LONGEST = BUCKETS // 2 - 1
SHARE_IF_EXPIRED = 0.6
SHARE_IF_REACHED = 0.1
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
    state.next_expiry = NEVER
    state.ticks_per_arm = 0.0
    state.arms_per_tick = 0.0
    if state.changing and (state.reads_effective or state.with_arms == FALLS_WITH_ARMS):
        state.ticks_per_arm = 1.0
        _adapt_clock(state, t)
    buckets = buckets_at(state.buckets)
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
    now = clock(state, t)
    _adapt_clock(state, t)
    expired = -1
    for bucket in range(BUCKETS):
        if due[bucket] <= now:
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
        set_bound(state, expired, bound(state, expired, t, arm_index(state, expired, t), best, SHARE_IF_EXPIRED))
        expired = after
    state.next_expiry = NEVER
    for bucket in range(BUCKETS):
        if buckets[bucket] >= 0:
            state.next_expiry = min(state.next_expiry, due[bucket])


@kernel
def rebound(state: State, arm: int, t: int, value: float, best: float) -> None:
    """Give an arm a bound again, from its index in round t."""
    leave_bucket(state, arm)
    set_bound(state, arm, bound(state, arm, t, value, best, SHARE_IF_REACHED))


@kernel
def tighten(state: State, arm: int, t: int, value: float, best: float) -> None:
    """Renew a bound that reached the best in vain, if it could be lower."""
    bucket = arms_at(state.arms)[arm].bucket
    if state.trend == FALLS or bucket < 0 or bucket >> 1 > _shortest(state, t):
        rebound(state, arm, t, value, best)


@kernel
def bound(state: State, arm: int, t: int, value: float, best: float, share: float) -> float:
    """Return a bound on the index of an arm that is in no bucket, after it joined the bucket where that expires."""
    if value == -math.inf:
        return value
    this = arms_at(state.arms)[arm]
    if state.trend == FALLS and state.changing == 0:
        margin = index_margin(value, this.mean)
        # Near the mean an index is steep in its level: there, and if rounded sums enter it, the level needs a margin.
        steep = value - this.mean <= 1e5 * margin
        return upper_bound(state, arm, t, 0) if steep or state.ordered else value + margin
    now = clock(state, t)
    aim = value + share * (best - value)
    shortest = _shortest(state, t)
    span = max(shortest, this.span) if aim > value else shortest
    found = upper_bound(state, arm, t, _due(now, span) - now)
    longer = _longer(span, (aim - value) / (found - value))
    while longer > span:
        further = upper_bound(state, arm, t, _due(now, longer) - now)
        if further <= aim:
            span, found = longer, further
        # With arms to lose an index climbs faster and faster, so that less may do; with time alone, slower and slower.
        longer = longer - 1 if state.changing else span
    while found > aim and span > shortest:
        excess = (found - value) / (aim - value)
        while excess > 1.0 and span > shortest:
            excess *= 0.5
            span -= 1
        found = upper_bound(state, arm, t, _due(now, span) - now)
    this.span = span
    _join_bucket(state, arm, now, span)
    return found


@kernel
def _longer(span: int, ratio: float) -> int:
    """Return the span in which an index climbs `ratio` times as far: it climbs about as fast as the clock moves."""
    while ratio > 2.5 and span < LONGEST:
        ratio *= 0.5
        span += 1
    return span


@kernel
def _shortest(state: State, t: int) -> int:
    most = max(5, bit_length(state.active) // 2)
    return int(min(most, max(0, bit_length(t) // 2 - 1)))


@kernel
def _due(now: int, span: int) -> int:
    return ((now >> span) + 2) << span


@kernel
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
    state.next_expiry = min(state.next_expiry, end)


@kernel
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
