"""The index as printed: a literal double sum, hand-computed numbers, and bad input."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocucb.errors import ParameterError
from ocucb.theory.index import confidence, index, shared_pulls

PULLS = st.lists(st.integers(1, 10**6), min_size=1, max_size=12)
RHO = st.floats(0.0, 1.0)


def literal(pulls: list[int], rho: float) -> list[float]:
    """Σ_j min{T_i, T_j^ρ T_i^{1-ρ}} as printed."""
    return [sum(min(i, j**rho * i ** (1.0 - rho)) for j in pulls) for i in pulls]


@given(PULLS, RHO)
def test_shared_pulls_are_the_double_sum(pulls: list[int], rho: float) -> None:
    np.testing.assert_allclose(shared_pulls(pulls, rho), literal(pulls, rho), rtol=1e-12)


@given(PULLS, RHO, st.integers(1, 10**7), st.floats(1.0, 20.0))
def test_the_index_is_the_one_printed(pulls: list[int], rho: float, t: int, eta: float) -> None:
    log = math.log(t)
    big = [max(math.e, log, t * log / total) for total in literal(pulls, rho)]
    np.testing.assert_allclose(confidence(pulls, t, rho), big, rtol=1e-11)
    expected = [0.25 + math.sqrt(2.0 * eta * math.log(b) / pulled) for b, pulled in zip(big, pulls, strict=True)]
    np.testing.assert_allclose(index(np.full(len(pulls), 0.25), pulls, t, eta, rho), expected, rtol=1e-11)


def test_the_index_with_t_for_t_log_t() -> None:
    b = confidence([4, 1], t=50, rho=1.0, shrink=True)
    assert b.tolist() == [50 / 5, 50 / 2]
    assert confidence([400, 100], t=5, shrink=True).tolist() == [math.e, math.e]
    np.testing.assert_array_equal(
        index([0.1, 0.2], [4, 1], 50, 2.0, 1.0, shrink=True),
        np.array([0.1, 0.2]) + np.sqrt(4.0 * np.log(b) / [4.0, 1.0]),
    )


@given(PULLS, RHO, st.integers(2, 10**7))
def test_fewer_pulls_mean_no_less_confidence(pulls: list[int], rho: float, t: int) -> None:
    ordered = confidence(sorted(pulls), t, rho)
    assert (np.diff(ordered) <= 1e-12 * ordered[:-1]).all()


def test_several_states_at_once() -> None:
    pulls = np.array([[1, 2, 3], [30, 2, 2]])
    together = index(np.zeros((2, 3)), pulls, [7, 35], 1.5, 0.75)
    for row, t in enumerate((7, 35)):
        np.testing.assert_array_equal(together[row], index(np.zeros(3), pulls[row], t, 1.5, 0.75))


def test_the_extremes_of_rho() -> None:
    np.testing.assert_allclose(shared_pulls([2, 5, 9], 0.0), [6, 15, 27])  # all arms count: K T_i
    np.testing.assert_allclose(shared_pulls([2, 5, 9], 1.0), [6, 12, 16])  # Σ min{T_i, T_j}


def test_huge_pulls_do_not_overflow() -> None:
    assert np.isfinite(confidence([1e300, 1e290, 1.0], 2e300, 0.5)).all()


@pytest.mark.parametrize("bad", [[], 3.0, [1, 0], [1, -2], [1, math.nan], [1, math.inf]])
def test_bad_pulls_are_refused(bad: npt.ArrayLike) -> None:
    with pytest.raises(ParameterError, match="pulls must be greater than 0"):
        shared_pulls(bad)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf])
def test_bad_rounds_are_refused(bad: float) -> None:
    with pytest.raises(ParameterError, match="t must be 1 or more"):
        confidence([1, 1], bad)


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(ParameterError, match="rho must be between 0 and 1"):
        confidence([1, 1], 3, rho=1.5)
    with pytest.raises(ParameterError, match="eta must be greater than 0"):
        index([0.0, 0.0], [1, 1], 3, eta=-1.0)
