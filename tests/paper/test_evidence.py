"""Evidence: conclusions are drawn from the ends of intervals, never from what was measured; intervals are true."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest

from ocucb.paper.claim import Conclusion
from ocucb.paper.evidence import ALARM, Interval, at_least, at_most, exact, mean_interval, proportion

stats: Any = importlib.import_module("scipy.stats")

HOLDS, FAILS, OPEN = Conclusion.HOLDS, Conclusion.FAILS, Conclusion.OPEN
BELOW, ABOVE = Interval(0.7, 0.8, 0.9), Interval(1.1, 1.2, 1.3)
LOOKS_BELOW, LOOKS_ABOVE = Interval(0.8, 0.9, 1.1), Interval(0.9, 1.1, 1.2)


@pytest.mark.parametrize(
    ("measured", "most", "least"),
    [
        (BELOW, HOLDS, FAILS),
        (ABOVE, FAILS, HOLDS),
        (LOOKS_BELOW, OPEN, OPEN),  # the estimate alone would decide each of these
        (LOOKS_ABOVE, OPEN, OPEN),
        (Interval(0.8, 0.9, 1.0), HOLDS, OPEN),
        (Interval(1.0, 1.1, 1.2), OPEN, HOLDS),
        (exact(1.0), HOLDS, HOLDS),
        (exact(math.nextafter(1.0, 2.0)), FAILS, HOLDS),
        (exact(math.nextafter(1.0, 0.0)), HOLDS, FAILS),
    ],
)
def test_the_whole_interval_decides(measured: Interval, most: Conclusion, least: Conclusion) -> None:
    assert at_most([measured], [1.0]) is most
    assert at_least([measured], [1.0]) is least


def test_one_that_fails_decides_and_one_that_is_open_leaves_it_open() -> None:
    assert at_most([BELOW, LOOKS_BELOW], [1.0, 1.0]) is OPEN
    assert at_most([BELOW, LOOKS_BELOW, ABOVE], [1.0] * 3) is FAILS
    assert at_least([ABOVE, LOOKS_ABOVE], [1.0, 1.0]) is OPEN
    assert at_least([ABOVE, LOOKS_ABOVE, BELOW], [1.0] * 3) is FAILS
    assert at_most([BELOW, ABOVE], [1.0, 1.3]) is HOLDS
    with pytest.raises(ValueError, match="zip"):
        at_most([BELOW, ABOVE], [1.0])


@pytest.mark.parametrize("of", [1, 7])
@pytest.mark.parametrize(("hits", "trials"), [(3, 10), (1, 400), (399, 400), (5000, 10_000)])
def test_a_proportion_lies_beyond_an_end_as_rarely_as_is_said(hits: int, trials: int, of: int) -> None:
    """Clopper and Pearson: at an end, so many hits or more (or fewer) have just the probability ALARM / of."""
    low, value, high = proportion(hits, trials, of)
    assert value == hits / trials
    assert low < value < high
    assert stats.binom.sf(hits - 1, trials, low) == pytest.approx(ALARM / of, rel=1e-6)
    assert stats.binom.cdf(hits, trials, high) == pytest.approx(ALARM / of, rel=1e-6)


def test_a_proportion_of_none_or_all() -> None:
    none, every = proportion(0, 50), proportion(50, 50)
    assert (none.low, none.value) == (0.0, 0.0)
    assert (every.value, every.high) == (1.0, 1.0)
    assert none.high == pytest.approx(1.0 - ALARM ** (1 / 50))
    assert every.low == pytest.approx(ALARM ** (1 / 50))


def test_a_mean_by_hand() -> None:
    samples = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    low, value, high = mean_interval(samples, of=2)
    reach = stats.t.isf(ALARM / 2, 4) * math.sqrt(2.5 / 5)
    assert (low, value, high) == pytest.approx((3.0 - reach, 3.0, 3.0 + reach))
