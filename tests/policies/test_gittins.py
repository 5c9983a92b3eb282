"""The Gittins index against a slow induction of its own, its shape, its table, and its approximation."""

from __future__ import annotations

import ctypes
import json
import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocucb.compiled import LEVEL, Floats, address
from ocucb.errors import ParameterError
from ocucb.policies.gittins import (
    LONGEST_EXACT_HORIZON,
    TABLE_FILE,
    Gittins,
    level,
    level_approximate,
    level_parameters,
)
from ocucb.policies.policy import Trend
from tools import gittins_table

NORMAL = NormalDist()


def index(parameters: Floats, remaining: float, pulls: float) -> float:
    return math.sqrt(2.0 * level(parameters[0] - remaining + 1.0, pulls, 1.0, 1.0, parameters) / pulls)


def slow_indices(total: int, space: float = 5e-4, width: float = 6.0) -> dict[tuple[int, int], float]:
    """Return g(m, T) for all m + T = total, by the trapezoid rule on a fine uniform grid, in Fourier space.

    V(ν) - m max{0, ν} vanishes far to both sides; the expectation of the second part is known.
    """
    half = round(width / space)
    nu = space * np.arange(-half, half)
    frequency = 2.0 * np.pi * np.fft.rfftfreq(2 * half, space)
    value = np.zeros_like(nu)
    found = {}
    for pulls in range(total - 1, 0, -1):
        later = total - pulls - 1
        step = 1.0 / math.sqrt(pulls * (pulls + 1))
        rest = np.fft.rfft(value - later * np.maximum(0.0, nu)) * np.exp(-((frequency * step) ** 2) / 2.0)
        z = nu / step
        below = np.interp(z, CURVE, TAILS)
        hinge = step * (z * below + np.exp(-(z**2) / 2.0) / math.sqrt(2.0 * math.pi))
        play = nu + np.fft.irfft(rest, 2 * half) + later * hinge
        near = np.abs(nu) < width / 2.0  # the rest suffers from the ends
        found[later + 1, pulls] = -float(np.interp(0.0, play[near], nu[near]))
        value = np.where(near, np.maximum(0.0, play), (later + 1) * np.maximum(0.0, nu))
    return found


CURVE = np.linspace(-9.0, 9.0, 20_001)
TAILS = np.array([NORMAL.cdf(z) for z in CURVE])


@pytest.mark.parametrize("total", [2, 3, 4, 7, 12, 20, 33])
def test_index_agrees_with_a_slow_induction(total: int) -> None:
    parameters = level_parameters(total)
    for (remaining, pulls), expected in slow_indices(total).items():
        assert index(parameters, remaining, pulls) == pytest.approx(expected, abs=1e-5), (remaining, pulls)


def test_two_rounds_left_have_a_closed_form() -> None:
    low, high = -1.0, 0.0  # the root z of z + E max{0, z + Z} = 0, and g(2, T) = -z/sqrt(T(T+1))
    for _ in range(60):
        z = (low + high) / 2.0
        low, high = (low, z) if z + z * NORMAL.cdf(z) + NORMAL.pdf(z) > 0.0 else (z, high)
    parameters = level_parameters(300)
    for pulls in (1, 2, 3, 10, 16, 17, 50, 123, 299):
        expected = -high / math.sqrt(pulls * (pulls + 1))
        assert index(parameters, 2, pulls) == pytest.approx(expected, rel=1e-6)


def test_one_round_left_is_worth_nothing_more() -> None:
    parameters = level_parameters(100)
    for t in (100.0, 101.0, 1e9):
        for pulls in (1.0, 50.0, 1e6):
            assert level(t, pulls, 1.0, 1.0, parameters) == 0.0


def test_more_points_in_a_panel_change_nothing() -> None:
    rounds = np.array([2.0, 17.0, 400.0])
    for pulls in (1.0, 30.0, math.inf):
        np.testing.assert_allclose(
            gittins_table.scaled_indices(pulls, rounds),
            gittins_table.scaled_indices(pulls, rounds, nodes=20),
            rtol=2e-8,
        )


