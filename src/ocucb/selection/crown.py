"""A tournament over upper bounds: who could be largest, and everyone who could be at least so large."""

from __future__ import annotations

import math

from ocucb.compiled import kernel
from ocucb.selection.state import FANOUT, SHIFT, State, bounds_at, offsets_at


@kernel
def highest(state: State) -> float:
    """Return the largest bound."""
    return float(bounds_at(state.bounds)[offsets_at(state.offsets)[state.root]])


@kernel
def holder(state: State) -> int:
    """Return the lowest arm with the largest bound."""
    offsets = offsets_at(state.offsets)
    bounds = bounds_at(state.bounds)
    top = highest(state)
    child = 0
    for level in range(state.root - 1, -1, -1):
        child <<= SHIFT
        while bounds[offsets[level] + child] != top:
            child += 1
    return child


@kernel
def set_bound(state: State, arm: int, bound: float) -> None:
    """Give an arm a new bound."""
    offsets = offsets_at(state.offsets)
    bounds = bounds_at(state.bounds)
    child = arm
    old = bounds[child]
    bounds[child] = bound
    for level in range(1, state.root + 1):
        below = offsets[level - 1]
        child >>= SHIFT
        node = offsets[level] + child
        top = bounds[node]
        if bound <= top:
            if old < top or bound == top:
                return
            first = below + (child << SHIFT)
            for sibling in range(first, first + FANOUT):
                bound = max(bound, bounds[sibling])
            if bound == top:
                return
        bounds[node] = bound
        old = top


@kernel
def first_arm(state: State, least: float) -> int:
    """Return the lowest arm with a bound of `least` or more, or -1."""
    return _descend(state, state.root, 0, least) if highest(state) >= least else -1


@kernel
def next_arm(state: State, arm: int, least: float) -> int:
    """Return the first arm after `arm` with a bound of `least` or more, or -1."""
    offsets = offsets_at(state.offsets)
    bounds = bounds_at(state.bounds)
    child = arm + 1
    for level in range(state.root):
        start = offsets[level]
        while child & (FANOUT - 1):
            if bounds[start + child] >= least:
                return _descend(state, level, child, least)
            child += 1
        child >>= SHIFT  # nothing left in this node; go on with the next one, a level up
    return -1


@kernel
def _descend(state: State, level: int, child: int, least: float) -> int:
    """Return the lowest arm below a node that holds one."""
    offsets = offsets_at(state.offsets)
    bounds = bounds_at(state.bounds)
    for below in range(level - 1, -1, -1):
        child <<= SHIFT
        while bounds[offsets[below] + child] < least:
            child += 1
    return child


@kernel
def rebuild_crown(state: State) -> None:
    """Recompute the tree above the leaves."""
    offsets = offsets_at(state.offsets)
    bounds = bounds_at(state.bounds)
    for level in range(1, state.root + 1):
        below, start = offsets[level - 1], offsets[level]
        for node in range(offsets[level + 1] - start):
            top = -math.inf
            for child in range(node << SHIFT, min((node + 1) << SHIFT, start - below)):
                top = max(top, bounds[below + child])
            bounds[start + node] = top
