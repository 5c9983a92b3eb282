"""A tournament tree over upper bounds: which arm could be largest, and every arm that could be at least so large."""

from __future__ import annotations

from ocucb.compiled import inlined, kernel, largest, lowest_bit, reaching
from ocucb.selection.state import FANOUT, SHIFT, State, bounds_at, offsets_at

# A node's children are read all at once: a loop over them would stop at a place no processor can foresee.
_reaching_at = reaching(FANOUT)
_largest_at = largest(FANOUT)
BYTES = 8  # of a bound


@kernel
def largest_bound(state: State) -> float:
    """Return the largest bound."""
    return float(bounds_at(state.bounds)[offsets_at(state.offsets)[state.root]])


@kernel
def _node(state: State, level: int, node: int) -> int:
    """Return the address of the first child, at this level, of a node one level up."""
    return int(state.bounds + BYTES * (offsets_at(state.offsets)[level] + (node << SHIFT)))


@kernel
def arm_of_largest_bound(state: State) -> int:
    """Return the lowest arm with the largest bound."""
    return _descend(state, state.root, 0, largest_bound(state))


@kernel
def first_arm(state: State, least: float) -> int:
    """Return the lowest arm with a bound of `least` or more, or -1."""
    return _descend(state, state.root, 0, least) if largest_bound(state) >= least else -1


@inlined
def next_arm(state: State, arm: int, least: float) -> int:
    """Return the first arm after `arm` with a bound of `least` or more, or -1."""
    child = arm
    for level in range(state.root):
        node = child >> SHIFT
        later = _reaching_at(_node(state, level, node), least) & (-2 << (child & (FANOUT - 1)))
        if later:
            return _descend(state, level, (node << SHIFT) + lowest_bit(later), least)
        child = node  # nothing left in this one; go on with the next, a level up
    return -1


@inlined
def _descend(state: State, level: int, child: int, least: float) -> int:
    """Return the lowest arm below a node that holds one."""
    for below in range(level - 1, -1, -1):
        child = (child << SHIFT) + lowest_bit(_reaching_at(_node(state, below, child), least))
    return child


@inlined
def set_bound(state: State, arm: int, bound: float) -> None:
    """Give an arm a new bound."""
    offsets = offsets_at(state.offsets)
    bounds = bounds_at(state.bounds)
    child = arm
    old = bounds[child]
    bounds[child] = bound
    for level in range(1, state.root + 1):
        child >>= SHIFT
        node = offsets[level] + child
        top = bounds[node]
        if bound <= top:
            if old < top or bound == top:
                return
            bound = _largest_at(_node(state, level - 1, child))
            if bound == top:
                return
        bounds[node] = bound
        old = top


@kernel
def rebuild_bounds(state: State) -> None:
    """Recompute the tree above the leaves."""
    offsets = offsets_at(state.offsets)
    bounds = bounds_at(state.bounds)
    for level in range(1, state.root + 1):
        for node in range((offsets[level] - offsets[level - 1]) >> SHIFT):
            bounds[offsets[level] + node] = _largest_at(_node(state, level - 1, node))
