"""Intervals of quotients and growth, and the constants and slopes that are made of measured regret."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from ocucb import OCUCBn
from ocucb.compiled import Floats
from ocucb.errors import GuaranteeWarning
from ocucb.lab.problem import worst_case
from ocucb.paper.claim import Conclusion
from ocucb.paper.constant import RegretInstance, find_constant, needs
from ocucb.paper.evidence import Interval
from ocucb.paper.regrets import decades, format_power, growth, largest, quotient, regrets, without_warning
from ocucb.paper.slopes import slope

INSTANCE = RegretInstance("η = 1.1", OCUCBn(), worst_case(2, 1.0), (100, 200), 20, 2.0)


def test_a_quotient_reaches_from_the_worst_case_to_the_best() -> None:
    found = quotient(Interval(2.0, 3.0, 4.0), Interval(1.0, 1.5, 2.0))
    assert found == Interval(1.0, 2.0, 4.0)
    assert quotient(Interval(2.0, 3.0, 4.0), Interval(0.0, 1.0, 2.0)).high == math.inf


def test_growth_is_the_exponent_of_a_power() -> None:
    exact = [Interval(x, x, x) for x in (5.0, 5.0 * 1000.0**0.25)]
    assert growth(exact[1], exact[0], 1000.0) == pytest.approx((0.25, 0.25, 0.25))
    assert growth(Interval(-1.0, 1.0, 2.0), exact[0], 10.0).low == -math.inf


def test_the_largest_takes_each_end_by_itself() -> None:
    assert largest([Interval(0.0, 5.0, 9.0), Interval(4.0, 4.5, 5.0)]) == Interval(4.0, 5.0, 9.0)


def test_numbers_as_text() -> None:
    assert [format_power(n) for n in (2, 100, 1000, 10**12, 1500)] == ["2", "100", "10³", "10¹²", "1500"]
    assert decades(2, 4) == (100, 1000, 10000)


def test_policies_meet_the_same_rewards_at_the_same_seed() -> None:
    played = [regrets(OCUCBn(), INSTANCE.problem, (50, 100), 5, seed) for seed in (3, 3, 4)]
    assert played[0].shape == (5, 2)
    assert np.array_equal(played[0], played[1])
    assert not np.array_equal(played[0], played[2])


def test_a_lost_guarantee_is_not_warned_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", GuaranteeWarning)
        assert without_warning(OCUCBn, 1.1, 0.0).rho == 0.0


def test_the_constant_needed_is_regret_over_limit_times_sum() -> None:
    def sums(instance: RegretInstance) -> Floats:
        return np.array([10.0, 40.0])

    regret = regrets(INSTANCE.policy, INSTANCE.problem, INSTANCE.horizons, INSTANCE.runs, 7).mean(axis=0)
    found = needs([INSTANCE], sums, 7)
    assert [need.share.value for need in found] == pytest.approx([regret[0] / 20.0, regret[1] / 80.0])


def test_no_constant_makes_a_sum_positive_that_is_not() -> None:
    def sums(instance: RegretInstance) -> Floats:
        return np.array([10.0, 0.0])

    finding = find_constant([INSTANCE], sums, 0, "2")
    assert finding.conclusion is Conclusion.FAILS
    assert "n = 200" in finding.counterexample


def test_a_slope_is_a_rise_per_unit_of_log_n() -> None:
    regret = np.array([[1.0, 9.0, 1.0 + 3.0 * math.log(100.0)]] * 4)
    assert slope(regret, (10, 100, 1000)) == pytest.approx((3.0, 3.0, 3.0))
