"""A shard: some runs of one policy on one problem. A pure function with a small answer, for any machine to call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ocucb.compiled import Floats, Integers
from ocucb.lab.episode import episodes
from ocucb.lab.problem import Problem
from ocucb.lab.world import WorldMemory
from ocucb.policies import Policy
from ocucb.selection import Selector


@dataclass(frozen=True)
class Shard:
    """The runs first, first + 1, ... of a policy on a problem. Picklable and hashable.

    trace : how many of the first rounds' choices to record, usually 0.
    """

    problem: Problem
    policy: Policy
    horizon: int
    checkpoints: tuple[int, ...]
    seed: int
    first: int
    runs: int
    trace: int = 0


class Outcome(NamedTuple):
    """One row per run: pseudo-regret at each checkpoint, pulls of every arm at the end, and choices if traced."""

    regret: Floats
    pulls: Integers
    choices: Integers


def play(shard: Shard) -> Outcome:
    """Play the runs of a shard. The same shard gives the same bits everywhere."""
    problem = shard.problem
    selector = Selector(shard.policy.rule(), problem.assumed_noise.family(), 0, problem.arms, changing=False)
    selector.reserve_events(shard.horizon)
    world = WorldMemory(problem, shard.horizon, problem.world_means(shard.seed, shard.first, shard.runs))
    outcome = Outcome(
        np.empty((shard.runs, len(shard.checkpoints))),
        np.empty((shard.runs, shard.problem.arms), dtype=np.int64),
        np.empty((shard.runs, min(shard.trace, shard.horizon)), dtype=np.int64),
    )
    episodes(
        selector.address,
        world.address,
        world.stride,
        shard.seed,
        shard.first,
        np.array(shard.checkpoints, dtype=np.int64),
        *outcome,
    )
    return outcome
