"""The runs of an experiment as plain arrays: what summary, curves, figures and report are made of.

`dataset` makes an `xarray.Dataset` of them for whoever asks; to import xarray takes as long as a small simulation.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats, Integers
from ocucb.errors import ParameterError
from ocucb.lab.experiment import Key
from ocucb.lab.problem import Problem
from ocucb.lab.shard import ShardResult

if TYPE_CHECKING:
    import xarray as xr

PACKAGES = ("ocucb", "numpy", "numba", "xarray", "zarr")
UNFINISHED = {"regret": float("nan"), "pulls": -1}


@dataclass(frozen=True, eq=False)
class Runs:
    """All runs, finished or not, of every policy on every problem.

    regret : (problem, policy, run, t), pseudo-regret; NaN where a run is not finished.
    pulls : (problem, policy, run, arm), at the horizon; -1 where a run is not finished or the problem has no such arm.
    attributes : the experiment, described as TOML, and its provenance, as JSON.
    """

    problems: tuple[str, ...]
    policies: tuple[str, ...]
    t: Integers
    regret: Floats
    pulls: Integers
    attributes: Mapping[str, str]

    @property
    def finished(self) -> Integers:
        """How many runs of each policy on each problem there are."""
        return np.asarray((~np.isnan(self.regret[..., -1])).sum(axis=2))

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return self.regret.nbytes + self.pulls.nbytes

    def cell(self, problem: str, policy: str) -> tuple[int, int]:
        """Return the places of a problem and a policy."""
        return self.problems.index(problem), self.policies.index(policy)


def gather_runs(
    outcomes: dict[Key, ShardResult],
    block: int,
    coordinates: Mapping[str, Sequence[Any]],
    attributes: Mapping[str, str],
) -> Runs:
    """Return the finished shards as arrays, and empty `outcomes`, so that nothing is long in memory twice.

    block : runs of a shard.
    coordinates : problem, policy, t and arm.
    """
    runs = max((key[2] * block + len(outcome.regret) for key, outcome in outcomes.items()), default=0)
    problems, policies, rounds, arms = (len(coordinates[name]) for name in ("problem", "policy", "t", "arm"))
    regret = np.full((problems, policies, runs, rounds), UNFINISHED["regret"])
    pulls = np.full((problems, policies, runs, arms), UNFINISHED["pulls"], dtype=np.int64)
    while outcomes:
        (problem, policy, number), outcome = outcomes.popitem()
        rows = slice(number * block, number * block + len(outcome.regret))
        regret[problem, policy, rows] = outcome.regret
        pulls[problem, policy, rows, : outcome.pulls.shape[1]] = outcome.pulls
    names, labels = (tuple(map(str, coordinates[name])) for name in ("problem", "policy"))
    return Runs(names, labels, np.array(coordinates["t"], dtype=np.int64), regret, pulls, attributes)


def runs_of(dataset: Runs | xr.Dataset) -> Runs:
    """Return the runs of a dataset, whatever the order of its dimensions."""
    if isinstance(dataset, Runs):
        return dataset
    regret = dataset["regret"].transpose("problem", "policy", "run", "t").to_numpy()
    pulls = dataset["pulls"].transpose("problem", "policy", "run", "arm").to_numpy()
    names, labels = (tuple(map(str, dataset[name].to_numpy())) for name in ("problem", "policy"))
    return Runs(names, labels, dataset["t"].to_numpy(), regret, pulls, dataset.attrs)


def provenance(seed: int) -> dict[str, Any]:
    """Return what made the results: versions, seed, machine, time."""
    return {
        "versions": {"python": platform.python_version()} | {package: version(package) for package in PACKAGES},
        "seed": seed,
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def regret_samples(dataset: Runs | xr.Dataset, problem: str, policy: str, t: int | None = None) -> Floats:
    """Return regret, one row per run played: at checkpoint t, or at all of them."""
    values = _regret(runs_of(dataset), problem, policy, t)
    return values[_played(values)]


def difference_samples(
    dataset: Runs | xr.Dataset, problem: str, policy: str, reference: str, t: int | None = None
) -> Floats:
    """Return regret less that of the reference policy, one row per run that both have played."""
    runs = runs_of(dataset)
    values = _regret(runs, problem, policy, t) - _regret(runs, problem, reference, t)
    return values[_played(values)]


def pull_shares(dataset: Runs | xr.Dataset, problem: Problem, policy: str) -> Floats:
    """Return the share of rounds that each arm of the problem got, one row per run played."""
    runs = runs_of(dataset)
    chosen = runs.pulls[runs.cell(problem.name, policy)]
    pulls = np.asarray(chosen[:, : problem.arms], dtype=np.float64)
    pulls = pulls[(pulls >= 0.0).all(axis=1)]
    return np.asarray(pulls / pulls.sum(axis=1, keepdims=True))


def mean_pull_shares(dataset: Runs | xr.Dataset, problem: Problem) -> Floats:
    """Return the mean share of rounds that each arm of the problem got, one row per policy; NaN if it has no run."""
    runs = runs_of(dataset)
    means = np.full((len(runs.policies), problem.arms), np.nan)
    for row, policy in zip(means, runs.policies, strict=True):
        shares = pull_shares(runs, problem, policy)
        if len(shares):
            row[:] = shares.mean(axis=0)
    return means


def best_arm_shares(dataset: Runs | xr.Dataset, problem: Problem, policy: str, seed: int = 0) -> Floats:
    """Return the share of rounds spent on optimal arms, one entry per run played; nan where the best arm changes.

    seed : of the experiment, from which random means follow.
    """
    runs = runs_of(dataset)
    shares = pull_shares(runs, problem, policy)
    if problem.changes:
        return np.full(len(shares), np.nan)
    if problem.prior is None:
        return np.asarray(shares[:, np.array(problem.gaps) == 0.0].sum(axis=1))
    played = np.flatnonzero(_played(_regret(runs, problem.name, policy, None)))
    means = problem.means_of_runs(seed, 0, int(played[-1]) + 1 if len(played) else 0)[played]
    return np.asarray((shares * (means == means.max(axis=1, keepdims=True))).sum(axis=1))


def _regret(runs: Runs, problem: str, policy: str, t: int | None) -> Floats:
    values = runs.regret[runs.cell(problem, policy)]
    if t is None:
        return np.asarray(values)
    if t not in runs.t:
        raise ParameterError(f"t must be a checkpoint of the result, got {t}; the last is {int(runs.t[-1])}")
    return np.asarray(values[:, int(np.flatnonzero(runs.t == t)[0])])


def _played(values: Floats) -> npt.NDArray[np.bool_]:
    return np.asarray(np.isfinite(values).all(axis=tuple(range(1, values.ndim))))
