"""Lemma tech1: the series against arbitrary precision, its bounds by hand, the errata of its statement and proof."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocucb.errors import ParameterError
from ocucb.theory.peeling import (
    peeling_bound,
    peeling_bound_printed,
    peeling_rate,
    peeling_sum,
    uniform_peeling_bound,
)

mp: Any = importlib.import_module("mpmath")

ETA = st.sampled_from([1.01, 1.1, 1.3, 1.5, 2.0, 5.0, 12.0, 100.0, 1e6, 1e12])
RHO = st.sampled_from([0.0, 0.1, 0.5, 0.75, 1.0])
CAP = st.one_of(st.just(math.inf), st.floats(-12.0, 12.0).map(lambda power: 10.0**power))
X = st.floats(-12.0, 2.5).map(lambda power: 10.0**power)


def literal(eta: float, rho: float, cap: float, x: float) -> Any:
    """Return the series as printed, to 40 digits."""
    with mp.workdps(40):
        base, total, k = mp.mpf(eta), mp.mpf(0), 0
        while k == 0 or x * base**k < x + 150.0:
            power = base ** (k + 1)
            second = power if rho == 0.0 else mp.mpf(cap) ** mp.mpf(rho) * power ** (1 - mp.mpf(rho))
            total += min(power, second) * mp.exp(-mp.mpf(x) * base**k)
            k += 1
        return total


@given(ETA, RHO, CAP, X)
def test_the_series_lies_in_its_bracket(eta: float, rho: float, cap: float, x: float) -> None:
    low, high = peeling_sum(eta, rho, cap, x)
    series = literal(eta, rho, cap, x)
    assert float(low) <= series <= float(high)
    assert float(high - low) <= 1e-11 * series + 1e-249


def test_the_series_by_hand() -> None:
    # η = 100: e^-1 100 + e^-100 10^4 + ...
    low, high = peeling_sum(100.0, 1.0, math.inf, 1.0)
    assert low < 100.0 / math.e + 1e4 * math.exp(-100.0) < high
    # λ = 4, ρ = 1: min{2^(k+1), 4} = 2, 4, 4, ...
    expected = 2 * math.exp(-1) + 4 * sum(math.exp(-(2.0**k)) for k in range(1, 8))
    assert float(peeling_sum(2.0, 1.0, 4.0, 1.0).low) == pytest.approx(expected, rel=1e-12)


def test_a_series_that_underflows_is_bounded_all_the_same() -> None:
    low, high = peeling_sum(2.0, 0.5, 1.0, 1e6)
    assert low == 0.0
    assert 0.0 < high < 1e-200


def test_shapes_follow_the_arguments() -> None:
    eta, x = np.array([[1.5], [3.0]]), np.array([0.1, 1.0, 2.0])
    low, high = peeling_sum(eta, 0.5, 2.0, x)
    assert low.shape == high.shape == peeling_bound(eta, 0.5, 2.0, x).shape == (2, 3)
    for i in range(2):
        for j in range(3):
            assert low[i, j] == peeling_sum(eta[i, 0], 0.5, 2.0, x[j]).low
    assert peeling_rate(0.5, [1.0, 2.0], 0.1).shape == (2,)


def test_bounds_by_hand() -> None:
    e = math.e
    assert float(peeling_bound_printed(e, 1.0, math.inf, 2.0)) == pytest.approx((2 / e + e) / 2)
    assert float(peeling_bound(e, 1.0, math.inf, 2.0)) == pytest.approx(e / 2 * (1 / e + 1))
    # λ = 4, x = 1/16, ρ = 1/2: λ^ρ x^(ρ-1) = 8, log(1/(λx)) = log 4
    assert float(peeling_bound_printed(e, 0.5, 4.0, 1 / 16)) == pytest.approx(8 * (1 + 1 / e + math.log(4)))
    assert float(peeling_bound(e, 0.5, 4.0, 1 / 16)) == pytest.approx(8 * e * (2 + 1 / e + math.log(4)))
    assert float(peeling_rate(0.5, 4.0, 1 / 16)) == pytest.approx(8 * math.log(4))
    assert float(peeling_rate(0.0, 1e-9, 1.0)) == 1.0  # the minimum is 1/x
    # The first case begins at xλ = 1.
    assert float(peeling_rate(1.0, 4.0, 0.25)) == 4.0


@given(ETA, RHO, CAP, X)
def test_the_corrected_bound_holds(eta: float, rho: float, cap: float, x: float) -> None:
    high = float(peeling_sum(eta, rho, cap, x).high)
    assert high <= float(peeling_bound(eta, rho, cap, x))
    order = (3.0 + 1.0 / math.e) * eta**2 / (eta - 1.0)
    assert high <= order * float(peeling_rate(rho, cap, x))


@given(ETA, st.floats(0.5, 1.0), CAP, X)
def test_one_bound_serves_every_rho_from_one_half_on(eta: float, rho: float, cap: float, x: float) -> None:
    assert peeling_sum(eta, rho, cap, x).low <= uniform_peeling_bound(eta, cap, x) * (1.0 + 1e-12)


def test_below_one_half_it_does_not() -> None:
    assert peeling_sum(1.1, 0.4, 1e-6, 1e-12).low > 3.0 * uniform_peeling_bound(1.1, 1e-6, 1e-12)


def test_erratum_the_first_case_lacks_a_factor() -> None:
    """The proof prints sup f ≤ 1/(ex); f(0) = η/e at x = 1 shows η/(ex)."""
    assert peeling_sum(100.0, 1.0, math.inf, 1.0).low > 36.7 > 22.5 > peeling_bound_printed(100.0, 1.0, math.inf, 1.0)
    x = 2.0**-60 * 12.5 ** np.linspace(0.0, 1.0, 65)
    assert (peeling_sum(12.5, 1.0, math.inf, x).low > peeling_bound_printed(12.5, 1.0, math.inf, x)).any()
    x = 2.0**-60 * 12.0 ** np.linspace(0.0, 1.0, 65)
    assert (peeling_sum(12.0, 1.0, math.inf, x).high < peeling_bound_printed(12.0, 1.0, math.inf, x)).all()


def test_erratum_the_second_case_lacks_factors() -> None:
    """It drops the η of every integral and both sup f; at ρ = 0 it is true up to η = 1 + 1/e only."""
    assert peeling_sum(3.0, 0.0, 1.0, 0.5).low > 4.12 > 3.76 > peeling_bound_printed(3.0, 0.0, 1.0, 0.5)
    x, cap = 2.0**-60, (1.0 - 2.0**-30) * 2.0**60
    for eta, true in ((1.367, True), (1.369, False)):
        low, high = peeling_sum(eta, 0.0, cap, x)
        bound = peeling_bound_printed(eta, 0.0, cap, x)
        assert high < bound if true else low > bound


def test_erratum_the_order_in_eta() -> None:
    """O(η/(η-1)) is bounded for large η; the first term alone, at x = 1, is η/e."""
    for eta in (1e3, 1e6, 1e9):
        constant = float(peeling_sum(eta, 1.0, math.inf, 1.0).low) / (eta / (eta - 1.0))
        assert constant > 0.36 * eta


def test_erratum_the_sign_in_the_integral_over_large_k() -> None:
    """The proof prints exp(-η^(k_x - k)), with which the integral of its line diverges; exp(-η^(k - k_x)) is meant."""
    eta, rho, beyond = 2.0, 0.5, np.linspace(0.0, 60.0, 60_001)
    meant = eta ** (beyond * (1 - rho)) * np.exp(-(eta**beyond))
    printed = eta ** (beyond * (1 - rho)) * np.exp(-(eta**-beyond))
    assert np.trapezoid(meant, beyond) <= 1.0 / (math.e * math.log(eta))
    assert np.trapezoid(printed, beyond) > 1e8


def test_erratum_the_first_integral_lacks_eta() -> None:
    """η ∫_0^{k_λ} η^k dk is η (λ-1)/log η, printed without η; and for λ < 1 k_λ is negative."""
    eta, cap = 3.0, 27.0
    k = np.linspace(0.0, math.log(cap) / math.log(eta), 100_001)
    assert np.trapezoid(eta * eta**k, k) == pytest.approx(eta * (cap - 1) / math.log(eta), rel=1e-6)
    assert math.log(0.5) / math.log(eta) < 0.0


@pytest.mark.parametrize("eta", [1.0, 0.5, math.nan, math.inf, [2.0, 1.0]])
def test_bad_eta_is_refused(eta: float) -> None:
    for function in (peeling_sum, peeling_bound, peeling_bound_printed):
        with pytest.raises(ParameterError, match="eta must be greater than 1"):
            function(eta, 0.5, 1.0, 1.0)


@pytest.mark.parametrize("rho", [-0.1, 1.1, math.nan])
def test_bad_rho_is_refused(rho: float) -> None:
    with pytest.raises(ParameterError, match="rho must be between 0 and 1"):
        peeling_sum(2.0, rho, 1.0, 1.0)


@pytest.mark.parametrize("cap", [0.0, -1.0, math.nan])
def test_bad_cap_is_refused(cap: float) -> None:
    with pytest.raises(ParameterError, match="cap must be positive"):
        peeling_rate(0.5, cap, 1.0)


@pytest.mark.parametrize("x", [0.0, -1.0, math.nan, math.inf])
def test_bad_x_is_refused(x: float) -> None:
    with pytest.raises(ParameterError, match="x must be positive"):
        peeling_bound(2.0, 0.5, 1.0, x)


def test_too_long_a_series_is_refused() -> None:
    with pytest.raises(ParameterError, match="use a larger eta"):
        peeling_sum(1.0 + 1e-9, 0.5, 1.0, 1e-6)
