"""Two policies that met the same rewards: by what share one regrets more than the other, with an interval."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from ocucb.compiled import Floats
from ocucb.paper.evidence import ALARM, Interval

# SciPy publishes no types.
_stats: Any = importlib.import_module("scipy.stats")


def change(regret: Floats, reference: Floats, of: int = 1) -> Interval:
    """Return by what share the mean of `regret` is above that of `reference`, run by run on the same rewards.

    Fieller's interval: the shares s at which the mean of regret - (1 + s) reference is within Student's reach of 0.
    Good for hundreds of runs; without end if so few of them leave it open whether the reference is 0.
    """
    runs = regret.size
    above, below = float(regret.mean()), float(reference.mean())
    reach = float(_stats.t.ppf(1.0 - ALARM / of, runs - 1)) ** 2 / runs
    spread = np.cov(regret, reference) * reach
    a, b, c = below**2 - spread[1, 1], above * below - spread[0, 1], above**2 - spread[0, 0]
    value = above / below - 1.0
    if a <= 0.0:
        return Interval(-math.inf, value, math.inf)
    root = math.sqrt(max(0.0, b * b - a * c))
    return Interval((b - root) / a - 1.0, value, (b + root) / a - 1.0)


def size(interval: Interval) -> Interval:
    """Return how large a share is, whatever its sign."""
    low, value, high = interval
    return Interval(max(0.0, low, -high), abs(value), max(high, -low))


def format_percent(interval: Interval, digits: int = 1) -> str:
    """Return a share as text, in per cent, with where it lies."""
    low, value, high = (100.0 * end for end in interval)
    return f"{value:+.{digits}f}% [{low:+.{digits}f}, {high:+.{digits}f}]"
