"""Simulate: play the shards of an experiment that a store has not got yet, on any executor."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from queue import SimpleQueue

import xarray as xr

from ocucb.compiled import Floats
from ocucb.lab.experiment import Experiment, Key
from ocucb.lab.result import Store
from ocucb.lab.runners import open_executor
from ocucb.lab.shard import Outcome, play

FIRST_RUNS = 30  # fewer say too little of their own spread
IN_FLIGHT = 4  # shards per worker: none waits for work, and no long queue fills memory
WORKERS = 256  # where an executor does not say how many it has


@dataclass(frozen=True)
class Progress:
    """What a study has done when a shard is finished.

    policy, problem : of this shard.
    runs_found : runs that were in the store when the study began or went on, a part of runs_done.
    runs_planned, steps_planned : as far as is known; where precision decides, both may grow.
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
    executor: Executor | None = None,
    store: str | Path | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> xr.Dataset:
    """Play an experiment and return its runs (problem, policy, run, t).

    Parameters
    ----------
    experiment : what to play. The same one gives the same bits, whatever the executor and however often it was stopped.
    executor : any `concurrent.futures.Executor`, for Dask `client.get_executor()`; None for local threads.
    store : a folder to keep finished shards in. What it has is not played again, so a stopped study goes on.
    progress : called with a `Progress` after each shard, in the thread that called `simulate`.

    Where precision decides, runs come in rounds: each problem gets more blocks until the standard error of each of its
    policies is within the precision. All policies of one problem get the same runs, so that they stay paired.
    """
    results = Store.create_or_open(store, experiment)
    with open_executor() if executor is None else nullcontext(executor) as pool:
        study = _Study(experiment, results, pool, progress)
        problems = range(len(experiment.problems))
        goals = [first_goal(experiment)] * len(problems)
        done = [0] * len(problems)
        while goals != done:
            study.reach(done, goals)
            done, goals = goals, [next_goal(experiment, results, i, goals[i], done[i]) for i in problems]
    return results.dataset()


def first_goal(experiment: Experiment) -> int:
    """Return how many blocks every cell gets, before any result is known."""
    if experiment.precision is None:
        return experiment.blocks
    return min(experiment.blocks, max(2, math.ceil(FIRST_RUNS / experiment.block)))


def next_goal(experiment: Experiment, results: Store, problem: int, blocks: int, before: int) -> int:
    """Return how many blocks the policies on a problem shall have: a function of its results so far, nothing else."""
    if experiment.precision is None or blocks in (experiment.blocks, before):
        return blocks
    needed = max(runs_needed(row, experiment.precision) for row in results.final(problem, blocks))
    if needed <= blocks * experiment.block:
        return blocks
    # At most twice as many: a spread that was overestimated by a few runs shall not cost thousands.
    wanted = min(math.ceil(needed / experiment.block), 2 * blocks)
    return min(experiment.blocks, max(blocks + 1, wanted))


def runs_needed(regret: Floats, precision: float) -> float:
    """Return how many runs bring the standard error within this share of the mean, judged by the runs given."""
    # Sums that are rounded once, so that every machine decides alike.
    mean = math.fsum(regret) / len(regret)
    variance = math.fsum((regret - mean) ** 2) / (len(regret) - 1)
    return 0.0 if variance == 0.0 else variance / (precision * mean) ** 2


class _Study:
    """One call of simulate: what to play next, what is in flight, what is done."""

    def __init__(
        self, experiment: Experiment, results: Store, pool: Executor, progress: Callable[[Progress], object] | None
    ) -> None:
        self._experiment = experiment
        self._results = results
        self._pool = pool
        self._progress = progress
        self._limit = IN_FLIGHT * getattr(pool, "_max_workers", WORKERS)
        self._done = self._planned = self._found = 0

    def reach(self, done: list[int], goals: list[int]) -> None:
        """Play what is missing between the blocks that each problem has and those that it shall have."""
        missing: list[Key] = []
        planned = 0
        for problem, (first, last) in enumerate(zip(done, goals, strict=True)):
            missing += self._results.missing(first, last, [problem])
            planned += sum(self._runs(block) for block in range(first, last)) * len(self._experiment.policies)
        missing.sort(key=lambda key: (key[2], key))  # block by block: policies meet the same runs, whenever it stops
        found = planned - sum(self._runs(block) for _, _, block in missing)
        self._planned += planned
        self._found += found
        self._done += found
        self._play(missing)

    def _play(self, missing: list[Key]) -> None:
        """Submit shards, a bounded number at a time, and keep each outcome as it comes."""
        finished: SimpleQueue[Future[Outcome]] = SimpleQueue()
        pending: dict[Future[Outcome], Key] = {}
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

    def _keep(self, key: Key, outcome: Outcome) -> None:
        self._results.put(key, outcome)
        self._done += self._runs(key[2])
        if self._progress is not None:
            horizon = self._experiment.horizon
            self._progress(
                Progress(
                    policy=self._experiment.labels[key[1]],
                    problem=self._experiment.problems[key[0]].name,
                    runs_done=self._done,
                    runs_planned=self._planned,
                    runs_found=self._found,
                    steps_done=self._done * horizon,
                    steps_planned=self._planned * horizon,
                )
            )

    def _runs(self, block: int) -> int:
        return min(self._experiment.block, self._experiment.room - block * self._experiment.block)
