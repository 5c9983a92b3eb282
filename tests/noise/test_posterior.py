"""Posterior quantiles: each is put back into its tail, computed to 40 digits, and compared with SciPy."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocucb.noise import Bernoulli, Bounded, Exponential, Gaussian, Noise, Poisson, beta_tail, gamma_tail, normal

# These publish no types; a module fetched by name is typed as Any without an ignore.
mp: Any = importlib.import_module("mpmath")
special: Any = importlib.import_module("scipy.special")

LEVELS = [1e-16, 1e-12, 1e-6, 0.01, 0.3, 0.6, 0.69, 0.7, 0.75, 0.9, 2.0, 5.0, 12.0, 40.0, 300.0, 700.0]
FAMILIES: list[Noise] = [Gaussian(0.7), Bernoulli(), Bounded(-2.0, 3.0), Poisson(), Exponential()]


def quantile(noise: Noise, mean: float, pulls: float, level: float) -> float:
    family = noise.family()
    return family.posterior(mean, pulls, level, family.parameters)


def smaller_tail(level: float) -> tuple[bool, Any]:
    """Say whether the tail of probability exp(-level) is the smaller one, and return the logarithm of that one."""
    if level > math.log(2.0):
        return True, -mp.mpf(level)
    return False, mp.log(-mp.expm1(-mp.mpf(level)))


def gamma_error(shape: float, level: float, side: float) -> float:
    """Return the relative error of a gamma quantile, from that of the tail beyond it."""
    with mp.workdps(40):
        a, x = mp.mpf(shape), mp.mpf(gamma_tail.quantile(shape, level, side))
        named, target = smaller_tail(level)
        ends = (x, mp.inf) if named == (side > 0) else (0, x)
        mass = mp.gammainc(a, *ends, regularized=True)
        return float(abs(mp.log(mass) - target) * mass / mp.exp(a * mp.log(x) - x - mp.loggamma(a)))


def beta_error(a: float, b: float, level: float) -> float:
    """Return the error of a beta quantile, relative to the nearer end of [0, 1], from that of the tail beyond it."""
    with mp.workdps(40):
        x = mp.mpf(beta_tail.quantile(a, b, level))
        named, target = smaller_tail(level)
        below, above, y = (b, a, 1 - x) if named else (a, b, x)
        density = below * mp.log(y) + above * mp.log1p(-y) - mp.log(mp.beta(a, b))
        mass = density - mp.log(below) + mp.log(mp.hyp2f1(mp.mpf(a) + b, 1, mp.mpf(below) + 1, y))
        return float(abs(mass - target) * mp.exp(mass - density) * (1 - x))


def integrated_error(log_density: Callable[[Any], Any], start: Any, spread: Any, level: float) -> float:
    """Return the error of a quantile in the variable of the density, by integrating the tail beyond it."""
    named, target = smaller_tail(level)
    away, edge = spread if named else -spread, log_density(start)
    steps = [0, 0.1, 0.5, 1, 2, 4, 8, 16]
    mass = mp.quad(lambda v: mp.exp(log_density(start + away * v) - edge), steps) * abs(spread)
    return float(abs(edge + mp.log(mass) - target) * mass)


def test_the_exponential_posterior_counts_its_prior() -> None:
    """The rate is Gamma(1 + T, rate S), so for one reward of 2 it is below x with probability 1 - e^{-2x} (1 + 2x)."""
    for level in (0.1, 1.0, 5.0):
        x = 1.0 / quantile(Exponential(), 2.0, 1.0, level)
        assert 1.0 - math.exp(-2.0 * x) * (1.0 + 2.0 * x) == pytest.approx(math.exp(-level), rel=1e-12)


@pytest.mark.parametrize("level", [1e-300, *LEVELS, 728.0, 730.0, 2e3, 1e5])
def test_normal_quantile(level: float) -> None:
    with mp.workdps(40):
        named, target = smaller_tail(level)
        z = mp.mpf(normal.upper_quantile(level)) * (1 if named else -1)
        mass = mp.erfc(z / mp.sqrt(2)) / 2
        density = mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)
        assert float(abs(mp.log(mass) - target) * mass / density) < 1e-15 * max(1.0, abs(float(z)))


@pytest.mark.parametrize("shape", [1.0, 1.0001, 1.5, 2.0, 5.3, 9.9, 30.0, 149.9, 150.0, 151.0, 400.0, 3e3, 1e5])
def test_gamma_quantile(shape: float) -> None:
    for level in LEVELS:
        for side in (1.0, -1.0):
            assert gamma_error(shape, level, side) < 1e-11, (level, side)


@pytest.mark.parametrize("a", [1.0, 1.0001, 2.7, 11.0, 149.0, 150.0, 400.0, 1e9])
@pytest.mark.parametrize("b", [1.0, 1.5, 5.0, 60.0, 151.0, 1e3])
def test_beta_quantile(a: float, b: float) -> None:
    if min(a, b) < 100.0 or max(a, b) < 1e4:  # else mpmath's series would take minutes: see the next test
        for level in LEVELS:
            if beta_tail.quantile(a, b, level) < 1.0:
                assert beta_error(a, b, level) < 1e-11, level
            else:
                assert level > 20.0


@pytest.mark.parametrize("level", [1e-12, 0.3, 0.7, 20.0, 700.0])
@pytest.mark.parametrize(("a", "b"), [(1e9, 1e6), (3e5, 2e9), (200.0, 1e9), (1e9, 5e8)])
def test_beta_quantile_of_huge_shapes(a: float, b: float, level: float) -> None:
    with mp.workdps(40):
        x = mp.mpf(beta_tail.quantile(a, b, level))
        constant = mp.loggamma(mp.mpf(a) + b) - mp.loggamma(a) - mp.loggamma(b)
        error = integrated_error(
            lambda s: constant + a * s - (mp.mpf(a) + b) * mp.log1p(mp.exp(s)),
            mp.log(x / (1 - x)),
            mp.sqrt(1 / mp.mpf(a) + 1 / mp.mpf(b)),
            level,
        )
        assert error * (1 - x) < 2e-12


@pytest.mark.parametrize("level", [1e-12, 0.3, 0.7, 20.0, 700.0])
@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("shape", [2e5, 2e9])
def test_gamma_quantile_of_huge_shapes(shape: float, side: float, level: float) -> None:
    with mp.workdps(40):
        x = mp.mpf(gamma_tail.quantile(shape, level, side))
        spread = side / mp.sqrt(shape)
        constant = mp.loggamma(shape)
        assert integrated_error(lambda s: shape * s - mp.exp(s) - constant, mp.log(x), spread, level) < 1e-15


def test_the_error_measures_see_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    gamma, beta = gamma_tail.quantile, beta_tail.quantile
    assert max(gamma_error(7.0, 3.0, 1.0), beta_error(7.0, 3.0, 3.0)) < 1e-14
    monkeypatch.setattr(gamma_tail, "quantile", lambda *given: gamma(*given) * (1.0 + 1e-9))
    monkeypatch.setattr(beta_tail, "quantile", lambda *given: beta(*given) * (1.0 + 1e-9))
    assert gamma_error(7.0, 3.0, 1.0) == pytest.approx(1e-9, rel=1e-3)
    assert beta_error(7.0, 3.0, 3.0) == pytest.approx(1e-9, rel=1e-3)


def test_agrees_with_scipy_over_a_wide_grid() -> None:
    """Up to 10^5 pulls: beyond, SciPy's own lower gamma tail is off by as much as 1e-6."""
    random = np.random.default_rng(7)
    pulls = np.floor(10.0 ** random.uniform(0.0, 5.0, 3000))
    mean = random.random(3000)
    mean[:300], mean[300:600] = 0.0, 1.0
    level = np.where(random.random(3000) < 0.5, random.exponential(size=3000), random.uniform(0.0, 600.0, 3000))
    tail, rest = np.exp(-level), -np.expm1(-level)
    s, f = 1.0 + mean * pulls, 1.0 + (1.0 - mean) * pulls
    upper = level > math.log(2.0)
    beta = np.where(upper, special.betainccinv(s, f, tail), special.betaincinv(s, f, rest))
    gamma = np.where(upper, special.gammainccinv(s, tail), special.gammaincinv(s, rest)) / pulls
    rate = np.where(upper, special.gammaincinv(1.0 + pulls, tail), special.gammainccinv(1.0 + pulls, rest))
    flat = np.where(upper, -special.ndtri(tail), special.ndtri(rest))
    for noise, expected in [
        (Bernoulli(), beta),
        (Bounded(-2.0, 3.0), -2.0 + 5.0 * beta),
        (Poisson(), gamma),
        (Exponential(), mean * pulls / rate),
        (Gaussian(0.7), mean + 0.7 * flat / np.sqrt(pulls)),
    ]:
        means = 5.0 * mean - 2.0 if isinstance(noise, Bounded) else mean
        ours = np.array([quantile(noise, *row) for row in np.column_stack([means, pulls, level])])
        assert np.isfinite(ours).all()
        known = np.isfinite(expected)  # SciPy gives up on a few
        assert known.mean() > 0.99
        low, rounding = (-2.0, 1e-15) if isinstance(noise, Bounded) else (0.0, 0.0)
        np.testing.assert_allclose(
            ours[known] - low, expected[known] - low, rtol=1e-10, atol=rounding, err_msg=str(noise)
        )


