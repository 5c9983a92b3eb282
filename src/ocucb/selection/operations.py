"""What happens to a selector: a choice, a reward, a question. Each in one call from Python, by address."""

from __future__ import annotations

import math

from ocucb.compiled import Floats, Integers, call_find, call_remember_pull, call_remember_reward, kernel
from ocucb.selection.lazy import NEITHER, invalidate, rebuild, select
from ocucb.selection.moments import add_to_moments, can_add, repeats, update_spread, widen
from ocucb.selection.order import effective_arms, raise_pulls
from ocucb.selection.scan import DRAWN, best_arm, value
from ocucb.selection.state import EVERYTHING, GUARDED, State, arms_at, ever_at, state_at

OVER = -1  # the horizon has passed
STALE = -2  # order and bounds must be rebuilt first


@kernel
def pick_by_coin(state: State, coin: float) -> int:
    """Return the arm to play next: the first that was never played, else the one with the largest index.

    Policies that toss a coin see this one, or that of the round if it is DRAWN.
    """
    arms = arms_at(state.arms)
    t = state.rounds + 1
    if state.horizon > 0 and t > state.horizon:
        return OVER
    if state.unpulled > 0:
        while not (arms[state.cursor].active and arms[state.cursor].pulls == 0.0):
            state.cursor += 1
        return int(state.cursor)
    if state.stale:
        return STALE
    if state.trend == NEITHER:
        return int(call_find(state.find, (state.here, t, coin)))
    return select(state, t)


@kernel
def pick(state: State) -> int:
    """Return the arm to play next."""
    return pick_by_coin(state, DRAWN)


@kernel
def add_pull(state: State, arm: int) -> None:
    """Count one more pull of an arm."""
    this = arms_at(state.arms)[arm]
    state.rounds += 1
    if state.memory != EVERYTHING:
        call_remember_pull(state.remember_pull, (state.here, arm))
        return
    if not this.active:
        this.pulls += 1.0
        return
    if this.pulls == 0.0:
        state.unpulled -= 1
    if state.ordered and state.stale == 0:
        raise_pulls(state, arm, this.pulls + 1.0)
    else:
        this.pulls += 1.0
    invalidate(state, arm)


@kernel
def pulls_of(state: State, arm: int) -> float:
    """Return the pulls of an arm of all time."""
    this = arms_at(state.arms)[arm]
    return float(this.pulls if state.memory == EVERYTHING else ever_at(state.ever)[arm].pulls)


@kernel
def learned_of(state: State, arm: int) -> float:
    """Return the rewards of an arm of all time."""
    this = arms_at(state.arms)[arm]
    return float(this.learned if state.memory == EVERYTHING else ever_at(state.ever)[arm].learned)


@kernel
def add_reward(state: State, arm: int, reward: float) -> None:
    """Add a reward to an arm whose pull was counted."""
    if state.memory != EVERYTHING:
        call_remember_reward(state.remember_reward, (state.here, arm, reward))
        return
    this = arms_at(state.arms)[arm]
    before = this.total
    this.total = before + reward
    this.learned += 1
    this.mean = this.total / this.learned
    if state.spreads:
        _add_spread(state, arm, reward, before)
    if this.active:
        invalidate(state, arm)


@kernel
def _add_spread(state: State, arm: int, reward: float, before: float) -> None:
    """Renew the spread of an arm with one more reward, and of all that borrow theirs if it is a new extreme."""
    arms = arms_at(state.arms)
    add_to_moments(state, arm, reward, before)
    if widen(state, arm) and state.spreads == GUARDED:
        for other in range(state.slots):
            if arms[other].learned > 0 and repeats(state, other):
                update_spread(state, other)
                if arms[other].active:
                    invalidate(state, other)
    update_spread(state, arm)


@kernel
def rebuild_if_stale(state: State) -> None:
    """Make order and bounds once they are needed. Arms must stand in order of pulls."""
    if state.stale and state.unpulled == 0:
        rebuild(state, state.rounds + 1)


