"""Bounds of a GPU as whole numbers: in order, never lower than they were, and with their slots."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocucb.lab.gpu_arms import bound_in_order, bound_of, in_order, last_bits, scale_of, single

singles = st.floats(width=32, allow_nan=False)
slots = st.integers(2, 400)


@given(singles, singles)
def test_larger_floats_have_larger_numbers(one: float, other: float) -> None:
    ours, theirs = in_order(single(one)), in_order(single(other))
    if one != other:  # -0 is below 0
        assert (ours < theirs) == (one < other)


@given(singles, slots, st.data())
def test_a_bound_is_no_lower_than_it_was_and_says_its_slot(value: float, count: int, data: st.DataObject) -> None:
    slot = data.draw(st.integers(0, count - 1))
    number = bound_in_order(single(value), slot, count)
    assert number >= in_order(single(value))
    assert bound_of(number) >= value
    assert number & last_bits(count) == slot & last_bits(count)
    assert -(2**31) <= number < 2**31
    if 1e-30 < abs(value) < 1e30:
        assert bound_of(number) - value <= 2.0**-17 * abs(value)


@pytest.mark.parametrize("arms", [49, 1000, 10**5])
@pytest.mark.parametrize("horizon", [10**5, 10**8])
@pytest.mark.parametrize("rho", [0.5, 0.7, 1.0])
def test_no_sum_of_powers_has_more_than_32_bits(arms: int, horizon: int, rho: float) -> None:
    scale, rng = scale_of(arms, horizon, rho), np.random.default_rng(1)
    assert horizon**rho * scale < 2**31
    unequal = [rng.dirichlet(np.full(arms, evenness)) for evenness in (0.01, 1.0, 100.0)]
    for shares in (np.full(arms, 1.0 / arms), *unequal):
        assert np.sum((horizon * shares) ** rho) * scale < 2**32
