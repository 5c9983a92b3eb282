"""The spread of each arm's rewards on a GPU, for policies that read a variance and noise of unknown scale.

A lane has the moments of its arms, and of all rewards of its run the least and the largest. A spread is made where it
is read, by the kernels of the CPU.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ocucb.compiled.cuda import Group, device
from ocucb.lab.gpu_arms import ArmAccess, LaneArms
from ocucb.noise.noise import Family
from ocucb.policies.policy import Rule
from ocucb.selection.moments import add_to, guarded_spread, spread_of


class Moments(NamedTuple):
    """Functions that one lane calls for an arm of its own."""

    kept: bool  # whether there are any
    clear: Any  # forget all rewards
    set_spread: Any  # make what a bound of an arm is given in place of the numbers of its family
    add: Any  # a reward of the run, to the moments of its arm if that is one of the lane's


def has_spreads(rule: Rule, family: Family) -> bool:
    """Return whether bounds read the spread of an arm's rewards."""
    return family.spreads or rule.variance_bound is not None


def make_moments(rule: Rule, family: Family, group: Group, slots: int, memory: ArmAccess) -> Moments:
    """Return the functions for one rule and family."""
    if not has_spreads(rule, family):
        return Moments(False, device(_nothing), device(_nothing), device(_nothing))
    lanes, guarded, pulls_of, total_of = group.lanes, family.spreads, memory.pulls, memory.total

    @device
    def clear(own: LaneArms) -> None:
        own.spread[2], own.spread[3] = math.inf, -math.inf
        for slot in range(slots):
            this = own.moments[slot]
            this.spread, this.total_rest, this.squares, this.squares_rest = 0.0, 0.0, 0.0, 0.0
            this.least, this.most, this.least_count, this.most_count = math.inf, -math.inf, 0.0, 0.0

    @device
    def set_spread(own: LaneArms, slot: int, numbers: Any) -> None:
        count, total = float(pulls_of(own, slot)), total_of(own, slot)
        if guarded:
            own.spread[0] = guarded_spread(own.moments[slot], count, total, own.spread[3] - own.spread[2])
        else:
            own.spread[0] = spread_of(own.moments[slot], count, total)
        own.spread[1] = numbers.constants[len(numbers.constants) - 1]

    @device
    def add(own: LaneArms, lane: int, arm: int, reward: float, total: float, done: bool) -> None:
        if done:
            own.spread[2], own.spread[3] = min(own.spread[2], reward), max(own.spread[3], reward)
            if lane == arm % lanes:
                add_to(own.moments[arm // lanes], reward, total_of(own, arm // lanes), total)

    return Moments(True, clear, set_spread, add)


def _nothing(*_: Any) -> None:
    pass
