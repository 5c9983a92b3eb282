"""Arms in order of their pulls, so that effective arms need no double sum.

With pulls sorted, Σ_j min(T_i, T_j)^ρ is a prefix sum plus a count. The prefix sums stand in a tree whose every
value is recomputed from the values below it, never corrected: it is a function of the pulls alone, so arms with the
same pulls get the same bits, and so does a bandit that was saved and loaded.
"""

from __future__ import annotations

import math

from ocucb.compiled import kernel
from ocucb.selection.state import (
    FANOUT,
    SHIFT,
    State,
    arms_at,
    groups_at,
    offsets_at,
    order_at,
    powers_at,
    prefetch_arm,
    prefix_at,
)


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
def _put(state: State, arm: int, place: int) -> None:
    """Put an arm at a place, with its power."""
    arms = arms_at(state.arms)
    order = order_at(state.order)
    order[place] = arm
    arms[arm].place = place
    _set_power(state, place, arms[arm].power)


@kernel
def _new_group(state: State, arm: int, place: int) -> None:
    """Give an arm a group of its own."""
    arms = arms_at(state.arms)
    groups = groups_at(state.groups)
    group = state.free_group
    state.free_group = groups[group].start
    groups[group].start = place
    groups[group].end = place + 1
    arms[arm].group = group


@kernel
def _leave_group(state: State, arm: int, place: int) -> None:
    """Take an arm out of its group, at the first or last place of it, which nobody has then."""
    arms = arms_at(state.arms)
    order = order_at(state.order)
    groups = groups_at(state.groups)
    this = arms[arm]
    if this.place != place:
        other = order[place]
        order[this.place] = other
        arms[other].place = this.place
    old = groups[this.group]
    if old.end == old.start + 1:
        old.start = state.free_group
        state.free_group = this.group
    elif place == old.start:
        old.start += 1
    else:
        old.end = place


@kernel
def _pass_fewer(state: State, place: int, pulls: float) -> int:
    """Move a free place up past the groups with fewer pulls; return where it is then."""
    arms = arms_at(state.arms)
    order = order_at(state.order)
    groups = groups_at(state.groups)
    while place + 1 < state.active and arms[order[place + 1]].pulls < pulls:
        passed = groups[arms[order[place + 1]].group]
        tail = passed.end - 1
        _put(state, order[tail], place)
        passed.start = place
        passed.end = tail
        place = tail
    return place


@kernel
def _pass_more(state: State, place: int, pulls: float) -> int:
    """Move a free place down past the groups with more pulls; return where it is then."""
    arms = arms_at(state.arms)
    order = order_at(state.order)
    groups = groups_at(state.groups)
    while place > 0 and arms[order[place - 1]].pulls > pulls:
        passed = groups[arms[order[place - 1]].group]
        head = passed.start
        _put(state, order[head], place)
        passed.start = head + 1
        passed.end = place + 1
        place = head
    return place


@kernel
def _pass_singles(state: State, arm: int, pulls: float) -> None:
    """Move an arm that is alone in its group up past all with fewer pulls, and make sums anew once, at the end.

    Under a discount no two arms have the same pulls, so an arm may pass thousands of groups in a round.
    """
    arms = arms_at(state.arms)
    order = order_at(state.order)
    groups = groups_at(state.groups)
    powers = powers_at(state.powers)
    first = place = arms[arm].place
    while place + 1 < state.active and arms[order[place + 1]].pulls < pulls:
        passed = groups[arms[order[place + 1]].group]
        for behind in range(place + 1, passed.end):
            other = order[behind]
            order[behind - 1] = other
            arms[other].place = behind - 1
            powers[behind - 1] = arms[other].power
        place = passed.end - 1
        passed.start -= 1
        passed.end -= 1
    order[place] = arm
    arms[arm].place = place
    groups[arms[arm].group].start = place
    groups[arms[arm].group].end = place + 1
    powers[place] = arms[arm].power
    _sum_range(state, first, place)


