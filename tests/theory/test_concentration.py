"""The concentration section: literal readings, exact small cases, and the places where a printed step is wrong."""

from __future__ import annotations

import importlib
import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocucb.errors import ParameterError
from ocucb.theory.concentration import (
    crossing_bound,
    iterated_logarithm_boundary,
    log_line_survival,
    log_survival_ceiling,
    log_survival_floor,
    log_survival_floor_printed,
    maximal_bound,
    sharp_tail_bound,
    sharp_tail_moment,
    tail_bound,
    tail_moment,
    tail_start,
)

# They publish no types.
mpmath: Any = importlib.import_module("mpmath")
special: Any = importlib.import_module("scipy.special")

ETA = st.floats(1.01, 30.0)


def test_maximal_bound_by_hand() -> None:
    np.testing.assert_allclose(maximal_bound([1.0, 2.0], 4.0), [math.exp(-1 / 8), math.exp(-1 / 2)])


@given(st.integers(1, 10), st.data())
def test_maximal_bound_holds_for_every_coin_walk(n: int, data: st.DataObject) -> None:
    level = data.draw(st.integers(1, n))
    walks = np.cumsum(list(itertools.product((-1, 1), repeat=n)), axis=1)
    assert np.mean(walks.max(axis=1) >= level) <= float(maximal_bound(level, n))


def test_boundary_by_hand() -> None:
    # log log n exceeds 1 from n = e^e = 15.15 on.
    expected = [math.sqrt(3.0), math.sqrt(3.0 * 15), math.sqrt(3.0 * 16 * math.log(math.log(16)))]
    np.testing.assert_allclose(iterated_logarithm_boundary([1, 15, 16], 1.5), expected)


def chord_product(eta: float, n: float, width: float) -> float:
    """The product over blocks that start before n, each crossed with probability exp(-2ab) for the chord a + bt."""
    total, k = 0.0, 0
    while math.exp(k * width) <= n:
        u, v = math.exp(k * width), math.exp((k + 1) * width)
        root = math.sqrt(2.0 * eta * math.log(max(math.e, k * width)))
        b = root * (math.sqrt(v) - math.sqrt(u)) / (v - u)
        total += math.log1p(-math.exp(-2.0 * b * (root * math.sqrt(u) - b * u)))
        k += 1
    return total


@pytest.mark.parametrize("eta", [1.01, 1.3, 2.0, 5.0])
def test_lines_under_the_boundary_by_hand(eta: float) -> None:
    widths = [4.0 * math.acosh(math.sqrt(eta / power)) for power in 1.0 + (eta - 1.0) * np.linspace(0.1, 0.95, 60)]
    literal = max(chord_product(eta, 1e4, float(width)) for width in widths)
    found = log_line_survival(eta, 1e4)
    assert 1.15 * literal <= found <= literal * (1.0 - 1e-9) or found == pytest.approx(literal, rel=1e-3)
    without_end = log_line_survival(eta)
    assert log_survival_floor(eta) < without_end < log_line_survival(eta, 1e300) < found
    assert without_end < log_survival_ceiling(eta)  # an upper bound for Gaussian steps


def test_coins_stay_under_the_boundary_as_often_as_lines_say() -> None:
    walks = np.cumsum(list(itertools.product((-1, 1), repeat=14)), axis=1)
    for eta in (1.01, 1.5, 3.0):
        inside = (walks <= iterated_logarithm_boundary(np.arange(1, 15), eta)).all(axis=1).mean()
        assert math.exp(log_line_survival(eta, 14)) <= inside


def literal_floor(eta: float, start: float, ratio: float, blocks: int) -> float:
    """The product over the first blocks as the proof's steps give it."""
    total = 0.0
    for k in range(blocks):
        level = math.log(max(math.e, math.log(start) + k * math.log(ratio)))
        total += math.log1p(-math.exp(-2 * eta * start * ratio**k * level / (2 * start * ratio ** (k + 1))))
    return total


@pytest.mark.parametrize(("eta", "start", "ratio"), [(3.0, 1.0, 2.0), (5.0, 100.0, 1.5), (6.0, 16.0, 3.5)])
def test_floor_is_the_product_of_the_steps(eta: float, start: float, ratio: float) -> None:
    # What is left after 500 blocks: Σ (k log r)^{-η/r}, about the integral.
    power, width = eta / ratio, math.log(ratio)
    left = (math.log(start) + 499.5 * width) ** (1 - power) / (width * (power - 1))
    floor = log_survival_floor(eta, start, ratio)
    assert floor == pytest.approx(literal_floor(eta, start, ratio, 500) - left, rel=1e-3)
    assert floor <= literal_floor(eta, start, ratio, 500)


