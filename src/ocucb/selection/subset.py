"""A choice among some arms only, several different arms in one round, and how likely an arm is chosen."""

from __future__ import annotations

import math

from ocucb.compiled import Floats, Integers, kernel
from ocucb.selection.expiry import clock, refresh, tighten
from ocucb.selection.index import arm_index
from ocucb.selection.lazy import NEITHER, invalidate, select, withdraw
from ocucb.selection.operations import OVER, STALE, add_pull, describe, pick_by_coin
from ocucb.selection.restarting import NO_ARM, arm_to_explore
from ocucb.selection.scan import DRAWN, best_arm, score_of, value
from ocucb.selection.state import RESTART, State, arms_at, bounds_at, state_at

RETIRED = -3  # one of the arms is retired
NONE = -4
NO_GUMBEL = math.exp(-1.0)  # a uniform at which the Gumbel variable is 0


@kernel
def pick_among(state: State, slots: Integers, coin: float) -> int:
    """Return the arm to play next of these, by the same rules as of all; the best arm is that of them."""
    t = state.rounds + 1
    if state.horizon > 0 and t > state.horizon:
        return OVER
    if state.trend != NEITHER and state.stale == 0:
        return _pick_by_bounds(state, slots, t)
    fresh = _first_unpulled(state, slots)
    if fresh != NONE:
        return fresh
    if state.stale:
        return STALE
    best = best_among(state, slots) if state.score else -1
    winner, top = -1, -math.inf
    for slot in slots:
        here = value(state, slot, t, best, coin)
        if here > top or (here == top and slot < winner):
            winner, top = slot, here
    return winner if winner >= 0 else _fewest_among(state, slots)


@kernel
def _pick_by_bounds(state: State, slots: Integers, t: int) -> int:
    """Do as `pick_among`, and compute no index that its bound shows to be too small.

    An arm with a bound above -inf is in play and has a reward, so its record need not be looked at.
    """
    bounds = bounds_at(state.bounds)
    if clock(state, t) >= state.next_expiry:
        refresh(state, t, max(arm_index(state, state.leader, t) if state.leader >= 0 else -math.inf, state.last_best))
    likely, most, unbound = -1, -math.inf, False
    for slot in slots:
        unbound = unbound or bounds[slot] == -math.inf
        if bounds[slot] > most:
            likely, most = slot, bounds[slot]
    if unbound:
        fresh = _first_unpulled(state, slots)
        if fresh != NONE:
            return fresh
    winner = likely
    top = arm_index(state, likely, t) if likely >= 0 else -math.inf
    for slot in slots:
        if slot != likely and (bounds[slot] >= top or bounds[slot] == -math.inf):
            here = arm_index(state, slot, t)
            if here > top or (here == top and slot < winner):
                winner, top = slot, here
            elif bounds[slot] >= top:
                tighten(state, slot, t, here, top)
    return winner if top > -math.inf else _fewest_among(state, slots)


@kernel
def _first_unpulled(state: State, slots: Integers) -> int:
    """Return the lowest of these arms that was never pulled, or NONE; RETIRED if one of them is."""
    arms = arms_at(state.arms)
    fresh = NONE
    for slot in slots:
        if not arms[slot].active:
            return RETIRED
        if arms[slot].pulls == 0.0 and (fresh == NONE or slot < fresh):
            fresh = slot
    return fresh


@kernel
def _fewest_among(state: State, slots: Integers) -> int:
    arms = arms_at(state.arms)
    winner = -1
    for slot in slots:
        if winner < 0 or (arms[slot].pulls, slot) < (arms[winner].pulls, winner):
            winner = slot
    return winner


@kernel
def best_among(state: State, slots: Integers) -> int:
    """Return the lowest of these arms with the largest mean; -1 if none has a reward."""
    arms = arms_at(state.arms)
    best = -1
    for slot in slots:
        if arms[slot].learned > 0:
            lead = arms[slot].mean - arms[best].mean if best >= 0 else 1.0
            if lead > 0.0 or (lead == 0.0 and slot < best):
                best = slot
    return best


@kernel
def peek_among(address: int, slots: Integers) -> int:
    return pick_among(state_at(address), slots, DRAWN)


@kernel
def choose_among(address: int, slots: Integers) -> int:
    state = state_at(address)
    arm = pick_among(state, slots, DRAWN)
    if arm >= 0:
        add_pull(state, arm)
    return arm


@kernel
def decide_among(address: int, slots: Integers, known: Floats, effective: bool) -> int:
    """Do as `choose_among`, and write what was known before, as `operations.decide` does."""
    state = state_at(address)
    arm = pick_among(state, slots, DRAWN)
    if arm >= 0:
        describe(state, arm, best_among(state, slots), known, effective)
        add_pull(state, arm)
    return arm


@kernel
def describe_among(address: int, arm: int, slots: Integers, known: Floats, effective: bool) -> None:
    """Write what is known of an arm, in a choice among some arms; of all, if there are none."""
    state = state_at(address)
    best = -1
    if state.score:
        best = best_among(state, slots) if len(slots) > 0 else best_arm(state)
    describe(state, arm, best, known, effective)


