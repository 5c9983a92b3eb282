"""Verdicts measured: a run is what a bandit does that is asked as often, and errors are as rare as promised."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ocucb import KLLUCB, MOSS, Bandit, Bernoulli, Gaussian, ParameterError, Policy, TopTwo, Uniform
from ocucb.lab import Delay, Identification, Problem, identify, random, worst_case
from ocucb.lab.identification import GROWTH, identify_once
from ocucb.lab.tape import arm_key, choice_seed
from ocucb.uniforms import uniform

EASY = Problem((0.9, 0.4, 0.3), Bernoulli(), "easy")


def played_plainly(problem: Problem, policy: Policy, delta: float, seed: int, run: int) -> tuple[int, int]:
    """Rounds and arm of the verdict, by a bandit."""
    bandit = Bandit(policy, problem.arms, problem.noise, seed=choice_seed(seed, run))
    pulls, t = [0] * problem.arms, 0
    while True:
        end = max(problem.arms, math.ceil(t * GROWTH), t + 1)
        for _ in range(t, end):
            arm = int(bandit.choose())
            pulls[arm] += 1
            level = uniform(np.uint64(arm_key(seed, run, arm)), pulls[arm])
            bandit.learn(arm, problem.noise.quantile(problem.means[arm], level))
        t = end
        best = bandit.best(1.0 - delta).best
        if best is not None:
            return t, int(best)


@pytest.mark.parametrize("policy", [TopTwo(), Uniform(), KLLUCB()], ids=str)
@pytest.mark.parametrize("problem", [EASY, worst_case(3, 1.5)], ids=lambda problem: problem.name)
def test_a_run_is_what_a_bandit_does(policy: Policy, problem: Problem) -> None:
    for run in (0, 5):
        made = identify_once(Identification(problem, (("a", policy),), 0.1, seed=3), 0, run)
        assert (made.rounds, made.arm) == played_plainly(problem, policy, 0.1, 3, run)
        assert made.gap == problem.gaps[made.arm]


def test_rows_and_errors() -> None:
    """A verdict at δ = 0.2 is wrong at most so often: 40 runs of each with more than 21 wrong, less than 1e-5."""
    experiment = Identification(EASY, (("top-two", TopTwo()), ("uniform", Uniform())), 0.2, runs=40)
    seen: list[tuple[str, int, int]] = []
    result = identify(experiment, "threads:2", lambda *event: seen.append(event))
    first, second = result.summary()
    assert seen[-1][1:] == (80, 80)
    assert (first.policy, first.runs, first.undecided, second.undecided) == ("top-two", 40, 0, 0)
    assert max(first.wrong, second.wrong) <= 21
    assert first.rounds == sum(run.rounds for run in result.runs["top-two"]) / 40
    assert first.rounds_low < first.rounds < first.rounds_high
    assert first.to_least == pytest.approx(first.rounds / experiment.least_rounds())
    assert identify(experiment, "processes:1") == result


def test_a_run_without_a_verdict_ends() -> None:
    close = Problem((0.5, 0.499), Bernoulli())
    experiment = Identification(close, (("a", Uniform()),), 0.05, runs=2, max_rounds=100)
    (row,) = identify(experiment, "threads:1").summary()
    assert (row.undecided, row.wrong) == (2, 0)
    assert math.isnan(row.rounds)


def test_a_fixed_number_of_rounds() -> None:
    hard = Problem((0.3, 0.0, 0.0))
    experiment = Identification(hard, (("a", Uniform()), ("moss", MOSS(30))), rounds=30, runs=50)
    result = identify(experiment, "threads:1")
    assert all(run.rounds == 30 and run.arm >= 0 for runs in result.runs.values() for run in runs)
    row = result.summary()[0]
    wrong = [run.gap for run in result.runs["a"] if run.gap > 0.0]
    assert 0 < row.wrong == len(wrong) < 50
    assert row.simple_regret == pytest.approx(sum(wrong) / 50)
    assert math.isnan(row.to_least)


@pytest.mark.parametrize("end", [{"delta": 0.2}, {"rounds": 20}])
def test_a_result_shows_itself_as_a_table(end: dict[str, Any]) -> None:
    problem = replace(EASY, name="<easy>")
    result = identify(Identification(problem, (("<a>", TopTwo()), ("b", Uniform())), runs=3, **end), "threads:1")
    header, *lines = result.table()
    assert [line[0] for line in lines] == ["<a>", "b"]
    assert ("rounds" in header) == ("delta" in end)
    printed, page = str(result).splitlines(), result._repr_html_()
    assert printed[0] == result.title()
    assert printed[2].split()[0] == "policy"
    assert all(cell in printed[4] for cell in lines[0])
    assert page.count("<tr>") == 3
    assert "&lt;a&gt;" in page
    assert "<a>" not in page
    assert "<easy>" not in page
    assert repr(result) == "<IdentificationResult: <a>, b on <easy>>"


def test_late_rewards_make_a_verdict_late() -> None:
    late = replace(EASY, delay=Delay("fixed", (500,)))
    experiments = [Identification(problem, (("a", TopTwo()),), 0.1) for problem in (EASY, late)]
    soon, later = (identify_once(experiment, 0, 1).rounds for experiment in experiments)
    assert later > max(500, soon)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"delta": 0.0}, "delta must be between 0 and 1, and neither, got 0; use delta=0.05"),
    ({"delta": 1}, "delta must be between 0 and 1, and neither, got 1"),
    ({"delta": "x"}, "delta must be a finite number, got 'x'"),
    ({}, "one of delta and rounds must be given, got neither"),
    ({"delta": 0.1, "rounds": 100}, "one of delta and rounds must be given, got both"),
    ({"rounds": 2}, "rounds must be 3 or more, got 2; every arm is played once"),
    ({"delta": 0.1, "runs": 1}, "runs must be 2 or more, got 1"),
    (
        {"delta": 0.1, "problem": random(3)},
        "identification needs fixed means, got random(3, uniform, 0, 1), where Bayes",
    ),
    ({"delta": 0.1, "problem": Problem((0.0, 0.0))}, "means must have one best arm of two or more"),
    ({"delta": 0.1, "policies": (("m", MOSS(100)),)}, "m must play 1000000 rounds, but it was made for 100"),
]


@pytest.mark.parametrize(("given", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_wrong_input_gets_one_clear_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Identification(**{"problem": EASY, "policies": (("a", TopTwo()),), **given})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_least() -> None:
    experiment = Identification(Problem((0.5, 0.0), Gaussian()), (("a", TopTwo()),), 0.01)
    assert experiment.least_rounds() == pytest.approx(32 * math.log(100))
