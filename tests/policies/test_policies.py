"""The contract that every policy of the table keeps."""

from __future__ import annotations

import ctypes
import dataclasses
import inspect
import itertools
import json
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ocucb.policies
from ocucb.compiled import LEVEL, SCORE, address
from ocucb.errors import GuaranteeWarning
from ocucb.policies import (
    KLUCB,
    MOSS,
    OCUCB,
    POLICIES,
    UCB,
    AdaUCB,
    BayesUCB,
    EpsilonGreedy,
    EpsilonThompson,
    KLUCBPlus,
    KLUCBPlusPlus,
    KLUCBSwitch,
    MaillardSampling,
    MOSSAnytime,
    OCUCBn,
    Policy,
    Trend,
)

PAGES = Path(__file__).parents[2] / "docs" / "policies"
HORIZON = 100  # the exact Gittins index has its smallest table there

with warnings.catch_warnings():
    warnings.simplefilter("ignore", GuaranteeWarning)
    VARIANTS: list[Policy] = [
        *(OCUCBn(rho=rho, shrink=shrink) for rho in (0.0, 0.5, 1.0) for shrink in ("none", "t", "log-plus", "all")),
        *(OCUCBn(eta="annealed", shrink=shrink) for shrink in ("none", "t", "log-plus", "all")),
        OCUCBn(eta=2),
        OCUCB(2000, alpha=1.0, psi=0.5),
        AdaUCB(),
        UCB(alpha=8.0),
        UCB(alpha="asymptotic"),
        KLUCB(c=3.0),
        KLUCBPlus(eta=1.0),
        KLUCBPlusPlus(10**12),
        KLUCBSwitch(320),
        MOSS(1),
        MOSS(2000, c=2.0),
        BayesUCB(),
        BayesUCB(2000, c=5.0),
        BayesUCB(1, c=5.0),
        EpsilonGreedy(0.0),
        EpsilonThompson(0.25),
        MaillardSampling(subtracted=1),
        MOSSAnytime(alpha=0.0),
    ]


def standard(policy: type[Policy]) -> Policy:
    """Build a policy with its defaults, and a horizon if it takes one."""
    names = {field.name for field in dataclasses.fields(policy)}
    return policy(**{"horizon": HORIZON} if "horizon" in names else {})


ALL = [*map(standard, POLICIES.values()), *VARIANTS]
LEVELS = [policy for policy in ALL if policy.rule().level is not None]
MOVING = [policy for policy in LEVELS if policy.rule().trend is not Trend.NEITHER]


def page(name: str) -> Path:
    """Return the page of a policy: file names spell the plus."""
    return PAGES / (name.replace("+", "-plus") + ".md")


def compiled_level(policy: Policy) -> Callable[[float, float, float, float], float]:
    """Return the level as the selectors call it, through its address and a pointer to its parameters."""
    rule = policy.rule()
    assert rule.level is not None
    real = ctypes.c_double
    call = ctypes.CFUNCTYPE(real, real, real, real, real, ctypes.POINTER(real))(address(rule.level, LEVEL))
    parameters = (real * len(rule.parameters))(*rule.parameters)
    return lambda t, pulls, effective, arms: float(call(t, pulls, effective, arms, parameters))


def rounds(policy: Policy) -> list[float]:
    horizon = policy.rule().horizon
    grid = {*range(2, 300), *(int(1.1**power) for power in range(50, 220))}
    return [float(t) for t in sorted(grid) if horizon is None or t <= horizon]


STATES = [
    (pulls, effective, arms)
    for pulls in (1.0, 2.0, 3.0, 4.0, 17.0, 300.0, 1e5)
    for arms in (1.0, 2.0, 10.0, 1000.0)
    for effective in sorted({1.0, arms**0.3, arms**0.9, arms})
]


@pytest.mark.parametrize("name", POLICIES)
def test_the_table_is_true_to_its_classes(name: str) -> None:
    policy = POLICIES[name]
    assert standard(policy).name == name
    assert getattr(ocucb.policies, policy.__name__) is policy
    assert policy.__name__ in ocucb.policies.__all__


@pytest.mark.parametrize("name", POLICIES)
def test_formula_source_and_docstring_are_there(name: str) -> None:
    policy = POLICIES[name]
    assert policy.formula
    assert policy.source
    text = inspect.getdoc(policy)  # without the indentation, which newer Pythons leave out
    assert text is not None
    for field in dataclasses.fields(policy):
        assert f"\n{field.name} : " in text


@pytest.mark.parametrize("name", POLICIES)
def test_a_page_tells_of_every_parameter_and_of_the_selector(name: str) -> None:
    policy = POLICIES[name]
    text = page(name).read_text(encoding="utf-8")
    assert text.startswith(f"# {name}\n")
    for field in dataclasses.fields(policy):
        assert f"`{field.name}" in text
    assert policy.__name__ in text
    served = "scan" if standard(policy).rule().trend is Trend.NEITHER else "lazy"
    assert f"{served} selector" in text


def test_every_page_has_its_policy() -> None:
    assert {path.name for path in PAGES.glob("*.md")} == {page(name).name for name in POLICIES}


@pytest.mark.parametrize("policy", ALL, ids=repr)
def test_a_policy_is_a_frozen_record(policy: Policy) -> None:
    assert dataclasses.is_dataclass(policy)
    for field in dataclasses.fields(policy):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(policy, field.name, None)


