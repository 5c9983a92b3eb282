"""A shard: some runs of one policy on one problem. A pure function with a small answer, for any machine to call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ocucb.compiled import Floats, Integers
from ocucb.lab.environment import EnvironmentMemory
from ocucb.lab.episode import episodes
from ocucb.lab.fleet import Fleet
from ocucb.lab.fleet_episode import fleet_episodes
from ocucb.lab.problem import Problem
from ocucb.policies import Policy, Uniform
from ocucb.policies.policy import Rule
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


class ShardResult(NamedTuple):
    """One row per run: pseudo-regret at each checkpoint, pulls of every arm at the end, and choices if traced."""

    regret: Floats
    pulls: Integers
    choices: Integers


def play(shard: Shard) -> ShardResult:
    """Play the runs of a shard. The same shard gives the same bits everywhere."""
    problem = shard.problem
    environment = EnvironmentMemory(problem, shard.horizon, problem.means_of_runs(shard.seed, shard.first, shard.runs))
    outcome = ShardResult(
        np.empty((shard.runs, len(shard.checkpoints))),
        np.empty((shard.runs, shard.problem.arms), dtype=np.int64),
        np.empty((shard.runs, min(shard.trace, shard.horizon)), dtype=np.int64),
    )
    checkpoints = np.array(shard.checkpoints, dtype=np.int64)
    if isinstance(shard.policy, Fleet):
        _play_fleet(shard, shard.policy, environment, checkpoints, outcome)
        return outcome
    selector = _selector(shard, shard.policy.rule())
    selector.reserve_memory(shard.horizon)
    episodes(selector.address, environment.address, environment.stride, shard.seed, shard.first, checkpoints, *outcome)
    return outcome


def _play_fleet(
    shard: Shard, fleet: Fleet, environment: EnvironmentMemory, checkpoints: Integers, outcome: ShardResult
) -> None:
    nodes = [_selector(shard, fleet.rule()) for _ in range(fleet.nodes)]
    overall = _selector(shard, Uniform().rule())
    shape = fleet.nodes + 1, shard.problem.arms
    fleet_episodes(
        np.array([node.address for node in nodes], dtype=np.int64),
        overall.address,
        environment.address,
        environment.stride,
        fleet.every,
        shard.seed,
        shard.first,
        np.zeros(shape, dtype=np.int64),
        np.zeros(shape),
        checkpoints,
        *outcome,
    )


def _selector(shard: Shard, rule: Rule) -> Selector:
    return Selector(rule, shard.problem.assumed_noise.family(), 0, shard.problem.arms, changing=False)
