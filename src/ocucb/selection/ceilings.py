"""The scan under a memory: every arm, every round, but only those are evaluated that could win.

Where things are forgotten, pulls fall as well as rise, and the bounds of the lazy selector do not hold. Yet little
of it happens in one round: the time moves by at most 1; one pull at most leaves a window, which takes at most 1 from
the effective arms of others; under a discount pulls shrink by its factor. Each pull, and each that is taken back, is a
*tick*. A *ceiling* is an upper bound on the index of an arm for the ticks that are left, after which all ceilings are
made anew. Whatever else changes an arm lifts its ceiling, so that it is evaluated next time.
"""

from __future__ import annotations

import math

from ocucb.compiled import kernel
from ocucb.noise.noise import Family
from ocucb.policies.policy import Rule, Trend
from ocucb.selection.index import arm_index, upper_bound
from ocucb.selection.scan import fewest
from ocucb.selection.state import State, arms_at, bounds_at

# The longer ceilings last the fewer are made, and the higher they are. With k near K, K/32 arms lost change a level by
# little.
FEWEST_TICKS = 4
MOST_TICKS = 256
ARMS_PER_TICK = 32


def may_have_ceilings(rule: Rule, family: Family) -> bool:
    """Return whether the index under a rule that forgets has a bound which ticks tell.

    Under a discount an index must fall with the pulls, which a posterior's quantile need not.
    """
    if not rule.forgets or rule.level is None or rule.trend is Trend.NEITHER:
        return False
    plain = rule.variance_bound is None and not family.spreads
    return plain and (rule.bound == "divergence" or not rule.factor)


@kernel
def lift_ceiling(state: State, arm: int) -> None:
    """Note that an arm changed: it must be evaluated next."""
    bounds_at(state.bounds)[arm] = math.inf


@kernel
def wear_ceilings(state: State) -> None:
    """Count a tick."""
    state.ceilings_left -= 1


@kernel
def scan_under_ceilings(state: State, t: int) -> int:
    """Return the lowest arm with the largest index in round t."""
    arms, bounds = arms_at(state.arms), bounds_at(state.bounds)
    if state.ceilings_left <= 0:
        state.ceilings_left = min(MOST_TICKS, max(FEWEST_TICKS, state.active // ARMS_PER_TICK))
        state.arms_per_tick = 1.0
        for arm in range(state.slots):
            bounds[arm] = math.inf
    winner, top = -1, -math.inf
    for arm in range(state.slots):
        if bounds[arm] < top or not arms[arm].active:
            continue
        value = arm_index(state, arm, t)
        if value > top:
            winner, top = arm, value
        if bounds[arm] == math.inf and value > -math.inf:
            bounds[arm] = upper_bound(state, arm, t, state.ceilings_left)
    return winner if winner >= 0 else fewest(state)
