"""Rewards by inverse cdf: against SciPy's quantiles, and their means."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocucb.noise import Bernoulli, Bounded, Exponential, Gaussian, Noise, Poisson

# These publish no types; a module fetched by name is typed as Any without an ignore.
mp: Any = importlib.import_module("mpmath")
special: Any = importlib.import_module("scipy.special")
stats: Any = importlib.import_module("scipy.stats")

FAMILIES: list[Noise] = [Gaussian(0.7), Bernoulli(), Bounded(-2.0, 3.0), Poisson(), Exponential()]
SLICES = (np.arange(20_000) + 0.5) / 20_000
TAILS = 10.0 ** -np.arange(1.0, 16.0)
UNIFORMS = np.concatenate([np.random.default_rng(3).random(3000), TAILS, 1.0 - TAILS, [1e-300, 1.0 - 2.0**-53]])


def test_gaussian_matches_scipy() -> None:
    ours = [Gaussian(1.0).quantile(0.0, u) for u in UNIFORMS]
    np.testing.assert_allclose(ours, special.ndtri(UNIFORMS), rtol=2e-15, atol=1e-16)
    assert Gaussian(0.5).quantile(3.0, 0.5) == 3.0


def poisson_above(mean: float, count: float) -> Any:
    """Return P(X > count) by summing 40 digits of each term."""
    term = mp.exp((count + 1) * mp.log(mean) - mean - mp.loggamma(count + 2))
    total = term
    while term > 1e-35 * total:
        count += 1
        term *= mp.mpf(mean) / (count + 1)
        total += term
    return total


@pytest.mark.parametrize(
    "mean", [3e-9, 0.3, 1.0, 2.99, 3.01, 4.7, 11.99, 12.01, 13.0, 29.5, 60.0, 149.0, 400.0, 1e4, 123456.789]
)
def test_poisson_is_exact(mean: float) -> None:
    ours = np.array([Poisson().quantile(mean, u) for u in UNIFORMS])
    theirs = stats.poisson.ppf(UNIFORMS, mean)
    assert np.array_equal(ours[:3000], theirs[:3000])
    with mp.workdps(40):  # SciPy rounds the cdf near 1, and is one too low there now and then
        for count, uniform in zip(ours[ours != theirs], UNIFORMS[ours != theirs], strict=True):
            assert uniform > 1.0 - 1e-12
            assert poisson_above(mean, count) <= 1 - mp.mpf(uniform) < poisson_above(mean, count - 1.0)


@pytest.mark.parametrize("mean", [3.01, 5.0, 8.0, 10.0, 12.5, 16.0, 20.0, 25.0, 30.0])
def test_poisson_is_exact_where_its_expansion_is_furthest_off(mean: float) -> None:
    """In both tails, as far as the uniforms of the tape go: the expansion is some counts too low in the lower one."""
    for z in np.linspace(-8.2, 8.2, 1200):
        uniform = special.ndtr(z)
        count = Poisson().quantile(mean, uniform)
        part, below, reached = (uniform, count - 1.0, count) if z < 0.0 else (1.0 - uniform, count, count - 1.0)
        share = stats.poisson.cdf if z < 0.0 else stats.poisson.sf
        assert share(below, mean) * (1.0 - 1e-12) <= part <= share(reached, mean) * (1.0 + 1e-12)


def test_poisson_of_mean_zero_or_large() -> None:
    assert {Poisson().quantile(0.0, u) for u in UNIFORMS} == {0.0}
    bulk = UNIFORMS[:3000]
    np.testing.assert_array_equal([Poisson().quantile(1e8, u) for u in bulk], stats.poisson.ppf(bulk, 1e8))


@pytest.mark.parametrize("mean", [2.5, 7.3, 13.0, 77.7, 151.0, 5000.0])
def test_poisson_changes_where_its_cdf_says(mean: float) -> None:
    """The near-integer cases, which random uniforms seldom meet: just below and just above each jump."""
    counts = np.arange(math.floor(mean) - 3.0, math.floor(mean) + 4.0)
    counts = counts[counts >= 0.0]
    for count, jump in zip(counts, stats.poisson.cdf(counts, mean), strict=True):
        assert Poisson().quantile(mean, jump * (1.0 - 1e-10)) == count
        assert Poisson().quantile(mean, jump * (1.0 + 1e-10)) == count + 1.0


def test_poisson_of_a_large_mean_is_settled_where_its_expansion_cannot_tell() -> None:
    """The expansion is off by about 1e-8 of a count at this mean; these are a hundredth of that from a jump."""
    for count, jump in ((980.0, stats.poisson.cdf(980.0, 1001.5)), (1010.0, stats.poisson.cdf(1010.0, 1001.5))):
        assert Poisson().quantile(1001.5, jump * (1.0 - 1e-12)) == count
        assert Poisson().quantile(1001.5, jump * (1.0 + 1e-12)) == count + 1.0


def test_poisson_of_an_enormous_mean_is_still_near_it() -> None:
    for mean in (1e12, 1e15, 1e17, 1e300):
        assert abs(Poisson().quantile(mean, 0.9) - mean) < 2.0 * math.sqrt(mean)


def test_the_others_have_closed_forms() -> None:
    assert [Bernoulli().quantile(0.25, u) for u in (0.1, 0.75, 0.7501, 0.9)] == [0.0, 0.0, 1.0, 1.0]
    assert [Bernoulli().quantile(mean, u) for mean in (0.0, 1.0) for u in (1e-16, 1 - 1e-16)] == [0.0, 0.0, 1.0, 1.0]
    assert [Bounded(-2.0, 3.0).quantile(-1.0, u) for u in (0.1, 0.79, 0.81, 0.9)] == [-2.0, -2.0, 3.0, 3.0]
    assert Exponential().quantile(2.0, 0.5) == pytest.approx(2.0 * math.log(2.0))
    assert Exponential().quantile(2.0, 1e-16) == pytest.approx(2e-16)


@pytest.mark.parametrize("noise", FAMILIES, ids=str)
@pytest.mark.parametrize("mean", [0.05, 0.4, 0.9])
def test_the_mean_of_the_rewards_is_the_mean(noise: Noise, mean: float) -> None:
    rewards = [noise.quantile(mean, u) for u in SLICES]
    assert np.mean(rewards) == pytest.approx(mean, abs=3e-4)
    low, high = noise.support()
    assert low <= min(rewards) <= max(rewards) <= high
    assert not noise.whole or all(reward % 1.0 == 0.0 for reward in rewards)


@pytest.mark.parametrize("noise", FAMILIES, ids=str)
@settings(deadline=None, max_examples=200)
@given(
    mean=st.floats(0.0, 1.0),
    scale=st.sampled_from([1.0, 20.0, 500.0]),
    u=st.floats(1e-9, 0.5),
    v=st.floats(0.5, 1 - 1e-9),
)
def test_a_larger_uniform_never_gives_a_smaller_reward(
    noise: Noise, mean: float, scale: float, u: float, v: float
) -> None:
    mean *= scale if isinstance(noise, Poisson) else 1.0
    assert noise.quantile(mean, u) <= noise.quantile(mean, v)
    assert noise.quantile(mean, u).hex() == noise.quantile(mean, u).hex()
