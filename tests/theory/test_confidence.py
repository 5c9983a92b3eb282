"""Lemma conc2: its objects by their definitions, its bounds from both sides, and the errata of its proof."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocucb.errors import ParameterError
from ocucb.theory.confidence import (
    alpha_constant,
    alpha_mean_bound,
    alpha_mean_floor,
    alpha_tail_bound,
    alpha_tail_floor,
    beta_mean_floor,
    confidence_alpha,
    confidence_beta,
    confidence_counts,
    confidence_scale,
    confidence_sum,
)

integrate: Any = importlib.import_module("scipy.integrate")
special: Any = importlib.import_module("scipy.special")

INF = math.inf
CAPS = st.lists(st.one_of(st.just(INF), st.floats(0.0, 6.0).map(lambda power: 10.0**power)), min_size=1, max_size=5)
MEANS = st.lists(st.floats(-6.0, 6.0), min_size=1, max_size=8)
GAP, ETA, RHO = st.floats(0.01, 3.0), st.floats(1.05, 4.0), st.floats(0.0, 1.0)


def count(s: int, rho: float, caps: list[float]) -> float:
    """D(s) as printed."""
    return sum(min(float(s), float(1.0 if rho == 0.0 else cap**rho) * float(s ** (1.0 - rho))) for cap in caps)


def trusted(alpha: float, means: list[float], gap: float, eta: float, rho: float, caps: list[float]) -> bool:
    """Say whether the condition in the definition of α holds."""
    return all(
        mean + math.sqrt(2.0 * eta / s * math.log(max(1.0, alpha / count(s, rho, caps)))) >= -gap
        for s, mean in enumerate(means, 1)
    )


@given(st.integers(1, 10**6), RHO, CAPS)
def test_counts_are_those_of_the_definition(s: int, rho: float, caps: list[float]) -> None:
    assert float(confidence_counts(s, rho, caps)) == pytest.approx(count(s, rho, caps))


@given(MEANS, GAP, ETA, RHO, CAPS)
def test_alpha_is_the_infimum(means: list[float], gap: float, eta: float, rho: float, caps: list[float]) -> None:
    alpha = float(confidence_alpha(means, gap, eta, rho, caps))
    assert trusted(alpha * (1 + 1e-9), means, gap, eta, rho, caps) or alpha == INF
    if alpha > 0.0:
        assert alpha >= len(caps) * (1 - 1e-12)
    # Where no logarithm is positive, rounding alone may decide.
    if alpha > 1.001 * max(count(s, rho, caps) for s in range(1, len(means) + 1)):
        assert not trusted(alpha * (1 - 1e-6), means, gap, eta, rho, caps)


def test_alpha_by_hand() -> None:
    # Only s = 2 is short of -1, by 2: D(2) exp(2 · 4/4).
    assert float(confidence_alpha([-0.5, -3.0, 0.0], 1.0, 2.0, 1.0, [INF])) == pytest.approx(2 * math.exp(2))
    assert float(confidence_alpha([-1.0, 5.0], 1.0, 2.0, 1.0, [INF])) == 0.0  # not below -Δ
    # Several sequences at once, and one that starts later.
    both = confidence_alpha([[-3.0, 0.0], [0.0, -3.0]], 1.0, 2.0, 1.0, [INF])
    np.testing.assert_allclose(both, [math.e, 2 * math.exp(2)])
    assert float(confidence_alpha([-3.0], 1.0, 2.0, 1.0, [INF], start=2)) == both[1]


@given(MEANS, GAP, RHO, CAPS, ETA, ETA)
def test_alpha_falls_with_eta(
    means: list[float], gap: float, rho: float, caps: list[float], one: float, two: float
) -> None:
    few, many = (confidence_alpha(means, gap, eta, rho, caps) for eta in (max(one, two), min(one, two)))
    assert few <= many * (1 + 1e-12)


@given(st.floats(1e-6, 1e300))
def test_beta_solves_its_equation(alpha: float) -> None:
    beta = float(confidence_beta(alpha))
    assert beta > 1.0
    assert beta * math.log(beta) == pytest.approx(alpha, rel=1e-9)


def test_beta_at_the_ends() -> None:
    np.testing.assert_array_equal(confidence_beta([0.0, INF]), [0.0, INF])
    assert float(confidence_beta(1.0)) == pytest.approx(1.763223)  # so β ≤ 1.7633 α for α ≥ 1


def test_scale_by_hand() -> None:
    # λΔ² = 1/100: min{100, 100^-ρ 100 log 100}; and without a cap 1/Δ²
    assert confidence_scale(0.1, 1.0, [1.0]) == pytest.approx(math.log(100))
    assert confidence_scale(0.1, 0.5, [1.0]) == pytest.approx(10 * math.log(100))
    assert confidence_scale(0.1, 0.0, [1.0]) == pytest.approx(100)
    assert confidence_scale(0.1, 0.5, [INF, 1.0]) == pytest.approx(100 + 10 * math.log(100))
    assert confidence_scale(2.0, 0.5, [1.0]) == pytest.approx(0.25)


def test_sum_by_hand() -> None:
    assert confidence_sum(0.1, [1.0, 49.0, 1e4, INF]) == pytest.approx(1 + 7 + 10 + 10)


@pytest.mark.parametrize("gap", [1.0, 0.3])
@pytest.mark.parametrize("eta", [1.1, 2.0])
@pytest.mark.parametrize("s", [1, 7])
def test_floors_by_quadrature(gap: float, eta: float, s: int) -> None:
    caps, rho = [4.0, INF], 0.5
    counts, shifted = count(s, rho, caps), gap * math.sqrt(s)

    def density(z: float) -> float:
        return math.exp(-0.5 * z * z + (z - shifted) ** 2 / (2 * eta)) / math.sqrt(2 * math.pi)

    value, _ = integrate.quad(density, shifted, shifted + 80.0, limit=500)
    assert alpha_mean_floor(gap, eta, rho, caps, s) == pytest.approx(counts * value, rel=1e-6)
    below = float(special.ndtr(-shifted))
    assert beta_mean_floor(gap, rho, caps, s) == pytest.approx(below * float(confidence_beta(counts)))
    # P(α_s ≥ D(s) e^2): s alone asks for that where its mean is √(4η/s) below -Δ.
    expected = float(special.ndtr(-shifted - math.sqrt(4.0 * eta)))
    assert float(alpha_tail_floor(counts * math.exp(2.0), gap, eta, rho, caps, s)) == pytest.approx(expected)


def test_floors_take_the_best_number_of_samples() -> None:
    each = [alpha_mean_floor(0.3, 1.5, 0.5, [1.0], s) for s in range(1, 40)]
    assert alpha_mean_floor(0.3, 1.5, 0.5, [1.0], np.arange(1, 40)) == max(each)
    assert alpha_tail_floor([3.0, 30.0], 0.3, 1.5, 0.5, [1.0], np.arange(1, 40)).shape == (2,)


@given(GAP, ETA, RHO, CAPS)
def test_floors_stay_below_bounds(gap: float, eta: float, rho: float, caps: list[float]) -> None:
    s = np.unique(np.geomspace(1, 2 + 10 / gap**2, 30).astype(int))
    assert alpha_mean_floor(gap, eta, rho, caps, s) <= alpha_mean_bound(gap, eta, rho, caps)
    level = len(caps) * np.array([1.0, 10.0, 1e3, 1e6])
    assert (alpha_tail_floor(level, gap, eta, rho, caps, s) <= alpha_tail_bound(level, gap, eta, rho, caps)).all()


def test_the_mean_bound_is_the_sum_over_blocks() -> None:
    gap, eta, rho, caps = 0.3, 1.5, 0.5, [9.0, INF]
    for start, base in ((1.0, 1.25), (50.0, 1.1)):
        terms = [
            float(confidence_counts(start * base ** (k + 1), rho, caps))
            * math.exp(-(gap**2) * start * base ** (k - 1) / 2)
            for k in range(100)
        ]
        bound = alpha_mean_bound(gap, eta, rho, caps, start, base)
        assert bound == pytest.approx(eta / (eta - base) * math.fsum(terms), rel=1e-9)
    assert alpha_mean_bound(gap, eta, rho, caps) == alpha_mean_bound(gap, eta, rho, caps, base=1.25)
    assert alpha_mean_bound(gap, 7.0, rho, caps) == alpha_mean_bound(gap, 2.0, rho, caps)


def test_simulated_alphas_respect_the_bounds() -> None:
    """20,000 Gaussian walks: P(α ≥ y) lies between its bounds by four standard errors (false alarm below 1e-3)."""
    gap, eta, rho, caps = 0.5, 1.5, 0.5, [1.0]
    walk = np.cumsum(np.random.default_rng(7).normal(size=(20_000, 200)), axis=1) / np.arange(1, 201)
    alphas = confidence_alpha(walk, gap, eta, rho, caps)
    for level in (1.0, 3.0, 10.0, 100.0):
        share = float((alphas >= level).mean())
        error = 4 * math.sqrt(max(share, 1e-4) / alphas.size)
        assert share - error <= float(alpha_tail_bound(level, gap, eta, rho, caps))
        assert share + error >= float(alpha_tail_floor(level, gap, eta, rho, caps, np.arange(1, 200)))


def test_erratum_the_union_bound_has_another_minimum() -> None:
    """The display after it prints min{s^ρ, λ_i s^(1-ρ)}: with λ = ∞ that is s^ρ, not s."""
    s, rho = 16, 0.5
    assert min(float(s) ** rho, INF) == 4.0
    assert float(confidence_counts(s, rho, [INF])) == 16.0


def test_erratum_the_integral_for_alpha_lacks_its_scale() -> None:
    """E[α] = Λ ∫ P(α ≥ xΛ) dx: for α = 3 for sure and Λ = 2 the integral is 3/2."""
    x = np.linspace(0.0, 10.0, 1_000_001)
    integral = float(np.mean(2.0 * x <= 3.0)) * 10.0
    assert integral == pytest.approx(1.5, rel=1e-4)
    assert 2.0 * integral == pytest.approx(3.0, rel=1e-4)


def test_erratum_beta_exceeds_x_where_alpha_exceeds_x_log_x() -> None:
    """Printed is P(α ≥ (x/Λ) log x), which is another event and gives Λ² where the next line has Λ."""
    scale = 5.0
    x = np.array([1.5, 3.0, 10.0, 100.0])
    for alpha in (2.0, 20.0, 300.0):
        np.testing.assert_array_equal(confidence_beta(alpha) >= x, alpha >= x * np.log(x))
    assert ((confidence_beta(20.0) >= x) != (x / scale * np.log(x) <= 20.0)).any()


def test_erratum_the_last_step_of_b() -> None:
    """At ρ = 1/2, λ = 1 Λ is below Δ^-2, so W(Λ) cannot be replaced by W(Δ^-2); but 2√λ is right."""
    gap = 0.01
    log = math.log(gap**-2)
    left = log / float(special.lambertw(confidence_scale(gap, 0.5, [1.0])).real)
    assert left > 1.77 > 1.28 > log / float(special.lambertw(gap**-2).real)
    x = np.geomspace(1.001, 1e300, 5000)
    assert (special.lambertw(np.sqrt(x) * np.log(x)).real > np.log(x) / 2).all()


def test_erratum_constants_that_vanish_for_large_eta() -> None:
    """α ≥ d whenever the first sample is below -Δ, for every η: E[α] ≥ P(X_1 < -1) = 0.158..., E[β] too."""
    for eta in (10.0, 1e3, 1e6):
        assert alpha_mean_floor(1.0, eta, 1.0, [1.0], 1) > 0.158
    assert beta_mean_floor(1.0, 1.0, [1.0], 1) > 0.158


@given(GAP, ETA, st.floats(0.5, 1.0), CAPS)
def test_one_constant_serves_every_rho_from_one_half_on(gap: float, eta: float, rho: float, caps: list[float]) -> None:
    assert gap * alpha_mean_bound(gap, eta, rho, caps) <= alpha_constant(eta) * confidence_sum(gap, caps)


def test_part_a_needs_no_factor_in_rho() -> None:
    """a^(ρ-1/2) min{log(1/a), 1/(1-ρ)} ≤ 2, where the paper's a^(ρ-1/2) log(1/a) reaches 2/(e(2ρ-1))."""
    a = np.geomspace(1e-300, 1.0, 20_000)
    for rho in (0.5, 0.501, 0.6, 0.7, 0.75, 0.9, 0.999):
        assert (a ** (rho - 0.5) * np.minimum(-np.log(a), 1.0 / (1.0 - rho))).max() <= 2.0
    assert (a**0.005 * -np.log(a)).max() == pytest.approx(2.0 / (math.e * 0.01), rel=1e-3)
    gaps = np.geomspace(1e-10, 1.0, 21).tolist()
    for rho in (0.5, 0.501, 0.55):
        assert max(gap * alpha_mean_bound(gap, 2.0, rho, [1.0]) for gap in gaps) < 50.0


