"""The runs of an experiment as an `xarray.Dataset`: made from shards, and read by policy and problem.

regret (problem, policy, run, t)    pseudo-regret; NaN where a run is not finished
pulls (problem, policy, run, arm)   at the horizon; -1 where a run is not finished or the problem has no such arm
finished (problem, policy)          how many runs there are
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from ocucb.compiled import Floats
from ocucb.errors import ParameterError
from ocucb.lab.experiment import Key
from ocucb.lab.problem import Problem
from ocucb.lab.shard import Outcome

PACKAGES = ("ocucb", "numpy", "numba", "xarray", "zarr")
UNFINISHED = {"regret": float("nan"), "pulls": -1}


def make_dataset(
    outcomes: dict[Key, Outcome],
    block: int,
    coordinates: Mapping[str, Sequence[Any]],
    attributes: Mapping[str, str],
) -> xr.Dataset:
    """Return the finished shards as one dataset, and empty `outcomes`, so that nothing is long in memory twice.

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
    finished = (~np.isnan(regret[..., -1])).sum(axis=2)
    return xr.Dataset(
        {"regret": (("problem", "policy", "run", "t"), regret), "pulls": (("problem", "policy", "run", "arm"), pulls)},
        {**coordinates, "run": np.arange(runs), "finished": (("problem", "policy"), finished)},
        attributes,
    )


def join_datasets(datasets: Sequence[xr.Dataset]) -> xr.Dataset:
    """Return datasets that differ in their problems alone as one; it has the first one's attributes."""
    return xr.concat(
        datasets, "problem", data_vars="all", join="outer", fill_value=UNFINISHED, combine_attrs="override"
    )


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


def regret_samples(dataset: xr.Dataset, problem: str, policy: str, t: int | None = None) -> Floats:
    """Return regret, one row per run played: at checkpoint t, or at all of them."""
    values = _regret(dataset, problem, policy, t)
    return values[_played(values)]


def difference_samples(dataset: xr.Dataset, problem: str, policy: str, reference: str, t: int | None = None) -> Floats:
    """Return regret less that of the reference policy, one row per run that both have played."""
    values = _regret(dataset, problem, policy, t) - _regret(dataset, problem, reference, t)
    return values[_played(values)]


def pull_shares(dataset: xr.Dataset, problem: Problem, policy: str) -> Floats:
    """Return the share of rounds that each arm of the problem got, one row per run played."""
    chosen = dataset["pulls"].sel(problem=problem.name, policy=policy).transpose("run", "arm").to_numpy()
    pulls = np.asarray(chosen[:, : problem.arms], dtype=np.float64)
    pulls = pulls[(pulls >= 0.0).all(axis=1)]
    return np.asarray(pulls / pulls.sum(axis=1, keepdims=True))


def mean_pull_shares(dataset: xr.Dataset, problem: Problem) -> Floats:
    """Return the mean share of rounds that each arm of the problem got, one row per policy; NaN if it has no run."""
    policies = dataset["policy"].to_numpy()
    means = np.full((len(policies), problem.arms), np.nan)
    for row, policy in zip(means, policies, strict=True):
        shares = pull_shares(dataset, problem, str(policy))
        if len(shares):
            row[:] = shares.mean(axis=0)
    return means


def best_arm_shares(dataset: xr.Dataset, problem: Problem, policy: str, seed: int = 0) -> Floats:
    """Return the share of rounds spent on optimal arms, one entry per run played; nan where the best arm changes.

    seed : of the experiment, from which random means follow.
    """
    shares = pull_shares(dataset, problem, policy)
    if problem.changes:
        return np.full(len(shares), np.nan)
    if problem.prior is None:
        return np.asarray(shares[:, np.array(problem.gaps) == 0.0].sum(axis=1))
    runs = np.flatnonzero(_played(_regret(dataset, problem.name, policy, None)))
    means = problem.world_means(seed, 0, int(runs[-1]) + 1 if len(runs) else 0)[runs]
    return np.asarray((shares * (means == means.max(axis=1, keepdims=True))).sum(axis=1))


def _regret(dataset: xr.Dataset, problem: str, policy: str, t: int | None) -> Floats:
    chosen = dataset["regret"].sel(problem=problem, policy=policy)
    if t is None:
        return np.asarray(chosen.transpose("run", "t").to_numpy())
    if t not in dataset["t"].to_numpy():
        raise ParameterError(f"t must be a checkpoint of the result, got {t}; the last is {int(dataset['t'][-1])}")
    return np.asarray(chosen.sel(t=t).to_numpy())


def _played(values: Floats) -> npt.NDArray[np.bool_]:
    return np.asarray(np.isfinite(values).all(axis=tuple(range(1, values.ndim))))
