"""Specs: texts become what they name, and come back; a wrong one gets one clear line."""

from __future__ import annotations

import math
import warnings
from typing import Any

import pytest

from ocucb import (
    MOSS,
    OCUCB,
    UCB,
    AdaUCB,
    Bernoulli,
    Gaussian,
    Gittins,
    GuaranteeWarning,
    LevelPolicy,
    Noise,
    OCUCBn,
    ParameterError,
    Policy,
)
from ocucb.compiled import Parameters
from ocucb.lab.problem import NAMED, Problem, linear_gaps, mixed_gaps, worst_case
from ocucb.lab.problem_spec import format_problem, parse_problem, read_problem
from ocucb.lab.spec import (
    describe_policy,
    format_noise,
    format_policy,
    parse_noise,
    parse_policy,
    read_policies,
)
from samples import NOISE_SAMPLES, POLICY_SAMPLES


def patient(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return parameters[0] * math.log(t)


def hasty(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return 2.0 * parameters[0] * math.log(t)


@pytest.mark.parametrize("policy", POLICY_SAMPLES, ids=str)
@pytest.mark.filterwarnings("ignore::ocucb.GuaranteeWarning")
def test_policy_comes_back(policy: Policy) -> None:
    assert parse_policy(format_policy(policy), horizon=1) == policy


@pytest.mark.parametrize("noise", NOISE_SAMPLES, ids=str)
def test_noise_comes_back(noise: Noise) -> None:
    assert parse_noise(format_noise(noise)) == noise


@pytest.mark.parametrize("name", NAMED)
def test_named_problem_comes_back(name: str) -> None:
    problem = NAMED[name]()
    assert parse_problem(name) == problem
    assert format_problem(problem) == problem.name
    assert parse_problem(problem.name) == problem


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("ocucb-n", OCUCBn()),
        ("ocucb-n()", OCUCBn()),
        (" OCUCB-n ( eta = 1.5 , rho=0.75 ) ", OCUCBn(eta=1.5, rho=0.75)),
        ("ocucb-n(1.5, 0.75)", OCUCBn(eta=1.5, rho=0.75)),
        ("ucb(2)", UCB(2.0)),
        ("ucb(alpha=asymptotic)", UCB("asymptotic")),
        ("ocucb(3, 2)", OCUCB(1000, 3.0, 2.0)),
        ("moss", MOSS(1000)),
        ("moss(c=2)", MOSS(1000, 2.0)),
        ("moss(horizon=5000)", MOSS(5000)),
        ("gittins(approximate=true)", Gittins(1000, approximate=True)),
        ("gittins(approximate=False)", Gittins(1000)),
        ("ada-ucb", AdaUCB()),
        ("ada-ucb(horizon=1000)", AdaUCB(1000)),
    ],
)
def test_policy_of_text(text: str, policy: Policy) -> None:
    assert parse_policy(text, horizon=1000) == policy


@pytest.mark.filterwarnings("ignore::ocucb.GuaranteeWarning")
def test_words_need_no_quotes() -> None:
    assert parse_policy("ocucb-n(eta=annealed, shrink=log-plus)", 1) == OCUCBn(eta="annealed", shrink="log-plus")
    assert parse_policy("ocucb-n(shrink='all')", 1) == OCUCBn(shrink="all")


def test_problem_of_text() -> None:
    assert parse_problem("worst_case(5)") == worst_case(5, 0.3)
    assert parse_problem("worst_case(gap=0.2, arms=4)") == worst_case(4, 0.2)
    assert parse_noise("gaussian(0.5)") == Gaussian(0.5)


def test_problem_whose_name_is_rounded_is_not_written_by_it() -> None:
    assert format_problem(worst_case(10, 1 / 3)) is None
    assert format_problem(Problem((0.0, 1.0), name="mixed_gaps")) is None
    assert format_problem(Problem((0.0, 1.0), name="mine")) is None


def test_tables() -> None:
    assert read_problem({"problem": "mixed_gaps"}) == mixed_gaps()
    assert read_problem({"problem": "linear_gaps(3)", "noise": "gaussian(2)", "name": "loud"}) == Problem(
        linear_gaps(3).means, Gaussian(2.0), "loud"
    )
    assert read_problem({"means": [0, 1], "noise": "bernoulli"}) == Problem((0.0, 1.0), Bernoulli())
    assert read_policies(["ucb(2)"], 10) == [("ucb(2)", UCB(2.0))]
    assert read_policies({"classic": "ucb(2)"}, 10) == [("classic", UCB(2.0))]


def test_equal_policies_have_one_text() -> None:
    assert format_policy(UCB(2)) == format_policy(UCB(2.0)) == "ucb(alpha=2)"