@pytest.mark.parametrize("caps", [[], [0.5], [math.nan], 1.0, [[1.0]]])
def test_bad_caps_are_refused(caps: Any) -> None:
    with pytest.raises(ParameterError, match="caps must be a list of numbers of 1 or more"):
        confidence_counts(1, 0.5, caps)


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(ParameterError, match="gap must be greater than 0"):
        confidence_sum(0.0, [1.0])
    with pytest.raises(ParameterError, match="rho must be between 0 and 1"):
        confidence_scale(0.1, 1.5, [1.0])
    with pytest.raises(ParameterError, match="eta must be greater than 1"):
        alpha_mean_bound(0.1, 1.0, 0.5, [1.0])
    with pytest.raises(ParameterError, match="base must be below eta"):
        alpha_mean_bound(0.1, 1.5, 0.5, [1.0], base=1.5)
    with pytest.raises(ParameterError, match="start must be 1 or more"):
        alpha_mean_bound(0.1, 1.5, 0.5, [1.0], start=0.5)
    with pytest.raises(ParameterError, match="alpha must be 0 or more"):
        confidence_beta([1.0, -1.0])


@pytest.mark.parametrize("means", [[], 1.0, [0.0, math.nan]])
def test_bad_means_are_refused(means: Any) -> None:
    with pytest.raises(ParameterError, match="means must be one number or more"):
        confidence_alpha(means, 0.1, 1.5, 0.5, [1.0])
