"""The random times of the proof: literal readings of their definitions, the bound on τ_i, and bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocucb.errors import ParameterError
from ocucb.theory.stopping import (
    expected_confidence,
    optimism_time,
    settling_bound,
    settling_time,
    stopping_sum,
    tape_confidence,
)

TAPE = st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=40)


def literal_settling(tape: list[float], mean: float, gap: float, big: float, eta: float) -> int:
    """τ_i as printed, on the samples there are."""

    def low(s: int) -> bool:
        return tape[s - 1] + math.sqrt(2.0 * eta / s * math.log(big)) <= mean + gap / 2.0

    for s in range(1, len(tape) + 1):
        if s >= 1.0 / gap**2 and all(low(later) for later in range(s, len(tape) + 1)):
            return s
    return len(tape) + 1


def literal_optimism(largest: list[float], best: float, gap: float, first: int) -> int:
    """τ_Δ as printed, with rounds before the first taken as good."""
    last = first + len(largest) - 1
    for t in range(1, last + 1):
        if all(largest[s - first] >= best - gap / 2.0 for s in range(max(t, first), last + 1)):
            return t
    return last + 1


@given(TAPE, st.floats(-1.0, 1.0), st.floats(0.2, 9.0), st.floats(1.0, 1e6), st.floats(1.01, 5.0))
def test_settling_time_is_the_one_printed(tape: list[float], mean: float, gap: float, big: float, eta: float) -> None:
    found = int(settling_time(tape, mean, gap, big, eta))
    # The room is compared in another form, which may round another way where it is 0 but for rounding.
    s = np.arange(1, len(tape) + 1)
    room = mean + gap / 2.0 - np.array(tape) - np.sqrt(2.0 * eta / s * math.log(big))
    if (np.abs(room) > 1e-9).all():
        assert found == literal_settling(tape, mean, gap, big, eta)


def test_several_confidences_at_once() -> None:
    tape = np.cumsum(np.random.default_rng(0).standard_normal(3000)) / np.arange(1, 3001)
    levels = [3.0, 100.0, 1e4]
    together = settling_time(tape, 0.0, 0.5, levels, 1.1)
    assert together.tolist() == [int(settling_time(tape, 0.0, 0.5, level, 1.1)) for level in levels]
    assert (np.diff(together) >= 0).all()


def test_an_arm_that_does_not_settle() -> None:
    assert int(settling_time([5.0, 5.0], 0.0, 1.0, 3.0, 2.0)) == 3


def test_an_arm_does_not_settle_before_its_critical_number() -> None:
    assert int(settling_time([-50.0] * 40, 0.0, 0.2, 3.0, 1.1)) == 25


@given(st.lists(st.floats(-2.0, 2.0), min_size=1, max_size=30), st.floats(0.0, 3.0), st.integers(1, 9))
def test_optimism_time_is_the_one_printed(largest: list[float], gap: float, first: int) -> None:
    assert optimism_time(largest, 1.0, gap, first) == literal_optimism(largest, 1.0, gap, first)


def test_confidences_by_hand() -> None:
    means = [0.0, -0.5, -1.0]  # k at ρ = 1/2: 1, 2.5, 3
    log = math.log(1000)
    expected = [log, 1000 * 0.25 * log / 2.5, 1000 * log / 3.0]
    np.testing.assert_allclose(expected_confidence(means, 1000, 0.5), expected)
    np.testing.assert_allclose(
        tape_confidence(means, 1000, [False] * 3, 2.0, 0.5), [log, 1000 * 0.25 * log, 1000 * log]
    )
    np.testing.assert_allclose(expected_confidence(means, 2, 0.5), [math.e] * 3)


def test_stopping_sum_by_hand() -> None:
    big = 100 * 0.25 * math.log(100) / 2.0
    assert stopping_sum([0.0, -0.5], 100, 0.5) == pytest.approx(math.sqrt(1.0 + 4.0 * math.log(big)))
    assert stopping_sum([0.0, 0.0], 100, 0.5) == 0.0


@pytest.mark.parametrize(
    ("gap", "big", "eta"), [(1.0, math.e, 1.1), (0.5, 1e3, 1.1), (0.5, 50.0, 4.0), (2.0, 1e6, 2.0)]
)
def test_the_bound_on_settling_is_one(gap: float, big: float, eta: float) -> None:
    # 400 tapes of Gaussian noise; the bound lies at least 4 standard errors above the average.
    rng = np.random.default_rng(3)
    length = math.ceil(40.0 * eta * math.log(big) / gap**2)
    sums = np.cumsum(rng.standard_normal((400, length)), axis=1) / np.arange(1, length + 1)
    times = np.array([int(settling_time(row, 0.0, gap, big, eta)) for row in sums])
    assert times.mean() + 4.0 * times.std() / 20.0 < float(settling_bound(gap, big, eta))


def test_bad_input_is_refused() -> None:
    with pytest.raises(ParameterError, match="gap must be greater than 0"):
        settling_time([0.0], 0.0, 0.0, 3.0, 2.0)
    with pytest.raises(ParameterError, match="averages of one arm"):
        settling_time([[0.0]], 0.0, 1.0, 3.0, 2.0)
    with pytest.raises(ParameterError, match="confidences must be 1 or more"):
        settling_time([0.0], 0.0, 1.0, 0.5, 2.0)
    with pytest.raises(ParameterError, match="one number per round"):
        optimism_time([math.nan], 1.0, 0.5)
    with pytest.raises(ParameterError, match="gap must be 0 or more"):
        optimism_time([1.0], 1.0, -0.5)
    with pytest.raises(ParameterError, match="n must be 1 or more"):
        expected_confidence([0.0, -1.0], 0, 0.5)
    with pytest.raises(ParameterError, match="gap must be greater than 0"):
        settling_bound(0.0, 3.0, 2.0)
