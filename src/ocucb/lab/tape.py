"""The reward tape: the s-th reward of arm i in run r is a pure function of (seed, run, arm, s).

Every policy of a comparison meets the same rewards, and a run can be split, resumed or moved without changing a bit of
it. A counter is mixed into a key, level by level: seed, run, arm; the last key and s give a uniform number, and the
noise family's quantile turns it into a reward.
"""

from __future__ import annotations

import numpy as np

from ocucb.compiled import Parameters, call_quantile, kernel
from ocucb.uniforms import stream, uniform

REWARDS, CHOICES = 0, 1  # the policy's own random numbers come from another stream of the seed


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
def reward(quantile: int, key: np.uint64, s: int, mean: float, family: Parameters) -> float:
    """Return the s-th reward, s = 1, 2, ..., of the arm with this key."""
    return float(call_quantile(quantile, (mean, uniform(key, s), family)))
