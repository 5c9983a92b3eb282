"""Upper bounds against bisection in 70 digits, at the edges, and as inverses of the divergence."""

from __future__ import annotations

import importlib
import math
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ocucb.noise import Bernoulli, Bounded, Exponential, Gaussian, Noise, Poisson

# mpmath publishes no types; a module fetched by name is typed as Any without an ignore.
mp: Any = importlib.import_module("mpmath")

CURVED: list[Noise] = [Bernoulli(), Bounded(-2.0, 3.0), Poisson(), Exponential()]
FAMILIES: list[Noise] = [Gaussian(0.7), *CURVED]
MEANS = [1e-12, 1e-6, 0.003, 0.2, 0.5, 0.77, 1.0 - 1e-6, 1.0 - 1e-12]
LEVELS = [1e-24, 1e-18, 1e-12, 1e-9, 1e-6, 1e-4, 0.003, 0.019, 0.03, 0.2, 0.9, 3.0, 12.0, 60.0]


def bound(noise: Noise, mean: float, pulls: float, level: float) -> float:
    family = noise.family()
    return family.upper(mean, pulls, level, family.parameters)


def divergence(noise: Noise, p: Any, q: Any) -> Any:
    if isinstance(noise, Poisson):
        return q - p + p * mp.log(p / q)
    if isinstance(noise, Exponential):
        return p / q - 1 - mp.log(p / q)
    return p * mp.log(p / q) + (1 - p) * mp.log((1 - p) / (1 - q)) if q < 1 else mp.inf


def exact(noise: Noise, mean: float, x: float) -> Any:
    """Return the bound at d(mean, q) = x, found by bisection; a bounded mean as its distance above the low end."""
    with mp.workdps(70):
        low, high = noise.support()
        width = mp.mpf(high) - low if high < 1e9 else mp.mpf(1)
        p = (mp.mpf(mean) - max(low, -1e9)) / width
        under, over = p, mp.mpf(1)
        if high > 1e9:
            over = 2 * p
            while divergence(noise, p, over) < x:
                over *= 2
        for _ in range(230):
            middle = (under + over) / 2
            if divergence(noise, p, middle) < x:
                under = middle
            else:
                over = middle
        return low + width * under


@pytest.mark.parametrize("noise", CURVED, ids=str)
@pytest.mark.parametrize("mean", MEANS)
def test_matches_bisection(noise: Noise, mean: float) -> None:
    if isinstance(noise, Bounded):
        mean = -2.0 + 5.0 * mean
    for x in LEVELS:
        expected = exact(noise, mean, x)
        assert float(abs(bound(noise, mean, 1.0, x) - expected) / abs(expected)) < 1e-12, x
        # The step above the mean is what tells arms with many pulls apart: it is right to the last digit of q.
        assert bound(noise, mean, 8.0, 8.0 * x) == bound(noise, mean, 1.0, x)


def test_gaussian_is_its_closed_form() -> None:
    assert bound(Gaussian(0.7), 1.5, 4.0, 2.0) == 1.5 + 0.7
    assert bound(Gaussian(0.7), 1.5, 4.0, 0.0) == 1.5


@pytest.mark.parametrize("x", [1e-18, 1e-3, 0.7, 5.0, 30.0])
def test_means_at_the_edge_have_closed_forms(x: float) -> None:
    assert bound(Bernoulli(), 0.0, 1.0, x) == -math.expm1(-x)
    assert bound(Bernoulli(), 1.0, 1.0, x) == 1.0
    assert bound(Bounded(-2.0, 3.0), -2.0, 1.0, x) == -2.0 - 5.0 * math.expm1(-x)
    assert bound(Bounded(-2.0, 3.0), 3.0, 1.0, x) == 3.0
    assert bound(Poisson(), 0.0, 1.0, x) == x
    assert bound(Exponential(), 0.0, 1.0, x) == 0.0


