"""Ranks of policies over problems, with intervals: what a league table shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ocucb.compiled import Floats, Integers
from ocucb.errors import ParameterError

RESAMPLES = 400


class Rank(NamedTuple):
    """The mean rank of a policy over problems, 1 for the least regret, its 95 % interval, and where it was first."""

    policy: str
    mean: float
    low: float
    high: float
    first: int


def mean_ranks(labels: Sequence[str], regret: Floats, seed: int = 0) -> list[Rank]:
    """Return the ranks of policies by mean regret, best first.

    The interval is the bootstrap's: runs are drawn anew, the same for all policies, since they met the same rewards.

    labels : of the policies.
    regret : final regret (problem, policy, run).
    """
    if regret.ndim != 3 or regret.shape[1] != len(labels) or regret.shape[2] < 2 or not np.isfinite(regret).all():
        raise ParameterError(f"regret must be finite, of problems, {len(labels)} policies and runs, got {regret.shape}")
    ranks = _ranks(regret.mean(axis=2))
    generator = np.random.default_rng(seed)
    runs = regret.shape[2]
    drawn = np.array(
        [_ranks(regret[:, :, generator.integers(0, runs, runs)].mean(axis=2)).mean(axis=0) for _ in range(RESAMPLES)]
    )
    low, high = np.quantile(drawn, (0.025, 0.975), axis=0)
    means = ranks.mean(axis=0)
    made = [
        Rank(label, float(means[k]), float(low[k]), float(high[k]), int((ranks[:, k] == 1).sum()))
        for k, label in enumerate(labels)
    ]
    return sorted(made, key=lambda rank: rank.mean)


def _ranks(means: Floats) -> Integers:
    """Return the rank of each policy on each problem; of equals the first is before."""
    order = np.argsort(means, axis=1, kind="stable")
    ranks = np.empty(order.shape, np.int64)
    np.put_along_axis(ranks, order, np.arange(1, order.shape[1] + 1)[None, :], axis=1)
    return ranks
