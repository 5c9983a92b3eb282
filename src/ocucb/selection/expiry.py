"""Upper bounds that expire, and the clock by which they do.

The clock counts what can raise an index of an arm that is not pulled. If the level rises with t, each round is a tick.
If it falls with t, a forgotten pull is a tick, since it takes back a round. A retired arm lowers the effective arms of
any other by at most 1, and a forgotten pull of an arm with T pulls by at most 1 - ((T-1)/T)^ρ <= 1/T: for each
effective arm lost the clock moves by 16 t/K ticks. Where the sign of a level picks its bound an arm that is added moves
it as far. A bound is made for some ticks, and allows for all they can bring.

If the level falls with t the clock stands still in most rounds. There an arm that was evaluated gets a bound without
slack, its index, until the next tick. It gets one with slack when that has come, and when all bounds are made.

Arms whose bounds expire at the same tick share a bucket (buckets.py). An arm gets the longest span in which its bound
climbs at most a share of its distance to the best. How long that is, it tells from how its last bound climbed, so that
one bound is computed and not one for each span that is tried. An index that has come up to its bound when this expires
need not be computed, either. No span is shorter than about sqrt(t)/2 ticks, or 25 if that is less: arms that close
are evaluated anyway.

The best falls towards an arm while the arm climbs. A bound that the best reaches before it expires was made too high:
one that is made in its place gets a smaller share, by how fast the best falls lately. Shares and spans decide how many
arms are evaluated, never the choice.
"""

from __future__ import annotations

import math

from ocucb.compiled import bit_length, inlined, kernel
from ocucb.policies.policy import Trend
from ocucb.selection.bound_tree import set_bound
from ocucb.selection.buckets import empty_buckets, find_next_expiry, join_bucket, leave_bucket, take_expired
from ocucb.selection.index import FALLS_WITH_ARMS, arm_index, index_margin, upper_bound, upper_bounds
from ocucb.selection.order import effective_arms
from ocucb.selection.state import BUCKETS, NEVER, State, arms_at, bounds_at

RISES = int(Trend.RISES)
FALLS = int(Trend.FALLS)
LONGEST = BUCKETS // 2 - 1
SHORTEST = 4
SHARE = 0.4
SHARE_IF_STILL = 0.1  # where the clock stands still in most rounds: bounds last long even so
SMALLEST_SHARE = 0.02
# A bound at c/(c + f) of the distance, if it climbs as c and the best falls as f, expires when both meet. The best does
# not fall evenly, and a bound that expires too early costs more than one that is reached too early.
SHARE_OF_MEETING = 3.0
FIRST_FALL = 32  # rounds, over which it is first measured how fast the best falls
TOLERANCE = 1.5  # times as far as its share a bound may climb before one for a shorter span is made
MOST_OF_DISTANCE = 0.8  # to the best: as far as it may jump, where a sign changes within any span
FURTHEST = 2.0  # times t: as far as a climb is foreseen
FURTHEST_IF_STILL = 0.5
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
    state.ticks_per_arm = 0.0
    state.arms_per_tick = 0.0
    if state.changing and (state.reads_effective or state.with_arms == FALLS_WITH_ARMS):
        state.ticks_per_arm = 1.0
        _adapt_clock(state, t)
    empty_buckets(state)


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
    if state.trend == RISES:
        # The clock reads t, which goes back. A sign that reads t may go back with it, and that is a tick.
        state.clock_shift += ticks + rounds + (rounds if state.signed else 0)
    else:
        state.clock_shift += max(ticks, rounds)
    if state.clock_shift > NEVER >> 2:
        state.stale = 1


@kernel
def refresh(state: State, t: int, best: float) -> None:
    """Renew the bounds that have expired."""
    arms = arms_at(state.arms)
    _adapt_clock(state, t)
    arm = take_expired(state, clock(state, t))
    while arm >= 0:
        after = arms[arm].after
        set_bound(state, arm, _renewed(state, arm, t, best))
        arm = after
    find_next_expiry(state)


@kernel
def note_best(state: State, t: int, best: float) -> None:
    """Keep the best index, and measure how fast it falls, over more and more rounds."""
    state.last_best = best
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
    if state.trend == FALLS:
        set_bound(state, arm, _bound_until_tick(state, arm, t, value))
    else:
        set_bound(state, arm, bound(state, arm, t, value, best))


