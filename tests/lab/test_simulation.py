"""Simulate: the same bits in any order, never the same work twice, precision reached, errors passed on."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pytest
import xarray as xr

from lab.small_study import HORIZON, RUNS, assert_same, chunks, missing, small
from ocucb import UCB, LevelPolicy, OCUCBn, Uniform
from ocucb.compiled import Parameters
from ocucb.lab import simulation as module
from ocucb.lab.experiment import Experiment
from ocucb.lab.problem import Problem, worst_case
from ocucb.lab.shard import Shard, ShardResult, play
from ocucb.lab.simulation import Progress, first_goal, runs_needed, simulate
from ocucb.lab.store import ResultStore

Given = ParamSpec("Given")
Answer = TypeVar("Answer")

SHARDS = 18


def patient(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return 2.0 * math.log(t)


class Shuffled(Executor):
    """Waits until it has a number of tasks, and then plays them in an order of its own."""

    def __init__(self, tasks: int, seed: int) -> None:
        self._tasks = tasks
        self._random = random.Random(seed)
        self._waiting: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, fn: Callable[Given, Answer], /, *args: Given.args, **kwargs: Given.kwargs) -> Future[Answer]:
        future: Future[Answer] = Future()
        self._waiting.append((future, lambda: fn(*args, **kwargs)))
        if len(self._waiting) == self._tasks:
            self._random.shuffle(self._waiting)
            Thread(target=self._play).start()
        return future

    def _play(self) -> None:
        for future, task in self._waiting:
            if future.set_running_or_notify_cancel():
                future.set_result(task())


class Counting(ThreadPoolExecutor):
    """Keeps every future, and how many were under way at most."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.futures: list[Future[Any]] = []
        self.most = 0

    def submit(self, fn: Callable[Given, Answer], /, *args: Given.args, **kwargs: Given.kwargs) -> Future[Answer]:
        future = super().submit(fn, *args, **kwargs)
        self.futures.append(future)
        self.most = max(self.most, sum(not future.done() for future in self.futures))
        return future


@pytest.fixture(scope="module")
def expected() -> xr.Dataset:
    with ThreadPoolExecutor(1) as pool:
        return simulate(small(), pool).dataset


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[Shard]:
    """Return the list of shards that were played, to be filled."""
    shards: list[Shard] = []

    def noted(shard: Shard) -> ShardResult:
        shards.append(shard)
        return play(shard)

    monkeypatch.setattr(module, "play", noted)
    return shards


def test_is_what_the_shards_say(expected: xr.Dataset) -> None:
    whole = replace(small().shard((1, 1, 0)), runs=RUNS)  # all runs at once: blocks do not show
    outcome = play(whole)
    cell = expected.sel(problem="coins", policy="MOSS")
    np.testing.assert_array_equal(cell.regret.values, outcome.regret)
    np.testing.assert_array_equal(cell.pulls.values[:, :3], outcome.pulls)
    assert (cell.pulls.values[:, 3:] == -1).all()
    pulls = expected.pulls.where(expected.pulls >= 0, 0).sum("arm")
    assert (pulls == HORIZON).all()


@pytest.mark.parametrize("seed", range(3))
def test_order_does_not_matter(expected: xr.Dataset, seed: int) -> None:
    assert_same(simulate(small(), Shuffled(SHARDS, seed)).dataset, expected)


def test_default_executor_and_store_on_disk(expected: xr.Dataset, tmp_path: Path) -> None:
    assert_same(simulate(small(), folder=tmp_path).dataset, expected)
    assert_same(ResultStore.open(str(tmp_path)).dataset(), expected)


def test_seed_matters(expected: xr.Dataset) -> None:
    other = simulate(small(seed=8)).dataset
    assert not np.array_equal(other.regret.values, expected.regret.values)


def test_no_shard_is_played_twice(expected: xr.Dataset, played: list[Shard], tmp_path: Path) -> None:
    simulate(small(), folder=tmp_path)
    assert len(played) == len(set(played)) == SHARDS
    before = [(path, path.stat().st_mtime_ns) for path in chunks(tmp_path)]
    assert_same(simulate(small(), folder=tmp_path).dataset, expected)
    assert len(played) == SHARDS
    assert [(path, path.stat().st_mtime_ns) for path in chunks(tmp_path)] == before


def test_in_two_parts(expected: xr.Dataset, played: list[Shard], tmp_path: Path) -> None:
    events: list[Progress] = []

    def stop(event: Progress) -> None:
        events.append(event)
        if len(events) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(small(), Shuffled(SHARDS, 0), tmp_path, stop)
    found = ResultStore.open(tmp_path)
    assert len(missing(found)) == SHARDS - 5
    played.clear()
    assert_same(simulate(small(), folder=tmp_path, progress=events.append).dataset, expected)
    assert len(played) == SHARDS - 5
    done, planned = found.dataset().finished.sum(), 6 * RUNS
    assert events[5].runs_found == done
    assert events[-1].runs_done == events[-1].runs_planned == planned