@given(pulls=st.integers(1, 999), remaining=st.integers(2, 999))
def test_interpolation_agrees_with_direct_induction(pulls: int, remaining: int) -> None:
    scaled = gittins_table.scaled_indices(float(pulls), np.array([float(remaining)]))[0]
    direct = scaled * math.sqrt(remaining / (pulls * (pulls + remaining)))
    got = index(level_parameters(1000), remaining, pulls)
    assert got == pytest.approx(direct, abs=1e-6)
    assert math.sqrt(pulls) * got == pytest.approx(math.sqrt(pulls) * direct, abs=4e-6)


def test_index_falls_with_pulls_and_level_with_the_round_over_the_whole_table() -> None:
    parameters = level_parameters(1000)
    pulls = np.unique(np.geomspace(1, 50_000, 60).astype(int))
    levels = np.array(
        [[level(float(t), float(count), 1.0, 1.0, parameters) for t in range(1, 1001)] for count in pulls]
    )
    assert np.all(np.diff(levels, axis=1) < 0.0)
    indices = np.sqrt(2.0 * levels / pulls[:, None])
    assert np.all(np.diff(indices[:, :-1], axis=0) < 0.0)


@given(pulls=st.integers(1, 30_000), remaining=st.integers(2, 1000))
def test_index_falls_with_pulls_and_rises_with_remaining_rounds(pulls: int, remaining: int) -> None:
    parameters = level_parameters(1000)
    here = index(parameters, remaining, pulls)
    assert index(parameters, remaining, pulls + 1) < here
    assert index(parameters, remaining - 1, pulls) < here


@given(pulls=st.integers(1, 10**12), t=st.integers(1, 300))
def test_any_number_of_pulls_gives_a_finite_level_that_does_not_rise(pulls: int, t: int) -> None:
    parameters = level_parameters(300)
    here, later = (level(float(time), float(pulls), 1.0, 1.0, parameters) for time in (t, t + 1))
    assert math.isfinite(here)
    assert 0.0 <= later <= here


@pytest.mark.parametrize("pulls", [1.2e4, 2e4, 5e4, 1e6, 1e9])
def test_pulls_beyond_the_table_are_near_the_truth(pulls: float) -> None:
    parameters = level_parameters(1000)
    rounds = np.array([2.0, 10.0, 100.0, 1000.0])
    expected = gittins_table.scaled_indices(pulls, rounds) * np.sqrt(rounds / (pulls * (pulls + rounds)))
    got = [index(parameters, remaining, pulls) for remaining in rounds]
    np.testing.assert_allclose(got, expected, rtol=0.02)


def test_many_pulls_meet_the_table_without_a_jump() -> None:
    parameters = level_parameters(1000)
    for remaining in (2, 30, 900):
        before, after = (index(parameters, remaining, pulls) for pulls in (10_000.0, 10_000.0 * (1.0 + 1e-9)))
        assert after == pytest.approx(before, rel=1e-8)


def test_one_table_serves_all_horizons() -> None:
    tables = [level_parameters(horizon) for horizon in (1, 2, 10, 99, 10_000)]
    assert [table[0] for table in tables] == [1, 2, 10, 99, 10_000]
    assert all(np.array_equal(table[1:], tables[0][1:]) for table in tables)


def test_the_table_is_what_its_tool_makes() -> None:
    """Some of it, from every part: the whole takes fifteen seconds."""
    knots = gittins_table.knots()
    table = np.frombuffer(TABLE_FILE.read_bytes(), "<f8").reshape(-1, len(knots))
    assert np.array_equal(table[0], knots)
    assert len(table) == len(knots) + 2
    few = [0, 1, 9, 20, 30, 37]
    for row in (0, 1, 15, 28, 51, 52):
        pulls = knots[row] if row < len(knots) else math.inf
        np.testing.assert_allclose(table[1 + row, few], gittins_table.scaled_indices(pulls, knots[few]), rtol=1e-12)


def test_knots_hold_every_small_number_and_the_longest_horizon() -> None:
    knots = gittins_table.knots()
    assert list(knots[:16]) == list(range(1, 17))
    assert knots[-1] == LONGEST_EXACT_HORIZON
    assert np.all(knots[16:] / knots[15:-1] < 1.25)


@pytest.mark.parametrize("horizon", [1, 2, 10, 10_000, np.int64(10)])
def test_horizons_of_the_exact_index(horizon: int) -> None:
    assert Gittins(horizon).horizon == horizon


