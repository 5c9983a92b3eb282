"""Divergences against 50 digits of arithmetic, at the edges, and where the two means almost agree."""

from __future__ import annotations

import importlib
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocucb.noise import Bernoulli, Bounded, Exponential, Gaussian, Noise, Poisson

# mpmath publishes no types; a module fetched by name is typed as Any without an ignore.
mp: Any = importlib.import_module("mpmath")

FAMILIES: list[Noise] = [Gaussian(0.7), Bernoulli(), Bounded(-2.0, 3.0), Poisson(), Exponential()]
INF = math.inf


def exact(noise: Noise, p: float, q: float) -> float:
    """Return d(p, q) from its textbook formula, with digits to spare."""
    with mp.workdps(60):
        low, high = noise.support()
        a, b = mp.mpf(p), mp.mpf(q)
        if isinstance(noise, Gaussian):
            return float((b - a) ** 2 / (2 * mp.mpf(noise.scale) ** 2))
        if isinstance(noise, Poisson):
            return float(b - a + a * mp.log(a / b))
        if isinstance(noise, Exponential):
            return float(a / b - 1 - mp.log(a / b))
        a, b = (a - low) / (mp.mpf(high) - low), (b - low) / (mp.mpf(high) - low)
        return float(a * mp.log(a / b) + (1 - a) * mp.log((1 - a) / (1 - b)))


def inside(noise: Noise, fraction: float) -> float:
    """Return a mean of the family: somewhere in a bounded range, or in (0, 10)."""
    low, high = noise.support()
    return low + (high - low) * fraction if high - low < 10.0 else 10.0 * fraction


@pytest.mark.parametrize("noise", FAMILIES, ids=str)
@settings(deadline=None, max_examples=150)
@given(a=st.floats(1e-6, 1.0 - 1e-6), b=st.floats(1e-6, 1.0 - 1e-6))
def test_matches_the_textbook_formula(noise: Noise, a: float, b: float) -> None:
    p, q = inside(noise, a), inside(noise, b)
    assert noise.divergence(p, q) == pytest.approx(exact(noise, p, q) if p != q else 0.0, rel=1e-12, abs=0.0)


@pytest.mark.parametrize("noise", FAMILIES, ids=str)
@pytest.mark.parametrize("distance", [1e-3, 1e-6, 1e-9, 1e-12, -1e-9, -1e-4])
@pytest.mark.parametrize("fraction", [1e-3, 0.2, 0.5, 0.9])
def test_keeps_its_digits_where_the_means_almost_agree(noise: Noise, distance: float, fraction: float) -> None:
    p = inside(noise, fraction)
    q = p + distance * max(1.0, abs(p))
    assert noise.divergence(p, q) == pytest.approx(exact(noise, p, q), rel=1e-12, abs=0.0)


def test_plain_logarithms_would_not_keep_them() -> None:
    p, q = 0.3, 0.3 + 1e-9
    plain = p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    assert abs(plain / exact(Bernoulli(), p, q) - 1.0) > 1e-3


@pytest.mark.parametrize(
    ("noise", "p", "q", "expected"),
    [
        (Gaussian(), 3.0, 3.0, 0.0),
        (Gaussian(2.0), -1.0, 3.0, 2.0),
        (Bernoulli(), 0.0, 0.0, 0.0),
        (Bernoulli(), 1.0, 1.0, 0.0),
        (Bernoulli(), 0.3, 0.3, 0.0),
        (Bernoulli(), 0.0, 0.25, -math.log(0.75)),
        (Bernoulli(), 1.0, 0.25, math.log(4.0)),
        (Bernoulli(), 0.0, 1.0, INF),
        (Bernoulli(), 1.0, 0.0, INF),
        (Bernoulli(), 0.5, 0.0, INF),
        (Bernoulli(), 0.5, 1.0, INF),
        (Bernoulli(), 0.5, 1.5, INF),
        (Bernoulli(), 0.5, -0.5, INF),
        (Bernoulli(), 5e-324, 0.25, -math.log(0.75)),
        (Bounded(2.0, 6.0), 2.0, 3.0, -math.log(0.75)),
        (Bounded(2.0, 6.0), 6.0, 3.0, math.log(4.0)),
        (Bounded(2.0, 6.0), 4.0, 2.0, INF),
        (Bounded(2.0, 6.0), 4.0, 6.0, INF),
        (Bounded(2.0, 6.0), 4.0, 7.0, INF),
        (Bounded(2.0, 6.0), 5.0, 5.0, 0.0),
        (Poisson(), 0.0, 0.0, 0.0),
        (Poisson(), 0.0, 2.5, 2.5),
        (Poisson(), 5e-324, 2.5, 2.5),
        (Poisson(), 2.5, 0.0, INF),
        (Poisson(), 2.5, -1.0, INF),
        (Poisson(), 7.0, 7.0, 0.0),
        (Exponential(), 0.0, 0.0, 0.0),
        (Exponential(), 0.0, 1.0, INF),
        (Exponential(), 1.0, 0.0, INF),
        (Exponential(), 1e300, 1e-300, INF),
        (Exponential(), 4.0, 4.0, 0.0),
    ],
)
def test_edges(noise: Noise, p: float, q: float, expected: float) -> None:
    assert noise.divergence(p, q) == pytest.approx(expected, rel=1e-14, abs=0.0)


@pytest.mark.parametrize("noise", FAMILIES[1:], ids=str)
@settings(deadline=None, max_examples=200)
@given(p=st.floats(0.0, 1.0), q=st.floats(0.0, 1.0))
def test_never_negative_and_never_nan(noise: Noise, p: float, q: float) -> None:
    assert noise.divergence(p, q) >= 0.0
    assert noise.divergence(p, p) == 0.0