def log_product(first: int) -> Any:
    """Σ_{k >= first} log(1 - (k log 2)^{-3/2}), each logarithm as a series: sums of powers of k are Hurwitz's zeta."""
    return -sum(mpmath.zeta(1.5 * m, first) / (m * mpmath.log(2) ** (1.5 * m)) for m in range(1, 200))


def test_floor_is_exact_to_many_digits() -> None:
    # Four early blocks at exp(-3/2), then k = 4, 5, ...
    tail = log_product(4)
    assert log_survival_floor(3.0) == pytest.approx(float(4 * mpmath.log(1 - mpmath.exp(-1.5)) + tail), rel=1e-7)


def test_printed_floor_by_hand() -> None:
    # η = 3: ε = 1, exponent 3/2. k_0 = 2: exp(-6) Π_{k>=2} (1 - (k log 2)^{-3/2}).
    tail = log_product(2)
    assert log_survival_floor_printed(3.0, 2) == pytest.approx(float(-6 + tail), rel=1e-7)
    assert log_survival_floor_printed(3.0, 1) == -math.inf  # log 2 < 1: the first factor would be negative


@pytest.mark.parametrize("eta", [1.02, 1.2, 1.5, 2.0, 3.0, 4.4, 5.0, 30.0])
def test_the_best_number_of_blocks_is_the_best(eta: float) -> None:
    best = log_survival_floor_printed(eta)
    others = [log_survival_floor_printed(eta, k) for k in range(1, 250)]
    assert best >= max(others) - 1e-9 * abs(best)


@given(ETA)
def test_the_printed_floor_is_below_what_the_steps_prove(eta: float) -> None:
    """The naive factor exp(-η) per block is less than 1 - exp(-η/(1+ε)), so the wrong step does no harm."""
    assert math.exp(-eta) < 1.0 - math.exp(-2.0 * eta / (1.0 + eta))
    assert log_survival_floor_printed(eta) < log_survival_floor(eta) < 0.0


def test_the_printed_floor_does_not_rise_with_eta() -> None:
    assert log_survival_floor_printed(20.0) < log_survival_floor_printed(10.0) < log_survival_floor_printed(6.0)


def test_the_printed_equality_needs_a_late_block() -> None:
    """exp(-s log₊(k log(1+ε))) is (k log(1+ε))^{-s} only where k log(1+ε) >= e; before, it is less."""
    eta, k = 3.0, 2
    width, power = math.log(2.0), 1.5
    bound = math.exp(-2 * eta * 2.0**k * max(1.0, math.log(k * width)) / (2 * 2.0 ** (k + 1)))
    assert bound == pytest.approx(math.exp(-power))
    assert bound < 0.5 * (k * width) ** -power


@given(st.floats(1.05, 30.0), st.floats(1.0, 1e6), st.floats(1.0, 1e6))
def test_a_later_start_is_easier(eta: float, one: float, other: float) -> None:
    early, late = (log_survival_floor(eta, start) for start in sorted((one, other)))
    assert early <= late + 1e-9 * abs(early)


def chain_survival(eta: float, last: int) -> float:
    """P(S_n <= boundary at n = 16, 32, ..., 2^last) for Gaussian steps, by quadrature of the chain S_n/√n."""
    nodes, weights = special.roots_legendre(200)
    levels = [math.sqrt(2 * eta * math.log(j * math.log(2))) for j in range(4, last + 1)]
    places = (levels[0] + 9.0) / 2 * (nodes + 1) - 9.0
    mass = weights * (levels[0] + 9.0) / 2 * np.exp(-0.5 * places**2) / math.sqrt(2 * math.pi)
    for level in levels[1:]:
        new = (level + 9.0) / 2 * (nodes + 1) - 9.0
        step = np.exp(-((new[:, np.newaxis] - places / math.sqrt(2)) ** 2)) / math.sqrt(math.pi)  # variance 1/2
        places, mass = new, weights * (level + 9.0) / 2 * (step @ mass)
    return float(mass.sum())