@pytest.mark.parametrize("horizon", [0, -1, 1.5, 10.0, True, "10", None, math.nan])
@pytest.mark.parametrize("approximate", [False, True])
def test_horizon_must_be_whole_and_positive(horizon: int, approximate: bool) -> None:
    with pytest.raises(ParameterError, match="horizon must be"):
        Gittins(horizon, approximate=approximate)


def test_long_horizon_needs_the_approximation() -> None:
    with pytest.raises(ParameterError, match=r"10000 or less .* got 10001; use approximate=True"):
        Gittins(10_001)
    assert Gittins(10_001, approximate=True).rule().horizon == 10_001


@pytest.mark.parametrize("approximate", [0, 1, "yes", None])
def test_approximate_must_be_true_or_false(approximate: bool) -> None:
    with pytest.raises(ParameterError, match="approximate must be True or False"):
        Gittins(10, approximate=approximate)


@pytest.mark.parametrize("approximate", [False, True])
def test_rule(approximate: bool) -> None:
    rule = Gittins(50, approximate=approximate).rule()
    assert rule.level is (level_approximate if approximate else level)
    assert (rule.trend, rule.horizon, rule.rho, rule.score) == (Trend.FALLS, 50, None, None)
    assert rule.parameters[0] == 50.0


def test_policy_is_plain_data() -> None:
    described = json.loads(json.dumps(Gittins(50).to_dict()))
    assert described == {"name": "gittins", "parameters": {"horizon": 50, "approximate": False}}
    assert Gittins(50) == Gittins(50, approximate=False) != Gittins(50, approximate=True)


def literal(remaining: float, pulls: float) -> float:
    """Return the approximation as it is written, where it has a value and a term above 1 counts."""
    first = remaining / (4.0 * math.log(remaining) ** 1.5)
    second = remaining / (4.0 * pulls * math.sqrt(math.log(remaining / pulls)))
    return math.log(max(1.0, min(first, second)))


@given(pulls=st.integers(1, 10**6), remaining=st.integers(5, 10**9))
def test_approximation_is_the_literal_formula(pulls: int, remaining: int) -> None:
    got = level_approximate(10.0**9 - remaining + 1.0, float(pulls), 1.0, 1.0, np.array([1e9]))
    if remaining > 2 * pulls:  # both logarithms are above those of the minima
        assert got == pytest.approx(literal(remaining, pulls), abs=1e-12)
    else:
        assert got == 0.0


@given(pulls=st.integers(1, 10**6), t=st.integers(1, 1200))
def test_approximation_is_finite_and_falls(pulls: int, t: int) -> None:
    parameters = np.array([1000.0])
    here, later = (level_approximate(float(time), float(pulls), 1.0, 1.0, parameters) for time in (t, t + 1))
    assert 0.0 <= later <= here < 10.0


def test_approximation_is_near_the_exact_index_while_rounds_are_many() -> None:
    exact, short = level_parameters(1000), np.array([1000.0])
    for pulls in (1.0, 5.0, 20.0, 50.0):
        full, near = level(1.0, pulls, 1.0, 1.0, exact), level_approximate(1.0, pulls, 1.0, 1.0, short)
        assert math.sqrt(2.0 * near) == pytest.approx(math.sqrt(2.0 * full), abs=0.3)


@pytest.mark.parametrize("approximate", [False, True])
def test_level_by_its_address(approximate: bool) -> None:
    rule = Gittins(300, approximate=approximate).rule()
    assert rule.level is not None
    parameters = np.array(rule.parameters, dtype=np.float64)
    real = ctypes.c_double
    call = ctypes.CFUNCTYPE(real, real, real, real, real, ctypes.POINTER(real))(address(rule.level, LEVEL))
    pointer = parameters.ctypes.data_as(ctypes.POINTER(real))
    for t, pulls in [(1.0, 1.0), (2.0, 1.0), (100.0, 37.0), (299.0, 5.0), (300.0, 2.0), (301.0, 2.0), (50.0, 1e7)]:
        assert call(t, pulls, 1.0, 1.0, pointer) == rule.level(t, pulls, 1.0, 1.0, parameters)
