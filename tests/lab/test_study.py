"""Studies: read at the door, swept, sized, and those of the package."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from ocucb import MOSS, OCUCB, UCB, Gittins, GuaranteeWarning, OCUCBn, ParameterError, ThompsonSampling
from ocucb.lab.experiment import Experiment
from ocucb.lab.problem import mixed_gaps, worst_case
from ocucb.lab.simulation import simulate
from ocucb.lab.study import SIZES, Size, Study

TINY = """
title = "Two gaps"
horizon = 60
problems = ["worst_case(3, {gap})", "mixed_gaps"]
policies = ["ocucb-n", "moss"]
seed = 5

[sweep]
parameter = "gap"
from = 0.1
to = 0.3

[quick]
count = 2
runs = 8

[full]
count = 3
runs = 16
"""
BASE = 'horizon = 50\nruns = 4\nproblems = ["mixed_gaps"]\npolicies = ["ucb"]\n'
SWEPT = 'horizon = 50\nruns = 4\nproblems = ["worst_case(3, {gap})"]\npolicies = ["ucb"]\n[sweep]\nparameter = "gap"\n'

# The number of arms and the largest gap of the author's experiments.
GAPS = {"equal-gaps-2": (2, 0.5), "equal-gaps-10": (10, 0.75), "equal-gaps-100": (100, 1.0)}


def built_in(name: str, size: Size) -> list[tuple[float | None, Experiment]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuaranteeWarning)  # eta = 1, as in the author's experiments
        return Study.built_in()[name].experiments(size)


def test_sweep_of_a_gap() -> None:
    study = Study.from_toml(TINY, "tiny")
    assert (study.name, study.title) == ("tiny", "Two gaps")
    quick, full = study.experiments("quick"), study.experiments("full")
    assert [value for value, _ in quick] == [0.1, 0.3]
    assert [value for value, _ in full] == [0.1, 0.2, 0.3]  # not 0.30000000000000004
    experiment = full[1][1]
    assert experiment.problems == (worst_case(3, 0.2), mixed_gaps())
    assert experiment.policies == (("ocucb-n", OCUCBn()), ("moss", MOSS(60)))
    assert (experiment.runs, experiment.seed, quick[0][1].runs) == (16, 5, 8)


def test_sweep_of_arms_by_a_list() -> None:
    text = SWEPT.replace("3, {gap}", "{arms}, 0.3").replace("gap", "arms") + "values = [2, 4.0, 8]\n"
    experiments = Study.from_toml(text).experiments("quick")
    assert [experiment.problems[0].arms for _, experiment in experiments] == [2, 4, 8]


def test_sweep_of_a_parameter_keeps_labels() -> None:
    text = BASE.replace('"ucb"', '"ucb(alpha={alpha})", "ucb"') + '[sweep]\nparameter = "alpha"\nvalues = [2, 3.5]\n'
    experiments = Study.from_toml(text).experiments("full")
    assert [experiment.labels for _, experiment in experiments] == [("ucb(alpha={alpha})", "ucb")] * 2
    assert [experiment.policies[0][1] for _, experiment in experiments] == [UCB(2.0), UCB(3.5)]


def test_sweep_of_the_horizon_on_a_log_scale() -> None:
    text = BASE.replace("horizon = 50\n", "").replace('["ucb"]', '{M = "moss"}')
    text += '[sweep]\nparameter = "horizon"\nscale = "log"\nfrom = 100\nto = 10000\ncount = 5\n'
    experiments = Study.from_toml(text).experiments("quick")
    assert [experiment.horizon for _, experiment in experiments] == [100, 316, 1000, 3162, 10000]
    assert experiments[3][1].policies == (("M", MOSS(3162)),)


def test_a_policy_may_change_with_the_horizon() -> None:
    text = 'runs = 2\nproblems = ["mixed_gaps"]\n[policies]\nG = {policy = "ucb", until = 100, then = "ucb(3)"}\n'
    text += '[sweep]\nparameter = "horizon"\nvalues = [99, 100, 101]\n'
    policies = [experiment.policies[0] for _, experiment in Study.from_toml(text).experiments("quick")]
    assert policies == [("G", UCB(2.0)), ("G", UCB(2.0)), ("G", UCB(3.0))]


def test_nothing_swept_is_one_experiment() -> None:
    assert Study.from_toml(BASE).experiments("quick") == [(None, Experiment.from_toml(BASE))]


def test_an_experiment_is_a_study() -> None:
    text = Experiment.from_toml(BASE).to_toml()
    assert Study.from_toml(text).experiments("full") == [(None, Experiment.from_toml(BASE))]


def test_a_size_replaces_what_stands_above() -> None:
    text = BASE + "[full]\nprecision = 0.05\nhorizon = 70\n"
    study = Study.from_toml(text)
    quick, full = study.experiments("quick")[0][1], study.experiments("full")[0][1]
    assert (quick.horizon, quick.runs, quick.precision) == (50, 4, None)
    assert (full.horizon, full.runs, full.precision) == (70, None, 0.05)
    assert (study.summary("quick"), study.summary("full")) == ("4 runs", "precision 0.05")


WRONG = [
    ("", "a study must have problems, got nothing"),
    ("x = [", "a study must be TOML, but it breaks off"),
    (BASE + "polices = 3", "keys of a study are .* got 'polices'; did you mean 'policies'"),
    (BASE.replace("runs = 4\n", ""), "must have runs or precision, got neither for size quick"),
    (BASE + "quick = 3", r"quick must be a table, got 3; write \[quick\]"),
    (BASE + "sweep = 3", "sweep must be a table, got 3"),
    (BASE + "[quick]\nseed = 3", "keys of quick are .* got 'seed'"),
    (BASE + 'name = "a/b"', "name must be of letters, .* got 'a/b'"),
    (BASE + "name = 3", "name must be of letters"),
    (BASE + "title = 3", "title must be a text, got 3; put it in quotes"),
    (BASE.replace('"ucb"', '"ucb", "ucb"'), "policies must all be different"),
    (BASE.replace("ucb", "ucb({gap})"), r"words in braces must be swept, got \{gap\}; add a table \[sweep\]"),
    (SWEPT.replace("{gap}", "{gp}") + "values = [1]", r"words in braces must be swept, got \{gp\}; use \{gap\}"),
    (SWEPT.replace("{gap}", "0.3") + "values = [1]", r"what is swept must be used, got no \{gap\}"),
    (SWEPT.replace("gap", "horizon") + "values = [1]", "horizon must be given once, got a number and a sweep"),
    (SWEPT.replace('"gap"', '"the gap"') + "values = [1]", "parameter must be one word"),
    (SWEPT.replace('parameter = "gap"', "") + "values = [1]", "parameter must be a text, got None"),
    (SWEPT + "values = 1", "values of gap must be a list of numbers, got 1"),
    (SWEPT + "values = []", "values of gap must be a list of numbers"),
    (SWEPT + 'values = ["a"]', "values of gap must be a finite number, got 'a'"),
    (SWEPT + "values = [nan]", "values of gap must be a finite number, got nan"),
    (SWEPT + "values = [1, 1.0]", "values of gap must all be different"),
    (SWEPT + "values = [1]\ncount = 3", "must have values, or from, to and count; got count too"),
    (SWEPT + "from = 1\ncount = 3", "must have values, or from, to and count; got no to"),
    (SWEPT + "from = 1.0\nto = 2\ncount = 1", "count of gap must be 2 or more"),
    (SWEPT + "from = 1\nto = 2\ncount = 4", "values of gap must all be different"),  # two ends that are whole
    (SWEPT + 'from = 0.0\nto = 2\ncount = 4\nscale = "log"', 'must be positive for scale = "log"'),
    (SWEPT + 'values = [1]\nscale = "cubic"', "scale must be one of 'linear', 'log', got 'cubic'"),
    (SWEPT + "values = [1]\nlabel = 3", "label must be a text"),
    (SWEPT + "values = [1]\nstep = 3", "keys of a sweep are .* got 'step'"),
]


@pytest.mark.parametrize(("text", "words"), WRONG)
def test_wrong(text: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words) as caught:
        Study.from_toml(text)
    assert "\n" not in str(caught.value)


WRONG_LATER = [
    (BASE.replace("mixed_gaps", "mixed_gap"), "problem must be one of .* did you mean 'mixed_gaps'"),
    (BASE.replace("horizon = 50", 'horizon = "x"'), "horizon must be a whole number"),
    (SWEPT + "values = [0.1, -0.5]", r"gap = -0\.5: worst_case\(3, -0\.5\): gap must be greater than 0"),
    (BASE.replace('["ucb"]', "3"), "policies must be a list or table"),
    (BASE.replace('["ucb"]', '{U = {policy = "ucb", until = 3}}'), "U must have policy, until, then, got no then"),
    (BASE.replace('["ucb"]', '{U = {policy = "ucb", til = 3}}'), "keys of U are policy, until, then, got 'til'"),
    (BASE.replace('["ucb"]', '{U = {policy = "ucb", until = "x", then = "ucb"}}'), "until of U must be a whole number"),
]


@pytest.mark.parametrize(("text", "words"), WRONG_LATER)
def test_wrong_experiments(text: str, words: str) -> None:
    study = Study.from_toml(text)
    with pytest.raises(ParameterError, match=words) as caught:
        study.experiments("quick")
    assert "\n" not in str(caught.value)


def test_wrong_size() -> None:
    size: Any = "huge"
    with pytest.raises(ParameterError, match="size must be one of 'quick', 'full', got 'huge'"):
        Study.from_toml(BASE).experiments(size)


def test_read(tmp_path: Path) -> None:
    path = tmp_path / "my study.toml"
    path.write_text(BASE)
    assert Study.read(path).name == "my study"
    path.write_text("x = [")
    with pytest.raises(ParameterError, match=r"my study.toml: a study must be TOML"):
        Study.read(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ParameterError, match="must be a TOML file"):
        Study.read(path)


SCALE = ("scale-delay", "scale-every", "scale-nodes")


def test_studies_of_the_package() -> None:
    assert sorted(Study.built_in()) == sorted([*GAPS, "league", "libbandit", "memories", "mixed-gaps", *SCALE])
    for name, study in Study.built_in().items():
        assert study.name == name
        assert study.title != name


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", GAPS)
def test_equal_gaps(name: str, size: Size) -> None:
    arms, largest = GAPS[name]
    experiments = built_in(name, size)
    assert experiments[-1][0] == largest
    if size == "full":
        assert [value for value, _ in experiments] == pytest.approx([largest * i / 100 for i in range(1, 101)])
    for value, experiment in experiments:
        assert value is not None
        assert experiment.problems == (worst_case(arms, value),)
        assert experiment.horizon == 5000
        assert authors_policies(experiment) == Gittins(5000)


@pytest.mark.parametrize("size", SIZES)
def test_mixed_gaps(size: Size) -> None:
    experiments = built_in("mixed-gaps", size)
    assert {1000, 10_000, 100_000} <= {experiment.horizon for _, experiment in experiments}
    for value, experiment in experiments:
        assert value == experiment.horizon
        assert experiment.problems == (mixed_gaps(),)
        assert authors_policies(experiment) == Gittins(experiment.horizon, approximate=experiment.horizon > 10_000)


def authors_policies(experiment: Experiment) -> object:
    """Assert that all but the last are as in the issue, and return the last."""
    *policies, last = [policy for _, policy in experiment.policies]
    with pytest.warns(GuaranteeWarning, match="eta = 1"):
        expected = [OCUCBn(eta=1.0, rho=0.5), OCUCBn(eta=1.0, rho=0.5, shrink="all")]
    assert policies == [*expected, UCB(2.0), OCUCB(experiment.horizon, 3.0, 2.0), ThompsonSampling()]
    return last


def test_a_tiny_study_end_to_end() -> None:
    for _, experiment in Study.from_toml(TINY).experiments("quick"):
        rows = simulate(experiment).summary()
        assert [row.runs for row in rows] == [8] * 4
        assert all(row.mean > 0.0 for row in rows)
