"""The bound with every constant, against naive sums; claim 17 holds it against regret."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocucb.errors import ParameterError
from ocucb.theory.line_crossing import blocks, line_exponent
from ocucb.theory.regret_bound import Index, regret_bound, settling_pulls, waiting_rounds


def best_line(u: float, at_u: float, v: float, at_v: float) -> float:
    """2ab of the best line through (u, y), over many b: a is what is left under both ends."""
    found = 0.0
    for b in np.geomspace(1e-3, 1e3, 20_001).tolist():
        found = max(found, 2.0 * b * min(at_u - b * u, at_v - b * v))
    return found


@pytest.mark.parametrize(("v", "at_v"), [(1.0, 3.0), (1.5, 3.5), (2.0, 3.2), (9.0, 9.0), (9.0, 26.0), (3.0, 3.0)])
def test_the_best_line_is_found(v: float, at_v: float) -> None:
    assert float(line_exponent(1.0, 3.0, v, at_v)) == pytest.approx(best_line(1.0, 3.0, v, at_v), rel=1e-3)


@given(st.floats(0.3, 2.0), st.floats(0.0, 1.0), st.integers(1, 6), st.integers(0, 6))
def test_coins_cross_a_root_and_a_line_no_more_often(root: float, slope: float, first: int, more: int) -> None:
    last = first + more
    walks = np.cumsum(list(itertools.product((-1, 1), repeat=12)), axis=1)[:, first - 1 : last]
    s = np.arange(first, last + 1.0)
    boundary = root * np.sqrt(s) + slope * s
    crossed = np.mean((walks >= boundary).any(axis=1))
    exponent = line_exponent(first, boundary[0], last, boundary[-1])
    assert crossed <= math.exp(-float(exponent)) + 1e-12


@given(st.integers(1, 5000), st.floats(1.0, 3.0), st.integers(1, 50))
def test_blocks_cover_all_numbers_once(end: int, ratio: float, alone: int) -> None:
    first, last = blocks(end, ratio, alone)
    assert [*range(1, end + 1)] == [
        k for u, v in zip(first.tolist(), last.tolist(), strict=True) for k in range(int(u), int(v) + 1)
    ]


def naive_pulls(gap: float, index: Index, kappa: float) -> float:
    """N(Δ), each s by itself."""
    arms, n, eta, rho, shrink = index
    total = 0.0
    for s in range(1, n + 1):

        def weight(t: float) -> float:
            return t if shrink else t * math.log(t)

        m = min(n, 2 * s + arms - 1)
        least = s ** (1 - rho)
        inside = max(
            math.e,
            math.log(n),
            weight(n) / (2 * s + (arms - 2) * least),
            weight(m) / (s + (arms - 1) * least),
        )
        short = max(0.0, (1 - kappa) * gap * math.sqrt(s) - math.sqrt(2 * eta * math.log(inside)))
        total += math.exp(-short * short / 2)
    return total


def naive_waiting(x: float, index: Index) -> float:
    """W(x) with a union over each s in place of blocks."""
    arms, n, eta, rho, shrink = index
    total = 0.0
    for t in range(arms + 1, n + 1):
        chance = 0.0
        for s in range(1, t - arms + 1):
            others = (t - 1 - s) / (arms - 1)
            shared = s + (arms - 1) * min(s, others**rho * s ** (1 - rho))
            inside = max(math.e, math.log(t), t * (1.0 if shrink else math.log(t)) / shared)
            chance += math.exp(-((s * x + math.sqrt(2 * eta * s * math.log(inside))) ** 2) / (2 * s))
        total += min(1.0, chance)
    return total


INDICES = (Index(2, 300, 1.1, 0.5, False), Index(5, 200, 2.0, 1.0, True), Index(10, 250, 1.5, 0.0, False))


@pytest.mark.parametrize("index", INDICES)
def test_pulls_are_summed_from_above_and_closely(index: Index) -> None:
    for gap, kappa in ((0.3, 0.2), (1.0, 0.5), (3.0, 0.1)):
        naive = naive_pulls(gap, index, kappa)
        assert naive * (1 - 1e-9) <= float(settling_pulls(gap, index, kappa)) <= 1.02 * naive + 1e-9


@pytest.mark.parametrize("index", INDICES)
def test_blocks_of_samples_wait_about_as_long_as_single_samples(index: Index) -> None:
    for x in (0.1, 0.5, 2.0):
        # A union over blocks is no union over samples: far below it for small x, and above for large ones.
        assert 0.05 * naive_waiting(x, index) <= float(waiting_rounds(x, index)) <= 2.0 * naive_waiting(x, index)


def test_it_is_never_above_the_trivial_bound_and_rises_with_n() -> None:
    values = [regret_bound([0.0, -0.5, -1.0], n, 1.1).value for n in (1, 3, 10, 100, 1000, 10_000)]
    assert values == sorted(values)
    assert values[0] == 1.0
    assert values[-1] < 10_000 * 0.5
    assert regret_bound([0.3, 0.3], 100, 1.1).value == 0.0


def test_many_gaps_are_grouped_from_above() -> None:
    few = [0.0, *[-1.0] * 60]
    many = [0.0, *(-1.0 - 1e-9 * k for k in range(60))]
    one, other = (regret_bound(means, 5000, 1.1).value for means in (few, many))
    assert (1.0 - 1e-6) * one <= other <= 1.001 * one
    spread = [0.0, *np.linspace(-2.0, -0.2, 90).tolist()]
    grouped = regret_bound(spread, 20_000, 1.1)
    index = Index(91, 20_000, 1.1, 0.5, False)
    gap = -np.array(sorted(spread[1:], reverse=True))
    exact = float(np.sum(gap * (1.0 + settling_pulls(gap, index, grouped.kappa))))
    exact += float(np.sum(np.diff(gap, prepend=0.0) * waiting_rounds(grouped.kappa * gap, index)))
    assert exact <= grouped.value <= 1.2 * exact


def test_bad_input_is_refused() -> None:
    with pytest.raises(ParameterError, match="n must be 1 or more"):
        regret_bound([0.0, -1.0], 0, 1.1)
    with pytest.raises(ParameterError, match="eta must be greater than 0"):
        regret_bound([0.0, -1.0], 10, 0.0)
    with pytest.raises(ParameterError, match="rho must be between 0 and 1"):
        regret_bound([0.0, -1.0], 10, 1.1, 2.0)
