"""Checks of what users give: each returns the clean value, or raises one clear line."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np

from ocucb.errors import GuaranteeWarning, ParameterError

LARGEST_WHOLE = 2**53 - 1  # beyond it, floats skip whole numbers


def real(name: str, value: object, remedy: str) -> float:
    """Return `value` as a finite float."""
    number = math.nan if isinstance(value, bool) else as_float(value)
    if not math.isfinite(number):
        raise ParameterError(f"{name} must be a finite number, got {value!r}; {remedy}")
    return number


def as_float(value: object) -> float:
    """Return a real number as a float: inf if it is too large for one, nan if it is none."""
    try:
        return float(value) if isinstance(value, Real | np.bool_) else math.nan
    except OverflowError:
        return math.inf


def at_least(name: str, value: object, low: float, remedy: str) -> float:
    """Return `value` as a float, low or more."""
    number = real(name, value, remedy)
    if number < low:
        raise ParameterError(f"{name} must be {low:g} or more, got {number:g}; {remedy}")
    return number


def above(name: str, value: object, low: float, remedy: str) -> float:
    """Return `value` as a float greater than `low`."""
    number = real(name, value, remedy)
    if number <= low:
        raise ParameterError(f"{name} must be greater than {low:g}, got {number:g}; {remedy}")
    return number


def within(name: str, value: object, low: float, high: float, remedy: str) -> float:
    """Return `value` as a float between `low` and `high`, both included."""
    number = real(name, value, remedy)
    if not low <= number <= high:
        raise ParameterError(f"{name} must be between {low:g} and {high:g}, got {number:g}; {remedy}")
    return number


def whole(name: str, value: object, low: int, remedy: str, high: int = LARGEST_WHOLE) -> int:
    """Return `value` as an integer between `low` and `high`, both included."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ParameterError(f"{name} must be a whole number, got {value!r}; {remedy}")
    number = int(value)
    if number < low:
        raise ParameterError(f"{name} must be {low} or more, got {number}; {remedy}")
    if number > high:
        raise ParameterError(f"{name} must be below 2^{high.bit_length()}, got {number}; {remedy}")
    return number


def one_of(name: str, value: object, choices: Sequence[str]) -> str:
    """Return `value` if it is one of the `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return value


def warn_of_lost_guarantee(lost: str) -> None:
    """Warn, at the line that built the policy, that a guarantee is lost."""
    warnings.warn(lost, GuaranteeWarning, stacklevel=4)
