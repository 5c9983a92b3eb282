"""`ocucb compare`: the main job, policies against each other on the same rewards."""

from __future__ import annotations

from pathlib import Path

from ocucb.checks import whole
from ocucb.cli.answers import answer_comparison
from ocucb.cli.options import Count, Means, NoReport, Overwrite, Place, Problems, Real, Spread, Texts, read_problems
from ocucb.cli.playing import STORE, Part, play
from ocucb.lab.experiment import Experiment
from ocucb.lab.spec import read_policies

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
    rounds = whole("horizon", horizon, 2, "give the rounds of a run")
    named = problem or ((PROBLEM,) if means is None else ())
    experiment = Experiment(
        problems=tuple(read_problems(means, named, noise)),
        policies=tuple(read_policies(list(policy), rounds)),
        horizon=rounds,
        runs=RUNS if runs is None and precision is None else runs,
        precision=precision,
        seed=seed,
    )
    part = Part(experiment, output / STORE)
    answer_comparison(part, output, play([part], output, executor, overwrite), report=not no_report)
