"""The plain scan: every arm, every round. For rules with no monotone level, and the oracle of the lazy selector."""

from __future__ import annotations

import math

import numpy as np

from ocucb.compiled import call_score, kernel, reals
from ocucb.selection.index import exact
from ocucb.selection.state import State, arms_at
from ocucb.uniforms import stream, uniform


@kernel
def best_mean(state: State) -> float:
    """Return the largest mean of the arms in play."""
    arms = arms_at(state.arms)
    best = -math.inf
    for arm in range(state.slots):
        this = arms[arm]
        if this.active and this.learned > 0:
            best = max(best, this.mean)
    return best


@kernel
def value(state: State, arm: int, t: int, best: float) -> float:
    """Return what an arm is compared by: infinite before its first pull, -inf if retired or without a reward."""
    arms = arms_at(state.arms)
    this = arms[arm]
    if this.active and this.pulls == 0.0:
        return math.inf
    if not this.active or this.learned == 0:
        return -math.inf
    if state.score == 0:
        return exact(state, arm, float(t))
    luck = stream(np.uint64(state.seed), t)
    return float(
        call_score(
            state.score,
            (
                float(t),
                this.pulls,
                this.mean,
                best,
                uniform(luck, 0),
                uniform(luck, arm + 1),
                reals(state.parameters),
                state.divergence,
                state.posterior,
                reals(state.family),
            ),
        )
    )


@kernel
def scan(state: State, t: int) -> int:
    """Return the lowest arm with the largest value in round t."""
    best = best_mean(state)
    winner, top = -1, -math.inf
    for arm in range(state.slots):
        here = value(state, arm, t, best)
        if here > top:
            winner, top = arm, here
    return winner if winner >= 0 else fewest(state)


@kernel
def fewest(state: State) -> int:
    """Return the arm with the fewest pulls: the choice while every first reward is still pending."""
    arms = arms_at(state.arms)
    winner = -1
    for arm in range(state.slots):
        this = arms[arm]
        if this.active and (winner < 0 or this.pulls < arms[winner].pulls):
            winner = arm
    return winner
