"""Paired shares: Fieller's interval against its definition, and what it says at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ocucb.compiled import Floats
from ocucb.paper.evidence import Interval, mean_interval
from ocucb.paper.paired import change, format_percent, size


def draw(runs: int, share: float = 0.1) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(7)
    reference = generator.gamma(4.0, 10.0, runs)
    return (1.0 + share) * reference + generator.normal(0.0, 5.0, runs), reference


@pytest.mark.parametrize("of", [1, 20])
@pytest.mark.parametrize("runs", [40, 1000])
def test_an_end_is_where_the_difference_is_just_told_from_zero(runs: int, of: int) -> None:
    regret, reference = draw(runs)
    low, value, high = change(regret, reference, of)
    assert value == pytest.approx(regret.mean() / reference.mean() - 1.0)
    assert mean_interval(regret - (1.0 + low) * reference, of).low == pytest.approx(0.0, abs=1e-9)
    assert mean_interval(regret - (1.0 + high) * reference, of).high == pytest.approx(0.0, abs=1e-9)
    assert low < value < high


def test_more_comparisons_widen_the_interval_and_more_runs_narrow_it() -> None:
    few, many = change(*draw(100)), change(*draw(10_000))
    shared = change(*draw(100), 50)
    assert shared.low < few.low < few.high < shared.high
    assert many.high - many.low < few.high - few.low


def test_equal_and_proportional_regrets_leave_nothing_open() -> None:
    _, reference = draw(50)
    assert change(reference, reference) == pytest.approx((0.0, 0.0, 0.0), abs=1e-6)
    assert change(1.5 * reference, reference) == pytest.approx((0.5, 0.5, 0.5), abs=1e-6)


def test_a_reference_that_could_be_zero_decides_nothing() -> None:
    interval = change(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 9.0]))
    assert (interval.low, interval.high) == (-math.inf, math.inf)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (Interval(0.1, 0.2, 0.3), Interval(0.1, 0.2, 0.3)),
        (Interval(-0.3, -0.2, -0.1), Interval(0.1, 0.2, 0.3)),
        (Interval(-0.1, 0.1, 0.3), Interval(0.0, 0.1, 0.3)),
        (Interval(-0.3, -0.1, 0.1), Interval(0.0, 0.1, 0.3)),
    ],
)
def test_size_forgets_the_sign(given: Interval, expected: Interval) -> None:
    assert size(given) == expected


def test_a_share_reads_in_per_cent() -> None:
    assert format_percent(Interval(-0.0512, -0.0256, 0.0)) == "-2.6% [-5.1, +0.0]"
