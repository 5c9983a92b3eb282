"""What happens to a selector: a choice, a reward, a cancelled choice. Each in one call from Python, by address."""

from __future__ import annotations

import math

from ocucb.compiled import Floats, Integers, kernel
from ocucb.selection.lazy import NEITHER, rebuild, select, touch
from ocucb.selection.order import effective_arms, raise_pulls
from ocucb.selection.scan import best_mean, scan, value
from ocucb.selection.state import State, arms_at, state_at

OVER = -1  # the horizon has passed
STALE = -2  # the state must be rebuilt first


@kernel
def pick(state: State) -> int:
    """Return the arm to play next: the first that was never played, else the one with the largest index."""
    arms = arms_at(state.arms)
    t = state.rounds + 1
    if state.horizon > 0 and t > state.horizon:
        return OVER
    if state.fresh > 0:
        while not (arms[state.cursor].active and arms[state.cursor].pulls == 0.0):
            state.cursor += 1
        return int(state.cursor)
    if state.stale:
        return STALE
    return scan(state, t) if state.trend == NEITHER else select(state, t)


@kernel
def add_pull(state: State, arm: int) -> None:
    """Count one more pull of an arm."""
    this = arms_at(state.arms)[arm]
    state.rounds += 1
    if this.pulls == 0.0:
        state.fresh -= 1
    if state.ordered and state.stale == 0:
        raise_pulls(state, arm, this.pulls + 1.0)
    else:
        this.pulls += 1.0
    touch(state, arm)


@kernel
def add_reward(state: State, arm: int, reward: float) -> None:
    """Add a reward to an arm whose pull was counted."""
    this = arms_at(state.arms)[arm]
    this.total += reward
    this.learned += 1
    this.mean = this.total / this.learned
    touch(state, arm)


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
def index_of(address: int, arm: int) -> float:
    state = state_at(address)
    return value(state, arm, state.rounds + 1, best_mean(state) if state.score else 0.0)


@kernel
def effective_of(address: int, arm: int) -> float:
    state = state_at(address)
    this = arms_at(state.arms)[arm]
    return effective_arms(state, arm) if this.active and this.pulls > 0.0 else math.nan


@kernel
def decide(address: int, why: Floats, among: bool) -> int:
    """Do as `choose`, and write what was known before: pulls, rewards, mean, index, and effective arms if wanted."""
    state = state_at(address)
    arm = pick(state)
    if arm >= 0:
        this = arms_at(state.arms)[arm]
        why[0] = this.pulls
        why[1] = this.learned
        why[2] = this.mean if this.learned > 0 else math.nan
        why[3] = index_of(address, arm)
        why[4] = effective_of(address, arm) if among else math.nan
        add_pull(state, arm)
    return arm


@kernel
def learn(address: int, arm: int, reward: float) -> bool:
    """Take a reward for a pending pull, or if none is pending for a pull made elsewhere."""
    state = state_at(address)
    this = arms_at(state.arms)[arm]
    if not math.isfinite(this.total + reward):
        return False
    if this.pulls == this.learned:
        add_pull(state, arm)
    add_reward(state, arm, reward)
    return True


@kernel
def add_totals(address: int, slots: Integers, rewards: Floats) -> bool:
    """Add rewards to the sums in their order, as one `learn` after another would; False if one is not finite."""
    arms = arms_at(state_at(address).arms)
    for i in range(len(slots)):
        arms[slots[i]].total += rewards[i]
        if not math.isfinite(arms[slots[i]].total):
            return False
    return True


@kernel
def forget(address: int, arm: int) -> bool:
    """Take back a pending pull; False if there is none. Others' effective arms may shrink, so bounds are remade."""
    state = state_at(address)
    this = arms_at(state.arms)[arm]
    if this.pulls == this.learned:
        return False
    this.pulls -= 1.0
    state.rounds -= 1
    if this.pulls == 0.0:
        state.fresh += 1
        state.cursor = min(state.cursor, arm)
    state.stale = 1
    return True


@kernel
def indices(address: int, out: Floats) -> None:
    state = state_at(address)
    best = best_mean(state)
    for arm in range(state.slots):
        out[arm] = value(state, arm, state.rounds + 1, best)


@kernel
def effective(address: int, out: Floats) -> None:
    for arm in range(state_at(address).slots):
        out[arm] = effective_of(address, arm)
