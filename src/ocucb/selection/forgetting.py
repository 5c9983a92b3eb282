"""What is remembered of the past, if not everything: a third axis beside level and noise.

Under a memory the records of the arms, and so all rules, hold only what is remembered; `EVER` holds the rest. A window
keeps its pulls and rewards in a ring of events, and takes back the oldest. A discount does not age all arms in every
round: it lets the unit grow in which pulls and rewards are counted. Effective arms are ratios, which no unit changes;
levels and bounds receive pulls in units of now. A restart forgets all at once (restarting.py). Under a memory every
round is a scan (ceilings.py).
"""

from __future__ import annotations

import math

from ocucb.compiled import Floats, Integers, kernel
from ocucb.selection.ceilings import lift_ceiling, wear_ceilings
from ocucb.selection.moments import sum_rest
from ocucb.selection.order import lower_pulls, raise_pulls, raise_single
from ocucb.selection.restarting import NO_CORNER, note_reward
from ocucb.selection.state import DISCOUNT, RESTART, WINDOW, State, arms_at, events_at, ever_at, state_at

LARGEST_UNIT = 2.0**128  # before all is counted anew
FORGOTTEN = 2.0**-100  # of a pull, which is then forgotten altogether


@kernel
def remember_pull(state: State, arm: int) -> None:
    """Begin a round: forget what is too old, and count a pull of an arm."""
    this = arms_at(state.arms)[arm]
    amount = _begin_round(state, arm)
    if not this.active:
        this.pulls += amount
        return
    if this.pulls == 0.0:
        state.unpulled -= 1
    if state.ordered == 0 or state.stale:
        this.pulls += amount
    elif state.memory == DISCOUNT:
        raise_single(state, arm, this.pulls + amount)
    else:
        raise_pulls(state, arm, this.pulls + amount)


@kernel
def _begin_round(state: State, arm: int) -> float:
    """Count a pull of an arm for ever, forget what is too old; return what to add to its pulls."""
    ever = ever_at(state.ever)[arm]
    ever.pulls += 1
    state.now += 1
    wear_ceilings(state)
    lift_ceiling(state, arm)
    if state.memory == WINDOW:
        while state.events_count > 0 and events_at(state.events)[state.events_first].when <= state.now - state.window:
            _drop_oldest(state)
        _push(state, arm, math.nan)
        state.remembered += 1.0
        return 1.0
    if state.memory == RESTART:
        state.remembered += 1.0
        return 1.0
    state.unit *= state.factor
    if state.unit * LARGEST_UNIT < 1.0:
        _change_unit(state)
    amount = 1.0 / float(state.unit)
    state.remembered += amount
    ever.waiting += amount
    return amount


@kernel
def remember_reward(state: State, arm: int, reward: float) -> None:
    """Take a reward of an arm whose pull was counted."""
    this = arms_at(state.arms)[arm]
    ever = ever_at(state.ever)[arm]
    pending = float(ever.pulls - ever.learned)
    ever.learned += 1
    ever.total += reward
    lift_ceiling(state, arm)
    if state.memory == RESTART:
        note_reward(state, arm, reward)
        return
    this.learned += 1
    if state.memory == WINDOW:
        _push(state, arm, reward)
        _add(state, arm, reward)
        return
    ever.waiting = ever.waiting * ((pending - 1.0) / pending)
    amount = 1.0 / state.unit
    ever.weight += amount
    this.total += reward * amount
    this.mean = this.total / ever.weight


@kernel
def cancel_pull(state: State, arm: int) -> None:
    """Take back a pending pull: the last one that is remembered of the arm, under a discount one of average age."""
    ever = ever_at(state.ever)[arm]
    pending = float(ever.pulls - ever.learned)
    ever.pulls -= 1
    wear_ceilings(state)
    if state.memory == DISCOUNT:
        amount = ever.waiting / pending
        ever.waiting -= amount
        state.remembered -= amount
        lose_pulls(state, arm, amount)
        return
    if state.memory == RESTART:
        if arms_at(state.arms)[arm].pulls > 0.0:
            state.remembered -= 1.0
            lose_pulls(state, arm, 1.0)
        return
    events = events_at(state.events)
    for back in range(1, state.events_count + 1):
        event = events[(state.events_first + state.events_count - back) % state.events_size]
        if event.arm == arm and math.isnan(event.reward):
            event.arm = -1
            state.remembered -= 1.0
            lose_pulls(state, arm, 1.0)
            return


