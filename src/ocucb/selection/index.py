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
def exact(state: State, arm: int, t: float) -> float:
    """Return the index of an arm in round t; -inf without a reward."""
    this = arms_at(state.arms)[arm]
    if this.learned == 0:
        return -math.inf
    state.looks += 1
    this.effective = effective_arms(state, arm)
    return float(call_bound(state.bound, (this.mean, this.pulls, _level(state, arm, t), reals(state.family))))


@kernel
def ceiling(state: State, arm: int, t: float) -> float:
    """Return what the index of an arm with a reward cannot exceed up to round t (from t on, for a level that falls).

    It reads the effective arms that `exact` found: call that first, in the same round.
    """
    this = arms_at(state.arms)[arm]
    state.looks += 1
    level = _level(state, arm, t)
    level += math.copysign(LEVEL_ROOM * (1.0 + abs(level)), level)
    value = call_bound(state.bound, (this.mean, this.pulls, level, reals(state.family)))
    return float(value + INDEX_ROOM * (abs(value) + abs(this.mean)))


@kernel
def _level(state: State, arm: int, t: float) -> float:
    if state.shared and state.when == t:
        return float(state.common)
    this = arms_at(state.arms)[arm]
    level = call_level(state.level, (t, this.pulls, this.effective, float(state.active), reals(state.parameters)))
    if not (level >= 0.0 or state.signed):
        level = 0.0
    state.when = t
    state.common = level
    return float(level)
