"""The largest of random scores, evaluating only arms that can win: for rules whose score falls as its uniform rises.

Thompson sampling draws a mean for every arm in every round. The uniform is cheap, the posterior's quantile is not.
While an arm is neither pulled nor rewarded its score is a function of its uniform alone. So each arm keeps *caps*: its
score at 1/2, 1/4, 1/8, ..., which no larger uniform can exceed. An arm whose cap is below the best score so far cannot
win. Caps are computed when they are first asked for, and forgotten when the arm changes.
"""

from __future__ import annotations

import math

import numpy as np

from ocucb.compiled import bits_of, kernel
from ocucb.selection.index import index_margin
from ocucb.selection.scan import DRAWN, fewest, score_of, value
from ocucb.selection.state import CAPS, State, arms_at, caps_at
from ocucb.uniforms import stream, uniform

UNKNOWN = math.inf  # a cap that was not computed yet


@kernel
def sample(state: State, t: int) -> int:
    """Return the lowest arm with the largest score in round t: the choice of the scan."""
    caps = caps_at(state.caps)
    luck = stream(np.uint64(state.seed), t)
    winner, top = -1, -math.inf
    if state.leader >= 0:  # the arm that won last will probably be hard to beat
        winner = int(state.leader)
        top = value(state, winner, t, winner, DRAWN)
    for arm in range(state.slots):
        # The exponent: 0 for a uniform in [1/2, 1), 1 for one in [1/4, 1/2), ...
        place = 1022 - (bits_of(uniform(luck, arm + 1)) >> 52)
        if place < CAPS and (caps[arm * CAPS + place] < top or arm == state.leader):
            continue
        if place < CAPS and _cap(state, arm, t, place) < top:
            continue
        here = value(state, arm, t, arm, DRAWN)
        if here > top or (here == top and arm < winner):
            winner, top = arm, here
    state.leader = winner if top > -math.inf else -1
    return int(state.leader) if state.leader >= 0 else fewest(state)


@kernel
def _cap(state: State, arm: int, t: int, place: int) -> float:
    """Return what the score of an arm cannot exceed at uniforms of this size, computed once."""
    caps = caps_at(state.caps)
    at = arm * CAPS + place
    if caps[at] == UNKNOWN:
        this = arms_at(state.arms)[arm]
        if not this.active or this.learned == 0:
            caps[at] = -math.inf
        else:
            score = score_of(state, arm, t, arm, 0.5, math.ldexp(0.5, -place))
            caps[at] = score + index_margin(score, this.mean)
    return float(caps[at])


@kernel
def forget_caps(state: State, arm: int) -> None:
    """Note that an arm changed."""
    caps = caps_at(state.caps)
    for place in range(arm * CAPS, (arm + 1) * CAPS):
        caps[place] = UNKNOWN
