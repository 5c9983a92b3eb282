"""Experiments: checked at the door, cut into shards, written and read."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.small_study import HORIZON, RUNS, small
from ocucb import MOSS, UCB, Bernoulli, Gaussian, LevelPolicy, OCUCBn, ParameterError, ThompsonSampling
from ocucb.compiled import Parameters
from ocucb.lab.checkpoints import linearly_spaced, log_spaced
from ocucb.lab.experiment import MAX_RUNS, SHARD_STEPS, Experiment
from ocucb.lab.problem import Problem, mixed_gaps, worst_case


def patient(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return math.log(t)


def precise(**changes: Any) -> Experiment:
    return replace(small(), runs=None, precision=0.05, **changes)


ONE = worst_case(3, 0.3)
WRONG = [
    ({"problems": ()}, "problems must hold at least one, got none"),
    ({"problems": ONE}, "problems must be a list or tuple"),
    ({"problems": ("mixed_gaps",)}, "problems must be made by Problem"),
    ({"problems": (ONE, ONE)}, r"must all be different, got 'worst_case\(3, 0.3\)' twice; give name"),
    ({"policies": ()}, "policies must hold at least one"),
    ({"policies": (UCB(),)}, "must be pairs of a label and a policy"),
    ({"policies": (("u", "ucb"),)}, "must be pairs of a label and a policy"),
    ({"policies": ((3, UCB()),)}, "labels of policies must be words, got 3; use 'ucb'"),
    ({"policies": ((" ", UCB()),)}, "labels of policies must be words"),
    ({"policies": (("u", UCB()), ("u", UCB(3.0)))}, "labels of policies must all be different, got 'u' twice"),
    ({"policies": (("m", MOSS(200)),)}, "m must play 300 rounds, but it was made for 200; give it horizon=300"),
    ({"horizon": 4}, r"at least the number of arms, 5 of worst_case\(5, 0.4\), got 4"),
    ({"horizon": 1}, "horizon must be 2 or more"),
    ({"horizon": 1e3}, "horizon must be a whole number"),
    ({"runs": None}, "one of runs and precision must be given, got neither; use runs=100 or precision=0.01"),
    ({"precision": 0.1}, "one of runs and precision must be given, got both"),
    ({"runs": 1}, "runs must be 2 or more.* got 1; an error bar needs two runs"),
    ({"runs": 2.5}, "runs must be a whole number"),
    ({"runs": None, "precision": 0.0}, "precision must be between 0 and 1, got 0"),
    ({"runs": None, "precision": 1.0}, "precision must be between 0 and 1, got 1"),
    ({"runs": None, "precision": "1 %"}, "precision must be a finite number"),
    ({"max_runs": 1}, "max_runs must be 2 or more"),
    ({"seed": -1}, "seed must be a whole number, 0 or more .* got -1"),
    ({"seed": 2**63}, r"seed must be .* less than 2\^63, got 9223372036854775808"),
    ({"seed": 0.5}, "seed must be a whole number"),
    ({"checkpoints": (10, 10, 300)}, "checkpoints must increase, got 10 after 10; sort them"),
    ({"checkpoints": (10, 200)}, "checkpoints must end with the horizon, 300, got 200; add 300"),
    ({"checkpoints": (0, 300)}, "checkpoints must be 1 or more"),
    ({"checkpoints": 300}, "checkpoints must be a list of rounds"),
    ({"checkpoints": "log"}, "checkpoints must be a list of rounds"),
]


@pytest.mark.parametrize(("changes", "words"), WRONG)
def test_wrong(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words) as caught:
        replace(small(), **{"checkpoints": (), **changes})
    assert "\n" not in str(caught.value)


def test_lists_will_do() -> None:
    lists: Any = {"problems": [ONE], "policies": [["u", UCB()]], "checkpoints": [10, 100]}
    experiment = Experiment(horizon=100, runs=2, **lists)
    assert experiment == Experiment((ONE,), (("u", UCB()),), 100, runs=2, checkpoints=(10, 100))
    assert hash(experiment) == hash(replace(experiment))


@given(st.integers(1, 10**9), st.integers(1, 300))
def test_spacings_increase_to_the_horizon(horizon: int, count: int) -> None:
    for points in (log_spaced(horizon, count), linearly_spaced(horizon, count)):
        assert len(points) == min(count, horizon)
        assert points[-1] == horizon
        assert points[0] >= 1
        assert all(before < after for before, after in pairwise(points))


def test_spacings() -> None:
    assert linearly_spaced(100, 4) == (25, 50, 75, 100)
    assert log_spaced(10_000, 5) == (1, 10, 100, 1000, 10_000)
    assert small().checkpoints == log_spaced(HORIZON, 50)


def test_blocks() -> None:
    experiment = small()
    assert (experiment.block_size, experiment.blocks, experiment.capacity) == (256, 3, RUNS)
    assert replace(experiment, runs=20).block_size == 20
    long = Experiment((ONE,), (("u", UCB()),), 2 * SHARD_STEPS, runs=20)
    assert (long.block_size, long.blocks) == (1, 20)
    assert replace(long, horizon=SHARD_STEPS // 8, checkpoints=()).block_size == 8


def test_blocks_where_precision_decides_are_whole() -> None:
    assert (precise().block_size, precise().capacity, precise().blocks) == (256, 391 * 256, 391)
    assert precise().capacity >= MAX_RUNS
    assert (precise(max_runs=100).block_size, precise(max_runs=100).capacity) == (100, 100)
    assert precise(max_runs=300).capacity == 512


def test_shards_cover_each_run_once() -> None:
    experiment = small()
    shards = experiment.shards(0, experiment.blocks)
    assert [key for key, _ in shards] == sorted((key for key, _ in shards), key=lambda key: (key[2], key))
    for problem in range(2):
        for policy in range(3):
            runs = [shard.first + i for key, shard in shards if key[:2] == (problem, policy) for i in range(shard.runs)]
            assert runs == list(range(RUNS))
    key, shard = experiment.shards(1, 2)[4]
    assert key == (1, 1, 1)
    assert (shard.problem.name, shard.policy, shard.first, shard.runs) == ("coins", MOSS(HORIZON), 256, 256)
    assert (shard.horizon, shard.seed, shard.trace) == (HORIZON, 7, 0)


EXPERIMENTS = [
    small(),
    precise(seed=2**63 - 1, max_runs=5000),
    Experiment((mixed_gaps(), ONE), (("A b", UCB("asymptotic")),), 10**6, precision=0.01),
    Experiment(
        (Problem((1 / 3, 1e-17, -1e300), Gaussian(0.1), "ä \"b\" 'c'"), worst_case(10, 1 / 3)),
        (("[1, 2]", ThompsonSampling()), ("\\", UCB())),
        1000,
        runs=10,
        checkpoints=linearly_spaced(1000, 100),
    ),
]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=range(len(EXPERIMENTS)))
def test_toml_comes_back(experiment: Experiment) -> None:
    text = experiment.to_toml()
    assert Experiment.from_toml(text) == experiment
    assert experiment.describe() == text
    assert max(map(len, text.splitlines())) <= 110


def test_toml_is_readable() -> None:
    experiment = Experiment((mixed_gaps(),), (("OCUCB-n", OCUCBn()), ("UCB", UCB())), 1000, runs=10)
    assert (
        experiment.to_toml()
        == """\