@pytest.mark.parametrize("noise", FAMILIES, ids=str)
@pytest.mark.parametrize("mean", [0.0, 5e-324, 1e-300, 1e-12, 0.3, 1.0 - 2.0**-53, 1.0])
def test_levels_at_the_edge(noise: Noise, mean: float) -> None:
    for level in (0.0, -0.0, -1.0, -math.inf):
        assert bound(noise, mean, 3.0, level) == mean
    _, end = noise.support()
    limit = 0.0 if isinstance(noise, Exponential) and mean == 0.0 else end if end < 1e9 else math.inf
    assert bound(noise, mean, 3.0, math.inf) == limit
    for level in (1e3, 1e6, 1e300):
        value = bound(noise, mean, 1.0, level)
        assert mean <= value <= limit
        if end < 1e9 and level >= 1e6:
            assert value == limit
    assert bound(noise, mean, 1e9, 1e-320) >= mean


def test_grows_without_bound_but_overflows_only_at_the_end() -> None:
    assert bound(Poisson(), 3.0, 1.0, 1e300) == 1e300
    assert bound(Exponential(), 1.0, 1.0, 705.0) == pytest.approx(math.exp(706.0), rel=1e-12)
    for mean, level in ((1e-10, 720.0), (1e-300, 1000.0)):
        expected = math.exp(level + 1.0 + math.log(mean))
        assert bound(Exponential(), mean, 1.0, level) == pytest.approx(expected, rel=1e-12)
    assert bound(Exponential(), 1.0, 1.0, 1e3) == math.inf


@pytest.mark.parametrize("noise", FAMILIES, ids=str)
@settings(deadline=None, max_examples=300)
@given(
    mean=st.floats(0.0, 1.0),
    pulls=st.integers(1, 10**9),
    level=st.floats(0.0, 700.0),
    growth=st.floats(0.0, 1.0),
)
def test_never_falls_as_the_level_rises(noise: Noise, mean: float, pulls: int, level: float, growth: float) -> None:
    small, large = bound(noise, mean, pulls, level), bound(noise, mean, pulls, level * (1.0 + growth))
    assert mean <= small <= large * (1.0 + 1e-13)


@pytest.mark.parametrize("noise", FAMILIES, ids=str)
@settings(deadline=None, max_examples=300)
@given(mean=st.floats(1e-9, 1.0 - 1e-9), step=st.floats(1e-4, 1.0 - 1e-4))
def test_inverts_the_divergence(noise: Noise, mean: float, step: float) -> None:
    q = mean + (1.0 - mean) * step
    assume(q > mean)
    assert noise.upper(mean, noise.divergence(mean, q)) == pytest.approx(q, rel=1e-12)


@pytest.mark.parametrize("noise", FAMILIES, ids=str)
@settings(deadline=None, max_examples=100)
@given(mean=st.floats(0.0, 1.0), pulls=st.integers(1, 10**6), level=st.floats(0.0, 50.0))
def test_gives_the_same_bits_again(noise: Noise, mean: float, pulls: int, level: float) -> None:
    assert bound(noise, mean, pulls, level).hex() == bound(noise, mean, float(pulls), level).hex()


@settings(deadline=None, max_examples=200)
@given(mean=st.floats(0.0, 1.0), level=st.floats(0.0, 50.0), low=st.floats(-1e3, 1e3), width=st.floats(1e-3, 1e3))
def test_bounded_is_bernoulli_stretched(mean: float, level: float, low: float, width: float) -> None:
    noise = Bounded(low, low + width)
    stretched = bound(noise, low + width * mean, 7.0, level)
    assert stretched <= noise.high or stretched == low + width * mean
    assert stretched == pytest.approx(low + width * bound(Bernoulli(), mean, 7.0, level), abs=1e-6 * width + 1e-9)


@pytest.mark.parametrize(("noise", "scale"), [(Gaussian(0.7), 0.7), (Bernoulli(), 0.5), (Bounded(-2.0, 3.0), 2.5)])
def test_switch_takes_a_negative_level_for_the_subgaussian_bound(noise: Noise, scale: float) -> None:
    family = noise.family()
    assert family.switch(0.6, 4.0, -8.0, family.parameters) == pytest.approx(0.6 + scale * 2.0)  # unclipped
    for level in (0.0, 0.5, 8.0):
        assert family.switch(0.6, 4.0, level, family.parameters) == bound(noise, 0.6, 4.0, level)


@pytest.mark.parametrize("noise", [Gaussian(0.7), Poisson(), Exponential()], ids=str)
def test_switch_has_no_other_bound_to_switch_to(noise: Noise) -> None:
    family = noise.family()
    assert family.switch(0.6, 4.0, -8.0, family.parameters) == bound(noise, 0.6, 4.0, 8.0)
