"""Arms in order of their pulls, so that effective arms need no double sum.

With pulls sorted, Σ_j min(T_i, T_j)^ρ is a prefix sum plus a count. The prefix sums stand in a tree whose every
value is recomputed from the values below it, never corrected: it is a function of the pulls alone, so arms with the
same pulls get the same bits, and so does a bandit that was saved and loaded.
"""

from __future__ import annotations

import math

from ocucb.compiled import kernel
from ocucb.selection.state import FANOUT, SHIFT, State, arms_at, groups_at, offsets_at, order_at, powers_at, prefix_at


@kernel
def power(pulls: float, rho: float) -> float:
    """Return T^ρ, exact where it can be."""
    if rho == 0.5:
        return math.sqrt(pulls)
    if rho == 1.0:
        return pulls
    return math.pow(pulls, rho)


@kernel
def effective_arms(state: State, arm: int) -> float:
    """Return k = Σ_j min{1, (T_j/T)^ρ} of an arm that was pulled."""
    arms = arms_at(state.arms)
    groups = groups_at(state.groups)
    if state.ordered == 0:
        return float(state.active)
    this = arms[arm]
    start = groups[this.group].start
    return float((_sum_before(state, start) + (state.active - start) * this.power) / this.power)


@kernel
def _sum_before(state: State, place: int) -> float:
    offsets = offsets_at(state.offsets)
    prefix = prefix_at(state.prefix)
    total = 0.0
    for level in range(state.root):
        if place & (FANOUT - 1):
            total += prefix[offsets[level] + place - 1]
        place >>= SHIFT
    return total


@kernel
def _set_power(state: State, place: int, value: float) -> None:
    offsets = offsets_at(state.offsets)
    powers = powers_at(state.powers)
    prefix = prefix_at(state.prefix)
    end = state.active - 1
    for level in range(state.root):
        start = offsets[level]
        powers[start + place] = value
        value = prefix[start + place - 1] if place & (FANOUT - 1) else 0.0
        for child in range(place, min(place | (FANOUT - 1), end) + 1):
            value += powers[start + child]
            prefix[start + child] = value
        place >>= SHIFT
        end >>= SHIFT


@kernel
def _stand(state: State, arm: int, place: int) -> None:
    """Put an arm at a place, with its power."""
    arms = arms_at(state.arms)
    order = order_at(state.order)
    order[place] = arm
    arms[arm].place = place
    _set_power(state, place, arms[arm].power)


@kernel
def _found(state: State, arm: int, place: int) -> None:
    """Give an arm a group of its own."""
    arms = arms_at(state.arms)
    groups = groups_at(state.groups)
    group = state.free
    state.free = groups[group].start
    groups[group].start = place
    groups[group].end = place + 1
    arms[arm].group = group


@kernel
def raise_pulls(state: State, arm: int, pulls: float) -> None:
    """Give an arm more pulls than it had and move it up the order, past whole groups at a time."""
    arms = arms_at(state.arms)
    order = order_at(state.order)
    groups = groups_at(state.groups)
    this = arms[arm]
    this.pulls = pulls
    this.power = power(pulls, state.rho)
    old = groups[this.group]
    here = old.end - 1
    if here == old.start and (here + 1 == state.active or arms[order[here + 1]].pulls > pulls):
        _set_power(state, here, this.power)  # alone before and after: the usual case for the arm pulled most
        return
    if this.place != here:
        other = order[here]
        order[this.place] = other
        arms[other].place = this.place
    old.end = here
    if old.start == here:
        old.start = state.free
        state.free = this.group
    joined = False
    while here + 1 < state.active:
        neighbour = arms[order[here + 1]]
        if neighbour.pulls >= pulls:
            joined = neighbour.pulls == pulls
            if joined:
                groups[neighbour.group].start = here
                this.group = neighbour.group
            break
        passed = groups[neighbour.group]
        tail = passed.end - 1
        _stand(state, order[tail], here)
        passed.start = here
        passed.end = tail
        here = tail
    if not joined:
        _found(state, arm, here)
    _stand(state, arm, here)


@kernel
def rebuild_order(state: State) -> None:
    """Make groups and sums anew from arms that stand in order."""
    arms = arms_at(state.arms)
    order = order_at(state.order)
    groups = groups_at(state.groups)
    powers = powers_at(state.powers)
    for group in range(state.active + 1):
        groups[group].start = group + 1
    state.free = 0
    for place in range(state.active):
        arm = order[place]
        this = arms[arm]
        this.power = power(this.pulls, state.rho)
        this.place = place
        powers[place] = this.power
        if place > 0 and arms[order[place - 1]].pulls == this.pulls:
            this.group = arms[order[place - 1]].group
            groups[this.group].end = place + 1
        else:
            _found(state, arm, place)
    _sum_all(state)


@kernel
def _sum_all(state: State) -> None:
    offsets = offsets_at(state.offsets)
    powers = powers_at(state.powers)
    prefix = prefix_at(state.prefix)
    end = state.active - 1
    for level in range(state.root):
        start, above = offsets[level], offsets[level + 1]
        for child in range(end + 1):
            before = prefix[start + child - 1] if child & (FANOUT - 1) else 0.0
            prefix[start + child] = before + powers[start + child]
            powers[above + (child >> SHIFT)] = prefix[start + child]
        end >>= SHIFT