@kernel
def _sum_range(state: State, first: int, last: int) -> None:
    """Make the sums anew over places from `first` to `last`."""
    offsets = offsets_at(state.offsets)
    powers = powers_at(state.powers)
    prefix = prefix_at(state.prefix)
    end = state.active - 1
    for level in range(state.root):
        start, above = offsets[level], offsets[level + 1]
        for child in range(first, min(last | (FANOUT - 1), end) + 1):
            before = prefix[start + child - 1] if child & (FANOUT - 1) else 0.0
            prefix[start + child] = before + powers[start + child]
            powers[above + (child >> SHIFT)] = prefix[start + child]
        first >>= SHIFT
        last >>= SHIFT
        end >>= SHIFT


@kernel
def prefetch_next_group(state: State, arm: int) -> None:
    """Ask for the record that `raise_pulls` of an arm reads first: of one in the group with the next more pulls."""
    groups = groups_at(state.groups)
    if state.ordered:
        prefetch_arm(state, order_at(state.order)[min(groups[arms_at(state.arms)[arm].group].end, state.active - 1)])


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
    place = old.end - 1
    if place == old.start and (place + 1 == state.active or arms[order[place + 1]].pulls > pulls):
        _set_power(state, place, this.power)  # alone before and after: the usual case for the arm pulled most
        return
    _leave_group(state, arm, place)
    place = _pass_fewer(state, place, pulls)
    if place + 1 < state.active and arms[order[place + 1]].pulls == pulls:
        this.group = arms[order[place + 1]].group
        groups[this.group].start = place
    else:
        _new_group(state, arm, place)
    _put(state, arm, place)


@kernel
def raise_single(state: State, arm: int, pulls: float) -> None:
    """Do as `raise_pulls`, quickly where no two arms have the same pulls."""
    this = arms_at(state.arms)[arm]
    group = groups_at(state.groups)[this.group]
    if group.end > group.start + 1:
        raise_pulls(state, arm, pulls)
        return
    this.pulls = pulls
    this.power = power(pulls, state.rho)
    _pass_singles(state, arm, pulls)


@kernel
def lower_pulls(state: State, arm: int, pulls: float) -> None:
    """Give an arm fewer pulls than it had and move it down the order."""
    this = arms_at(state.arms)[arm]
    place = groups_at(state.groups)[this.group].start
    _leave_group(state, arm, place)
    this.pulls = pulls
    _settle(state, arm, place)


@kernel
def insert(state: State, arm: int) -> None:
    """Take an arm that is active now into the order, where its pulls belong."""
    state.active += 1
    _settle(state, arm, state.active - 1)


@kernel
def _settle(state: State, arm: int, place: int) -> None:
    """Move an arm down from a free place to where its pulls belong."""
    arms = arms_at(state.arms)
    order = order_at(state.order)
    groups = groups_at(state.groups)
    this = arms[arm]
    this.power = power(this.pulls, state.rho)
    place = _pass_more(state, place, this.pulls)
    if place > 0 and arms[order[place - 1]].pulls == this.pulls:
        this.group = arms[order[place - 1]].group
        groups[this.group].end = place + 1
    else:
        _new_group(state, arm, place)
    _put(state, arm, place)


@kernel
def remove(state: State, arm: int) -> None:
    """Take an arm out of the order, of which it is not the only one."""
    place = groups_at(state.groups)[arms_at(state.arms)[arm].group].end - 1
    _leave_group(state, arm, place)
    _pass_fewer(state, place, math.inf)
    state.active -= 1  # sums over the last place are read by nobody before an arm stands there again


@kernel
def rebuild_order(state: State) -> None:
    """Make groups and sums anew from arms that stand in order."""
    arms = arms_at(state.arms)
    order = order_at(state.order)
    groups = groups_at(state.groups)
    powers = powers_at(state.powers)
    for group in range(state.capacity + 1):
        groups[group].start = group + 1
    state.free_group = 0
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
            _new_group(state, arm, place)
    sum_powers(state)


@kernel
def sum_powers(state: State) -> None:
    """Make all sums anew."""
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
