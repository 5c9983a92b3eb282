"""What all noise families share: records, checks, the table, and functions that agree with their own addresses."""

from __future__ import annotations

import doctest
import importlib
import math
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from ocucb import noise as package
from ocucb.compiled import (
    BOUND,
    DIVERGENCE,
    QUANTILE,
    Floats,
    address,
    call_bound,
    call_divergence,
    call_quantile,
    kernel,
    reals,
)
from ocucb.errors import ParameterError, StateError
from ocucb.noise import NOISES, Bernoulli, Bounded, Exponential, Gaussian, GaussianUnknownScale, Noise, Poisson

FAMILIES: list[Noise] = [
    Gaussian(0.7),
    Bernoulli(),
    Bounded(-2.0, 3.0),
    Poisson(),
    Exponential(),
    GaussianUnknownScale(),
]


@kernel
def bound_at(function: int, mean: float, pulls: float, level: float, family: Floats) -> Any:
    return call_bound(function, (mean, pulls, level, reals(family.ctypes.data)))


@kernel
def divergence_at(function: int, p: float, q: float, family: Floats) -> Any:
    return call_divergence(function, (p, q, reals(family.ctypes.data)))


@kernel
def quantile_at(function: int, mean: float, uniform: float, family: Floats) -> Any:
    return call_quantile(function, (mean, uniform, reals(family.ctypes.data)))


@pytest.mark.parametrize("noise", FAMILIES, ids=str)
def test_functions_agree_with_their_addresses(noise: Noise) -> None:
    family = noise.family()
    plain = family.parameters
    reached = np.array([*plain, math.nan])  # at least one float, for a pointer to point to
    for function in (family.upper, family.posterior, family.switch):
        place = address(function, BOUND)
        for mean in (0.0, 0.3, 1.0):
            for pulls, level in ((1.0, 0.4), (20.0, 3.0), (1e5, 8.0), (2.0, 0.0), (5.0, -2.0)):
                assert bound_at(place, mean, pulls, level, reached) == function(mean, pulls, level, plain)
    for u in (1e-9, 0.2, 0.6, 1.0 - 1e-9):
        place = address(family.divergence, DIVERGENCE)
        assert divergence_at(place, 0.3, u, reached) == family.divergence(0.3, u, plain)
        place = address(family.quantile, QUANTILE)
        assert quantile_at(place, 0.3, u, reached) == family.quantile(0.3, u, plain)


@pytest.mark.parametrize("noise", FAMILIES, ids=str)
def test_whole_numbers_are_welcome_from_python(noise: Noise) -> None:
    assert noise.upper(1, 0) == 1.0
    assert noise.divergence(1, 1) == 0.0
    assert isinstance(noise.quantile(1, 0.5), float)


def test_the_table_lists_every_family_by_its_name() -> None:
    assert list(NOISES) == ["gaussian", "bernoulli", "bounded", "poisson", "exponential", "gaussian-unknown-scale"]
    assert [type(noise) for noise in FAMILIES] == list(NOISES.values())
    for name, kind in NOISES.items():
        assert kind.name == name
        assert kind.formula
        assert getattr(package, kind.__name__) is kind


@pytest.mark.parametrize("noise", FAMILIES, ids=str)
def test_survives_plain_data_and_pickle(noise: Noise) -> None:
    assert NOISES.from_dict(noise.to_dict()) == noise
    assert pickle.loads(pickle.dumps(noise)) == noise
    with pytest.raises(FrozenInstanceError):
        noise.scale = 2.0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"name": "cauchy", "parameters": {}}, "noise must be one of gaussian, .* got 'cauchy'"),
        ({"name": ["gaussian"], "parameters": {}}, "noise must be one of"),
        ({"name": "gaussian", "parameters": {"sigma": 1.0}}, r"parameters of gaussian must be among \['scale'\]"),
        ({"name": "gaussian", "parameters": None}, "parameters of gaussian must be among"),
        ({"name": "gaussian"}, "a noise family must be"),
        (None, "a noise family must be"),
    ],
)
def test_refuses_data_that_describes_no_family(data: Any, message: str) -> None:
    with pytest.raises(StateError, match=message):
        NOISES.from_dict(data)


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, math.inf, True, "1", None])
def test_gaussian_refuses(scale: Any) -> None:
    with pytest.raises(ParameterError, match="scale must be"):
        Gaussian(scale)


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        (1.0, 1.0, "high must be greater than 1, got 1; low and high are"),
        (2.0, 1.0, "high must be greater than 2, got 1"),
        (-math.inf, 1.0, "low must be a finite number"),
        (0.0, math.nan, "high must be a finite number"),
        ("0", 1.0, "low must be a finite number"),
        (-1.7e308, 1.7e308, "high - low must be a finite number"),
    ],
)
def test_bounded_refuses(low: Any, high: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Bounded(low, high)


def test_says_what_a_reward_must_be() -> None:
    assert [noise.expected() for noise in FAMILIES] == [
        "a finite number",
        "0 or 1 (use Bounded(0, 1) for rewards in between)",
        "a number between -2 and 3",
        "a whole number, 0 or more",
        "a finite number, 0 or more",
        "a finite number",
    ]
    assert [noise.support()[0] for noise in FAMILIES[1:-1]] == [0.0, -2.0, 0.0, 0.0]
    assert [noise.support()[1] for noise in FAMILIES[1:3]] == [1.0, 3.0]
    assert [noise.whole for noise in FAMILIES] == [False, True, False, True, False, False]


@pytest.mark.parametrize("name", list(NOISES))
def test_examples_in_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"ocucb.noise.{name.replace('-', '_')}"))
    assert result.attempted > 0
    assert result.failed == 0