def test_lost_guarantee_is_said() -> None:
    with pytest.warns(GuaranteeWarning, match="below 2"):
        assert parse_policy("ucb(1)", 10) == UCB(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_policy("ucb(2)", 10)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ocucbn", "one of ocucb-n, ocucb, .* got 'ocucbn'; did you mean 'ocucb-n'"),
        ("thompson", "one of .*thompson-sampling"),
        ("xyz", "one of ocucb-n, .*, uniform, got 'xyz'$"),
        ("ocucb-n(etta=2)", "are eta, rho, shrink, got 'etta'; did you mean 'eta'"),
        ("greedy(x=1)", "parameters of greedy are none, got 'x'"),
        ("ocucb-n(1.1, 0.5, all, 4)", "takes 3 arguments without a name, got 4"),
        ("ocucb-n(1.1, eta=2)", "eta of ocucb-n must be given once"),
        ("ocucb-n(eta=0.5)", r"^ocucb-n\(eta=0.5\): eta must be 1 or more, got 0.5"),
        ("ocucb-n(eta=wide)", "eta must be a finite number, got 'wide'"),
        ("ocucb-n(eta=[1, 2])", "eta must be a finite number"),
        ("ocucb-n(rho=1/2)", "must be numbers or words, got 1/2; write a fraction as a decimal"),
        ("ocucb-n(rho=min(1, 2))", r"must be numbers or words, got min\(1, 2\); write min, 1, 2"),
        ("ocucb-n(eta=1.5", "must be a name"),
        ("ocucb-n(eta=1.5) + ucb(2)", "must be a name"),
        ("ocucb-n(eta=1, eta=2)", "eta of ocucb-n must be given once, got 1 and 2"),
        ("ucb(*[2])", "must be numbers or words"),
        ("ucb(**{'alpha': 2})", "got '\\*\\*'"),
        ("ucb(__import__('os').getpid())", "must be numbers or words"),
        ("ucb(lambda: 2)", "must be numbers or words"),
        ("moss(horizon=none)", "horizon must be a whole number, got 'none'"),
        ("moss(horizon=2.5)", "horizon must be a whole number, got 2.5"),
        ("gittins(horizon=20000)", "use approximate=True"),
        ("own: mine(strength=2)", "must be a name"),
        ("", "must be a name"),
        ("ucb\x00", "must be a name"),
        ("ucb(" + "(" * 1000 + ")" * 1000 + ")", "must be a name"),
        (3, "must be a name.* got 3"),
        (None, "must be a name.* got None"),
    ],
)
def test_wrong_policy(text: object, words: str) -> None:
    with pytest.raises(ParameterError, match=words) as caught:
        parse_policy(text, horizon=1000)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("worst-case", "did you mean 'worst_case'"),
        ("mixed_gaps(3)", "takes 0 arguments without a name, got 1; they are, in order: none"),
        ("worst_case(1)", "arms must be 2 or more.* got 1"),
        ("worst_case('many')", "arms must be a whole number, got 'many'"),
        ("linear_gaps(gap=2)", "parameters of linear_gaps are arms, got 'gap'"),
        ({"mean": [0, 1]}, "keys of a problem are problem, means, .* name, got 'mean'; did you mean 'means'"),
        ({"name": "x"}, "one of problem, means, prior, data, got none of them"),
        ({"problem": "mixed_gaps", "means": [0, 1]}, "one of problem, means, prior, data, got problem and means"),
        ({"means": "0, 1"}, "must have a list of means"),
        ({"means": [0, 1], "name": 3}, "a word for a name"),
        ({"means": [0, "x"]}, "means must be a finite number, got 'x'"),
        ({"means": [0, 2], "noise": "bernoulli"}, "must lie between 0 and 1, got 2"),
        ({"means": [0, 1], "noise": "gauss"}, "one of gaussian, .*did you mean 'gaussian'"),
        ({"means": [0, 1], "noise": 3}, "a noise family must be a name"),
    ],
)
def test_wrong_problem(text: object, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        read_problem(text)


@pytest.mark.parametrize("given", ["ucb", 3, [3]])
def test_wrong_policies(given: object) -> None:
    with pytest.raises(ParameterError, match="must be a"):
        read_policies(given, 10)


def test_own_policy_is_described_but_not_written() -> None:
    def own(level: Any, strength: float) -> Policy:
        return LevelPolicy("mine", level, {"strength": strength}, trend="rises")

    with pytest.raises(ParameterError, match="got mine, a policy of your own; build the experiment in Python"):
        format_policy(own(patient, 1.0))
    assert describe_policy(own(patient, 1.0)) == describe_policy(own(patient, 1.0))
    assert describe_policy(own(patient, 1.0)) != describe_policy(own(patient, 2.0))
    assert describe_policy(own(patient, 1.0)) != describe_policy(own(hasty, 1.0))
    assert describe_policy(UCB()) == format_policy(UCB())


def test_own_level_without_a_file_is_told_apart_by_its_code() -> None:
    def typed(factor: float) -> Policy:
        space: dict[str, Any] = {"log": math.log}
        exec(f"def level(t, pulls, effective, arms, parameters):\n    return {factor} * log(t)\n", space)
        return LevelPolicy("typed", space["level"], trend="rises")

    assert describe_policy(typed(1.0)) == describe_policy(typed(1.0))
    assert describe_policy(typed(1.0)) != describe_policy(typed(2.0))
