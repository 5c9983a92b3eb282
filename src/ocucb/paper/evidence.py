"""How measurements decide: intervals at a stated rate of error, and the conclusion they allow.

Each statistical check is wrong with probability ALARM at most. A check that compares several measurements shares the
rate among them (Bonferroni), which `of` says.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ocucb.paper.claim import Conclusion

# SciPy publishes no types.
_stats: Any = importlib.import_module("scipy.stats")

ALARM = 1e-4


class Interval(NamedTuple):
    """A measured value, and where the true one lies: beyond either end with probability ALARM / of at most."""

    low: float
    value: float
    high: float


def exact(value: float) -> Interval:
    """Return a value that was computed, not measured."""
    return Interval(value, value, value)


def proportion(hits: int, trials: int, of: int = 1) -> Interval:
    """Return the interval of Clopper and Pearson for a probability; exact at any size."""
    alarm = ALARM / of
    low = _stats.beta.ppf(alarm, hits, trials - hits + 1) if hits > 0 else 0.0
    high = _stats.beta.ppf(1.0 - alarm, hits + 1, trials - hits) if hits < trials else 1.0
    return Interval(float(low), hits / trials, float(high))


def mean_interval(samples: npt.ArrayLike, of: int = 1) -> Interval:
    """Return Student's interval for an expectation; good for thousands of samples without heavy tails."""
    values = np.asarray(samples, dtype=float)
    middle = float(values.mean())
    reach = float(_stats.t.ppf(1.0 - ALARM / of, values.size - 1)) * float(values.std(ddof=1)) / math.sqrt(values.size)
    return Interval(middle - reach, middle, middle + reach)


def at_most(measured: Iterable[Interval], limits: Iterable[float]) -> Conclusion:
    """Judge "each measured quantity is at most its limit"."""
    pairs = list(zip(measured, limits, strict=True))
    if any(interval.low > limit for interval, limit in pairs):
        return Conclusion.FAILS
    return Conclusion.HOLDS if all(interval.high <= limit for interval, limit in pairs) else Conclusion.OPEN


def at_least(measured: Iterable[Interval], limits: Iterable[float]) -> Conclusion:
    """Judge "each measured quantity is at least its limit"."""
    return at_most([Interval(-high, -value, -low) for low, value, high in measured], [-limit for limit in limits])