@kernel
def chance(address: int, arm: int, slots: Integers, coin: float, lot: bool, weights: bool) -> float:
    """Return how likely a score with these `Chances` chooses an arm, among some arms; among all, if there are none."""
    state = state_at(address)
    arms = arms_at(state.arms)
    heads = pick_among(state, slots, 0.0) if len(slots) > 0 else pick_by_coin(state, 0.0)
    forced = len(slots) == 0 and state.memory == RESTART and arm_to_explore(state) != NO_ARM
    if arms[heads].learned == 0 or arms[heads].pulls == 0.0 or forced:  # no score was asked
        return 1.0 if heads == arm else 0.0
    if weights:
        return _share_of_weights(state, arm, slots)
    tails = pick_among(state, slots, 1.0) if len(slots) > 0 else pick_by_coin(state, 1.0)
    certain = (1.0 - coin) * (tails == arm)
    if not lot:
        return float(coin * (heads == arm) + certain)
    return float(coin * (arms[arm].learned > 0) / _count_known(state, slots) + certain)


@kernel
def _share_of_weights(state: State, arm: int, slots: Integers) -> float:
    """Return the weight of an arm over that of all, where the scores are their logarithms and a Gumbel variable."""
    arms = arms_at(state.arms)
    best = best_among(state, slots) if len(slots) > 0 else best_arm(state)
    mine, total = 0.0, 0.0
    for i in range(len(slots) if len(slots) > 0 else state.slots):
        slot = slots[i] if len(slots) > 0 else i
        if arms[slot].active and arms[slot].learned > 0:
            weight = math.exp(score_of(state, slot, state.rounds + 1, best, 0.5, NO_GUMBEL))
            total += weight
            mine = weight if slot == arm else mine
    return mine / total


@kernel
def _count_known(state: State, slots: Integers) -> int:
    """Return how many arms have a reward."""
    arms = arms_at(state.arms)
    known = 0
    for i in range(len(slots) if len(slots) > 0 else state.slots):
        this = arms[slots[i]] if len(slots) > 0 else arms[i]
        known += this.active and this.learned > 0
    return known


@kernel
def rank(address: int, chosen: Integers, tops: Floats) -> int:
    """Write different arms by falling index, and return how many; `chosen` and `tops` have room for as many.

    Arms never pulled come first, in order; arms that wait for their first reward last, those of fewest pulls before.
    """
    state = state_at(address)
    arms = arms_at(state.arms)
    t = state.rounds + 1
    if state.horizon > 0 and t + len(chosen) - 1 > state.horizon:
        return OVER
    found, arm = 0, state.cursor
    while found < len(chosen) and found < state.unpulled:
        if arms[arm].active and arms[arm].pulls == 0.0:
            chosen[found] = arm
            found += 1
        arm += 1
    if found == len(chosen):
        return found
    if state.stale:
        return STALE
    if state.trend == NEITHER:
        found = _rank_all(state, t, chosen, tops, found)
    else:
        found = _rank_lazily(state, t, chosen, found)
    return _rank_waiting(state, chosen, tops, found)


@kernel
def _rank_lazily(state: State, t: int, chosen: Integers, first: int) -> int:
    """Write the arms with a reward from place `first` on, by falling index; return where they end."""
    arms = arms_at(state.arms)
    found = first
    while found < len(chosen):
        arm = select(state, t)
        if arm not in (state.leader, state.challenger):  # no arm with a reward is left
            break
        withdraw(state, arm)
        arms[arm].hidden = 1  # so that no arm in the same state joins it
        chosen[found] = arm
        found += 1
    for i in range(first, found):
        arms[chosen[i]].hidden = 0
        invalidate(state, chosen[i])
    return found


@kernel
def _rank_all(state: State, t: int, chosen: Integers, tops: Floats, first: int) -> int:
    """Write the arms with a reward from place `first` on, by falling value; return where they end."""
    arms = arms_at(state.arms)
    best = best_arm(state) if state.score else -1
    found = first
    for arm in range(state.slots):
        here = value(state, arm, t, best, DRAWN)
        if here > -math.inf and arms[arm].learned > 0:
            found = _insert(chosen, tops, first, found, arm, here)
    return found


@kernel
def _rank_waiting(state: State, chosen: Integers, tops: Floats, first: int) -> int:
    """Write the arms that are left: those whose index is -inf, then by rising pulls those that wait for a reward."""
    arms = arms_at(state.arms)
    found = first
    if found < len(chosen):
        for arm in range(state.slots):
            this = arms[arm]
            if this.active and this.pulls > 0.0 and (this.learned == 0 or not _is_in(chosen, first, arm)):
                found = _insert(chosen, tops, first, found, arm, 0.0 if this.learned > 0 else -this.pulls)
    return found


@kernel
def _is_in(chosen: Integers, found: int, arm: int) -> bool:
    present = False
    for i in range(found):
        present = present or chosen[i] == arm
    return present


@kernel
def _insert(chosen: Integers, tops: Floats, first: int, found: int, arm: int, here: float) -> int:
    """Put an arm behind those of places `first` to `found` whose value is not smaller, if there is room."""
    if found == len(chosen):
        if found == first or here <= tops[found - 1]:
            return found
        found -= 1
    place = found
    while place > first and tops[place - 1] < here:
        chosen[place], tops[place] = chosen[place - 1], tops[place - 1]
        place -= 1
    chosen[place], tops[place] = arm, here
    return found + 1
