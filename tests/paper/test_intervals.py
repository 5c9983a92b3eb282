"""Proofs by interval arithmetic: balls hold what they should, and what is false is never proved."""

from __future__ import annotations

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocucb.paper import intervals
from ocucb.paper.claim import Conclusion, Effort
from ocucb.paper.claims import proved
from ocucb.paper.intervals import ball, cover, minus_x_log_x, relative_decay, relative_growth

NUMBERS = st.floats(0.0, 60.0)


def within(value: float, found: intervals.Ball) -> bool:
    room = 1e-14 * (1.0 + abs(value))  # for the rounding of the value itself
    return bool(found.lower() <= value + room) and bool(found.upper() >= value - room)


@given(NUMBERS, NUMBERS, st.floats(0.0, 1.0))
def test_balls_hold_the_values_of_functions(one: float, other: float, share: float) -> None:
    low, high = sorted((one, other))
    x = low + share * (high - low)
    here = ball(low, high)
    assert within(-math.expm1(-x) / x if x > 0.0 else 1.0, relative_decay(here))
    assert within(math.sinh(x) / x if x > 0.0 else 1.0, relative_growth(here))
    assert within(-x * math.log(x) if x > 0.0 else 0.0, minus_x_log_x(here))


def test_a_false_inequality_is_refuted_however_narrow_the_gap_is() -> None:
    bump = cover(lambda x: (x - 0.3) ** 2 - 1e-6, ((0.0, 1.0),))
    assert bump.left is not None
    assert bump.below
    ((low, high),) = bump.left
    assert low <= 0.302
    assert high >= 0.298


def test_an_equality_is_neither_proved_nor_refuted() -> None:
    touch = cover(lambda x: (x - ball(1.0) / 3) ** 2, ((0.0, 1.0),))
    assert touch.left is not None
    assert not touch.below


def test_a_true_inequality_is_proved_in_two_dimensions() -> None:
    assert cover(lambda x, y: x * x + y * y - x * y + 0.01, ((-1.0, 1.0), (-1.0, 1.0))).left is None


@pytest.mark.parametrize(
    ("run", "subject"),
    [
        (proved.series, {"limit": 1.99}),  # the largest value is 2 + 1/e, as log(1/a) grows
        (proved.survival, {"limit": 0.8}),  # 0.81 at η = 1
        (proved.power_and_logarithm, {"limit": 1.999}),
        (proved.data_processing, {"share": 0.5}),
        (proved.two_arms, {"share": 0.5}),
    ],
)
def test_constants_just_too_small_are_not_proved(run: proved.Proof, subject: dict[str, float]) -> None:
    assert run(Effort(), **subject).conclusion in (Conclusion.FAILS, Conclusion.OPEN)


def test_without_flint_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flint", None)
    for check in proved.CHECKS:
        finding = check.find(Effort())
        assert finding.conclusion is Conclusion.OPEN
        assert "pip install 'ocucb[paper]'" in finding.outcome
