"""The index of an arm, and a bound on what it can become while the arm is not pulled.

Everything that compares arms calls these, so the level and the noise family's bound are evaluated in one place.
"""

from __future__ import annotations

import math

from ocucb.compiled import call_bound, call_level, kernel, reals
from ocucb.selection.order import effective_arms
from ocucb.selection.state import State, arms_at

# A level or an index computed later may differ from a bound computed now by rounding. Both get this much room.
LEVEL_ROOM = 1e-12
INDEX_ROOM = 1e-9


@kernel
def index(state: State, arm: int, t: float, room: float) -> float:
    """Return the index in round t, or with some room for rounding an upper bound on it; -inf without a reward."""
    arms = arms_at(state.arms)
    this = arms[arm]
    if this.learned == 0:
        return -math.inf
    state.looks += 1
    effective = effective_arms(state, arm)
    level = call_level(state.level, (t, this.pulls, effective, float(state.active), reals(state.parameters)))
    if not level >= 0.0 and state.signed == 0:
        level = 0.0
    level += math.copysign(room * LEVEL_ROOM * (1.0 + abs(level)), level)
    value = call_bound(state.bound, (this.mean, this.pulls, level, reals(state.family)))
    return float(value + room * INDEX_ROOM * (abs(value) + abs(this.mean))) if room > 0.0 else float(value)


@kernel
def exact(state: State, arm: int, t: float) -> float:
    """Return the index of an arm in round t."""
    return index(state, arm, t, 0.0)


@kernel
def ceiling(state: State, arm: int, t: float) -> float:
    """Return what the index cannot exceed up to round t (from round t on, for a level that falls)."""
    return index(state, arm, t, 1.0)
