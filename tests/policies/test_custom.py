"""A policy of one's own: what it is, and what it refuses."""

from __future__ import annotations

import ctypes
import dataclasses
import math
import pickle
from typing import Any

import pytest

from ocucb.compiled import LEVEL, Parameters, address, kernel
from ocucb.errors import ParameterError, StateError
from ocucb.policies import POLICIES, LevelPolicy, Trend


@kernel
def patient(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return parameters[0] * math.sqrt(math.log(t))


def plain(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return parameters[0] * math.log(t / (pulls * effective)) + parameters[1]


def hasty(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return 1000.0 / t


def hump(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return math.sin(t)


def bold(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return effective


def greedy_for_pulls(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return pulls**2


def fading(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return math.log(10.0 - t)


def signed(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return -math.log(t)


def test_a_dozen_lines_make_a_policy() -> None:
    policy = LevelPolicy("patient", patient, {"strength": 2.0}, trend="rises")
    rule = policy.rule()
    assert policy.name == "patient"
    assert rule.level is not None
    assert rule.parameters == (2.0,)
    assert rule.trend is Trend.RISES
    assert rule.rho is None
    assert rule.horizon is None
    assert policy.formula
    assert policy.source
    assert policy.to_dict() == {"name": "patient", "parameters": {"strength": 2.0}}


def test_a_plain_function_is_compiled() -> None:
    policy = LevelPolicy("plain", plain, {"slope": 2, "start": 1}, trend="rises", rho=0.5)
    rule = policy.rule()
    assert rule.level is not None
    real = ctypes.c_double
    call = ctypes.CFUNCTYPE(real, real, real, real, real, ctypes.POINTER(real))(address(rule.level, LEVEL))
    assert call(100.0, 5.0, 2.0, 3.0, (real * 2)(*rule.parameters)) == pytest.approx(2 * math.log(10) + 1)


def test_it_is_a_frozen_record() -> None:
    one = LevelPolicy("plain", plain, {"slope": 2.0, "start": 1.0}, trend="rises", rho=0.5)
    same = LevelPolicy("plain", kernel(plain), (("slope", 2), ("start", 1)), trend="rises", rho=0.5)
    assert one == same
    assert hash(one) == hash(same)
    assert pickle.loads(pickle.dumps(one)) == one
    assert "name='plain'" in repr(one)
    # The level reads its parameters by place, so their order is part of the policy.
    assert one != LevelPolicy("plain", plain, {"start": 1.0, "slope": 2.0}, trend="rises", rho=0.5)
    assert one != LevelPolicy("plainer", plain, {"slope": 2.0, "start": 1.0}, trend="rises", rho=0.5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.name = "other"  # type: ignore[misc]


def test_a_mapping_changed_later_changes_nothing() -> None:
    parameters = {"strength": 2.0}
    policy = LevelPolicy("patient", patient, parameters, trend="rises")
    parameters["strength"] = 3.0
    assert policy.rule().parameters == (2.0,)


def test_all_options_reach_the_rule() -> None:
    policy = LevelPolicy("hasty", hasty, trend="falls", rho=1, bound="posterior", horizon=100)
    rule = policy.rule()
    assert (rule.trend, rule.rho, rule.bound, rule.horizon) == (Trend.FALLS, 1.0, "posterior", 100)


def test_a_level_is_tried_only_up_to_its_horizon() -> None:
    assert LevelPolicy("fading", fading, trend="falls", horizon=9).rule().horizon == 9
    with pytest.raises(ParameterError, match="math domain error"):
        LevelPolicy("fading", fading, trend="falls", horizon=20)


def test_a_trend_is_judged_as_the_selector_reads_levels() -> None:
    # Below 0 a level counts as 0, which stands still; where the sign picks the bound, its size counts, which rises.
    LevelPolicy("signed", signed, trend="falls")
    LevelPolicy("signed", signed, trend="rises", bound="switch")
    with pytest.raises(ParameterError, match="is not true"):
        LevelPolicy("signed", signed, trend="falls", bound="switch")


def test_a_sign_may_change_one_way_as_t_rises_and_arms_fall() -> None:
    assert LevelPolicy("share", sign_by_share, trend="rises", bound="switch", with_arms="falls").rule().trend
    LevelPolicy("time", sign_by_time, trend="rises", bound="switch", with_arms="unread")
    LevelPolicy("product", sign_by_product, trend="rises", bound="switch")  # bounds are made anew
    LevelPolicy("effective", sign_by_effective, trend="neither", rho=0.5, bound="switch")


def test_neither_lets_a_level_move_both_ways() -> None:
    assert LevelPolicy("hump", hump, trend="neither").rule().trend is Trend.NEITHER


def test_data_alone_does_not_rebuild_it() -> None:
    with pytest.raises(StateError, match="build a policy of your own in code"):
        POLICIES.from_dict(LevelPolicy("patient", patient, {"strength": 2.0}, trend="rises").to_dict())


def four(t: float, pulls: float, effective: float, arms: float) -> float:
    return 0.0


def optional(t: float, pulls: float, effective: float, *, arms: float, parameters: Parameters) -> float:
    return 0.0


def words(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> str:
    return "1.0"


def truth(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> bool:
    return t > 10.0


def endless(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return math.inf


def crowded(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return min(arms, t)


def sign_by_time(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return 1.0 if t > 20.0 * pulls else -1.0


def sign_by_share(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return 1.0 if t > 20.0 * arms * pulls else -1.0


def sign_by_product(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return 1.0 if t * arms > 2000.0 * pulls else -1.0


def sign_by_effective(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return 1.0 if effective > 2.0 else -1.0


SWITCH = {"bound": "switch", "with_arms": "falls"}

INVALID: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "name must be a word or more, got ''"),
    ({"name": 3}, "name must be a word or more, got 3"),
    ({"name": "ucb"}, "name must be new, got 'ucb', which is UCB"),
    ({"level": None}, "level must be a function of (t, pulls, effective, arms, parameters), got None"),
    ({"level": math.log}, "level must be a function of (t, pulls, effective, arms, parameters), got <built-in"),
    ({"level": four}, "level must take the five arguments (t, pulls, effective, arms, parameters), got four("),
    ({"level": optional}, "level must take the five arguments"),
    ({"level": words}, "level must return a finite number, got '1.0' at t=2, pulls=1, effective=1, arms=1"),
    ({"level": truth}, "level must return a finite number, got False"),
    ({"level": endless}, "level must return a finite number, got inf"),
    ({"level": plain}, "level must return a finite number, got IndexError"),  # one parameter of two
    ({"parameters": {"strength": math.nan}}, "parameters['strength'] must be a finite number, got nan"),
    ({"parameters": {"strength": "2"}}, "parameters['strength'] must be a finite number, got '2'"),
    ({"parameters": [2.0]}, "parameters must map names to numbers"),
    ({"parameters": 2.0}, "parameters must map names to numbers"),
    ({"parameters": {1: 2.0}}, "parameters must be named by words, got [1]"),
    ({"trend": "up"}, "trend must be one of 'rises', 'falls', 'neither', got 'up'"),
    ({"trend": "falls"}, 'trend="falls" is not true: the level goes from '),
    ({"level": hasty}, 'trend="rises" is not true: the level goes from 500 at t=2, pulls=1, effective=1, arms=1 to '),
    ({"level": hump}, 'use trend="neither" if it moves both ways'),
    ({"level": bold}, "rho must be given for a level that reads the effective arms"),
    ({"level": bold, "rho": 0.5}, "level must not rise with the effective arms"),
    ({"level": greedy_for_pulls}, "level must not grow faster than the pulls"),
    ({"rho": 2.0}, "rho must be between 0 and 1, got 2"),
    ({"bound": "upper"}, "bound must be one of 'divergence', 'posterior', 'switch', got 'upper'"),
    ({"with_arms": "rises"}, "with_arms must be one of 'unknown', 'unread', 'falls', got 'rises'"),
    ({"level": crowded, "with_arms": "falls"}, 'with_arms="falls" is not true: the level goes from 1 at t=3, pulls=1'),
    (
        {"level": crowded, "with_arms": "unread"},
        "is not true: the level goes from 1 at t=3, pulls=1, effective=1, arms=1 ",
    ),
    (
        {**SWITCH, "level": sign_by_time, "trend": "falls"},
        'the sign of the level changes from t=2, arms=1 to t=60, arms=1 at pulls=1: with trend="falls" it must not',
    ),
    ({**SWITCH, "level": sign_by_share, "with_arms": "unread"}, 'with_arms="unread" is not true; use with_arms="unk'),
    ({**SWITCH, "level": sign_by_product}, "elsewhere it changes back"),
    ({**SWITCH, "level": sign_by_effective, "rho": 0.5}, "the sign of the level must not read the effective arms, but"),
    ({"horizon": 0}, "horizon must be 1 or more, got 0"),
    ({"horizon": 10.0}, "horizon must be a whole number, got 10.0"),
]


@pytest.mark.parametrize(("changed", "message"), INVALID)
def test_invalid(changed: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"name": "mine", "level": patient, "parameters": {"strength": 2.0}, "trend": "rises"}
    with pytest.raises(ParameterError) as caught:
        LevelPolicy(**{**given, **changed})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
