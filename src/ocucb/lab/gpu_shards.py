"""Shards on a GPU: many of them, of any problems and parameters of one kind, in one launch."""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ocucb.compiled import Floats
from ocucb.compiled.cuda import THREADS, read_only
from ocucb.lab.fleet import Fleet
from ocucb.lab.gpu_arms import BYTES_PER_ARM, scale_of
from ocucb.lab.gpu_compile import compile_in_processes
from ocucb.lab.gpu_episode import Kind, Shape, make_episode
from ocucb.lab.gpu_index import level_is_stable
from ocucb.lab.gpu_moments import has_spreads
from ocucb.lab.gpu_rule import has_estimates
from ocucb.lab.shard import Shard, ShardResult
from ocucb.policies.policy import Rule, Trend
from ocucb.selection.order import power

MEMORY = 8 * 2**30  # bytes of the GPU that one launch may take for the pulls of its runs
WORK = 2**41  # rounds times arms of a launch, some seconds: between two of them it can be stopped
FEW = 48  # arms up to which one lane plays a run
MANY = 256  # arms above which a warp does, and not some lanes of one
SHARED = 48 * 2**10  # bytes that the lanes of a block may share
TABLED = 2**14  # pulls below which powers are looked up
LONG = 10**5  # rounds from which leads are long
SPAN_SHIFT = 7  # a bound holds t >> SPAN_SHIFT rounds

episode_of = functools.cache(make_episode)


def unfit(shard: Shard) -> str | None:
    """Say why a shard cannot be played on a GPU, or return None."""
    rule = shard.policy.rule()
    if shard.trace:
        return "choices are recorded"
    if isinstance(shard.policy, Fleet):
        return f"{shard.policy} has several nodes, which the GPU has not"
    if rule.forgets:
        return f"{shard.policy} forgets, which the GPU does not"
    if shard.horizon >= 2**30:
        return f"{shard.horizon:,} rounds, more than the GPU can count"
    if not shard.problem.plain:
        return f"{shard.problem.name}: {shard.problem.notes()[0]}"
    return None


