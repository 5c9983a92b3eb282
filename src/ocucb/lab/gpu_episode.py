"""The episode on a GPU: the only loop over t there, for every policy and every noise family.

A group of lanes plays a run: one lane for few arms, a warp for many. The winner of a round is pulled, and on while it
leads safely, as on the CPU; lanes draw its next rewards side by side and add them in their order. Levels, bounds,
scores and quantiles are the package's own kernels.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ocucb.compiled import Floats, Integers, bits_of, float_of, kernel
from ocucb.compiled.cuda import cuda, device, gpu_kernel, group_of, plain
from ocucb.lab.gpu_selection import Arms, make_selection
from ocucb.lab.tape import choice_seed, run_key
from ocucb.noise.noise import Family
from ocucb.policies.policy import Rule
from ocucb.selection.leader import may_lead
from ocucb.uniforms import stream, uniform


class Shape(NamedTuple):
    """How a run is played."""

    lanes: int  # that play it together: 1, 2, 4, 8, 16 or 32
    slots: int  # arms of a lane, at most
    span_shift: int  # a bound holds t >> span_shift rounds; 0: no bounds are kept
    width: int  # rewards that a lane draws side by side
    batches: int  # of these, before lanes of other runs, which may have to choose, are waited for
    registers: int  # of a thread, at most


class Kind(NamedTuple):
    """What tells compiled episodes apart."""

    rule: Rule  # without parameters and horizon
    family: Family  # without parameters
    shape: Shape


@kernel
def rounded(product: float, zero: int) -> float:
    """Return a product as it is: behind a number that the compiler cannot foresee, it is not fused with a sum."""
    return float(float_of(bits_of(product) ^ zero))


def make_episode(kind: Kind) -> Any:
    """Return `launch(threads, ...)` that plays a run in each group; its arguments are those of `episode`, below."""
    rule, family, (lanes, slots, span_shift, width, batches, registers) = kind
    group = group_of(lanes)
    choose, lead_floor, add_pulls = make_selection(rule, family, group, slots, span_shift)
    quantile = family.quantile
    bounds = slots if span_shift else 1
    leads = may_lead(rule) and rule.score is None

    @device
    def draw(
        place: float, key: np.uint64, lane: int, count: int, left: int, sure: int, total: float, floor: float,
        constants: Floats,
    ) -> tuple[float, int, int]:  # fmt: skip
        """Add rewards of an arm, those up to `sure` in any case, others while its mean is above the floor.

        Return its sum, how often it was pulled, and how many pulls are left.
        """
        rewards = cuda.local.array(width, np.float64)
        for _ in range(batches):
            if left == 0:
                break
            for which in range(width):
                rewards[which] = quantile(place, uniform(key, count + 1 + which * lanes + lane), constants)
            for which in range(width):
                for source in range(min(lanes, left)):
                    if count < sure or total > floor * count:
                        total += group.of_lane(rewards[which], source)
                        count += 1
                        left -= 1
                    else:
                        left = 0
                        break
        return total, count, left

    @device
    def regret_of(counts: Integers, run: int, arms: int, truth: Floats, zero: int) -> float:
        best, total = truth[0], 0.0
        for arm in range(1, arms):
            best = max(best, truth[arm])
        for arm in range(arms):
            total += rounded(counts[run, arm] * (best - truth[arm]), zero)
        return total

    def episode(
        counts: Integers, regret: Floats, numbers: Integers, shards: Integers, seeds: Integers, means: Floats,
        parameters: Floats, constants: Floats, checkpoints: Integers, unit: float,
    ) -> None:  # fmt: skip
        """Play one run: counts and regret are its answer, numbers and shards say which run of which shard it is."""
        run, lane, arms = cuda.grid(1) // lanes, cuda.grid(1) % lanes, means.shape[1]
        if run >= len(numbers):
            return
        own = Arms(
            cuda.local.array(slots, np.int32), cuda.local.array(bounds, np.float32),
            cuda.local.array(slots, np.float64), cuda.local.array(slots, np.float64),
            cuda.local.array(slots, np.float64), cuda.local.array(slots, np.float64),
            cuda.local.array(bounds, np.int32),
        )  # fmt: skip
        for slot in range(slots):
            own.pulls[slot] = 0
            own.sums[slot] = 0.0
            own.powers[slot] = 0.0
            own.means[slot] = 0.0
            own.totals[slot] = 0.0
        for slot in range(bounds):
            own.bounds[slot] = -math.inf
            own.expiries[slot] = 0
        shard = shards[run]
        mine, family_constants, truth = plain(parameters[shard]), plain(constants[shard]), plain(means[shard])
        key, seed = np.uint64(run_key(seeds[shard], numbers[run])), choice_seed(seeds[shard], numbers[run])
        t, lead, oldest = 0, 1, 0
        arm, first, count, left, tried, total, floor = 0, 0, 0, 0, 0, 0.0, 0.0
        for mark in range(len(checkpoints)):
            end = checkpoints[mark]
            while t < end:
                if left == 0:
                    arm, left, floor = t, 1, math.inf
                    if t >= arms:
                        length = min(lead, end - t - 1)
                        arm, rival, oldest = choose(
                            own, lane, arms, t + 1, length, oldest, seed, mine, family_constants
                        )
                        if leads:
                            if span_shift:
                                length = min(length, own.expiries[oldest] - t - 1)
                            if length > 0:
                                floor = lead_floor(own, arm, arms, t + 1, length, rival, mine, family_constants)
                            left += length if floor < math.inf else 0
                    first = int(group.of_lane(float(own.pulls[arm // lanes]), arm % lanes))
                    total = group.of_lane(own.totals[arm // lanes], arm % lanes)
                    count, tried = first, left
                total, count, left = draw(
                    truth[arm], np.uint64(stream(key, arm)), lane, count, left, first + 1, total, floor,
                    family_constants,
                )  # fmt: skip
                if left == 0:
                    add_pulls(own, lane, arm, first, count, total, unit)
                    t += count - first
                    if count - first == tried and (tried > 1 or t <= arms):
                        lead = min(2 * lead, max(2, count >> 3))
                    else:
                        lead = max(2, lead >> 1)
            for slot in range(slots):
                if slot * lanes + lane < arms:
                    counts[run, slot * lanes + lane] = own.pulls[slot]
            group.wait()
            if lane == 0:
                regret[run, mark] = regret_of(counts, run, arms, truth, numbers[run] >> 62)

    return gpu_kernel(episode, lanes, registers)
