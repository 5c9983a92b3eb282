"""One convex function behind three divergences, and its inverses.

excess(u) = u - log(1 + u) gives, without cancellation however close the two means are,

    Poisson      d(p, q) = p excess((q - p)/p)
    exponential  d(p, q) = excess((p - q)/q)
    Bernoulli    d(p, q) = p excess((q - p)/p) + (1 - p) excess((p - q)/(1 - p))

The inverses start from their series at 0 or their limit at infinity, and take Halley's steps.
"""

from __future__ import annotations

import math

from ocucb.compiled import kernel

ENOUGH = 1e-5  # a relative step after which Halley's error, about its cube, is below rounding
STEPS = 20  # a bound on the work; two or three steps do


@kernel
def excess(u: float) -> float:
    """Return u - log(1 + u), u >= -1."""
    if -0.25 < u < 0.25:
        w = u / (2.0 + u)  # log(1 + u) = 2 artanh(w), and u - 2w = u w
        y = w * w
        rest = 1 / 11 + y * (1 / 13 + y * (1 / 15 + y * (1 / 17 + y / 19)))
        return u * w - 2.0 * w * y * (1 / 3 + y * (1 / 5 + y * (1 / 7 + y * (1 / 9 + y * rest))))
    return u - math.log1p(u)


@kernel
def scaled_excess(p: float, q: float, delta: float) -> float:
    """Return p excess(delta / p) for delta = q - p; at p = 0 it is delta, and at q = 0 infinite."""
    if delta == 0.0 or delta > 1e18 * p:
        return delta
    if abs(delta) < 0.25 * p:
        return p * excess(delta / p)
    return delta - p * math.log(q / p)  # not through delta, in which a q near 0 is lost


@kernel
def excess_below(s: float, drop: float) -> float:
    """Return excess(drop) = drop + s for drop = exp(-s) - 1, s >= 0."""
    if s < 0.1:
        rest = 1 / 720 - s * (1 / 5040 - s * (1 / 40320 - s * (1 / 362880 - s / 3628800)))
        return s * s * (1 / 2 - s * (1 / 6 - s * (1 / 24 - s * (1 / 120 - s * rest))))
    return drop + s


@kernel
def inverse_above(y: float) -> float:
    """Return the u >= 0 with excess(u) = y."""
    s = math.sqrt(2.0 * y)
    series = s * (1.0 + s * (1 / 3 + s * (1 / 36 + s * (-1 / 270 + s / 4320))))
    u = series if s < 1.5 else y + math.log1p(y + s)
    for _ in range(STEPS):
        if not 0.0 < u < 1e18:
            break  # 0, or so large that y is u to the last digit
        newton = (excess(u) - y) * (1.0 + u) / u
        step = newton / (1.0 - 0.5 * newton / (u * (1.0 + u)))
        u -= step
        if abs(step) <= ENOUGH * u:
            break
    return u


@kernel
def inverse_below(y: float) -> float:
    """Return the s >= 0 with excess(exp(-s) - 1) = y."""
    s = math.sqrt(2.0 * y)
    if s < 2.0:
        s *= 1.0 + s * (1 / 6 + s * (1 / 36 + s * (1 / 270 + s / 4320)))
    else:
        s = y + 1.0
    for _ in range(STEPS):
        if not 0.0 < s < 40.0:
            break  # 0, or so large that exp(-s) is nothing beside s
        drop = math.expm1(-s)
        newton = (y - excess_below(s, drop)) / drop
        step = newton / (1.0 + 0.5 * newton * (1.0 + drop) / drop)
        s -= step
        if abs(step) <= ENOUGH * s:
            break
    return s
