"""A memory that starts again when the rewards of an arm show that its mean has changed.

Of n rewards of an arm since the last start, with sums S_s of the first s, the generalised likelihood ratio of a change
after s of them is s d(S_s/s, mean) + (n - s) d((S_n - S_s)/(n - s), mean). As a function of the point (s, S_s) that is
convex, so its largest value is found at a corner of the convex hull of these points. The hull of points that come in
order of s is kept as two stacks, above and below, from which a new point takes those that it covers. A walk has some
log n corners, so a reward costs that much, and the choice is that of the test over all s.
"""

from __future__ import annotations

import math

from ocucb.compiled import call_divergence, kernel, reals
from ocucb.selection.state import State, arms_at, corners_at, ever_at, order_at, state_at

NO_CORNER = 0  # corners are numbered from 1
NO_ARM = -1


@kernel
def note_reward(state: State, arm: int, reward: float) -> None:
    """Add a reward to what is remembered of an arm; start again if that shows a change."""
    this = arms_at(state.arms)[arm]
    ever = ever_at(state.ever)[arm]
    ever.least = reward if this.learned == 0 else min(ever.least, reward)
    ever.most = reward if this.learned == 0 else max(ever.most, reward)
    this.learned += 1
    this.total += reward
    this.mean = this.total / this.learned
    if shows_change(state, arm):
        start_again(state)
        state.restarts += 1
        return
    ever.above = _push(state, ever.above, float(this.learned), this.total, 1.0)
    ever.below = _push(state, ever.below, float(this.learned), this.total, -1.0)


@kernel
def shows_change(state: State, arm: int) -> bool:
    """Return whether the likelihood ratio of a change before the last reward of an arm passes log(3 n^(3/2) / δ)."""
    this = arms_at(state.arms)[arm]
    ever = ever_at(state.ever)[arm]
    count = float(this.learned)
    threshold = math.log(3.0 / state.delta) + 1.5 * math.log(count)
    return max(_largest_ratio(state, arm, ever.above), _largest_ratio(state, arm, ever.below)) >= threshold


@kernel
def _largest_ratio(state: State, arm: int, corner: int) -> float:
    """Return the largest likelihood ratio of a change at one of the corners of a stack."""
    this = arms_at(state.arms)[arm]
    ever = ever_at(state.ever)[arm]
    corners = corners_at(state.corners)
    mean = min(max(this.mean, ever.least), ever.most)
    largest = 0.0
    while corner != NO_CORNER:
        at = corners[corner - 1]
        rest = this.learned - at.count
        # Rounding may take a mean out of the range in which its rewards were, where a divergence need not exist.
        before = min(max(at.total / at.count, ever.least), ever.most)
        after = min(max((this.total - at.total) / rest, ever.least), ever.most)
        ratio = at.count * call_divergence(state.divergence, (before, mean, reals(state.family)))
        ratio += rest * call_divergence(state.divergence, (after, mean, reals(state.family)))
        largest = max(largest, ratio)
        corner = at.next
    return largest


@kernel
def _push(state: State, top: int, count: float, total: float, side: float) -> int:
    """Put a point on a stack, and take those off that the hull no longer turns at; return the new top."""
    corners = corners_at(state.corners)
    while top != NO_CORNER and corners[top - 1].next != NO_CORNER:
        last, before = corners[top - 1], corners[corners[top - 1].next - 1]
        turn = (last.count - before.count) * (total - before.total)
        turn -= (last.total - before.total) * (count - before.count)
        if side * turn < 0.0:
            break
        following = last.next
        last.next = state.corners_free
        state.corners_free = top
        top = following
    place = state.corners_free
    if place == NO_CORNER:
        state.corners_used += 1
        place = state.corners_used
    else:
        state.corners_free = corners[place - 1].next
    made = corners[place - 1]
    made.count, made.total, made.next = count, total, top
    return int(place)


@kernel
def start_again(state: State) -> None:
    """Forget all pulls and rewards; those of all time stay counted."""
    arms, order, evers = arms_at(state.arms), order_at(state.order), ever_at(state.ever)
    state.unpulled = 0
    for arm in range(state.slots):
        this = arms[arm]
        this.pulls, this.mean, this.total, this.learned = 0.0, 0.0, 0.0, 0
        evers[arm].above, evers[arm].below = NO_CORNER, NO_CORNER
        state.unpulled += this.active
        order[arm] = arm
    state.cursor = 0
    state.remembered = 0.0
    state.corners_used, state.corners_free = 0, NO_CORNER
    state.stale = 1


@kernel
def arm_to_explore(state: State) -> int:
    """Return the arm that must be played now, whatever the policy says, or NO_ARM.

    Of each K/exploration rounds since the last start, the first K go to the K arms in order.
    """
    if state.exploration == 0.0:
        return NO_ARM
    place = int(state.remembered) % int(state.active / state.exploration)
    if place >= state.active:
        return NO_ARM
    arms = arms_at(state.arms)
    arm = 0
    while place > 0 or not arms[arm].active:
        place -= arms[arm].active
        arm += 1
    return arm


@kernel
def restore_corner(address: int, arm: int, above: bool, count: float, total: float) -> None:
    """Remember a corner again, in the order in which they came."""
    state = state_at(address)
    ever = ever_at(state.ever)[arm]
    top = ever.above if above else ever.below
    made = corners_at(state.corners)[state.corners_used]
    made.count, made.total, made.next = count, total, top
    state.corners_used += 1
    if above:
        ever.above = state.corners_used
    else:
        ever.below = state.corners_used