@kernel
def tighten(state: State, arm: int, t: int, value: float, best: float) -> None:
    """Renew a bound that reached the best in vain, if it could be lower."""
    this = arms_at(state.arms)[arm]
    if state.trend == FALLS:
        rebound(state, arm, t, value, best)
    elif this.bucket < 0 or this.bucket >> 1 > _shortest(t):
        share = SHARE
        if state.fall > 0.0 and this.climb > 0.0:
            share = SHARE_OF_MEETING * this.climb / (this.climb + state.fall)
        leave_bucket(state, arm)
        set_bound(state, arm, _bound_with_share(state, arm, t, value, best, min(max(share, SMALLEST_SHARE), SHARE)))


@inlined
def bound(state: State, arm: int, t: int, value: float, best: float) -> float:
    """Return a bound on the index of an arm that is in no bucket, after it joined the bucket where that expires."""
    if state.trend == FALLS and state.changing == 0:
        return _bound_until_tick(state, arm, t, value)
    return _bound_with_share(state, arm, t, value, best, SHARE if state.trend == RISES else SHARE_IF_STILL)


@inlined
def _bound_with_share(state: State, arm: int, t: int, value: float, best: float, share: float) -> float:
    """Return a bound that climbs about that share of its distance to the best before it expires."""
    if value == -math.inf:
        return value
    this = arms_at(state.arms)[arm]
    if this.climb == 0.0:  # its first bound: how fast it climbs is not known
        now = clock(state, t)
        ticks = _due(now, _shortest(t)) - now
        this.climb = (upper_bound(state, arm, t, ticks) - value) * t / ticks
    found, this.climb = _bound_after(state, arm, t, value, best, share)
    return found


@kernel
def _bound_until_tick(state: State, arm: int, t: int, value: float) -> float:
    """Return a bound without slack on the index of an arm that is in no bucket, after it joined one for a single tick.

    It is for levels that fall with t: until a tick nothing but rounding can raise an index, and in most rounds there
    is none.
    """
    if value == -math.inf:
        return value
    if state.changing:
        join_bucket(state, arm, clock(state, t) + 1, 0)
    this = arms_at(state.arms)[arm]
    margin = index_margin(value, this.mean)
    # Near the mean an index is steep in its level: there, and if rounded sums enter it, the level needs a margin.
    steep = value - this.mean <= 1e5 * margin
    return upper_bound(state, arm, t, 0) if steep or state.ordered else value + margin


@kernel
def _renewed(state: State, arm: int, t: int, best: float) -> float:
    """Return a new bound in place of one that has expired."""
    if state.changing:
        return bound(state, arm, t, arm_index(state, arm, t), best)
    # Nothing was lost, so that the index has come close to its bound and need not be computed.
    arms_at(state.arms)[arm].effective = effective_arms(state, arm)
    return _bound_after(state, arm, t, bounds_at(state.bounds)[arm], best, SHARE)[0]


@inlined
def _bound_after(state: State, arm: int, t: int, value: float, best: float, share: float) -> tuple[float, float]:
    """Return a bound on an index that is about `value` now, and how fast it climbs; the arm joins a bucket.

    It reads the effective arms of now.
    """
    now = clock(state, t)
    room = share * (best - value)
    shortest = _shortest(t)
    span = _span(state, now, t, room, arms_at(state.arms)[arm].climb)
    ticks = _due(now, span) - now
    found, climbed = _bound_for(state, arm, t, ticks, value)
    while span > shortest and (climbed > TOLERANCE * room or found - value > MOST_OF_DISTANCE * (best - value)):
        span = min(span - 1, _span(state, now, t, room, climbed * t / ticks))
        ticks = _due(now, span) - now
        found, climbed = _bound_for(state, arm, t, ticks, value)
    join_bucket(state, arm, now + ticks, span)
    return found, climbed * t / ticks


@kernel
def _bound_for(state: State, arm: int, t: int, ticks: int, value: float) -> tuple[float, float]:
    """Return a bound for so many ticks on an index that is about `value` now, and how far it climbed from there.

    If the sign of the level may change, the bound jumps. A climb is that of the sign of now, the smaller one.
    """
    one, other = upper_bounds(state, arm, t, ticks)
    found = max(one, other)
    low = min(one, other)
    return found, (low if low >= value else found) - value


@kernel
def _span(state: State, now: int, t: int, room: float, climb: float) -> int:
    """Return the longest span in which an index is expected to climb no further than `room`."""
    shortest = _shortest(t)
    if not (room > 0.0 and climb > 0.0):
        return shortest
    part = min(room / climb, FURTHEST if state.trend == RISES else FURTHEST_IF_STILL)
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
