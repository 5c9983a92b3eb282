"""How long the leader leads safely, whatever its rewards are, as long as its mean stays above a floor.

In the next pulls of the leader no other arm's bound expires, its level per pull does not fall below what it will be
after the last of them (time stands still, or for a level that falls has run on), and its index grows with its mean. So
if an arm with those pulls and the floor as its mean would still beat every bound, so does the leader until then.
"""

from __future__ import annotations

from ocucb.compiled import call_bound, call_level, kernel, reals
from ocucb.policies.policy import Trend
from ocucb.selection.crown import highest
from ocucb.selection.index import INDEX_ROOM, LEVEL_ROOM
from ocucb.selection.order import effective_arms
from ocucb.selection.state import State, arms_at

FALLS = int(Trend.FALLS)
DEPTH = 0.9  # of the leader's margin over the best bound, how much the floor uses


@kernel
def floor(state: State, t: int, pulls: int) -> float:
    """Return a mean above which the leader wins the rounds from t on, for so many pulls; inf if none is safe."""
    arm = state.leader
    this = arms_at(state.arms)[arm]
    after = this.pulls + pulls
    when = float(t + pulls) if state.trend == FALLS else float(t)
    effective = effective_arms(state, arm)
    level = call_level(state.level, (when, after, effective, float(state.active), reals(state.parameters)))
    level = max(0.0, level * (1.0 - LEVEL_ROOM) - LEVEL_ROOM)
    rival = highest(state)
    index = _cautious(state, this.mean, after, level)
    mean = this.mean - DEPTH * (index - rival)
    if index > rival and _cautious(state, mean, after, level) > rival:
        return float(mean)
    return float("inf")


@kernel
def _cautious(state: State, mean: float, pulls: float, level: float) -> float:
    index = call_bound(state.bound, (mean, pulls, level, reals(state.family)))
    return float(index - INDEX_ROOM * (abs(index) + abs(mean)))
