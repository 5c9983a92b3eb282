"""Optimistic arms: literal readings, the constant of the chase lemma, and bad input."""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocucb.errors import ParameterError
from ocucb.theory.gaps import effective_arms
from ocucb.theory.optimists import (
    boundary,
    chase_constant,
    first_optimist,
    optimist_gap,
    optimist_tail,
    optimistic_arms,
    optimists,
    shares,
    sorted_means,
)

ETA = st.floats(1.001, 100.0)
MEANS = st.lists(st.integers(0, 2000).map(lambda k: -k / 1000), min_size=3, max_size=9).map(
    lambda means: sorted([0.0, *means], reverse=True)
)


def test_boundary_by_hand() -> None:
    s = 10**6
    expected = math.sqrt(2.0 * 1.5 * math.log(math.log(s)) / s)
    np.testing.assert_allclose(boundary([1, s], 2.0), [math.sqrt(3.0), expected])


def test_optimists_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(0)
    means = np.array([0.5, 0.5, 0.4, 0.1, 0.1, 0.0, -1.0])
    tape = np.cumsum(means[:, np.newaxis] + rng.standard_normal((7, 300)), axis=1) / np.arange(1, 301)
    expected = [
        i > 1 and all(tape[i, s - 1] + float(boundary(s, 1.2)) >= means[i] for s in range(1, 301)) for i in range(7)
    ]
    assert optimists(tape, means, 1.2).tolist() == expected
    assert any(expected)
    assert not all(expected[2:])


def test_a_longer_tape_has_no_more_optimists() -> None:
    rng = np.random.default_rng(1)
    tape = np.cumsum(rng.standard_normal((40, 500)), axis=1) / np.arange(1, 501)
    short, long = (optimists(tape[:, :length], np.zeros(40), 1.1) for length in (10, 500))
    assert (long <= short).all()
    assert long.sum() < short.sum()


def test_the_first_optimist_and_its_gap() -> None:
    assert first_optimist([False, False, False, True]) == 3
    assert first_optimist([False] * 4) == 4
    assert optimist_gap([1.0, 0.75, 0.5, 0.25], 2) == 0.5
    assert optimist_gap([1.0, 0.75, 0.5, 0.25], 4) == 0.75  # none: the largest gap


@given(ETA)
def test_the_chase_constant_uses_up_the_room_of_the_proof(eta: float) -> None:
    c = chase_constant(eta)
    assert 0.0 < c < 0.0859
    room = math.sqrt(2.0 * eta) - math.sqrt(1.0 + eta)
    assert math.sqrt(2.0 * eta * c) + math.sqrt(c) == pytest.approx(room, rel=1e-9)


@given(MEANS, st.floats(0.0, 1.0), ETA, st.data())
def test_optimistic_arms_are_those_of_the_definition(
    means: list[float], rho: float, eta: float, data: st.DataObject
) -> None:
    members = [False, False, *data.draw(st.lists(st.booleans(), min_size=len(means) - 2, max_size=len(means) - 2))]
    found = optimistic_arms(means, members, eta, rho)
    for i, mean in enumerate(means):
        gap = means[0] - mean
        if gap == 0.0:
            continue
        terms = [
            1.0 if means[0] - other <= gap else (gap / (means[0] - other)) ** (2.0 * rho)
            for j, other in enumerate(means)
            if members[j] and j != i
        ]
        assert found[i] == pytest.approx(1.0 + chase_constant(eta) * sum(terms), rel=1e-12)


@given(MEANS, st.floats(0.01, 1.0))
def test_shares_sum_to_the_effective_arms(means: list[float], rho: float) -> None:
    sums = [float(shares(means, i, rho).sum()) for i in range(len(means))]
    np.testing.assert_allclose(sums, effective_arms(means, rho), rtol=1e-12)


@pytest.mark.parametrize("p", [0.05, 0.3, 0.6, 0.95])
@pytest.mark.parametrize("weights", [(1.0,), (1.0, 0.5, 0.25), (0.9,) * 8])
def test_the_tail_bound_is_one(p: float, weights: tuple[float, ...]) -> None:
    probability = 0.0
    for members in itertools.product((0, 1), repeat=len(weights)):
        if sum(w * m for w, m in zip(weights, members, strict=True)) <= p / 2.0 * sum(weights):
            probability += math.prod(p if m else 1.0 - p for m in members)
    assert probability <= optimist_tail(weights, p)


def test_the_tail_bound_of_nothing_says_nothing() -> None:
    assert optimist_tail([], 0.5) == 1.0


@pytest.mark.parametrize("bad", [[], [0.0, 0.5], [[0.0]], [0.0, math.nan], [math.inf, 0.0]])
def test_means_out_of_order_are_refused(bad: npt.ArrayLike) -> None:
    with pytest.raises(ParameterError, match="sorted from the largest down"):
        sorted_means(bad)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ParameterError, match="eta must be greater than 1"):
        chase_constant(1.0)
    with pytest.raises(ParameterError, match="eta must be greater than 1"):
        boundary([1], 0.5)
    with pytest.raises(ParameterError, match="one row for each of 2 arms"):
        optimists([[0.0]], [0.0, 0.0], 2.0)
    with pytest.raises(ParameterError, match="yes or no for each of 2 arms"):
        optimistic_arms([0.0, 0.0], [True], 2.0, 0.5)
    with pytest.raises(ParameterError, match="arm must be one of 0 to 1"):
        shares([0.0, -1.0], 2, 0.5)
    with pytest.raises(ParameterError, match="first must be an arm from 2 on"):
        optimist_gap([0.0, -1.0, -1.0], 1)
    with pytest.raises(ParameterError, match="counted must be a list of shares"):
        optimist_tail([-1.0], 0.5)
    with pytest.raises(ParameterError, match="probability must be between 0 and 1"):
        optimist_tail([1.0], 1.5)
