"""Ranks over problems: by hand, and with intervals that are as wide as runs differ."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from ocucb import GuaranteeWarning, ParameterError
from ocucb.lab import Study
from ocucb.lab.ranks import mean_ranks
from ocucb.policies import POLICIES


def test_ranks_by_hand() -> None:
    """Mean regrets 1, 2, 3 on one problem and 2, 1, 3 on another, the same in all runs."""
    means = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0]])
    regret = np.repeat(means[:, :, None], 4, axis=2)
    assert mean_ranks(["a", "b", "c"], regret) == [
        ("a", 1.5, 1.5, 1.5, 1),
        ("b", 1.5, 1.5, 1.5, 1),
        ("c", 3.0, 3.0, 3.0, 0),
    ]


def test_intervals_are_wide_where_runs_differ() -> None:
    generator = np.random.default_rng(1)
    regret = generator.normal(size=(4, 3, 20)) + np.array([0.0, 0.1, 9.0])[None, :, None]
    ranks = {rank.policy: rank for rank in mean_ranks(["a", "b", "c"], regret)}
    assert ranks["c"][1:4] == (3.0, 3.0, 3.0)
    assert ranks["a"].low < ranks["a"].high
    assert 1.0 <= ranks["a"].low <= ranks["a"].mean <= ranks["a"].high <= 2.0


@pytest.mark.parametrize("shape", [(3, 2), (1, 3, 4), (1, 2, 1)])
def test_wrong_shapes(shape: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match="regret must be finite, of problems, 2 policies and runs, got"):
        mean_ranks(["a", "b"], np.zeros(shape))


def test_the_league_has_all_policies_on_all_kinds_of_problem() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuaranteeWarning)
        [(_, experiment)] = Study.built_in()["league"].experiments("quick")
    names = {policy.name for _, policy in experiment.policies}
    ours = {name for name, policy in POLICIES.items() if policy.__module__.startswith("ocucb.policies.")}
    assert names == ours - {"ucb-v", "ucb-tuned"}  # which need rewards in a range
    kinds = {(problem.name.split(", ")[0], problem.noise.name) for problem in experiment.problems}
    assert len(kinds) == 20
    assert {problem.noise.name for problem in experiment.problems} == {
        "gaussian",
        "bernoulli",
        "poisson",
        "exponential",
    }
