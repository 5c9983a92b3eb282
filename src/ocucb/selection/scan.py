"""The plain scan: every arm, every round. For rules with no monotone level, and the oracle of the lazy selector."""

from __future__ import annotations

import math

import numpy as np

from ocucb.compiled import call_score, kernel, reals
from ocucb.selection.index import arm_index, time_of
from ocucb.selection.moments import family_of
from ocucb.selection.state import State, arms_at
from ocucb.uniforms import stream, uniform

DRAWN = -1.0  # the coin of the round, for callers that do not say how it falls


@kernel
def best_arm(state: State) -> int:
    """Return the lowest arm in play with the largest mean; -1 if there is none with a reward."""
    arms = arms_at(state.arms)
    best = -1
    for arm in range(state.slots):
        this = arms[arm]
        if this.active and this.learned > 0 and (best < 0 or this.mean > arms[best].mean):
            best = arm
    return best


@kernel
def value(state: State, arm: int, t: int, best: int, coin: float) -> float:
    """Return what an arm is compared by: infinite before its first pull, -inf if retired or without a reward."""
    arms = arms_at(state.arms)
    this = arms[arm]
    if this.active and this.pulls == 0.0:
        return math.inf
    if not this.active or this.learned == 0:
        return -math.inf
    if state.score == 0:
        return arm_index(state, arm, t)
    luck = stream(np.uint64(state.seed), t)
    return score_of(state, arm, t, best, uniform(luck, 0) if coin == DRAWN else coin, uniform(luck, arm + 1))


@kernel
def score_of(state: State, arm: int, t: int, best: int, coin: float, luck: float) -> float:
    """Return the score of an arm with a reward, given its uniform number and the coin that all arms share."""
    arms = arms_at(state.arms)
    this = arms[arm]
    return float(
        call_score(
            state.score,
            (
                time_of(state, t),
                float(state.active),
                this.pulls * state.unit,
                this.mean,
                arm == best,
                arms[best].mean,
                arms[best].pulls * state.unit,
                coin,
                luck,
                reals(state.parameters),
                state.divergence,
                state.upper,
                state.posterior,
                family_of(state, arm),
            ),
        )
    )


@kernel
def scan(state: State, t: int, coin: float) -> int:
    """Return the lowest arm with the largest value in round t."""
    best = best_arm(state)
    winner, top = -1, -math.inf
    for arm in range(state.slots):
        here = value(state, arm, t, best, coin)
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
