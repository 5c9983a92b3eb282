"""The reward tape: the s-th reward of arm i in run r is a pure function of (seed, run, arm, s).

Every policy of a comparison meets the same rewards, and a run can be split, resumed or moved without changing a bit of
it. A counter is mixed into a key, level by level: seed, run, arm; the last key and s give a uniform number, and the
noise family's quantile turns it into a reward.
"""

from __future__ import annotations

import functools

import numpy as np

from ocucb.compiled import DrawsFunction, Floats, Parameters, QuantileFunction, call_quantile, inlined, kernel
from ocucb.uniforms import stream, uniform

# The policy's own random numbers, the means of random problems and delays come from other streams of the seed.
REWARDS, CHOICES, PROBLEMS, DELAYS = 0, 1, 2, 3


@kernel
def run_key(seed: int, run: int) -> np.uint64:
    """Return the key of one run, from which `stream(key, arm)` makes those of its arms."""
    return stream(stream(np.uint64(seed), REWARDS), run)


@kernel
def arm_key(seed: int, run: int, arm: int) -> np.uint64:
    """Return the key of one arm's rewards in one run."""
    return stream(run_key(seed, run), arm)


@kernel
def choice_seed(seed: int, run: int) -> int:
    """Return the seed of a randomised policy's own draws in one run."""
    return int(stream(stream(np.uint64(seed), CHOICES), run) >> np.uint64(1))


@kernel
def problem_key(seed: int, run: int) -> np.uint64:
    """Return the key of the means of a random problem in one run."""
    return stream(stream(np.uint64(seed), PROBLEMS), run)


@kernel
def delay_key(seed: int, run: int) -> np.uint64:
    """Return the key of the delays of one run, from which `stream(key, arm)` makes those of its arms."""
    return stream(stream(np.uint64(seed), DELAYS), run)


@kernel
def reward(quantile: int, key: np.uint64, s: int, mean: float, family: Parameters) -> float:
    """Return the s-th reward, s = 1, 2, ..., of the arm with this key."""
    return float(call_quantile(quantile, (mean, uniform(key, s), family)))


@functools.cache
def drawing(quantile: QuantileFunction) -> DrawsFunction:
    """Return a function that draws many rewards of one arm by this quantile, which is compiled into its loop.

    A processor then works on several of them at once; called through its address, one waits for another.
    """
    within = inlined(quantile)

    def draw(mean: float, key: np.uint64, count: int, end: int, least: float, sums: Floats, family: Parameters) -> int:
        """Add the rewards count + 1, ..., end to sums[0] while that is above least times their count; return it."""
        total = sums[0]
        while count + 4 <= end:
            first = total + within(mean, uniform(key, count + 1), family)
            second = first + within(mean, uniform(key, count + 2), family)
            third = second + within(mean, uniform(key, count + 3), family)
            fourth = third + within(mean, uniform(key, count + 4), family)
            safe = total > least * count
            safe &= first > least * (count + 1)
            safe &= second > least * (count + 2)
            safe &= third > least * (count + 3)
            if not safe:
                break
            total = fourth
            count += 4
        while count < end and total > least * count:
            count += 1
            total += within(mean, uniform(key, count), family)
        sums[0] = total
        return count

    return draw
