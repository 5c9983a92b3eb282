"""Environments in files: each is written and read back, resumed, and wrong ones get one clear line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ocucb import UCB, Bernoulli, Exponential, Gaussian, OCUCBn, ParameterError, StateError
from ocucb.lab import Delay, Experiment, Problem, Result, exact_regret, from_data, random, rotating, simulate, switching
from ocucb.lab.curves import bound_curves
from ocucb.lab.gpu_shards import unfit
from ocucb.lab.problem_spec import parse_delay, parse_prior, read_problem
from ocucb.lab.report import render

POLICIES = (("a", OCUCBn()), ("b", UCB()))


def environments(folder: Path) -> list[Problem]:
    (folder / "seen.csv").write_text("arm,reward,count\na,0,3\na,1,1\nb,1,1\nb,0,2\n", encoding="utf-8")
    data = from_data(str(folder / "seen.csv"))
    return [
        Problem((0.2, 0.5), Bernoulli(), "wrong", assumed=Gaussian(0.5)),
        random(4),
        replace(random(3, "beta", 2, 1 / 0.3), noise=Bernoulli()),
        random(3, "normal", 1, 0.5),
        replace(random(5, "list", values=[0.25, 1 / 3]), noise=Exponential(), name="listed"),
        switching(3, 0.5, 10, 4),
        rotating(3, 1 / 3, 10, 4),
        replace(switching(3, 0.5, 10, 4, best=0.75), noise=Bernoulli(), delay=Delay("fixed", (2,)), name="late"),
        Problem((0.0, 1.0), name="lost", delay=Delay("geometric", (2.5,), lost=0.125)),
        replace(data, assumed=Gaussian(0.5), delay=Delay("uniform", (0, 1_000_000)), name="data"),
        replace(data, name="plain data"),
    ]


def test_every_environment_is_written_and_read_back(tmp_path: Path) -> None:
    experiment = Experiment(tuple(environments(tmp_path)), POLICIES, horizon=60, runs=4)
    assert Experiment.from_toml(experiment.to_toml()) == experiment


def test_a_result_of_every_environment_is_resumed_loaded_and_shown(tmp_path: Path) -> None:
    experiment = Experiment(tuple(environments(tmp_path)), POLICIES, horizon=60, runs=4, seed=3)
    stopped = [0]

    def stop(_: object) -> None:
        stopped[0] += 1
        if stopped[0] == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(experiment, "threads:1", tmp_path / "store", stop)
    simulate(experiment, "processes:1", tmp_path / "store")
    loaded, anew = Result.load(tmp_path / "store"), simulate(experiment, "threads:2")
    assert loaded.experiment == experiment
    for name in ("regret", "pulls"):
        assert np.array_equal(loaded.dataset[name], anew.dataset[name])
    text = str(anew)
    for problem in experiment.problems:
        for note in problem.notes():
            assert note in text
    page = render(anew)
    assert json.dumps(experiment.problems[0].notes()[0])[1:-1] in page
    assert '"changes":[11,21,31]' in page


def test_policies_meet_the_same_problems(tmp_path: Path) -> None:
    """Paired: each run of a random problem has the same means for all, so a policy has no difference to itself."""
    result = simulate(Experiment((random(4),), (("a", UCB()), ("b", UCB())), horizon=200, runs=10))
    first, second = result.dataset["regret"].to_numpy()[0]
    assert np.array_equal(first, second)
    assert len(set(first[:, -1].tolist())) == 10
    row = result.summary()[0]
    means = random(4).means_of_runs(0, 0, 10)
    pulls = result.dataset["pulls"].to_numpy()[0, 0]
    share = np.mean([pulls[run, means[run].argmax()] / 200 for run in range(10)])
    assert row.best_arm_share == pytest.approx(share)


def test_what_a_table_says_of_environments() -> None:
    wrong = Problem((0.2, 0.5), Bernoulli(), assumed=Gaussian(0.5))
    assert wrong.notes() == ["policies assume Gaussian(scale=0.5), but rewards are Bernoulli()"]
    assert replace(wrong, assumed=Bernoulli()).notes() == []
    assert replace(wrong, assumed=Bernoulli()).plain
    assert random(4).notes() == ["Bayesian regret: the means of each run are drawn from uniform(0, 1)"]
    late = replace(switching(3, 0.5, 10, 7), delay=Delay("fixed", (2,), lost=0.5))
    assert late.notes() == [
        "means change in rounds 11, 21, 31, 41 and 2 more; regret is against the best arm of each moment",
        "rewards come late, 50 % of them never: fixed(2, lost=0.5) rounds",
    ]
    result = simulate(Experiment((late,), POLICIES, horizon=70, runs=4))
    assert [row.best_arm_text for row in result.summary()] == ["–", "–"]


def test_where_a_environment_is_not_plain_no_bound_is_drawn_and_no_exact_regret_given() -> None:
    late = Problem((0.2, 0.5), Bernoulli(), delay=Delay("fixed", (2,)))
    assert bound_curves(late, [1, 10, 100]) == []
    assert bound_curves(replace(late, delay=None), [1, 10, 100])
    with pytest.raises(ParameterError, match=r"exact regret needs a plain problem, got one where rewards come late"):
        exact_regret(late, OCUCBn(), 5)


def test_the_gpu_says_what_it_does_not_play() -> None:
    experiment = Experiment((switching(3, 0.5, 10, 4), random(3)), POLICIES, horizon=60, runs=4)
    reasons = [unfit(experiment.shard((problem, 0, 0))) for problem in (0, 1)]
    assert reasons[0] is not None
    assert "means change in rounds 11, 21, 31" in reasons[0]
    assert reasons[1] is not None
    assert "Bayesian regret" in reasons[1]


def test_changed_data_are_not_mixed_with_old_results(tmp_path: Path) -> None:
    def experiment() -> Experiment:
        return Experiment((from_data(str(tmp_path / "seen.csv")),), POLICIES, horizon=60, runs=4)

    environments(tmp_path)
    simulate(experiment(), folder=tmp_path / "store")
    text = experiment().to_toml()
    (tmp_path / "seen.csv").write_text("arm,reward,count\na,0,3\na,1,2\nb,1,1\nb,0,2\n", encoding="utf-8")
    with pytest.raises(StateError, match="holds another experiment"):
        simulate(experiment(), folder=tmp_path / "store")
    with pytest.raises(ParameterError, match=r"seen.csv must be the file of digest [0-9a-f]{16}, got [0-9a-f]{16}"):
        Experiment.from_toml(text)


WRONG: list[tuple[dict[str, object], str]] = [
    ({"means": [0, 1], "delay": "never(3)"}, "delay must be one of fixed, uniform, geometric, got 'never'; use"),
    ({"means": [0, 1], "delay": "fixed(3, loss=0.1)"}, "fixed takes rounds, and lost by name, got loss"),
    ({"means": [0, 1], "delay": "fixed(3, lost=1)"}, "lost must be 0 or more and less than 1, got 1"),
    ({"means": [0, 1], "delay": 3}, "a delay must be a name"),
    ({"means": [0, 1], "assumed": "gaus"}, "did you mean 'gaussian'"),
    ({"means": [0, 1], "changes": 3}, "changes must be a list, got 3"),
    ({"means": [0, 1], "changes": [[3, [0, 1]]]}, "a change must have a round and means, got"),
    ({"means": [0, 1], "changes": [{"round": 0, "means": [0, 1]}]}, "the round of a change must be 2 or more, got 0"),
    ({"means": [0, 1], "smooth": 1}, "smooth must be true or false, got 1"),
    ({"prior": "uniform(0, 1)"}, "arms must be a whole number, got None; say how many means are drawn"),
    ({"prior": "uniform(a=0)", "arms": 3}, "uniform takes numbers without names, got a"),
    ({"prior": "gamma(1, 2)", "arms": 3}, "prior must be one of uniform, beta, normal, list, got 'gamma'"),
    ({"prior": "normal(0, 1)", "arms": 3, "noise": "bernoulli"}, "means drawn from normal(0, 1) under Bernoulli()"),
    ({"data": 3}, "data must name a file, got 3"),
    ({"data": "x.csv", "noise": "bernoulli"}, "rewards from data need no noise, got one; say by assumed"),
    ({"problem": "random(10, uniform, 2, 1)"}, "uniform must go from low to high, got 2 and 1"),
]


@pytest.mark.parametrize(("entry", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_wrong_environments_in_a_file(entry: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        read_problem(entry)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_delays_that_outlast_the_horizon() -> None:
    late = replace(random(3), delay=Delay("uniform", (60, 90)))
    with pytest.raises(
        ParameterError, match=r"must end before the horizon, 60, got uniform\(60, 90\); no reward would"
    ):
        Experiment((late,), POLICIES, horizon=60, runs=4)
    Experiment((late,), POLICIES, horizon=61, runs=4)


def test_texts() -> None:
    assert parse_delay("Fixed(100)") == Delay("fixed", (100,))
    assert parse_delay("geometric(2.5, lost=0.1)") == Delay("geometric", (2.5,), 0.1)
    assert str(parse_prior("beta(2, 5)")) == "beta(2, 5)"
