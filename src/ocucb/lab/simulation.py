"""Simulate: play the shards of an experiment, or those that a folder has not got yet, on any executor."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np

from ocucb.compiled import Floats
from ocucb.lab.experiment import Experiment, Key
from ocucb.lab.result import Result
from ocucb.lab.runners import open_executor
from ocucb.lab.runs import gather_runs, provenance
from ocucb.lab.shard import ShardResult, play

if TYPE_CHECKING:
    from ocucb.lab.store import ResultStore

FIRST_RUNS = 30  # fewer say too little of their own spread
IN_FLIGHT = 4  # shards per worker: none waits for work, and no long queue fills memory
WORKERS = 256  # where an executor does not say how many it has


@dataclass(frozen=True)
class Progress:
    """What a study has done when a shard is finished.

    policy, problem               of this shard
    runs_found                    runs that were in the store when the study began or went on, a part of runs_done
    runs_planned, steps_planned   as far as is known; where precision decides, both may grow
    """

    policy: str
    problem: str
    runs_done: int
    runs_planned: int
    runs_found: int
    steps_done: int
    steps_planned: int


def simulate(
    experiment: Experiment,
    executor: Executor | str | None = None,
    folder: str | Path | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Result:
    """Play an experiment and return its runs.

    Parameters
    ----------
    experiment : what to play. The same one gives the same bits, whatever the executor and however often it was stopped.
    executor : any `concurrent.futures.Executor`, for Dask `client.get_executor()`; a text such as "threads:4",
        "processes:2", "cuda" for an NVIDIA GPU, "dask://host:8786", "dask://local" or "ray://local", or with "cuda+"
        before it for the GPUs of that cluster; None for threads.
    folder : where to keep finished shards. What it has is not played again, so a stopped study goes on.
    progress : called with a `Progress` after each shard, in the thread that called `simulate`.

    Where precision decides, runs come in rounds: each problem gets more blocks until the standard error of each of its
    policies is within the precision. All policies of one problem get the same runs, so that they stay paired.
    """
    store = None if folder is None else _open_store(folder, experiment)
    with nullcontext(executor) if isinstance(executor, Executor) else open_executor(executor) as pool:
        scheduler = _Scheduler(experiment, store, pool, progress)
        scheduler.play_all()
    coordinates: dict[str, Sequence[Any]] = {
        "problem": [problem.name for problem in experiment.problems],
        "policy": list(experiment.labels),
        "t": list(experiment.checkpoints),
        "arm": range(max(problem.arms for problem in experiment.problems)),
    }
    if store is None:
        attributes = {"experiment": experiment.describe(), "provenance": json.dumps(provenance(experiment.seed))}
    else:
        attributes = store.attributes
    return Result(experiment, gather_runs(scheduler.outcomes, experiment.block_size, coordinates, attributes))


def _open_store(folder: str | Path, experiment: Experiment) -> ResultStore:
    from ocucb.lab.store import ResultStore  # noqa: PLC0415 - Zarr, which nothing else here needs, takes its time

    return ResultStore.create_or_open(folder, experiment)


def first_goal(experiment: Experiment) -> int:
    """Return how many blocks every cell gets, before any result is known."""
    if experiment.precision is None:
        return experiment.blocks
    return min(experiment.blocks, max(2, math.ceil(FIRST_RUNS / experiment.block_size)))


def next_goal(experiment: Experiment, final: Sequence[Floats], blocks: int) -> int:
    """Return how many blocks the policies on a problem shall have, judged by their final regrets in all they have."""
    if experiment.precision is None or blocks == experiment.blocks:
        return blocks
    needed = max(runs_needed(regret, experiment.precision) for regret in final)
    if needed <= blocks * experiment.block_size:
        return blocks
    # At most twice as many: a spread that was overestimated by a few runs shall not cost thousands.
    wanted = min(math.ceil(needed / experiment.block_size), 2 * blocks)
    return min(experiment.blocks, max(blocks + 1, wanted))


def runs_needed(regret: Floats, precision: float) -> float:
    """Return how many runs bring the standard error within this share of the mean, judged by the runs given."""
    # Sums that are rounded once, so that every machine decides alike.
    mean = math.fsum(regret) / len(regret)
    variance = math.fsum((regret - mean) ** 2) / (len(regret) - 1)
    return 0.0 if variance == 0.0 else variance / (precision * mean) ** 2


class _Scheduler:
    """One call of simulate: what to play next, what is in flight, what is done."""

    def __init__(
        self,
        experiment: Experiment,
        store: ResultStore | None,
        pool: Executor,
        progress: Callable[[Progress], object] | None,
    ) -> None:
        self.outcomes: dict[Key, ShardResult] = {}
        self._experiment = experiment
        self._store = store
        self._pool = pool
        self._progress = progress
        self._limit = IN_FLIGHT * getattr(pool, "_max_workers", WORKERS)
        self._done = self._planned = self._found = 0

    def play_all(self) -> None:
        """Play until every problem has the blocks that it shall have."""
        goals = [first_goal(self._experiment)] * len(self._experiment.problems)
        done = [0] * len(goals)
        while goals != done:
            missing = [
                key for problem in range(len(goals)) for key in self._plan(problem, done[problem], goals[problem])
            ]
            missing.sort(key=lambda key: (key[2], key))  # block by block: policies meet the same runs, if it stops
            self._play(missing)
            done, goals = (
                goals,
                [self._next_goal(problem, done[problem], goals[problem]) for problem in range(len(goals))],
            )

    def _plan(self, problem: int, first: int, last: int) -> list[Key]:
        """Take the shards of these blocks that the store has, and return those that are missing."""
        missing: list[Key] = []
        planned = self._experiment.runs_between(first, last)
        for policy in range(len(self._experiment.policies)):
            found = {} if self._store is None else self._store.read(problem, policy, first, last)
            runs = sum(len(outcome.regret) for outcome in found.values())
            self.outcomes |= found
            self._found += runs
            self._done += runs
            self._planned += planned
            missing += [key for block in range(first, last) if (key := (problem, policy, block)) not in found]
        return missing

    def _next_goal(self, problem: int, before: int, blocks: int) -> int:
        """Return how many blocks a problem shall have: a function of its results so far, nothing else."""
        if self._experiment.precision is None or blocks == before:  # nothing came that could change it
            return blocks
        final = [
            np.concatenate([self.outcomes[problem, policy, block].regret[:, -1] for block in range(blocks)])
            for policy in range(len(self._experiment.policies))
        ]
        return next_goal(self._experiment, final, blocks)

    def _play(self, missing: list[Key]) -> None:
        """Submit shards, a bounded number at a time, and keep each outcome as it comes."""
        finished: SimpleQueue[Future[ShardResult]] = SimpleQueue()
        pending: dict[Future[ShardResult], Key] = {}
        keys = iter(missing)
        room = self._limit
        try:
            while True:
                for key in islice(keys, room):
                    future = self._pool.submit(play, self._experiment.shard(key))
                    pending[future] = key
                    future.add_done_callback(finished.put)
                if not pending:
                    return
                future = finished.get()
                self._keep(pending.pop(future), future.result())
                room = 1
        except BaseException:  # an interrupt too: what is kept is kept, and the rest shall not be played for nothing
            for future in pending:
                future.cancel()
            raise

    def _keep(self, key: Key, outcome: ShardResult) -> None:
        if self._store is not None:
            self._store.write(key, outcome)
        self.outcomes[key] = outcome
        self._done += len(outcome.regret)
        if self._progress is not None:
            horizon = self._experiment.horizon
            self._progress(
                Progress(
                    policy=self._experiment.policies[key[1]][0],
                    problem=self._experiment.problems[key[0]].name,
                    runs_done=self._done,
                    runs_planned=self._planned,
                    runs_found=self._found,
                    steps_done=self._done * horizon,
                    steps_planned=self._planned * horizon,
                )
            )
