"""The lazy selector: the choice of the scan, evaluating only arms that could win.

Between two pulls of an arm its level moves one way with t, and its effective arms fall only when another arm retires
or a pull is forgotten. So an arm has an upper bound that holds until it expires (expiry.py). Two arms at most have no
bound, and their indices are computed anew each round: the *leader*, and the *challenger*, which won the last round
against it. While the leader beats every bound it wins at once. Otherwise every arm whose bound reaches the best index
is evaluated, but of arms in the same state only the first (ties.py). A challenger that wins again becomes the leader; a
leader that has not won for some rounds gets a bound.
"""

from __future__ import annotations

import math
import sys

from ocucb.compiled import kernel
from ocucb.policies.policy import Trend
from ocucb.selection.bound_tree import (
    arm_of_largest_bound,
    first_arm,
    largest_bound,
    next_arm,
    rebuild_bounds,
    set_bound,
)
from ocucb.selection.buckets import leave_bucket
from ocucb.selection.expiry import bound, clock, note_best, rebound, refresh, start_clock, tighten
from ocucb.selection.index import arm_index
from ocucb.selection.order import prefetch_next_group, rebuild_order
from ocucb.selection.sampling import forget_caps
from ocucb.selection.scan import fewest
from ocucb.selection.state import RECENT, State, arms_at, bounds_at, prefetch_arm, recent_at
from ocucb.selection.ties import find_ring, join_ring, leave_ring, stand_alone

NEITHER = int(Trend.NEITHER)
MOST_LOST = 3  # rounds in a row, after which a leader gets a bound as all others have
LOWEST = -sys.float_info.max  # a bound of -inf is no arm's, or an arm's that cannot win


@kernel
def rebuild(state: State, t: int) -> None:
    """Make order and bounds from nothing."""
    arms = arms_at(state.arms)
    bounds = bounds_at(state.bounds)
    if state.ordered:
        rebuild_order(state)
    state.stale = 0
    state.leader = -1
    state.challenger = -1
    state.shared_round = 0.0
    start_clock(state, t)
    state.ceilings_left = 0
    if state.samples:
        for arm in range(state.slots):
            forget_caps(state, arm)
    if state.trend == NEITHER:
        return
    recent = recent_at(state.recent)
    for place in range(RECENT):
        recent[place] = -1
    best = -math.inf
    for arm in range(state.slots):
        this = arms[arm]
        this.bucket = -1
        stand_alone(state, arm)
        bounds[arm] = arm_index(state, arm, t) if this.active else -math.inf
        best = max(best, bounds[arm])
    state.last_best = best
    for arm in range(state.slots):
        if bounds[arm] > -math.inf:
            bounds[arm] = bound(state, arm, t, bounds[arm], best)
    rebuild_bounds(state)


@kernel
def invalidate(state: State, arm: int) -> None:
    """Note that an arm's index changed in a way no bound foresaw: it must be evaluated next."""
    if state.samples:
        forget_caps(state, arm)
    if state.stale or state.trend == NEITHER:
        return
    _release_next(state, arm)
    if state.leader != arm and state.challenger != arm:
        leave_bucket(state, arm)
        set_bound(state, arm, math.inf if arms_at(state.arms)[arm].learned > 0 else -math.inf)


@kernel
def withdraw(state: State, arm: int) -> None:
    """Take an arm out of the competition."""
    if state.samples:
        forget_caps(state, arm)
    if state.stale or state.trend == NEITHER:
        return
    _release_next(state, arm)
    leave_bucket(state, arm)
    set_bound(state, arm, -math.inf)
    if state.leader == arm:
        state.leader = -1
    if state.challenger == arm:
        state.challenger = -1


@kernel
def _release_next(state: State, arm: int) -> None:
    """Take an arm whose state changes out of its ring; the one that is first there now must be evaluated."""
    first = leave_ring(state, arm)
    if first >= 0:
        set_bound(state, first, math.inf)


@kernel
def select(state: State, t: int) -> int:
    """Return the lowest arm with the largest index in round t."""
    leader, challenger = state.leader, state.challenger
    expired = clock(state, t) >= state.next_expiry
    led = arm_index(state, leader, t) if leader >= 0 else -math.inf
    if leader >= 0:
        state.lead_width = led - arms_at(state.arms)[leader].mean
    if challenger < 0 and led > largest_bound(state) and not expired:
        return int(leader)
    value = arm_index(state, challenger, t) if challenger >= 0 else -math.inf
    best, winner = led, leader
    if value > best or (value == best and challenger < winner):
        best, winner = value, challenger
    if expired:
        refresh(state, t, max(best, _near_best(state, t, best)))
    if largest_bound(state) >= max(best, LOWEST):
        best, winner = _contest(state, t, best, winner)
    if best == -math.inf:  # no arm has a reward
        return fewest(state)
    note_best(state, t, best)
    if challenger >= 0 and winner != challenger:
        rebound(state, challenger, t, value, best)
    state.challenger = -1
    if winner == leader:
        state.lost = 0
        return int(leader)
    if winner != challenger:
        state.lost += 1
        if leader >= 0 and state.lost > MOST_LOST:
            rebound(state, leader, t, led, best)
            state.leader = -1
        leave_bucket(state, winner)
        set_bound(state, winner, -math.inf)
        state.challenger = winner
        return int(winner)
    if leader >= 0:
        rebound(state, leader, t, led, best)
    state.leader = challenger
    state.lead_width = value - arms_at(state.arms)[challenger].mean
    state.lost = 0
    return int(challenger)


@kernel
def _near_best(state: State, t: int, best: float) -> float:
    """Return an index near the best, when neither leader nor challenger need be: bounds would hold for few rounds."""
    top = largest_bound(state)
    if top == math.inf:  # of an arm that has just changed, which says nothing
        return float(state.last_best)
    return arm_index(state, arm_of_largest_bound(state), t) if top > best else best


@kernel
def _contest(state: State, t: int, best: float, winner: int) -> tuple[float, int]:
    """Evaluate every arm whose bound reaches the best; return the best index and its lowest arm."""
    likely = arm_of_largest_bound(state)  # evaluated first: the larger the best, the fewer others need be
    prefetch_next_group(state, likely)  # since it will probably be pulled
    first = arm_index(state, likely, t)
    if first > best or (first == best and likely < winner):
        best, winner = first, likely
    arm = first_arm(state, max(best, LOWEST))
    while arm >= 0 and not (best == math.inf and winner < arm):  # nothing is larger, and all others are higher
        # Found before the index, which the processor then need not wait for.
        after = next_arm(state, arm, max(best, LOWEST))
        prefetch_arm(state, after)
        if bounds_at(state.bounds)[arm] < best:
            arm = after
            continue
        ring = find_ring(state, arm) if arm != winner else -1
        if ring >= 0:  # its first arm is lower and has the same index
            join_ring(state, arm, ring)
            leave_bucket(state, arm)
            set_bound(state, arm, -math.inf)
            arm = after
            continue
        value = first if arm == likely else arm_index(state, arm, t)
        if value > best or (value == best and arm < winner):
            best, winner = value, arm
        elif arm != winner:
            tighten(state, arm, t, value, best)
        arm = after
    return best, winner