@kernel
def rebuild_at(address: int) -> None:
    state = state_at(address)
    rebuild(state, state.rounds + 1)


@kernel
def peek(address: int) -> int:
    return pick(state_at(address))


@kernel
def choose(address: int) -> int:
    state = state_at(address)
    arm = pick(state)
    if arm >= 0:
        add_pull(state, arm)
    return arm


@kernel
def count_pull(address: int, arm: int) -> None:
    add_pull(state_at(address), arm)


@kernel
def index_of(address: int, arm: int) -> float:
    state = state_at(address)
    return value(state, arm, state.rounds + 1, best_arm(state) if state.score else -1, DRAWN)


@kernel
def effective_of(address: int, arm: int) -> float:
    state = state_at(address)
    this = arms_at(state.arms)[arm]
    return effective_arms(state, arm) if this.active and this.pulls > 0.0 else math.nan


@kernel
def describe(state: State, arm: int, best: int, known: Floats, effective: bool) -> None:
    """Write what is known of an arm: pulls, rewards, mean, index, and effective arms if wanted."""
    this = arms_at(state.arms)[arm]
    known[0] = pulls_of(state, arm)
    known[1] = learned_of(state, arm)
    known[2] = this.mean if this.learned > 0 else math.nan
    known[3] = value(state, arm, state.rounds + 1, best, DRAWN)
    known[4] = effective_arms(state, arm) if effective and this.active and this.pulls > 0.0 else math.nan


@kernel
def describe_many(address: int, slots: Integers, known: Floats, effective: bool) -> None:
    """Write what is known of some arms, five numbers each, one arm after the other."""
    state = state_at(address)
    best = best_arm(state) if state.score else -1
    for i in range(len(slots)):
        describe(state, slots[i], best, known[5 * i : 5 * i + 5], effective)


@kernel
def decide(address: int, known: Floats, effective: bool) -> int:
    """Do as `choose`, and write what was known before."""
    state = state_at(address)
    arm = pick(state)
    if arm >= 0:
        describe(state, arm, best_arm(state) if state.score else -1, known, effective)
        add_pull(state, arm)
    return arm


@kernel
def learn(address: int, arm: int, reward: float) -> bool:
    """Take a reward for a pending pull, or if none is pending for a pull made elsewhere."""
    state = state_at(address)
    this = arms_at(state.arms)[arm]
    if not math.isfinite(this.total + reward) or (state.spreads and not can_add(state, arm, reward)):
        return False
    if state.memory != EVERYTHING and not _can_remember(state, arm, reward):
        return False
    if pulls_of(state, arm) == learned_of(state, arm):
        add_pull(state, arm)
    add_reward(state, arm, reward)
    return True


@kernel
def _can_remember(state: State, arm: int, reward: float) -> bool:
    """Return whether sums stay finite, in whatever unit they are counted."""
    ever = ever_at(state.ever)[arm]
    return math.isfinite(ever.total + reward) and abs(reward) < 1e250 and abs(arms_at(state.arms)[arm].total) < 1e300


@kernel
def add_totals(address: int, slots: Integers, rewards: Floats) -> bool:
    """Add rewards to the sums in their order, as one `learn` after another would; False if one is not finite."""
    state = state_at(address)
    arms = arms_at(state.arms)
    for i in range(len(slots)):
        this = arms[slots[i]]
        before = this.total
        this.total = before + rewards[i]
        if state.spreads:
            if not can_add(state, slots[i], rewards[i]):
                return False
            add_to_moments(state, slots[i], rewards[i], before)
        if not math.isfinite(this.total):
            return False
    return True


@kernel
def indices(address: int, out: Floats) -> None:
    state = state_at(address)
    best = best_arm(state) if state.score else -1
    for arm in range(state.slots):
        out[arm] = value(state, arm, state.rounds + 1, best, DRAWN)


@kernel
def effective(address: int, out: Floats) -> None:
    for arm in range(state_at(address).slots):
        out[arm] = effective_of(address, arm)