horizon = 1000
runs = 10
seed = 0
problems = [
    "mixed_gaps",
]

[policies]
OCUCB-n = "ocucb-n(eta=1.1, rho=0.5, shrink=none)"
UCB = "ucb(alpha=2)"
"""
    )


def test_toml_by_hand() -> None:
    text = """
        horizon = 1000
        precision = 0.02
        checkpoints = "linear(10)"
        policies = ["ocucb-n", "moss", "ucb(2)"]
        [[problems]]
        problem = "worst_case(4)"
        noise = "gaussian(0.5)"
        [[problems]]
        name = "coins"
        means = [0.2, 0.3]
        noise = "bernoulli"
    """
    assert Experiment.from_toml(text) == Experiment(
        (
            Problem(worst_case(4).means, Gaussian(0.5), "worst_case(4, 0.3)"),
            Problem((0.2, 0.3), Bernoulli(), "coins"),
        ),
        (("ocucb-n", OCUCBn()), ("moss", MOSS(1000)), ("ucb(2)", UCB())),
        1000,
        precision=0.02,
        checkpoints=linearly_spaced(1000, 10),
    )


START = 'horizon = 100\nruns = 3\nproblems = ["mixed_gaps"]\npolicies = ["ucb"]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must have problems, got nothing"),
        ("horizon", "must be TOML, but it breaks off"),
        ('problems = ["mixed_gaps"]\nhorizon = 100', "must have policies, got problems, horizon"),
        (START + "horizn = 3", "got 'horizn'; did you mean 'horizon'"),
        (START + 'checkpoints = "cubic(3)"', "checkpoints must be one of log, linear, got 'cubic'"),
        (START + 'checkpoints = "linear"', r'how many, as in "linear\(100\)"'),
        (START + 'checkpoints = "linear(none)"', "checkpoints must be a whole number"),
        (START + "checkpoints = [1.5, 100]", "checkpoints must be a whole number"),
        (START.replace("100", '"long"'), "horizon must be a whole number"),
        (START.replace("100", "5"), "at least the number of arms, 10 of mixed_gaps"),
        (START.replace('["ucb"]', '["ucb", "ucb"]'), "labels of policies must all be different"),
        (START.replace('["ucb"]', "[]"), "policies must hold at least one"),
        (START.replace('["mixed_gaps"]', '"mixed_gaps"'), "problems must be a list or tuple"),
        (START.replace('"ucb"', '"moss(horizon=50)"'), "must play 100 rounds, but it was made for 50"),
    ],
)
def test_wrong_toml(text: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Experiment.from_toml(text)


def test_own_policy_is_not_written() -> None:
    own = replace(small(), policies=(("mine", LevelPolicy("mine", patient, trend="rises")),))
    with pytest.raises(ParameterError, match="a policy of your own; build the experiment in Python"):
        own.to_toml()
    assert "math.log(t)" in own.describe()
    with pytest.raises(ParameterError, match="a policy must be a name"):
        Experiment.from_toml(own.describe())