@pytest.mark.parametrize("eta", [0.5, 1.0])
@pytest.mark.parametrize("last", [10, 40, 100])
def test_ceiling_is_above_what_quadrature_gives(eta: float, last: int) -> None:
    reach = math.sqrt(2 * eta * math.log((last + 1) * math.log(2)))
    true = chain_survival(eta, last)
    product = math.prod(
        1 - (1 - math.sqrt(0.5)) * float(special.ndtr(-math.sqrt(2 * eta * math.log(j * math.log(2)))))
        for j in range(5, last + 1)
    )
    assert true <= product <= math.exp(log_survival_ceiling(eta, reach=reach))


def test_ceiling_is_the_integral_of_its_docstring() -> None:
    eta, delta = 1.5, 0.2
    start = mpmath.sqrt(2 * eta * mpmath.log(mpmath.log(32) / delta))
    share = (1 - mpmath.sqrt(0.5)) / mpmath.log(2) * delta / (eta * mpmath.sqrt(2 * mpmath.pi))
    whole = mpmath.quad(lambda w: w**2 / (1 + w**2) * mpmath.exp(-(1 - 1 / eta) * w**2 / 2), [start, 10, 60])
    # Below the start the closed form takes the integrand without its exponential, which is more.
    assert float(-share * whole) <= log_survival_ceiling(eta, delta) <= 0.0
    near = 1.0 + 1e-6
    flat = mpmath.quad(lambda w: w**2 / (1 + w**2) * mpmath.exp(-(1 - 1 / near) * w**2 / 2), [0, 10, 1e3, 1e4])
    begin = math.sqrt(2 * near * math.log(math.log(32)))
    expected = -(1 - math.sqrt(0.5)) / math.log(2) / (near * math.sqrt(2 * math.pi)) * (flat - begin + math.atan(begin))
    assert log_survival_ceiling(near) == pytest.approx(float(expected), rel=1e-6)


@given(st.floats(1.0001, 30.0))
def test_floor_is_below_ceiling(eta: float) -> None:
    assert log_survival_floor(eta) <= log_survival_ceiling(eta) <= 0.0


def test_no_walk_stays_for_ever_at_eta_one() -> None:
    assert log_survival_ceiling(1.0) == log_survival_ceiling(0.3) == -math.inf
    assert log_survival_ceiling(1.0, delta=1e-6) == -math.inf
    assert log_survival_ceiling(1.0, reach=1e4) < log_survival_ceiling(1.0, reach=1e3) < -100.0


def test_survival_is_below_every_power_near_one() -> None:
    """So 1/p(η) is no polynomial in 1/(η - 1), whatever the remark before Lemma conc says of all constants."""
    for excess in (1e-4, 1e-6, 1e-8, 1e-10):
        assert log_survival_ceiling(1.0 + excess) < -0.2 / math.sqrt(excess)


def test_crossing_bound_by_hand() -> None:
    # η = 3: r = 2, so Σ_k (δ/((k + 1) log 2))^{3/2} = (δ/log 2)^{3/2} ζ(3/2).
    assert crossing_bound(3.0, 0.1) == pytest.approx((0.1 / math.log(2)) ** 1.5 * float(mpmath.zeta(1.5)), rel=1e-8)


@given(st.floats(1.05, 10.0), st.floats(1e-9, 0.6), st.floats(1e-9, 0.6))
def test_crossing_bound_is_of_order_delta(eta: float, one: float, other: float) -> None:
    small, large = sorted((one, other))
    assert crossing_bound(eta, small) / small <= crossing_bound(eta, large) / large * (1 + 1e-12)


def test_tail_start_by_hand() -> None:
    assert tail_start(2.0, 1.0, 1.5) == 12  # log 2 < 1
    assert tail_start(math.exp(3.0), 0.5, 1.1) == math.ceil(8 * 1.1 * 3 * 4)


def test_tail_bound_by_hand() -> None:
    alphas = np.array([1.0, 4.0, 20.0])
    expected = [math.fsum(math.exp(-alpha * 2**k / 4) for k in range(40)) for alpha in alphas]
    np.testing.assert_allclose(tail_bound(alphas), expected, rtol=1e-15)


def test_tail_moment_is_the_integral() -> None:
    alphas = np.linspace(1.0, 200.0, 200_001)
    values = 2 * alphas * np.minimum(1.0, tail_bound(alphas))
    assert tail_moment() == pytest.approx(1.0 + float(np.trapezoid(values, alphas)), rel=1e-6)


