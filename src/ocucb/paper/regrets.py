"""Regret as it is measured here: runs on the tape, and what their means say with intervals.

Policies played on the same problem from the same seed meet the same rewards, so that their differences are paired.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from ocucb.compiled import Floats
from ocucb.errors import GuaranteeWarning
from ocucb.lab.fastest import play_where_fastest
from ocucb.lab.problem import Problem
from ocucb.lab.shard import Shard
from ocucb.paper.evidence import Interval
from ocucb.policies import Policy

Given = ParamSpec("Given")
Made = TypeVar("Made", bound=Policy)


def without_warning(make: Callable[Given, Made], *values: Given.args, **named: Given.kwargs) -> Made:
    """Build a policy whose guarantee is lost on purpose, without its warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuaranteeWarning)
        return make(*values, **named)


def regrets(policy: Policy, problem: Problem, checkpoints: Sequence[int], runs: int, seed: int) -> Floats:
    """Play some runs; return pseudo-regret, one row per run and one column per checkpoint."""
    return play_where_fastest(Shard(problem, policy, checkpoints[-1], tuple(checkpoints), seed, 0, runs)).regret


def quotient(upper: Interval, lower: Interval) -> Interval:
    """Return the quotient of two positive quantities; it lies beyond an end as rarely as either of them does."""
    high = upper.high / lower.low if lower.low > 0.0 else math.inf
    return Interval(upper.low / lower.high, upper.value / lower.value, high)


def largest(intervals: Sequence[Interval]) -> Interval:
    """Return the largest of several quantities that lie in their intervals all at once."""
    return Interval(*(max(ends) for ends in zip(*intervals, strict=True)))


def growth(later: Interval, earlier: Interval, times: float) -> Interval:
    """Return the exponent a for which a quantity grew like x^a while x grew so many times."""
    change = quotient(later, earlier)
    low, value, high = (math.log(end) / math.log(times) if end > 0.0 else -math.inf for end in change)
    return Interval(low, value, high)


def format_interval(interval: Interval, digits: int = 2) -> str:
    """Return an interval as text: the value and where it lies."""
    return f"{interval.value:.{digits}f} [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"


def format_power(n: int) -> str:
    """Return a number as text, powers of ten from 1000 on as such."""
    digits = str(n)
    ten = n >= 1000 and digits.strip("0") == "1"
    return "10" + str(len(digits) - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")) if ten else digits


def decades(first: int, last: int) -> tuple[int, ...]:
    """Return the powers of ten from 10^first to 10^last."""
    return tuple(10**digits for digits in range(first, last + 1))