def shape_of(shard: Shard) -> Shape:
    """Return how runs of a shard are played."""
    arms, rule, family = shard.problem.arms, shard.policy.rule(), shard.problem.noise.family()
    rough = has_estimates(rule, family) and level_is_stable(rule, arms)
    if arms <= FEW:
        # A long law is compiled once for each reward that is drawn beside others.
        width, batches = (2, 4) if shard.horizon < LONG else (4, 16)
        if shard.problem.noise.name not in ("gaussian", "exponential"):
            width, batches = 1, 4 * batches
        return Shape(1, arms, 0, rough, False, width, batches, THREADS, False, 80)
    # Where a sign may read t an index can jump, of which a bound for a later round would not know.
    jumps = rule.bound == "switch" and rule.trend is Trend.RISES
    keeps = rule.score is None and rule.trend is not Trend.NEITHER and not has_spreads(rule, family) and not jumps
    if keeps and rule.rho:
        # A power and a sum of powers are each too small by less than a unit for every 1 in them.
        rough = rough and level_is_stable(rule, arms, 1.0 / scale_of(arms, shard.horizon, rule.rho))
    lanes = 8 if arms <= MANY else 32
    slots = -(-arms // lanes)
    # With more arms there is no room for other blocks, nor for what lanes keep by themselves.
    shared = keeps and rough and arms <= MANY
    fits = [size for size in (THREADS, 64, 32) if size * slots * BYTES_PER_ARM <= SHARED or not shared]
    quick = keeps and rough and slots <= 32  # few enough for code without a loop
    registers = (128 if lanes < 32 else 152) if quick else (96 if lanes < 32 else 255)
    batches = 1 if quick else 4
    return Shape(lanes, slots, SPAN_SHIFT if keeps else 0, rough, True, 1, batches, fits[0], shared, registers)


def kind_of(shard: Shard) -> Kind:
    """Return what tells the code that plays a shard from that of others."""
    rule = shard.policy.rule()._replace(parameters=(), horizon=None, chances=None)
    return Kind(rule, shard.problem.noise.family()._replace(parameters=(), width=0.0), shape_of(shard))


def _kind_of_launch(shard: Shard) -> tuple[Kind, int, tuple[int, ...], int]:
    """Return what shards of one launch share: code, arms, checkpoints, and how many parameters there are."""
    return kind_of(shard), shard.problem.arms, shard.checkpoints, len(shard.policy.rule().parameters)


def play_in_launches(shards: Sequence[Shard]) -> Iterator[list[tuple[int, ShardResult]]]:
    """Play shards that are all fit, in as few launches as memory and time allow; yield what came of each launch.

    That is some of the shards, by their places, with their outcomes.
    """
    groups: dict[Any, list[int]] = defaultdict(list)
    for place, shard in enumerate(shards):
        groups[_kind_of_launch(shard)].append(place)
    _compile_all({kind: shards[places[0]] for (kind, *_), places in groups.items()})
    for (kind, arms, checkpoints, _), places in groups.items():
        limit = max(1, min(MEMORY // (8 * arms), WORK // (arms * checkpoints[-1])))
        for some in _parts(places, [shards[place].runs for place in places], limit):
            yield list(zip(some, _launch(kind, [shards[place] for place in some]), strict=True))


def _compile_all(kinds: dict[Kind, Shard]) -> None:
    """Compile what is not yet, if it is much, before the first launch."""
    missing = [shard for kind, shard in kinds.items() if episode_of(kind).is_keepable]
    if len(missing) > 1:
        compile_in_processes(missing)


def compile_for(shard: Shard) -> None:
    """Compile what a shard needs, by playing a run of a few rounds."""
    horizon = shard.problem.arms
    _launch(kind_of(shard), [replace(shard, horizon=horizon, checkpoints=(horizon,), runs=1)])


def play_together(shards: Sequence[Shard]) -> list[ShardResult]:
    """Play shards that are all fit; return their outcomes in order."""
    outcomes = {place: outcome for launch in play_in_launches(shards) for place, outcome in launch}
    return [outcomes[place] for place in range(len(shards))]


def _parts(places: list[int], runs: list[int], limit: int) -> list[list[int]]:
    """Split places so that no part has more runs than the limit, if it has more than one place."""
    parts: list[list[int]] = [[]]
    total = 0
    for place, count in zip(places, runs, strict=True):
        if parts[-1] and total + count > limit:
            parts.append([])
            total = 0
        parts[-1].append(place)
        total += count
    return parts


def _launch(kind: Kind, shards: list[Shard]) -> list[ShardResult]:
    arms, runs = shards[0].problem.arms, sum(shard.runs for shard in shards)
    counts = np.empty((runs, arms), dtype=np.int64)
    regret = np.empty((runs, len(shards[0].checkpoints)))
    numbers = np.concatenate([shard.first + np.arange(shard.runs) for shard in shards])
    numbers_of_shards = np.repeat(np.arange(len(shards)), [shard.runs for shard in shards])
    parameters = _rows([(*shard.policy.rule().parameters, 0.0) for shard in shards])
    constants = _rows([(*shard.problem.noise.family().parameters, _range(shard)) for shard in shards])
    unit = _unit(kind.rule, arms, shards[0].checkpoints[-1])
    episode_of(kind).launch(
        runs,
        (counts, regret, read_only(numbers), read_only(numbers_of_shards)),
        read_only(np.array([shard.seed for shard in shards], dtype=np.int64)),
        read_only(np.array([shard.problem.means for shard in shards], dtype=np.float64)),
        read_only(parameters),
        read_only(constants),
        read_only(parameters.astype(np.float32)),
        read_only(constants.astype(np.float32)),
        read_only(np.array(shards[0].checkpoints, dtype=np.int64)),
        _powers(kind.rule.rho or 0.0, unit, min(TABLED, shards[0].checkpoints[-1] + 1)),
        unit,
        np.float32(scale_of(arms, shards[0].checkpoints[-1], kind.rule.rho or 0.0)),
    )
    ends = np.cumsum([shard.runs for shard in shards])[:-1]
    parts = zip(np.split(regret, ends), np.split(counts, ends), strict=True)
    return [ShardResult(some, pulls, np.empty((len(some), 0), dtype=np.int64)) for some, pulls in parts]


def _unit(rule: Rule, arms: int, horizon: int) -> float:
    """Return the power of 2 of which powers of pulls are multiples, so that sums of those of all arms are exact."""
    return 2.0 ** (math.ceil(math.log2(arms * power(float(horizon), rule.rho or 0.0))) - 52)


@functools.cache
def _powers(rho: float, unit: float, count: int) -> Floats:
    """Return powers of fewer pulls than so many, as multiples of the unit."""
    return read_only(np.array([math.floor(power(float(pulls), rho) / unit + 0.5) * unit for pulls in range(count)]))


def _rows(rows: Sequence[Sequence[float]]) -> Floats:
    """Return an array, which must have something in it: hence a last column that not everybody reads."""
    return np.array(rows, dtype=np.float64)


def _range(shard: Shard) -> float:
    """Return the range of possible rewards, as a policy that reads a variance takes it; 0 if it has no end."""
    width = shard.problem.noise.family().width
    return width * shard.policy.rule().range_weight if math.isfinite(width) else 0.0