def test_progress() -> None:
    events: list[Progress] = []
    with ThreadPoolExecutor(1) as pool:
        simulate(small(), pool, progress=events.append)
    assert len(events) == SHARDS
    assert [event.runs_done for event in events[:7]] == [256, 512, 768, 1024, 1280, 1536, 1792]
    assert events[4] == Progress("MOSS", "coins", 1280, 6 * RUNS, 0, 1280 * HORIZON, 6 * RUNS * HORIZON)
    assert events[-1].steps_done == events[-1].steps_planned


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_error_in_a_shard_stops_the_rest(
    error: type[BaseException], expected: xr.Dataset, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bad = small().shard((1, 0, 0))

    def fail(shard: Shard) -> ShardResult:
        if shard == bad:
            raise error("no")
        return play(shard)

    monkeypatch.setattr(module, "play", fail)
    with Counting(1) as pool:
        pool._max_workers = 1
        with pytest.raises(error, match="no"):
            simulate(small(), pool, tmp_path)
    assert sum(future.cancelled() for future in pool.futures) >= 1
    assert len(missing(ResultStore.open(tmp_path))) == SHARDS - 3
    monkeypatch.undo()
    assert_same(simulate(small(), folder=tmp_path).dataset, expected)


def test_bounded_number_in_flight() -> None:
    with Counting(1) as pool:
        simulate(small(), pool)
    assert len(pool.futures) == SHARDS
    assert pool.most <= module.IN_FLIGHT


def test_own_policy(tmp_path: Path) -> None:
    own = LevelPolicy("patient", patient, trend="rises")
    experiment = Experiment((worst_case(3),), (("ucb", UCB(4.0)), ("own", own)), 200, runs=20)
    found = simulate(experiment, folder=tmp_path).dataset
    np.testing.assert_array_equal(found.regret.values[:, 0], found.regret.values[:, 1])
    assert_same(simulate(experiment, folder=tmp_path).dataset, found)


def precise(precision: float, **changes: Any) -> Experiment:
    problems = (worst_case(3, 0.5), Problem((0.0, -0.5), name="two"))
    base = Experiment(problems, (("n", OCUCBn()), ("u", UCB())), 20_000, precision=precision)
    return replace(base, **changes)


def test_precision_is_reached(played: list[Shard], tmp_path: Path) -> None:
    experiment = precise(0.013)
    found = simulate(experiment, folder=tmp_path).dataset
    final = found.regret.isel(t=-1)
    error = final.std("run", ddof=1) / np.sqrt(found.finished)
    assert (error <= 0.013 * final.mean("run")).all()
    assert (found.finished % experiment.block_size == 0).all()
    assert (found.finished.isel(policy=0) == found.finished.isel(policy=1)).all()
    assert found.sizes["run"] == found.finished.max()
    assert found.finished.min() > first_goal(experiment) * experiment.block_size  # it had to add some
    assert len(played) == len(set(played)) == found.finished.sum() / experiment.block_size
    assert_same(simulate(experiment, folder=tmp_path).dataset, found)
    assert len(played) == len(set(played))


def test_precision_in_two_parts(tmp_path: Path) -> None:
    experiment = precise(0.02)
    events: list[Progress] = []

    def stop(event: Progress) -> None:
        events.append(event)
        if len(events) == 11:
            raise KeyboardInterrupt

    with ThreadPoolExecutor(2) as pool, pytest.raises(KeyboardInterrupt):
        simulate(experiment, pool, tmp_path, stop)
    assert_same(simulate(experiment, folder=tmp_path).dataset, simulate(experiment).dataset)


def test_precision_stops_at_the_cap() -> None:
    experiment = precise(0.0001, horizon=400, checkpoints=(), max_runs=500)
    found = simulate(experiment).dataset
    assert experiment.block_size == 256
    assert (found.finished == 512).all()
    few = precise(0.0001, max_runs=10)
    assert (simulate(few).dataset.finished == 10).all()


def test_precision_without_spread() -> None:
    flat = Problem((1.0, 1.0), name="flat")
    experiment = Experiment((flat,), (("uniform", Uniform()),), 100_000, precision=0.01)
    found = simulate(experiment).dataset
    assert found.finished.item() == 40  # two blocks of 20
    assert (found.regret == 0.0).all()


def test_first_goal_has_thirty_runs() -> None:
    assert first_goal(precise(0.1)) == 2
    assert first_goal(precise(0.1, horizon=2_000_000, checkpoints=())) == 30
    assert first_goal(precise(0.1, max_runs=20)) == 1
    assert first_goal(small()) == 3


def test_runs_needed() -> None:
    regret = np.array([1.0, 3.0] * 50)
    spread = math.sqrt(100 / 99)
    assert runs_needed(regret, 0.1) == pytest.approx((spread / 0.2) ** 2)
    assert runs_needed(np.zeros(10), 0.1) == 0.0
