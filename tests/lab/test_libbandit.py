"""Our regret beside that of the author's own C++, libbandit, on the problems and by the policies that both have.

libbandit's figures are means of 4,000 runs with their standard errors. Ours are of 300 runs at a fixed seed. Where both
have the same expectation, a difference is beyond 4.27 of its errors with probability 2e-5; all 15 together raise a
false alarm less often than 3 times in 10,000. A policy read wrongly is seen: the closest two policies of a problem are
further apart than that, except where the page says so.
"""

from __future__ import annotations

import math
import warnings

import pytest

from ocucb import GuaranteeWarning
from ocucb.lab import Study, simulate
from ocucb.lab.experiment import Experiment

RUNS, ERRORS = 300, 4.27

THEIRS = {
    "worst_case(10, 0.3)": [(206.2, 0.8), (154.7, 1.3), (337.7, 1.0), (153.7, 2.8), (231.7, 1.4)],
    "mixed_gaps": [(205.7, 1.1), (171.3, 1.5), (292.7, 1.0), (152.4, 1.8), (224.8, 1.4)],
    "worst_case(2, 0.2)": [(36.4, 0.4), (30.0, 0.4), (49.7, 0.4), (24.9, 1.0), (36.6, 0.7)],
}


@pytest.fixture(scope="session")
def experiment() -> Experiment:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuaranteeWarning)
        [(_, found)] = Study.built_in()["libbandit"].experiments("quick")
    return found


@pytest.mark.parametrize("name", THEIRS)
def test_regret_is_that_of_the_authors_own_program(name: str, experiment: Experiment) -> None:
    problem = next(problem for problem in experiment.problems if problem.name == name)
    played = Experiment((problem,), experiment.policies, experiment.horizon, runs=RUNS, seed=7)
    for row, (mean, error) in zip(simulate(played).summary(), THEIRS[name], strict=True):
        apart = (row.mean - mean) / math.hypot(row.standard_error, error)
        assert abs(apart) < ERRORS, (row.policy, row.mean, mean)
