"""The episode on a GPU: the only loop over t there, for every policy and every noise family.

A group of lanes plays a run: one lane for few arms, some or all of a warp for many. The winner of a round is pulled,
and on while it leads safely, as on the CPU; lanes draw its next rewards side by side and add them in their order.
Levels, bounds, scores and quantiles are the package's own kernels.

Lanes that are alone diverge, and wait for each other where the compiler lets them. Groups go in step: what one of a
warp has to do all of them do, and those that did not need it ignore what came out.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any, NamedTuple

import numpy as np

from ocucb.compiled import Floats, Integers, bits_of, float_of, kernel
from ocucb.compiled.cache import stamp_of
from ocucb.compiled.cuda import GpuKernel, Group, cuda, device, group_of, plain
from ocucb.lab.gpu_arms import make_memory, single, word
from ocucb.lab.gpu_index import Numbers
from ocucb.lab.gpu_moments import has_spreads, make_moments
from ocucb.lab.gpu_selection import Renewal, make_selection
from ocucb.lab.tape import choice_seed, run_key
from ocucb.noise.noise import Family
from ocucb.policies.policy import Rule
from ocucb.selection.leader import may_lead
from ocucb.uniforms import stream, uniform

counter: Any = np.uint32  # a number without sign is sooner made one of 64 bits


class Shape(NamedTuple):
    """How a run is played."""

    lanes: int  # that play it together: 1, 2, 4, 8, 16 or 32
    slots: int  # arms of a lane, at most
    span_shift: int  # a bound holds t >> span_shift rounds; 0: no bounds are kept
    rough: bool  # indices are estimated in single precision
    patient: bool  # an arm may lead only after it won twice
    width: int  # rewards that a lane draws side by side
    batches: int  # of these, before lanes of other runs, which may have to choose, are waited for
    threads: int  # of a block
    shared: bool  # what is known of arms stands in the memory that the lanes of a block share
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


def _make_draw(kind: Kind, group: Group) -> Any:
    quantile, lanes, width, batches = kind.family.quantile, group.lanes, kind.shape.width, kind.shape.batches

    @device
    def draw(
        place: float, key: np.uint64, lane: int, count: int, left: int, sure: int, total: float, floor: float,
        constants: Floats,
    ) -> tuple[float, int, int, float]:  # fmt: skip
        """Add rewards of an arm, those up to `sure` in any case, others while its mean is above the floor.

        Return its sum, how often it was pulled, how many pulls are left, and the last reward.
        """
        rewards, reward = cuda.local.array(width, np.float64), 0.0
        for _ in range(batches):
            if not group.any_in_warp(left > 0):
                break
            for which in range(width):
                rewards[which] = quantile(place, uniform(key, counter(count + 1 + which * lanes + lane)), constants)
            for which in range(width):
                for source in range(lanes):
                    if lanes > 1 and not group.any_in_warp(left > 0):
                        break
                    got = group.of_lane(rewards[which], source)
                    if left > 0:
                        if count < sure or total > floor * count:
                            total += got
                            reward = got
                            count, left = word(count + 1), word(left - 1)
                        else:
                            left = word(0)
        return total, count, left, reward

    return draw


@device
def regret_of(counts: Integers, run: int, arms: int, truth: Floats, zero: int) -> float:
    """Return the regret of the pulls of a run."""
    best, total = truth[0], 0.0
    for arm in range(1, arms):
        best = max(best, truth[arm])
    for arm in range(arms):
        total += rounded(counts[run, arm] * (best - truth[arm]), zero)
    return total


def key_of(kind: Kind) -> str | None:
    """Return a digest of what tells the code of a kind from that of others; None, if a function of it has no file."""
    facts: list[Any] = [kind.shape, stamp_of(make_episode)]
    for one in (*kind.rule, *kind.family):
        python = getattr(one, "py_func", one)
        if callable(python):
            if stamp_of(python) is None or "<locals>" in python.__qualname__:
                return None
            facts.append((python.__module__, python.__qualname__, stamp_of(python)))
        else:
            facts.append(repr(one))
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def make_episode(kind: Kind) -> GpuKernel:
    """Return what plays a run in each group of lanes; its arguments are those of `episode`, below."""
    rule, family, shape = kind
    lanes, slots, span_shift, rough, patient = shape[:5]
    group = group_of(lanes)
    memory = make_memory(
        lanes, slots, shape.threads, ordered=bool(rule.rho), kept=span_shift > 0,
        scored=rule.score is not None and rough, rough=rough, shared=shape.shared, spreads=has_spreads(rule, family),
    )  # fmt: skip
    moments = make_moments(rule, family, group, slots, memory)
    clear_moments, add_to_moments = moments.clear, moments.add
    choose, lead_floor, add_pulls = make_selection(rule, family, group, slots, span_shift, rough, memory, moments)
    draw, make_arms, pulls_of, total_of = _make_draw(kind, group), memory.make, memory.pulls, memory.total
    leads = may_lead(rule) and rule.score is None and not moments.kept

    def episode(
        counts: Integers, regret: Floats, numbers: Integers, shards: Integers, seeds: Integers, means: Floats,
        parameters: Floats, constants: Floats, rough_parameters: Floats, rough_constants: Floats,
        checkpoints: Integers, powers: Floats, unit: float, scale: float,
    ) -> None:  # fmt: skip
        """Play one run: counts and regret are its answer, numbers and shards say which run of which shard it is."""
        run, lane, arms = cuda.grid(1) // lanes, word(cuda.grid(1) % lanes), word(means.shape[1])
        plays = run < len(numbers)
        if not plays:
            if lanes == 1:
                return
            run = 0  # of its lanes the others of their warp ask
        own, shard = make_arms(), shards[run]
        given = Numbers(
            plain(parameters[shard]), plain(constants[shard]), plain(rough_parameters[shard]),
            plain(rough_constants[shard]), unit, 1.0 / unit, single(scale), plain(powers),
        )  # fmt: skip
        clear_moments(own)
        truth = plain(means[shard])
        key, seed = np.uint64(run_key(seeds[shard], numbers[run])), choice_seed(seeds[shard], numbers[run])
        zero, one, total, floor = word(0), word(1), 0.0, 0.0
        t, lead, last, renewal = zero, word(2), zero, Renewal(zero, zero, word(arms + 2 * slots))
        arm, first, count, left, tried = zero, zero, zero, zero, zero
        for mark in range(len(checkpoints)):
            end = word(checkpoints[mark]) if plays else zero
            while group.any_in_warp(t < end):
                needs = left == 0 and t < end
                picks = needs and t >= arms
                if needs:
                    arm, left, tried, floor = t if t < arms else zero, one, one, math.inf
                if group.any_in_warp(picks):
                    now, length = word(t + 1), min(lead, word(end - t - 1))
                    winner, rival, renewal = choose(own, lane, arms, now, length, last, renewal, seed, picks, given)
                    if picks:
                        arm = word(winner)
                    if leads:
                        length = min(length, word(renewal.until - now))
                        tries = picks and length > 0 and (arm == last or not patient)
                        if group.any_in_warp(tries):
                            found = lead_floor(own, arm, arms, now, length, group.largest(rival), given)
                            if tries:
                                tried = word(1 + length)
                                if found < math.inf:
                                    floor, left = found, tried
                slot, owner = group.slot(arm), group.owner(arm)
                pulled = group.of_lane(pulls_of(own, slot), owner)
                so_far = group.of_lane(total_of(own, slot), owner)
                if needs:
                    first, count, total = pulled, pulled, so_far
                total, count, left, reward = draw(
                    truth[np.uint64(arm)], np.uint64(stream(key, counter(arm))), lane, count, left, word(first + 1),
                    total, floor, given.constants,
                )  # fmt: skip
                done = left == 0 and t < end
                if group.any_in_warp(done):
                    add_to_moments(own, lane, arm, reward, total, done)
                    add_pulls(own, lane, arm, first, count, total, given, done)
                if done:
                    last = arm
                    played = word(count - first)
                    t = word(t + played)
                    if played < tried:
                        lead = max(word(2), word(lead >> 1))
                    elif tried > 1:
                        lead = min(word(2 * lead), max(word(2), word(count >> 3)))
            if plays:
                for slot in range(slots):
                    if slot * lanes + lane < arms:
                        counts[run, slot * lanes + lane] = pulls_of(own, slot)
            group.wait()
            if plays and lane == 0:
                regret[run, mark] = regret_of(counts, run, arms, truth, numbers[run] >> 62)

    return GpuKernel(episode, lanes, shape.threads, shape.registers, memory.shared_bytes, key_of(kind))
