"""Gaps, effective arms and bounds: hand-computed numbers, a literal reading, and what the paper says of them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocucb.errors import ParameterError
from ocucb.noise import NOISES, Bernoulli, Exponential, Gaussian, Noise, Poisson
from ocucb.theory import (
    asymptotic_slope,
    effective_arms,
    finite_time_sum,
    gaps,
    klucb_plus_bernoulli_sum,
    klucb_plus_sum,
    lai_robbins_slope,
    lower_bound,
    lower_bound_alternative,
    lower_bound_condition,
    worst_case_rate,
)

MIXED = (0.0,) + (-0.1,) * 3 + (-0.5,) * 3 + (-1.0,) * 3

# Whole numbers of thousandths: gaps are either equal or well apart, as for a person who types them.
MEANS = st.lists(st.integers(-5000, 5000).map(lambda k: k / 1000), min_size=2, max_size=12)
RHO = st.floats(0.0, 1.0)


def literal(means: list[float], rho: float) -> list[float]:
    """k_{i,ρ} as printed, with Δ_i/0 read as infinite and 0/0 as 1."""
    gap = [max(means) - mean for mean in means]

    def share(i: float, j: float) -> float:
        return 1.0 if j <= i else (i / j) ** (2.0 * rho)

    return [sum(share(i, j) for j in gap) for i in gap]


def test_gaps() -> None:
    np.testing.assert_array_equal(gaps((1.0, 3.0, 2.5)), [2.0, 0.0, 0.5])


@pytest.mark.parametrize("bad", [[], [[0.0, 1.0]], [0.0, math.nan], [0.0, math.inf], 1.0])
def test_bad_means_are_refused(bad: npt.ArrayLike) -> None:
    with pytest.raises(ParameterError, match="means must be a list of finite numbers"):
        gaps(bad)


def test_effective_arms_by_hand() -> None:
    # Gaps 0, 0.1 x3, 0.5 x3, 1 x3. At ρ = 1/2 the terms are ratios of gaps, at ρ = 1 their squares.
    half = effective_arms(MIXED, 0.5)
    assert half[0] == 1.0
    assert half[1] == pytest.approx(4 + 3 * 0.2 + 3 * 0.1)
    assert half[4] == pytest.approx(7 + 3 * 0.5)
    assert half[7] == pytest.approx(10)
    whole = effective_arms(MIXED, 1.0)
    assert whole[1] == pytest.approx(4 + 3 * 0.04 + 3 * 0.01)
    assert whole[4] == pytest.approx(7 + 3 * 0.25)


def test_effective_arms_of_several_best_arms() -> None:
    np.testing.assert_allclose(effective_arms([1.0, 1.0, 0.5, 0.0], 0.5), [2.0, 2.0, 3.5, 4.0])


def test_effective_arms_do_not_overflow() -> None:
    np.testing.assert_allclose(effective_arms([0.0, -1e-200, -1.0], 1.0), [1.0, 2.0, 3.0])


@given(MEANS, RHO)
def test_effective_arms_are_those_of_the_paper(means: list[float], rho: float) -> None:
    np.testing.assert_allclose(effective_arms(means, rho), literal(means, rho), rtol=1e-12)


@given(MEANS, RHO, RHO)
def test_effective_arms_lie_in_range_and_fall_with_rho(means: list[float], one: float, other: float) -> None:
    below = gaps(means) > 0.0
    many, few = effective_arms(means, min(one, other))[below], effective_arms(means, max(one, other))[below]
    assert (few >= 1.0).all()
    assert (many <= len(means)).all()
    assert (few <= many * (1 + 1e-12)).all()


@given(st.integers(2, 30), st.floats(1e-6, 10.0), RHO)
def test_equal_gaps_make_all_arms_effective(arms: int, gap: float, rho: float) -> None:
    assert (effective_arms([0.0] + [-gap] * (arms - 1), rho)[1:] == arms).all()


@given(MEANS)
def test_rho_zero_counts_every_arm(means: list[float]) -> None:
    np.testing.assert_array_equal(effective_arms(means, 0.0), np.full(len(means), len(means)))


@pytest.mark.parametrize("rho", [-0.1, 1.1, math.nan])
def test_rho_out_of_range_is_refused(rho: float) -> None:
    with pytest.raises(ParameterError, match="rho must be"):
        effective_arms(MIXED, rho)


def test_finite_time_sum_by_hand() -> None:
    # Two arms, gap 1/2, k = 2: 1/2 + 2 log max{1000/4 log(1000)/2, log(1000)} = 1/2 + 2 log(863.469...)
    assert float(finite_time_sum([0.0, -0.5], 1000)) == pytest.approx(0.5 + 2 * math.log(125 * math.log(1000)))
    # A gap so small that the second part of the maximum rules: nΔ² = 0.1 < k.
    assert float(finite_time_sum([0.0, -0.01], 1000)) == pytest.approx(0.01 + 100 * math.log(math.log(1000)))
    # Three kinds of arms, k = 4.9, 8.5 and 10 as above.
    log = math.log(1e4)
    expected = sum(
        3 * (gap + math.log(1e4 * gap**2 * log / k) / gap) for gap, k in ((0.1, 4.9), (0.5, 8.5), (1.0, 10.0))
    )
    assert float(finite_time_sum(MIXED, 10_000, 0.5)) == pytest.approx(expected)


def test_bounds_take_many_horizons_at_once() -> None:
    n = np.array([[10, 100], [1000, 10_000]])
    for function in (finite_time_sum, klucb_plus_sum, lower_bound):
        together = function(MIXED, n)
        assert together.shape == n.shape
        one_by_one = [[float(function(MIXED, k)) for k in row] for row in n.tolist()]
        np.testing.assert_array_equal(together, one_by_one)
    assert lower_bound_condition(MIXED, n).shape == n.shape


@pytest.mark.parametrize("n", [1, 0, [10, 1], math.nan, math.inf])
def test_horizons_below_two_are_refused(n: float) -> None:
    for function in (finite_time_sum, lower_bound, lower_bound_condition):
        with pytest.raises(ParameterError, match="n must be 2 rounds or more"):
            function(MIXED, n)


def test_theorem_one_as_printed_is_negative_at_two_rounds() -> None:
    # log max{2 Δ² log(2)/2, log(2)} = log(log(2)) < 0, so 0.1 + 10 log log 2 can bound no regret.
    assert float(finite_time_sum([0.0, -0.1], 2)) == pytest.approx(0.1 + 10 * math.log(math.log(2)))
    assert float(finite_time_sum([0.0, -0.1], 2)) < 0.0
    assert float(finite_time_sum([0.0, -0.1], 2, corrected=True)) == pytest.approx(0.1 + 10)


@given(MEANS, st.integers(1, 10**9), RHO)
def test_corrected_theorem_one_has_e_in_its_maximum(means: list[float], n: int, rho: float) -> None:
    k = literal(means, rho)
    expected = sum(
        gap + math.log(max(n * gap**2 * math.log(n) / k[i], math.log(n), math.e)) / gap
        for i, gap in enumerate(max(means) - mean for mean in means)
        if gap > 0.0
    )
    assert float(finite_time_sum(means, n, rho, corrected=True)) == pytest.approx(expected, rel=1e-12)


@given(MEANS, st.integers(16, 10**9))
def test_correction_changes_nothing_once_log_n_passes_e(means: list[float], n: int) -> None:
    assert finite_time_sum(means, n) == finite_time_sum(means, n, corrected=True)


def test_klucb_plus_sum_by_hand() -> None:
    log = math.log(1e4)
    expected = sum(3 * (gap + (log + 2 * math.log(gap)) / gap) for gap in (0.1, 0.5, 1.0))
    assert float(klucb_plus_sum(MIXED, 1e4)) == pytest.approx(expected)
    # As printed the sum is negative for nΔ² = 0.25, and log max{0.25, e} = 1 when corrected.
    assert float(klucb_plus_sum([0.0, -0.05], 100)) == pytest.approx(0.05 + 20 * math.log(0.25))
    assert float(klucb_plus_sum([0.0, -0.05], 100, corrected=True)) == pytest.approx(20.05)


@given(MEANS, st.integers(1, 10**9))
def test_klucb_plus_sum_is_that_of_the_paper(means: list[float], n: int) -> None:
    gap = [max(means) - mean for mean in means if mean < max(means)]
    printed = math.fsum(g + math.log(n * g * g) / g for g in gap)
    corrected = math.fsum(g + max(1.0, math.log(n * g * g)) / g for g in gap)
    scale = math.fsum(g + abs(math.log(n * g * g)) / g for g in gap)
    assert float(klucb_plus_sum(means, n)) == pytest.approx(printed, abs=1e-12 * scale)
    assert float(klucb_plus_sum(means, n, corrected=True)) == pytest.approx(corrected, rel=1e-12)


def binary(p: float, q: float) -> float:
    """d(p, q) as printed in the commented block, for 0 < p, q < 1."""
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


@given(st.lists(st.integers(1, 99).map(lambda k: k / 100), min_size=2, max_size=10), st.integers(1, 10**9))
def test_klucb_plus_bernoulli_sum_is_that_of_the_paper(means: list[float], n: int) -> None:
    best = max(means)
    pairs = [(best - mean, binary(mean, best)) for mean in means if mean < best]
    printed = math.fsum(gap + gap / d * math.log(n * d) for gap, d in pairs)
    corrected = math.fsum(gap + gap / d * max(1.0, math.log(n * d)) for gap, d in pairs)
    scale = math.fsum(gap + gap / d * (1.0 + abs(math.log(n * d))) for gap, d in pairs)
    # d by its printed formula loses digits where p is near q: hence the room.
    assert float(klucb_plus_bernoulli_sum(means, n)) == pytest.approx(printed, abs=1e-10 * scale)
    assert float(klucb_plus_bernoulli_sum(means, n, corrected=True)) == pytest.approx(corrected, rel=1e-10)


def test_klucb_plus_bernoulli_sum_at_the_ends() -> None:
    # The best arm never fails: one failure tells the other apart, and only its gap is left.
    assert float(klucb_plus_bernoulli_sum([1.0, 0.5, 1.0], 100)) == 0.5
    # d(0, q) = -log(1 - q)
    d = -math.log(0.5)
    assert float(klucb_plus_bernoulli_sum([0.5, 0.0], 100)) == pytest.approx(0.5 + 0.5 / d * math.log(100 * d))
    assert float(klucb_plus_bernoulli_sum([0.3, 0.3], 100)) == 0.0


@pytest.mark.parametrize("bad", [[0.5, 1.5], [-0.1, 0.5]])
def test_bernoulli_means_are_probabilities(bad: list[float]) -> None:
    with pytest.raises(ParameterError, match="means must be between 0 and 1"):
        klucb_plus_bernoulli_sum(bad, 100)


@pytest.mark.parametrize("n", [0, [10, 0], math.nan, math.inf])
def test_klucb_plus_sums_need_a_round(n: float) -> None:
    for function in (klucb_plus_sum, klucb_plus_bernoulli_sum):
        with pytest.raises(ParameterError, match="n must be 1 round or more"):
            function([0.5, 0.25], n)


def test_gaps_too_small_to_square_do_no_harm() -> None:
    tiny = [0.0, -1e-200]
    assert float(klucb_plus_sum(tiny, 100)) == -math.inf
    assert float(klucb_plus_sum(tiny, 100, corrected=True)) == pytest.approx(1e200)


def test_asymptotic_slope_by_hand() -> None:
    assert asymptotic_slope(MIXED, 1.1) == pytest.approx(2.2 * (30 + 6 + 3))


def test_lai_robbins_slope_by_hand() -> None:
    assert lai_robbins_slope(MIXED, Gaussian()) == pytest.approx(2 * (30 + 6 + 3))
    assert lai_robbins_slope(MIXED, Gaussian(scale=0.5)) == pytest.approx(0.5 * (30 + 6 + 3))
    # d(0.25, 0.5) = 0.25 log(1/2) + 0.75 log(3/2)
    bernoulli = 0.25 / (0.25 * math.log(0.5) + 0.75 * math.log(1.5))
    assert lai_robbins_slope([0.5, 0.25], Bernoulli()) == pytest.approx(bernoulli)
    # Poisson: q - p + p log(p/q); exponential: p/q - 1 - log(p/q)
    assert lai_robbins_slope([2.0, 1.0], Poisson()) == pytest.approx(1 / (1 - math.log(2)))
    assert lai_robbins_slope([2.0, 1.0], Exponential()) == pytest.approx(1 / (math.log(2) - 0.5))


def test_an_arm_told_apart_at_once_adds_no_slope() -> None:
    assert lai_robbins_slope([1.0, 0.5], Bernoulli()) == 0.0


@pytest.mark.parametrize("noise", [family() for family in NOISES.values()], ids=list(NOISES))
def test_lai_robbins_slope_is_finite_for_every_family(noise: Noise) -> None:
    assert 0.0 < lai_robbins_slope([0.75, 0.5, 0.75, 0.25], noise) < math.inf


@given(MEANS, st.floats(1.01, 3.0))
def test_theorem_one_is_lai_robbins_times_eta(means: list[float], eta: float) -> None:
    assert asymptotic_slope(means, eta) == pytest.approx(eta * lai_robbins_slope(means, Gaussian()))


def test_finite_time_sum_grows_like_half_the_lai_robbins_slope() -> None:
    # Differences of the sum over log n: log log n drops out slowly, so the exponents are huge.
    low, high = finite_time_sum(MIXED, [1e100, 1e200])
    slope = (high - low) / math.log(1e100)
    assert slope == pytest.approx(0.5 * lai_robbins_slope(MIXED, Gaussian()), rel=0.005)


def test_worst_case_rate() -> None:
    np.testing.assert_array_equal(worst_case_rate(4, [25, 100]), [10.0, 20.0])


def test_worst_case_gap_is_within_log_log_of_the_rate() -> None:
    """All gaps √(K/n): the sum is O(√(Kn log log n)), as the text after Theorem 1 says of the worst case."""
    for arms, n in ((10, 10_000), (100, 1_000_000), (10, 10**12)):
        means = [0.0] + [-math.sqrt(arms / n)] * (arms - 1)
        ratio = float(finite_time_sum(means, n)) / (float(worst_case_rate(arms, n)) * math.log(math.log(n)))
        assert 0.5 < ratio < 1.5


def test_lower_bound_by_hand() -> None:
    # One gap of 1/2, k = 2.
    inside = 1000 * 0.25 / (2 * math.log(1000))
    assert float(lower_bound([0.0, -0.5], 1000)) == pytest.approx(0.5 * math.log(inside))
    expected = sum(
        0.25 * 3 / gap * math.log(1e5 * gap**2 / (k * math.log(1e5)))
        for gap, k in ((0.1, 4.9), (0.5, 8.5), (1.0, 10.0))
    )
    assert float(lower_bound(MIXED, 1e5)) == pytest.approx(expected)


def test_lower_bound_condition_by_hand() -> None:
    # mixed_gaps: n/100 >= 4.9 log(n) first holds between n = 4070 and 4075.
    np.testing.assert_array_equal(lower_bound_condition(MIXED, [1000, 4070, 4075, 10**6]), [False, False, True, True])
    # Means cannot lie in [0, 1] when a gap exceeds 1.
    assert not lower_bound_condition([0.0, -1.5], 10**6)
    assert lower_bound_condition([10.0, 9.5], 10**6)


@given(MEANS, st.integers(10, 10**9))
def test_lower_bound_is_not_negative_where_it_holds(means: list[float], n: int) -> None:
    if lower_bound_condition(means, n):
        assert lower_bound(means, n) >= 0.0


def test_lower_bound_stays_below_the_upper_sum() -> None:
    n = np.geomspace(5000, 1e12, 50)
    assert (lower_bound(MIXED, n) < finite_time_sum(MIXED, n, 0.5)).all()


def test_alternative_by_hand() -> None:
    other = lower_bound_alternative([0.5, 0.25, 0.0], 1, 1000)
    np.testing.assert_array_equal(other.means, [0.5, 0.75, 0.0])
    # New gaps 1/4, 0, 3/4, so k' = 2 + 1/3 and 3.
    log = math.log(1000)
    expected = 0.5 * (4 * math.log(1000 / 16 / (7 / 3 * log)) + 4 / 3 * math.log(1000 * 9 / 16 / (3 * log)))
    assert float(other.bound) == pytest.approx(expected)


def test_alternative_leaves_its_input_alone() -> None:
    means = np.array([0.5, 0.25])
    lower_bound_alternative(means, 1, 100)
    np.testing.assert_array_equal(means, [0.5, 0.25])


@pytest.mark.parametrize("arm", [0, 2, 3, -1])
def test_alternative_needs_a_suboptimal_arm(arm: int) -> None:
    with pytest.raises(ParameterError, match="arm must be"):
        lower_bound_alternative([0.5, 0.25, 0.5], arm, 100)