@kernel
def lose_pulls(state: State, arm: int, amount: float) -> None:
    """Take from the pulls of an arm. One that has none left is tried again."""
    this = arms_at(state.arms)[arm]
    lift_ceiling(state, arm)
    left = max(this.pulls - amount, 0.0)
    if this.active and state.ordered and state.stale == 0:
        lower_pulls(state, arm, left)
    else:
        this.pulls = left
    if left == 0.0 and this.active:
        state.cursor = min(state.cursor, arm) if state.unpulled > 0 else arm
        state.unpulled += 1


@kernel
def _push(state: State, arm: int, reward: float) -> None:
    """Note an event of now; a pull has no reward. There must be room."""
    event = events_at(state.events)[(state.events_first + state.events_count) % state.events_size]
    event.when = state.now
    event.arm = arm
    event.reward = reward
    state.events_count += 1


@kernel
def _drop_oldest(state: State) -> None:
    event = events_at(state.events)[state.events_first]
    state.events_first = (state.events_first + 1) % state.events_size
    state.events_count -= 1
    if event.arm < 0:
        return
    if math.isnan(event.reward):
        state.remembered -= 1.0
        lose_pulls(state, event.arm, 1.0)
        return
    arms_at(state.arms)[event.arm].learned -= 1
    _add(state, event.arm, -event.reward)


@kernel
def _add(state: State, arm: int, reward: float) -> None:
    """Add to the sum of an arm's remembered rewards, whose number has changed already, and to what rounding took."""
    this = arms_at(state.arms)[arm]
    ever = ever_at(state.ever)[arm]
    lift_ceiling(state, arm)
    if this.learned == 0:
        this.total, this.mean, ever.total_rest = 0.0, 0.0, 0.0
        return
    total = this.total + reward
    ever.total_rest += sum_rest(this.total, reward, total)
    this.total = total
    this.mean = (total + ever.total_rest) / this.learned


@kernel
def _change_unit(state: State) -> None:
    """Count all in units of now, and forget what is nothing beside them."""
    arms = arms_at(state.arms)
    evers = ever_at(state.ever)
    scale = state.unit
    state.unit = 1.0
    state.remembered *= scale
    state.stale = 1
    for arm in range(state.slots):
        this, ever = arms[arm], evers[arm]
        before = this.pulls
        this.pulls *= scale
        this.total *= scale
        ever.weight *= scale
        ever.waiting *= scale
        if this.pulls < FORGOTTEN:
            ever.waiting = 0.0
            if before > 0.0:
                lose_pulls(state, arm, this.pulls)
        if ever.weight < FORGOTTEN:
            ever.weight, this.total, this.mean, this.learned = 0.0, 0.0, 0.0, 0
        else:
            this.mean = this.total / ever.weight  # as that of a bandit is which was saved and read again


@kernel
def restore_events(address: int, whens: Integers, slots: Integers, rewards: Floats) -> None:
    """Remember the events of a window again, in the order in which they came. Order and counts are to be made anew."""
    state = state_at(address)
    now = state.now
    for i in range(len(whens)):
        arm, reward = slots[i], rewards[i]
        state.now = whens[i]
        _push(state, arm, reward)
        if math.isnan(reward):
            state.remembered += 1.0
            arms_at(state.arms)[arm].pulls += 1.0
        else:
            arms_at(state.arms)[arm].learned += 1
            _add(state, arm, reward)
    state.now = now


@kernel
def forget_everything(state: State) -> None:
    """Start again."""
    evers = ever_at(state.ever)
    state.now = 0
    state.remembered = 0.0
    state.unit = 1.0
    state.events_first = 0
    state.events_count = 0
    state.restarts = 0
    state.corners_used, state.corners_free = 0, NO_CORNER
    for arm in range(state.slots):
        ever = evers[arm]
        ever.pulls, ever.learned, ever.above, ever.below = 0, 0, NO_CORNER, NO_CORNER
        ever.total, ever.total_rest, ever.weight, ever.waiting = 0.0, 0.0, 0.0, 0.0
