"""The index of an arm, and bounds on what it can become: the only callers of a policy's level and a family's bound.

An index can rise while its arm is not pulled: with t, if the level rises with it; when a pull is forgotten, which takes
back a round and lowers effective arms; when an arm retires, which lowers these and the number of arms. An upper bound
allows for as much of all this as happens within some ticks of the clock of `expiry.py`.

Where the sign of a level picks the bound it is put into, that can raise an index, too. An upper bound for a time in
which the sign may change is the larger of both.
"""

from __future__ import annotations

import math

from ocucb.compiled import call_bound, call_level, inlined, kernel, reals
from ocucb.policies.policy import Trend, WithArms
from ocucb.selection.moments import family_of
from ocucb.selection.order import effective_arms
from ocucb.selection.state import DISCOUNT, EVERYTHING, State, arms_at

RISES = int(Trend.RISES)
FALLS = int(Trend.FALLS)
FALLS_WITH_ARMS = int(WithArms.FALLS)

# A level or an index computed later may differ from a bound computed now by rounding. Both get this much margin.
LEVEL_MARGIN = 1e-12
INDEX_MARGIN = 1e-9


@inlined
def arm_index(state: State, arm: int, t: int) -> float:
    """Return the index of an arm in round t; -inf without a reward."""
    this = arms_at(state.arms)[arm]
    if this.learned == 0:
        return -math.inf
    state.evaluations += 1
    this.effective = effective_arms(state, arm)
    pulls = this.pulls * state.unit
    level = _level(state, time_of(state, t), pulls, this.effective, float(state.active))
    return float(call_bound(state.bound, (this.mean, pulls, level, family_of(state, arm))))


@kernel
def time_of(state: State, t: int) -> float:
    """Return what rules take for the time in round t: that, or one more than the pulls that are remembered."""
    return float(t) if state.memory == EVERYTHING else float(state.remembered * state.unit + 1.0)


@inlined
def upper_bound(state: State, arm: int, t: int, ticks: int) -> float:
    """Return what the index of an arm with a reward cannot exceed before so many ticks from round t have passed.

    It reads the effective arms that `arm_index` found: call that first, in the same round.
    """
    one, other = upper_bounds(state, arm, t, ticks)
    return max(one, other)


@kernel
def upper_bounds(state: State, arm: int, t: int, ticks: int) -> tuple[float, float]:
    """Return what `upper_bound` does, for one sign of the level and for the other; -inf if it cannot have that."""
    this = arms_at(state.arms)[arm]
    state.evaluations += 1
    lost = ticks * state.arms_per_tick
    now = time_of(state, t)
    pulls = this.pulls
    if state.memory == DISCOUNT:
        pulls *= state.unit * math.pow(state.factor, float(ticks))
    # No arm has more pulls than there were rounds.
    when = max(pulls + 1.0, now - ticks) if state.own_trend == FALLS else now + ticks
    changed = math.floor(lost) if state.with_arms == FALLS_WITH_ARMS else 0  # arms are whole
    effective = max(1.0, this.effective - lost)
    level = _level(state, when, pulls, effective, max(1.0, float(state.active - changed)))
    level += math.copysign(LEVEL_MARGIN * (1.0 + abs(level)), level)
    one = call_bound(state.bound, (this.mean, pulls, level, family_of(state, arm)))
    one += index_margin(one, this.mean)
    if not (state.signed and _may_switch(state, level, now, pulls, effective, ticks, changed)):
        return one, -math.inf
    state.evaluations += 1
    other = call_bound(state.bound, (this.mean, pulls, -level, family_of(state, arm)))
    return one, other + index_margin(other, this.mean)


@kernel
def _may_switch(
    state: State, level: float, now: float, pulls: float, effective: float, ticks: int, changed: int
) -> bool:
    """Return whether the level may have the other sign before so many ticks have passed, and as many arms changed.

    From the given level, that of the latest round and the fewest arms, to that of the earliest round and the most arms
    the sign changes at most once. It reads the round only if the level rises with it. A level of 0 has no sign.
    """
    if state.own_trend != RISES and changed == 0:
        return False
    goes_back = state.changing or state.memory != EVERYTHING
    earliest = max(pulls + 1.0, now - ticks) if goes_back else now
    return bool(level * _level(state, earliest, pulls, effective, float(state.active + changed)) <= 0.0)


@kernel
def index_margin(value: float, mean: float) -> float:
    """Return how far an index may differ by rounding from the same one computed at another time."""
    return INDEX_MARGIN * (abs(value) + abs(mean))


@kernel
def least_level(state: State, arm: int, t: int, pulls: float) -> float:
    """Return a level below that of an arm which had so many pulls in round t, and its effective arms of now."""
    level = _level(state, float(t), pulls, effective_arms(state, arm), float(state.active))
    return max(0.0, level * (1.0 - LEVEL_MARGIN) - LEVEL_MARGIN)


@kernel
def least_index(state: State, mean: float, pulls: float, level: float) -> float:
    """Return an index below that of an arm with this mean, pulls and level."""
    value = call_bound(state.bound, (mean, pulls, level, reals(state.family)))
    return float(value - index_margin(value, mean))


@inlined
def _level(state: State, t: float, pulls: float, effective: float, arms: float) -> float:
    if state.shared and state.shared_round == t and arms == state.active:
        return float(state.shared_level)
    level = call_level(state.level, (t, pulls, effective, arms, reals(state.parameters)))
    if not (level >= 0.0 or state.signed):
        level = 0.0
    if state.shared and arms == state.active:
        state.shared_round = t
        state.shared_level = level
    return float(level)
