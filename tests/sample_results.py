"""Small results for tests: real episodes, and made-up numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import xarray as xr

from ocucb import UCB, OCUCBn, Policy, ThompsonSampling
from ocucb.lab.experiment import Experiment
from ocucb.lab.problem import Problem, mixed_gaps, worst_case
from ocucb.lab.shard import Shard, play

POLICIES: tuple[tuple[str, Policy], ...] = (
    ("OCUCB-n", OCUCBn()),
    ("UCB", UCB()),
    ("Thompson sampling", ThompsonSampling()),
)


def study(
    problems: Sequence[Problem] = (mixed_gaps(), worst_case(4, 0.5)),
    policies: Sequence[tuple[str, Policy]] = POLICIES,
    horizon: int = 1000,
    runs: int = 20,
    seed: int = 1,
) -> Experiment:
    """An experiment with log-spaced checkpoints."""
    rounds = np.unique(np.geomspace(1, horizon, 30).round().astype(np.int64)).tolist()
    return Experiment(
        problems=tuple(problems),
        policies=tuple(policies),
        horizon=horizon,
        runs=runs,
        seed=seed,
        checkpoints=tuple(rounds),
    )


def empty(experiment: Experiment) -> xr.Dataset:
    """The result of an experiment of which nothing has been played."""
    runs, arms = experiment.runs or 0, max(problem.arms for problem in experiment.problems)
    shape = (len(experiment.problems), len(experiment.policies), runs)
    return xr.Dataset(
        {
            "regret": (("problem", "policy", "run", "t"), np.full((*shape, len(experiment.checkpoints)), np.nan)),
            "pulls": (("problem", "policy", "run", "arm"), np.full((*shape, arms), -1, dtype=np.int64)),
        },
        coords={
            "problem": [problem.name for problem in experiment.problems],
            "policy": [label for label, _ in experiment.policies],
            "run": np.arange(runs),
            "t": list(experiment.checkpoints),
            "arm": np.arange(arms),
        },
        attrs={
            "experiment": f"horizon = {experiment.horizon}\nseed = {experiment.seed}\n",
            "provenance": json.dumps({"ocucb": "0.1.0", "threads": 2}),
        },
    )


def played(experiment: Experiment) -> xr.Dataset:
    """The result of an experiment, played here and now."""
    dataset = empty(experiment)
    for i, problem in enumerate(experiment.problems):
        for j, (_, policy) in enumerate(experiment.policies):
            outcome = play(
                Shard(
                    problem,
                    policy,
                    experiment.horizon,
                    experiment.checkpoints,
                    experiment.seed,
                    0,
                    experiment.runs or 0,
                )
            )
            dataset["regret"].to_numpy()[i, j] = outcome.regret
            dataset["pulls"].to_numpy()[i, j, :, : problem.arms] = outcome.pulls
    return dataset


def made_up(regret: npt.ArrayLike, pulls: npt.ArrayLike, means: Sequence[float]) -> tuple[xr.Dataset, Experiment]:
    """A result with this final regret (policy, run) and these pulls (policy, run, arm) on one problem."""
    final = np.asarray(regret, dtype=np.float64)
    policies = [(f"policy {k}", POLICIES[0][1]) for k in range(len(final))]
    experiment = study([Problem(tuple(means))], policies, horizon=10, runs=final.shape[1])
    dataset = empty(experiment)
    dataset["regret"].to_numpy()[0] = final[:, :, np.newaxis] * np.linspace(0.1, 1.0, len(experiment.checkpoints))
    dataset["pulls"].to_numpy()[0] = np.asarray(pulls)
    return dataset, experiment
