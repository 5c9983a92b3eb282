"""How likely a walk crosses a concave boundary between two times: Ville's inequality for the best line below it.

S_s is a sum of s independent 1-subgaussian variables. For a, b > 0, exp(2bS_s - 2b²s) is a supermartingale that starts
at 1, and is exp(2ab) at least where S_s ≥ a + bs, so

    P(S_s ≥ a + bs for some s ≥ 1) ≤ exp(-2ab).

A line that is below a concave boundary at u and at v is below it between them. Against the paper's peeling, which takes
the boundary's value at u for the whole block [u, v], this loses the square of log(v/u) in place of log(v/u) itself.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats


def line_exponent(u: npt.ArrayLike, at_u: npt.ArrayLike, v: npt.ArrayLike, at_v: npt.ArrayLike) -> Floats:
    """Return E such that a walk crosses a concave boundary between times u and v with probability exp(-E) at most.

    E = max{ 2ab : a + bu ≤ g(u), a + bv ≤ g(v) },  0 < u ≤ v, g(u) > 0 and g(v) > 0

    Without the second condition a = g(u)/2, b = g(u)/(2u) is best, which gives g(u)²/(2u); without the first one
    g(v)²/(2v); if neither line meets both, the best one is the chord.

    Parameters
    ----------
    at_u, at_v : g(u) and g(v).

    >>> float(line_exponent(1.0, 2.0, 1.0, 2.0)), round(float(line_exponent(1.0, 1.0, 4.0, 2.0)), 6)
    (2.0, 0.444444)
    """
    first, last = np.asarray(u, dtype=np.float64), np.asarray(v, dtype=np.float64)
    low, high = np.asarray(at_u, dtype=np.float64), np.asarray(at_v, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):  # where u = v there is no chord, and none is needed
        slope = (high - low) / (last - first)
        chord = 2.0 * slope * (low - slope * first)
    rising = low * (first + last) <= 2.0 * first * high
    flat = high * (first + last) <= 2.0 * last * low
    return np.asarray(np.where(rising, low**2 / (2.0 * first), np.where(flat, high**2 / (2.0 * last), chord)))


def blocks(end: int, ratio: float, alone: int) -> tuple[Floats, Floats]:
    """Return the first and the last number of each block that 1, 2, ..., end is cut into.

    ratio : how much larger the last may be than the first.
    alone : numbers below this are blocks of their own.

    >>> [ends.tolist() for ends in blocks(12, 1.5, 4)]
    [[1.0, 2.0, 3.0, 4.0, 7.0, 11.0], [1.0, 2.0, 3.0, 6.0, 10.0, 12.0]]
    """
    first, ends = 1, []
    while first <= end:
        last = first if first < alone else min(end, int(first * ratio))
        ends.append((first, last))
        first = last + 1
    found = np.array(ends, dtype=np.float64).reshape((-1, 2))
    return found[:, 0], found[:, 1]
