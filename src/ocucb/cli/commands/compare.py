"""`ocucb compare`: the main job, policies against each other on the same rewards."""

from __future__ import annotations

from pathlib import Path

from ocucb.checks import whole
from ocucb.cli.options import (
    Assumed,
    Count,
    Data,
    Late,
    Means,
    NoReport,
    Overwrite,
    Place,
    Problems,
    Real,
    Spread,
    Texts,
    read_problems,
)

# OCUCB-n; what it refines, UCB; two that are told the horizon, MOSS and OCUCB; the Bayesian everybody knows; and the
# nearest rival that needs no horizon: KL-UCB+ divides by T where OCUCB-n divides by T k, so they show what k is worth.
POLICIES = ("ocucb-n", "ucb", "moss", "ocucb", "thompson-sampling", "kl-ucb+")
PROBLEM = "mixed_gaps"
HORIZON = 100_000
RUNS = 120
OUTPUT = Path("ocucb-compare")


def compare(
    *,
    means: Means = None,
    problem: Problems = (),
    noise: Spread = None,
    assumed: Assumed = None,
    delay: Late = None,
    data: Data = (),
    policy: Texts = POLICIES,
    horizon: Count = HORIZON,
    runs: Count | None = None,
    precision: Real | None = None,
    seed: Count = 0,
    output: Path = OUTPUT,
    executor: Place = None,
    no_report: NoReport = False,
    overwrite: Overwrite = False,
) -> None:
    """Compare policies: regret with error bars, differences on the same rewards, figures, a report.

    Without options: six policies on ten arms with gaps 0, 0.1, 0.5 and 1, for 100,000 rounds. The same command again
    goes on where it was stopped, or shows what it has.

    Parameters
    ----------
    policy
        A policy, as in "ocucb-n(eta=1.5, rho=0.75)"; repeat it for more. The first is what others are compared to.
    horizon
        Rounds of each run.
    runs
        Runs of each policy on each problem; 120 if neither this nor precision is given.
    precision
        Instead of runs: add runs until each standard error is within this share of its mean, as in 0.01.
    seed
        Another seed, other rewards.
    output
        The folder for results and files.
    """
    from ocucb.cli.experiments import run_experiment
    from ocucb.lab import Experiment
    from ocucb.lab.spec import read_policies

    rounds = whole("horizon", horizon, 2, "give the rounds of a run")
    named = problem or ((PROBLEM,) if means is None and not data else ())
    experiment = Experiment(
        problems=tuple(read_problems(means, named, noise, data=data, assumed=assumed, delay=delay)),
        policies=tuple(read_policies(list(policy), rounds)),
        horizon=rounds,
        runs=RUNS if runs is None and precision is None else runs,
        precision=precision,
        seed=seed,
    )
    run_experiment(experiment, output, executor=executor, overwrite=overwrite, report=not no_report)