@given(st.floats(2.0, 50.0), st.integers(1, 1000))
def test_the_spare_first_term_pays_for_the_step_between_tau_and_the_last_time(alpha: float, first: int) -> None:
    """P(τ >= α t_0) is P(τ - 1 >= (α - 1/t_0) t_0), whose sum starts at k = 1; at α < 2 the printed sum exceeds 1."""
    corrected = float(tail_bound(2.0 * (alpha - 1.0 / first))) if alpha - 1.0 / first >= 1.0 else math.inf
    assert corrected <= float(tail_bound(alpha)) * (1 + 1e-12)
    assert float(tail_bound(1.99)) > 1.0


@given(st.floats(1.001, 1e6), st.floats(0.05, 5.0), st.floats(1.01, 5.0), st.floats(1.0, 20.0))
def test_the_bound_without_peeling_is_sharper(b: float, delta: float, eta: float, alpha: float) -> None:
    time = alpha * tail_start(b, delta, eta)
    assert float(sharp_tail_bound(time, b, delta, eta)) <= min(1.0, float(tail_bound(alpha)))


def test_sharp_tail_bound_is_1_until_the_width_is_below_delta() -> None:
    np.testing.assert_array_equal(sharp_tail_bound([0.0, 4.0], math.exp(2.0), 1.0, 1.0), [1.0, 1.0])


@pytest.mark.parametrize(
    ("t", "b", "delta", "eta"), [(0.0, math.e, 1.0, 1.5), (50.0, 100.0, 0.5, 1.1), (9.0, 1.01, 2.0, 3.0)]
)
def test_sharp_tail_moment_is_the_integral(t: float, b: float, delta: float, eta: float) -> None:
    from_ = max(t, 2 * eta * math.log(b) / delta**2)
    rest = mpmath.quad(
        lambda x: 2 * (x + 1) * mpmath.exp(-((delta * mpmath.sqrt(x) - mpmath.sqrt(2 * eta * mpmath.log(b))) ** 2) / 2),
        [from_, from_ + 10, from_ + 100, from_ + 1000, from_ + 10000],
    )
    now = (from_ + 1) ** 2 * float(sharp_tail_bound(from_, b, delta, eta))
    assert sharp_tail_moment(t, b, delta, eta) == pytest.approx(now + float(rest), rel=1e-9)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ParameterError, match="epsilon and n must be greater than 0"):
        maximal_bound(0.0, 3.0)
    with pytest.raises(ParameterError, match="epsilon and n must be greater than 0"):
        maximal_bound(1.0, math.nan)
    with pytest.raises(ParameterError, match="n must be 1 or more"):
        iterated_logarithm_boundary([1, 0], 2.0)
    for function in (log_survival_floor, log_survival_floor_printed):
        with pytest.raises(ParameterError, match="eta must be greater than 1"):
            function(1.0)
    with pytest.raises(ParameterError, match="start must be 1 or more"):
        log_survival_floor(2.0, 0.5)
    with pytest.raises(ParameterError, match="ratio must be between 1 and eta"):
        log_survival_floor(2.0, ratio=2.0)
    with pytest.raises(ParameterError, match="blocks must be"):
        log_survival_floor_printed(2.0, -1)
    with pytest.raises(ParameterError, match="reach must be infinite"):
        log_survival_ceiling(1.5, reach=10.0)
    with pytest.raises(ParameterError, match="delta must be greater than 0"):
        log_survival_ceiling(1.0, delta=0.0)
    with pytest.raises(ParameterError, match="delta must be between"):
        crossing_bound(2.0, 0.7)
    with pytest.raises(ParameterError, match="alpha must be 1 or more"):
        tail_bound([1.0, 0.5])


@pytest.mark.parametrize(
    ("b", "delta", "eta", "name"), [(1.0, 1.0, 2.0, "b"), (2.0, 0.0, 2.0, "delta"), (2.0, 1.0, 0.0, "eta")]
)
def test_bad_tail_parameters_are_refused(b: float, delta: float, eta: float, name: str) -> None:
    with pytest.raises(ParameterError, match=f"{name} must be greater than"):
        tail_start(b, delta, eta)
    with pytest.raises(ParameterError, match=f"{name} must be greater than"):
        sharp_tail_bound(1.0, b, delta, eta)
    with pytest.raises(ParameterError, match=f"{name} must be greater than"):
        sharp_tail_moment(1.0, b, delta, eta)
