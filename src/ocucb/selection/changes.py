"""Arms come and go, pulls are taken back, everything starts again. Order and bounds are kept, but for the last.

What could raise the indices of other arms moves the clock by which bounds expire (expiry.py): fewer rounds, arms or
effective arms; and any change of the arms where the sign of a level picks its bound.
"""

from __future__ import annotations

from ocucb.compiled import kernel
from ocucb.policies.policy import WithArms
from ocucb.selection.bound_tree import rebuild_bounds
from ocucb.selection.expiry import move_clock
from ocucb.selection.forgetting import cancel_pull, forget_everything
from ocucb.selection.lazy import NEITHER, invalidate, withdraw
from ocucb.selection.moments import forget_moments
from ocucb.selection.order import insert, lower_pulls, remove, sum_powers
from ocucb.selection.state import EVERYTHING, State, arms_at, ever_at, order_at, state_at
from ocucb.selection.ties import stand_alone

UNKNOWN = int(WithArms.UNKNOWN)


@kernel
def forget(address: int, arm: int) -> bool:
    """Take back a pending pull; False if there is none."""
    state = state_at(address)
    this = arms_at(state.arms)[arm]
    if state.memory != EVERYTHING:
        if ever_at(state.ever)[arm].pulls == ever_at(state.ever)[arm].learned:
            return False
        state.rounds -= 1
        cancel_pull(state, arm)
        return True
    if this.pulls == this.learned:
        return False
    state.rounds -= 1
    before = this.pulls
    if this.active and state.ordered and state.stale == 0:
        lower_pulls(state, arm, before - 1.0)
    else:
        this.pulls = before - 1.0
    if not this.active:
        move_clock(state, 1, 0.0)
        return True
    move_clock(state, 1, 1.0 / before if state.ordered else 0.0)
    _count_unpulled(state, arm)
    invalidate(state, arm)
    return True


@kernel
def retire(address: int, arm: int) -> None:
    """Take an arm out of play. It must not be the last."""
    state = state_at(address)
    this = arms_at(state.arms)[arm]
    withdraw(state, arm)
    this.active = 0
    if this.pulls == 0.0:
        state.unpulled -= 1
    if state.ordered and state.stale == 0:
        remove(state, arm)
    else:
        state.active -= 1
    move_clock(state, 0, 1.0)
    _note_number_of_arms(state)


@kernel
def bring_back(address: int, arm: int) -> None:
    """Take a retired arm into play again, with what it had."""
    state = state_at(address)
    this = arms_at(state.arms)[arm]
    this.active = 1
    this.bucket = -1
    stand_alone(state, arm)
    if state.ordered and state.stale == 0:
        insert(state, arm)
    else:
        state.active += 1
    _count_unpulled(state, arm)
    invalidate(state, arm)
    if state.signed:  # one more arm lowers levels, but may change their sign
        move_clock(state, 0, 1.0)
    _note_number_of_arms(state)


@kernel
def add_arm(address: int) -> None:
    """Take one more arm into play, never pulled. There must be memory for it."""
    state = state_at(address)
    state.slots += 1
    bring_back(address, state.slots - 1)


@kernel
def _count_unpulled(state: State, arm: int) -> None:
    if arms_at(state.arms)[arm].pulls == 0.0:
        state.cursor = min(state.cursor, arm) if state.unpulled > 0 else arm
        state.unpulled += 1


@kernel
def _note_number_of_arms(state: State) -> None:
    state.shared_round = 0.0
    state.ceilings_left = 0
    if state.with_arms == UNKNOWN and state.trend != NEITHER:
        state.stale = 1


@kernel
def renew_trees(address: int) -> None:
    """Make all sums and largest bounds anew, from leaves that were moved to larger memory."""
    state = state_at(address)
    sum_powers(state)
    rebuild_bounds(state)


@kernel
def reset(state: State, seed: int) -> None:
    """Forget everything: the arms stand in order, never pulled."""
    arms = arms_at(state.arms)
    order = order_at(state.order)
    for arm in range(state.slots):
        this = arms[arm]
        this.pulls = 0.0
        this.mean = 0.0
        this.total = 0.0
        this.learned = 0
        this.climb = 0.0
        this.bucket = -1
        order[arm] = arm
    if state.spreads:
        forget_moments(state)
    if state.memory != EVERYTHING:
        forget_everything(state)
    state.rounds = 0
    state.unpulled = state.slots
    state.cursor = 0
    state.leader = -1
    state.challenger = -1
    state.stale = 1
    state.lead_pulls = 1
    state.seed = seed