@pytest.mark.parametrize("level", [1e-12, 0.1, 0.7, 4.0, 80.0])
def test_arms_with_one_kind_of_reward_have_closed_forms(level: float) -> None:
    assert quantile(Bernoulli(), 0.0, 9.0, level) == pytest.approx(-math.expm1(-level / 10.0), rel=1e-13)
    assert quantile(Bernoulli(), 1.0, 9.0, level) == pytest.approx((-math.expm1(-level)) ** 0.1, rel=1e-13)
    assert quantile(Poisson(), 0.0, 9.0, level) == pytest.approx(level / 9.0, rel=1e-13)
    assert quantile(Exponential(), 0.0, 9.0, level) == 0.0


@pytest.mark.parametrize("noise", FAMILIES, ids=str)
@pytest.mark.parametrize("mean", [0.0, 1e-300, 1e-9, 0.4, 1.0 - 1e-12, 1.0])
@pytest.mark.parametrize("pulls", [1.0, 30.0, 1e3, 1e9])
def test_levels_at_the_edge(noise: Noise, mean: float, pulls: float) -> None:
    low, high = noise.support()
    low, high = (low, high) if high < 1e9 else (0.0, math.inf)
    if isinstance(noise, Gaussian):
        low = -math.inf
    if isinstance(noise, Exponential) and mean == 0.0:
        high = 0.0
    assert quantile(noise, mean, pulls, 0.0) == quantile(noise, mean, pulls, -1.0) == low
    assert quantile(noise, mean, pulls, math.inf) == high
    before = low
    for level in (5e-324, 1e-100, 1e-16, 0.5, 10.0, 700.0, 1e3, 1e4, 1e8, 1e20, 1e300):
        value = quantile(noise, mean, pulls, level)
        assert before * (1.0 - 1e-11 * math.copysign(1.0, before)) <= value <= high
        before = value


@pytest.mark.parametrize("noise", FAMILIES, ids=str)
@settings(deadline=None, max_examples=300)
@given(
    mean=st.floats(0.0, 1.0),
    pulls=st.integers(1, 10**9),
    level=st.floats(1e-16, 700.0),
    growth=st.floats(1e-6, 1.0),
)
def test_never_falls_as_the_level_rises(noise: Noise, mean: float, pulls: int, level: float, growth: float) -> None:
    small, large = quantile(noise, mean, pulls, level), quantile(noise, mean, pulls, level * (1.0 + growth))
    assert small <= large + 1e-11 * abs(large)
    assert quantile(noise, mean, pulls, level).hex() == small.hex()


def test_draws_by_inverse_cdf_have_the_posterior_mean_and_variance() -> None:
    """Thompson sampling's use: midpoints of 20,000 equal slices, so the error is that of the outermost slices."""
    levels = -np.log((np.arange(20_000) + 0.5) / 20_000)
    draws = np.array([quantile(Bernoulli(), 0.3, 10.0, level) for level in levels])
    assert draws.mean() == pytest.approx(4.0 / 12.0, rel=1e-5)
    assert draws.var() == pytest.approx(4.0 * 8.0 / (12.0**2 * 13.0), rel=1e-3)
