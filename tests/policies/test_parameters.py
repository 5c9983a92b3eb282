"""Every policy refuses what it cannot use, says so in one line, and warns where a theorem is lost."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from ocucb.errors import GuaranteeWarning, OcucbError, ParameterError, StateError
from ocucb.policies import (
    IMED,
    KLLUCB,
    KLUCB,
    MOSS,
    OCUCB,
    POLICIES,
    UCB,
    UCBV,
    AdaUCB,
    BayesUCB,
    EpsilonGreedy,
    EpsilonThompson,
    ExpTS,
    ExpTSPlus,
    Greedy,
    KLUCBHPlus,
    KLUCBPlus,
    KLUCBPlusPlus,
    KLUCBSwitch,
    MaillardSampling,
    MOSSAnytime,
    OCUCBn,
    Policy,
    ThompsonSampling,
    TopTwo,
    UCBTuned,
    Uniform,
)

# what is built, what with, a fragment of what is said
INVALID: list[tuple[Callable[..., Policy], dict[str, Any], str]] = [
    (OCUCBn, {"eta": 0.9}, "eta must be 1 or more, got 0.9; use eta=1.1"),
    (OCUCBn, {"eta": math.nan}, "eta must be a finite number, got nan"),
    (OCUCBn, {"eta": "aneealed"}, "eta must be a finite number, got 'aneealed'"),
    (OCUCBn, {"eta": True}, "eta must be a finite number, got True"),
    (OCUCBn, {"rho": -0.1}, "rho must be between 0 and 1, got -0.1"),
    (OCUCBn, {"rho": 1.1}, "rho must be between 0 and 1, got 1.1"),
    (OCUCBn, {"rho": None}, "rho must be a finite number, got None"),
    (OCUCBn, {"shrink": "log"}, "shrink must be one of 'none', 't', 'log-plus', 'all', got 'log'"),
    (OCUCBn, {"shrink": ["t"]}, "shrink must be one of"),
    (KLUCBPlus, {"eta": 0.99}, "eta must be 1 or more, got 0.99; use eta=1.1"),
    (KLUCBPlus, {"eta": "1.1"}, "eta must be a finite number, got '1.1'"),
    (KLUCB, {"c": -1}, "c must be 0 or more, got -1; use c=0"),
    (KLUCB, {"c": math.inf}, "c must be a finite number, got inf"),
    (UCB, {"alpha": 0}, 'alpha must be greater than 0, got 0; use alpha=2, or alpha="asymptotic"'),
    (UCB, {"alpha": "asymptotical"}, "alpha must be a finite number, got 'asymptotical'"),
    (UCBV, {"zeta": 0.0}, "zeta must be greater than 0, got 0; use zeta=1.2"),
    (UCBV, {"c": -1}, "c must be greater than 0, got -1; use c=1"),
    (OCUCB, {"horizon": 0}, "horizon must be 1 or more, got 0; if it is unknown use OCUCBn"),
    (OCUCB, {"horizon": 1e4}, "horizon must be a whole number, got 10000.0"),
    (OCUCB, {"horizon": 100, "alpha": 0.0}, "alpha must be greater than 0, got 0; use alpha=3"),
    (OCUCB, {"horizon": 100, "psi": 0.0}, "psi must be greater than 0, got 0; use psi=2"),
    (MOSS, {"horizon": -5}, "horizon must be 1 or more, got -5"),
    (MOSS, {"horizon": 100, "c": 0}, "c must be greater than 0, got 0; use c=4"),
    (KLUCBHPlus, {"horizon": None}, "horizon must be a whole number, got None; if it is unknown use OCUCBn"),
    (KLUCBPlusPlus, {"horizon": "100"}, "horizon must be a whole number, got '100'"),
    (KLUCBSwitch, {"horizon": True}, "horizon must be a whole number, got True"),
    (TopTwo, {"beta": 1}, "beta must be between 0 and 1, and neither, got 1; use beta=0.5"),
    (TopTwo, {"beta": 0.0}, "beta must be between 0 and 1, and neither, got 0"),
    (TopTwo, {"beta": "half"}, "beta must be a finite number, got 'half'"),
    (KLLUCB, {"delta": 0}, "delta must be between 0 and 1, and neither, got 0; use delta=0.05"),
    (KLLUCB, {"alpha": 1.0}, "alpha must be greater than 1, got 1; use alpha=1.1"),
    (AdaUCB, {"horizon": 0}, "horizon must be 1 or more, got 0; if it is unknown use horizon=None"),
    (BayesUCB, {"horizon": 0}, "horizon must be 1 or more, got 0; if it is unknown use horizon=None"),
    (BayesUCB, {"c": -1.0}, "c must be 0 or more, got -1; use c=0"),
    (BayesUCB, {"c": 5}, "c = 5 needs a horizon, got none"),
    (EpsilonGreedy, {"epsilon": 1.5}, "epsilon must be between 0 and 1, got 1.5; use epsilon=0.1"),
    (EpsilonGreedy, {"epsilon": -0.5}, "epsilon must be between 0 and 1, got -0.5"),
    (MOSSAnytime, {"alpha": -0.1}, "alpha must be 0 or more, got -0.1; use alpha=1.35"),
    (MOSSAnytime, {"alpha": None}, "alpha must be a finite number, got None"),
    (MaillardSampling, {"subtracted": 2}, "subtracted must be 0 or 1, got 2; use 0 for KL-MS, or 1 for Exp-KL-MS"),
    (MaillardSampling, {"subtracted": 0.5}, "subtracted must be a whole number, got 0.5"),
    (
        EpsilonThompson,
        {"epsilon": 0.0},
        "epsilon must be greater than 0 and at most 1, got 0; use epsilon=None for 1/K",
    ),
    (EpsilonThompson, {"epsilon": 1.1}, "epsilon must be greater than 0 and at most 1, got 1.1"),
    (EpsilonThompson, {"epsilon": "1/K"}, "epsilon must be a finite number, got '1/K'"),
]


@pytest.mark.parametrize(("policy", "given", "message"), INVALID)
def test_invalid_parameters(policy: Callable[..., Policy], given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        policy(**given)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


WARNED: list[tuple[Callable[..., Policy], dict[str, Any], str]] = [
    (OCUCBn, {"eta": 1.0}, "eta = 1: Theorem 1 needs eta > 1"),
    (OCUCBn, {"eta": 1}, "eta = 1: Theorem 1 needs eta > 1"),
    (OCUCBn, {"eta": "annealed"}, 'eta="annealed": no theorem'),
    (OCUCBn, {"rho": 0.25}, "rho = 0.25: below 1/2"),
    (OCUCBn, {"rho": 0.0}, "rho = 0: below 1/2"),
    (OCUCBn, {"shrink": "t", "rho": 0.25}, "rho = 0.25: below 1/2"),
    (OCUCBn, {"shrink": "log-plus"}, 'shrink="log-plus"'),
    (OCUCBn, {"shrink": "all"}, 'shrink="all"'),
    (KLUCBPlus, {"eta": 1}, "needs eta > 1"),
    (UCBV, {"zeta": 1.0}, "zeta = 1: up to 1 UCB-V explores too little"),
    (UCBV, {"c": 0.5}, "c = 0.5: below 1 the bound on the regret of UCB-V does not hold"),
    (UCB, {"alpha": 1.9}, "alpha = 1.9: below 2"),
    (OCUCB, {"horizon": 100, "alpha": 2.0}, "need alpha > 2"),
    (OCUCB, {"horizon": 100, "psi": 1.5}, "psi = 1.5"),
    (MOSS, {"horizon": 100, "c": 1.0}, "c = 1: below 2"),
]


@pytest.mark.parametrize(("policy", "given", "message"), WARNED)
def test_a_lost_guarantee_is_said_at_the_line_that_loses_it(
    policy: Callable[..., Policy], given: dict[str, Any], message: str
) -> None:
    with pytest.warns(GuaranteeWarning) as caught:
        policy(**given)
    assert len(caught) == 1
    assert message in str(caught[0].message)
    assert caught[0].filename == __file__


QUIET: list[tuple[Callable[..., Policy], dict[str, Any]]] = [
    (OCUCBn, {}),
    (OCUCBn, {"eta": 2.0, "rho": 1.0}),
    (OCUCBn, {"shrink": "t", "rho": 0.75}),
    (OCUCBn, {"shrink": "t"}),
    (KLUCBPlus, {}),
    (KLUCB, {}),
    (KLUCB, {"c": 3}),
    (UCB, {}),
    (UCB, {"alpha": "asymptotic"}),
    (UCBV, {}),
    (UCBTuned, {}),
    (OCUCB, {"horizon": 100}),
    (MOSS, {"horizon": 100}),
    (MOSS, {"horizon": 100, "c": 2}),
    (KLUCBHPlus, {"horizon": 1}),
    (KLUCBPlusPlus, {"horizon": 100}),
    (KLUCBSwitch, {"horizon": 100}),
    (AdaUCB, {}),
    (AdaUCB, {"horizon": 100}),
    (BayesUCB, {}),
    (BayesUCB, {"horizon": 100, "c": 5}),
    (ThompsonSampling, {}),
    (IMED, {}),
    (TopTwo, {}),
    (KLLUCB, {}),
    (Uniform, {}),
    (Greedy, {}),
    (EpsilonGreedy, {}),
    (EpsilonGreedy, {"epsilon": 1}),
    (MOSSAnytime, {}),
    (MaillardSampling, {}),
    (MaillardSampling, {"subtracted": 1}),
    (ExpTS, {}),
    (ExpTSPlus, {}),
    (EpsilonThompson, {}),
    (EpsilonThompson, {"epsilon": 1}),
]


@pytest.mark.parametrize(("policy", "given"), QUIET)
def test_what_is_covered_is_built_in_silence(policy: Callable[..., Policy], given: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        policy(**given)


DATA: list[tuple[Any, type[OcucbError], str]] = [
    ({"name": "ucb2", "parameters": {}}, StateError, "policy must be one of ocucb-n, "),
    ({"name": ["ucb"], "parameters": {}}, StateError, "got ['ucb']"),
    (
        {"name": "ucb", "parameters": {"beta": 1}},
        StateError,
        "parameters of ucb must be among ['alpha'], got {'beta': 1}",
    ),
    ({"name": "ucb", "parameters": [2.0]}, StateError, "parameters of ucb must be among ['alpha'], got [2.0]"),
    ({"name": "moss", "parameters": {}}, StateError, "parameters of moss are incomplete"),
    ({"name": "ucb", "parameters": {"alpha": -1}}, ParameterError, "alpha must be greater than 0, got -1"),
    ({"name": "ucb"}, StateError, 'a policy must be {"name": ..., "parameters": {...}}'),
    ("ucb", StateError, "got 'ucb'"),
]


@pytest.mark.parametrize(("data", "error", "message"), DATA)
def test_data_that_is_no_policy(data: Any, error: type[OcucbError], message: str) -> None:
    with pytest.raises(error) as caught:
        POLICIES.from_dict(data)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