@pytest.mark.parametrize("policy", ALL, ids=repr)
@pytest.mark.filterwarnings("ignore::ocucb.errors.GuaranteeWarning")
def test_a_policy_is_rebuilt_from_its_repr_and_its_data(policy: Policy) -> None:
    again = [
        eval(repr(policy), vars(ocucb.policies)),
        POLICIES.from_dict(policy.to_dict()),
        POLICIES.from_dict(json.loads(json.dumps(policy.to_dict()))),
    ]
    for other in again:
        assert other == policy
        assert hash(other) == hash(policy)
        assert type(other) is type(policy)
        rule, same = policy.rule(), other.rule()
        assert np.array_equal(same.parameters, rule.parameters)
        assert same._replace(parameters=()) == rule._replace(parameters=())


def test_different_policies_are_unequal() -> None:
    distinct = [policy for policy in ALL if policy != standard(type(policy))]
    for one, other in itertools.combinations([*map(standard, POLICIES.values()), *distinct], 2):
        assert one != other


def test_numpy_numbers_become_plain_data() -> None:
    hundred: Any = np.int64(100)
    data = OCUCB(hundred, alpha=np.float64(3.0)).to_dict()
    assert json.loads(json.dumps(data)) == {"name": "ocucb", "parameters": {"horizon": 100, "alpha": 3.0, "psi": 2.0}}


def test_data_is_rebuilt_without_a_second_warning() -> None:
    data = {"name": "kl-ucb+", "parameters": {"eta": 1.0}}
    with pytest.warns(GuaranteeWarning):
        policy = KLUCBPlus(eta=1.0)
    assert POLICIES.from_dict(data) == policy  # a warning here would be an error


@pytest.mark.parametrize("policy", ALL, ids=repr)
def test_the_rule_is_whole(policy: Policy) -> None:
    rule = policy.rule()
    assert (rule.level is None) != (rule.score is None)
    assert rule.horizon == getattr(policy, "horizon", None)
    assert rule.rho is None or 0.0 <= rule.rho <= 1.0
    assert np.isfinite(np.asarray(rule.parameters, dtype=np.float64)).all()
    if rule.score is not None:
        assert rule.trend is Trend.NEITHER
        assert address(rule.score, SCORE) == address(policy.rule().score or rule.score, SCORE)


@pytest.mark.parametrize("policy", LEVELS, ids=repr)
def test_the_compiled_level_is_the_level(policy: Policy) -> None:
    rule = policy.rule()
    python = getattr(rule.level, "py_func")  # noqa: B009
    compiled = compiled_level(policy)
    for t in rounds(policy)[::20]:
        for state in STATES:
            value = compiled(t, *state)
            assert math.isfinite(value)
            assert value == pytest.approx(python(t, *state, rule.parameters), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("policy", MOVING, ids=repr)
def test_the_level_moves_as_declared(policy: Policy) -> None:
    compiled, trend = compiled_level(policy), policy.rule().trend
    for state in STATES:
        values = [compiled(t, *state) for t in rounds(policy)]
        ordered = sorted(values, reverse=trend is Trend.FALLS)
        assert values == ordered, f"at {state}"


@pytest.mark.parametrize("policy", LEVELS, ids=repr)
def test_the_level_never_rises_with_arms_or_effective_arms(policy: Policy) -> None:
    compiled, rule = compiled_level(policy), policy.rule()
    sizes = (1.0, 1.5, 2.0, 3.0, 10.0, 31.0, 32.0, 1000.0, 1e6)
    for t, pulls in itertools.product(rounds(policy)[::20], (1.0, 2.0, 3.0, 17.0, 300.0)):
        by_effective = [compiled(t, pulls, effective, sizes[-1]) for effective in sizes]
        assert by_effective == sorted(by_effective, reverse=True)
        if rule.rho is None:
            assert len(set(by_effective)) == 1
        by_arms = [compiled(t, pulls, 1.0, arms) for arms in sizes]
        if rule.bound == "switch":  # the sign tells the bound, the size the level
            by_arms = [abs(value) for value in by_arms]
        assert by_arms == sorted(by_arms, reverse=True)


@pytest.mark.filterwarnings("ignore::ocucb.errors.GuaranteeWarning")
def test_an_annealed_level_can_move_both_ways() -> None:
    policy = OCUCBn(eta="annealed", shrink="log-plus")
    level = compiled_level(policy)
    assert policy.rule().trend is Trend.NEITHER
    assert level(1e3, 1e6, 1.0, 2.0) > level(1e6, 1e6, 1.0, 2.0)
    assert level(1e3, 1.0, 1.0, 2.0) < level(1e6, 1.0, 1.0, 2.0)


@pytest.mark.parametrize("policy", MOVING, ids=str)
@pytest.mark.filterwarnings("ignore::ocucb.errors.GuaranteeWarning")
def test_a_level_grows_no_faster_than_the_pulls(policy: Policy) -> None:
    """The lab lets a leader run on because its index cannot rise by being pulled."""
    compiled = compiled_level(policy)
    for t, effective, arms in itertools.product((60.0, 99.0), (1.0, 3.0), (3.0, 50.0)):
        ratios = [abs(compiled(t, float(pulls), effective, arms)) / pulls for pulls in range(1, 60)]
        assert all(after <= before * (1 + 1e-12) for before, after in itertools.pairwise(ratios))
