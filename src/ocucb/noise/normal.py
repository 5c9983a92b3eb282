"""The inverse normal distribution: from a probability by a table of short polynomials, from a logarithm by AS241.

A tail's exponent and leading bits pick a polynomial of degree seven, a cache line: no division and no logarithm.
`tools/quantile_tables.py` makes the table, and says why the quantile is monotone. It is within 2 units in the last
place of the true one, for every tail that a uniform number of the package can have.

AS241, Wichura's algorithm (1988), good to about 16 digits, reads small tails through sqrt(-log tail). Given the
logarithm itself, no tail is too small to write down: its range ends at exp(-729), and beyond that the tail's asymptotic
series is solved by Newton's method.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from ocucb.compiled import bits_of, float_of, kernel, polynomials, rare_kernel

FAR = 27.0  # sqrt(-log tail) where the published range ends
HALF_LOG_TWO_PI = 0.9189385332046727

BINADES = 56  # from 1/2 down; no uniform number of the package has a tail below 2^-54
PIECES = 32  # of a binade
COEFFICIENTS = 8  # of a polynomial
LEAST_TAIL = 2.0 ** -(BINADES + 1)
TABLE_FILE = Path(__file__).with_name("normal_table.f64")
# It stands here so that an edit of the table is an edit of this file: compiled code carries the table with it.
TABLE_DIGEST = "a6a134137b6853f05a51b0f01bb1456db166273de03511222e0999e60dddd0dd"

_SHIFT = 52 - 5  # of bits, to exponent and piece
_FIRST = (1023 - (BINADES + 1)) * PIECES  # of the first row
_polynomial = polynomials(np.frombuffer(TABLE_FILE.read_bytes(), "<f8").reshape(-1, COEFFICIENTS))


@kernel
def central_quantile(offset: float) -> float:
    """Return the quantile at probability 1/2 + offset, |offset| <= 0.425."""
    r = 0.180625 - offset * offset
    above = 3.3430575583588128105e4 + r * 2.5090809287301226727e3
    above = 1.3731693765509461125e4 + r * (4.5921953931549871457e4 + r * (6.7265770927008700853e4 + r * above))
    above = 3.3871328727963666080e0 + r * (1.3314166789178437745e2 + r * (1.9715909503065514427e3 + r * above))
    below = 2.8729085735721942674e4 + r * 5.2264952788528545610e3
    below = 5.3941960214247511077e3 + r * (2.1213794301586595867e4 + r * (3.9307895800092710610e4 + r * below))
    below = 1.0 + r * (4.2313330701600911252e1 + r * (6.8718700749205790830e2 + r * below))
    return offset * above / below


@kernel
def tail_quantile(root: float) -> float:
    """Return the quantile with upper tail exp(-root²), for a tail of at most 0.075 and root <= 27."""
    if root <= 5.0:
        r = root - 1.6
        above = 2.27238449892691845833e-2 + r * 7.74545014278341407640e-4
        above = 3.64784832476320460504e0 + r * (1.27045825245236838258e0 + r * (2.41780725177450611770e-1 + r * above))
        above = 1.42343711074968357734e0 + r * (4.63033784615654529590e0 + r * (5.76949722146069140550e0 + r * above))
        below = 5.47593808499534494600e-4 + r * 1.05075007164441684324e-9
        below = 6.89767334985100004550e-1 + r * (
            1.48103976427480074590e-1 + r * (1.51986665636164571966e-2 + r * below)
        )
        below = 1.0 + r * (2.05319162663775882187e0 + r * (1.67638483018380384940e0 + r * below))
        return above / below
    r = root - 5.0
    above = 2.71155556874348757815e-5 + r * 2.01033439929228813265e-7
    above = 2.96560571828504891230e-1 + r * (2.65321895265761230930e-2 + r * (1.24266094738807843860e-3 + r * above))
    above = 6.65790464350110377720e0 + r * (5.46378491116411436990e0 + r * (1.78482653991729133580e0 + r * above))
    below = 1.42151175831644588870e-7 + r * 2.04426310338993978564e-15
    below = 1.48753612908506148525e-2 + r * (7.86869131145613259100e-4 + r * (1.84631831751005468180e-5 + r * below))
    below = 1.0 + r * (5.99832206555887937690e-1 + r * (1.36929880922735805310e-1 + r * below))
    return above / below


@kernel
def far_tail_quantile(level: float) -> float:
    """Return the quantile with upper tail exp(-level), for level > 729."""
    if level > 1e18:
        return math.sqrt(2.0) * math.sqrt(level)  # the other terms are below rounding
    z = math.sqrt(2.0 * (level - HALF_LOG_TWO_PI - 0.5 * math.log(2.0 * level)))
    for _ in range(2):
        y = 1.0 / (z * z)
        series = math.log1p(-y * (1.0 - y * (3.0 - y * (15.0 - y * 105.0))))
        z += (level - 0.5 * z * z - HALF_LOG_TWO_PI - math.log(z) + series) / (z + 1.0 / z)
    return z


@rare_kernel
def small_tail_quantile(tail: float) -> float:
    """Return the quantile with this upper tail, for one below all that the table has."""
    return tail_quantile(math.sqrt(-math.log(tail)))


@kernel
def quantile(uniform: float) -> float:
    """Return the standard normal quantile at a probability in (0, 1)."""
    tail = min(uniform, 1.0 - uniform)
    if tail <= LEAST_TAIL:
        return math.copysign(small_tail_quantile(tail), uniform - 0.5)
    piece = (bits_of(tail) - 1) >> _SHIFT
    x = float_of((piece + 1) << _SHIFT) - tail
    return math.copysign(_polynomial(piece - _FIRST, x), uniform - 0.5)


@kernel
def upper_quantile(level: float) -> float:
    """Return the value that a standard normal exceeds with probability exp(-level)."""
    if level <= 0.0:
        return -math.inf
    if level < 0.07796:  # a tail above 0.925; written as the tail below, which level near 0 leaves small
        return -tail_quantile(math.sqrt(-math.log(-math.expm1(-level))))
    if level < 2.5902:  # a tail above 0.075
        return central_quantile(0.5 - math.exp(-level))
    if level <= FAR * FAR:
        return tail_quantile(math.sqrt(level))
    return far_tail_quantile(level)
