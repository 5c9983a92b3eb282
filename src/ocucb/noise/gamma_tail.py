"""Quantiles of the gamma law of scale 1 and shape >= 1, from the logarithm of a tail.

The signed root gives the quantile outright for large shapes. For the others, Halley's steps in log x follow on the
logarithm of the smaller tail, from a series below the median and a continued fraction above it.
"""

from __future__ import annotations

import math

from ocucb.compiled import kernel
from ocucb.noise.excess import inverse_above, inverse_below
from ocucb.noise.normal import HALF_LOG_TWO_PI, upper_quantile
from ocucb.noise.signed_root import (
    CLOSE,
    DIGITS,
    ENOUGH,
    LARGE,
    STEPS,
    TERMS,
    first_root,
    improved_root,
    stirling_error,
)

ENDLESS = 1e300  # a level beyond which the arithmetic would overflow, and is taken for infinite


@kernel
def log_change(shape: float, r: float) -> float:
    """Return log(x / shape) at the signed root r."""
    y = 0.5 * r * r / shape
    return -inverse_below(y) if r < 0.0 else math.log1p(inverse_above(y))


@kernel
def tail_below(shape: float, x: float) -> float:
    """Return P(X < x) / (x density(x))."""
    term = 1.0 / shape
    total = term
    for n in range(1, TERMS):
        term *= x / (shape + n)
        total += term
        if term <= DIGITS * total:
            break
    return total


@kernel
def tail_above(shape: float, x: float) -> float:
    """Return P(X > x) / (x density(x))."""
    part = x + 1.0 - shape
    ratio = 1.0 / part
    change = ratio
    total = ratio
    for n in range(1, TERMS):
        part += 2.0
        ratio = 1.0 / (part + n * (shape - n) * ratio)
        change *= part * ratio - 1.0
        total += change
        if abs(change) <= DIGITS * total:
            break
    return total


@kernel
def quantile(shape: float, level: float, side: float) -> float:
    """Return the x that X exceeds (side 1) or stays below (side -1) with probability exp(-level)."""
    if level <= 0.0:
        return 0.0 if side > 0.0 else math.inf
    if level > ENDLESS:
        return math.inf if side > 0.0 else 0.0
    z = side * upper_quantile(level) + 0.0  # at the median 0, not -0
    k = 1.0 / math.sqrt(shape)
    r = first_root(z, k, 0.0)
    for _ in range(STEPS):
        s = log_change(shape, r)
        old, r = r, improved_root(z, r, math.expm1(s) / k, math.exp(s), k, 0.0)
        if abs(r - old) <= CLOSE or shape < LARGE:
            break
    s = log_change(shape, r)
    if shape < LARGE:
        # log P = log mass + constant - shape (exp(s) - 1 - s), on the side of the median where z lies
        target = -level if z * side > 0.0 else math.log(-math.expm1(-level))
        target += stirling_error(shape) + HALF_LOG_TWO_PI + math.log(k)
        for _ in range(STEPS):
            x = shape * math.exp(s)
            mass = tail_below(shape, x) if z < 0.0 else tail_above(shape, x)
            slope = math.copysign(1.0 / mass, -z)
            newton = (math.log(mass) - shape * (math.expm1(s) - s) - target) / slope
            step = newton / max(0.5, 1.0 - 0.5 * newton * (shape - x - slope))
            s -= step
            if abs(step) <= ENOUGH:
                break
    return shape * math.exp(s)
