"""Choosing by scores on a GPU, for the few rules that are no level: all arms are looked at in each round.

Where a score falls as its uniform number rises, and can be estimated in single precision, only arms whose estimate
reaches the largest score are looked at: a draw from a posterior takes long.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ocucb.compiled.cuda import Group, device
from ocucb.lab.gpu_arms import LaneArms
from ocucb.lab.gpu_index import ROUGH_INDEX_MARGIN, Indices, Numbers
from ocucb.lab.gpu_moments import Moments
from ocucb.lab.gpu_rule import DIVERGENCE, POSTERIOR, UPPER, score_of
from ocucb.noise.noise import Family
from ocucb.policies.policy import Rule
from ocucb.uniforms import stream, uniform

LARGEST_UNIFORM = 0.9  # above it a score is estimated as if it were this: the logarithm of more has too few digits
LOWERED = 1.0 - 2.0**-15  # by which a uniform is lowered for an estimate, far more than single precision rounds it


def make_scores(
    rule: Rule, family: Family, group: Group, slots: int, indices: Indices, moments: Moments, rough: bool
) -> Any:
    """Return a choice by scores."""
    score, lanes, mean_of = score_of(rule, family), group.lanes, indices.mean
    set_estimates = _make_set_estimates(rule, family, slots, lanes, rough)
    reads_leader, spreads, set_spread = not rule.samples, moments.kept, moments.set_spread

    @device
    def choose(
        own: LaneArms, lane: int, arms: int, t: int, length: int, last: int, renewal: Any, seed: int, picks: bool,
        numbers: Numbers,
    ) -> tuple[int, float, Any]:  # fmt: skip
        leader, best_mean, most = -1, 0.0, 0.0
        if reads_leader:
            leader, best_mean = lane, -math.inf
            for slot in range(slots):
                if slot * lanes + lane < arms and mean_of(own, slot) > best_mean:
                    leader, best_mean = slot * lanes + lane, mean_of(own, slot)
            leader = group.first_of_largest(best_mean, leader)
            best_mean = group.of_lane(mean_of(own, leader // lanes), leader % lanes)
            most = group.of_lane(float(own.pulls[leader // lanes]), leader % lanes)
        luck = np.uint64(stream(np.uint64(seed), t))
        top = set_estimates(own, lane, arms, luck, numbers)
        best, winner, slot, following = -math.inf, lane, top, 0
        while True:
            if slot < slots and slot * lanes + lane < arms:
                arm = slot * lanes + lane
                if spreads:
                    set_spread(own, slot, numbers)
                    constants = own.spread
                else:
                    constants = numbers.constants
                value = score(
                    float(t), float(arms), float(own.pulls[slot]), mean_of(own, slot), arm == leader, best_mean, most,
                    uniform(luck, 0), uniform(luck, arm + 1), numbers.parameters, DIVERGENCE, UPPER, POSTERIOR,
                    constants,
                )  # fmt: skip
                if value > best or (value == best and arm < winner):
                    best, winner = value, arm
            least = group.largest(best)
            while following < slots and (following == top or (rough and own.bounds[following] < least)):
                following += 1
            slot = following
            following += 1
            if not group.any_in_warp(picks and slot < slots):
                break
        return int(group.first_of_largest(best, winner)), math.inf, renewal

    return choose


def _make_set_estimates(rule: Rule, family: Family, slots: int, lanes: int, rough: bool) -> Any:
    if not rough:
        return device(lambda *_: 0)
    score = score_of(rule, family, rough=True)
    nothing, margin = np.float32(0.0), np.float32(ROUGH_INDEX_MARGIN)

    @device
    def set_estimates(own: LaneArms, lane: int, arms: int, luck: np.uint64, numbers: Numbers) -> int:
        """Write what no score exceeds as bounds; return the slot with the largest."""
        top, largest = 0, np.float32(-math.inf)
        for slot in range(slots):
            if slot * lanes + lane < arms:
                pulls = np.float32(own.pulls[slot])
                mean = own.means[slot]
                chance = np.float32(min(uniform(luck, slot * lanes + lane + 1), LARGEST_UNIFORM) * LOWERED)
                value = score(
                    nothing, nothing, pulls, mean, False, nothing, nothing, nothing, chance, numbers.rough_parameters,
                    DIVERGENCE, UPPER, POSTERIOR, numbers.rough_constants,
                )  # fmt: skip
                value += margin * (abs(value) + abs(mean))
                own.bounds[slot] = value
                if value > largest:
                    top, largest = slot, value
        return top

    return set_estimates
