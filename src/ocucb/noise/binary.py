"""The binary relative entropy and its inverse. Each takes 1 - p beside p, which near p = 1 says more than p does."""

from __future__ import annotations

import math

from ocucb.compiled import kernel
from ocucb.noise.excess import ENOUGH, STEPS, excess, excess_below, scaled_excess

SATURATED = 40.0  # exp(-40) is nothing beside 1


@kernel
def relative_entropy(p: float, rest: float, q: float, other: float, delta: float) -> float:
    """Return the relative entropy from p to q; rest = 1 - p, other = 1 - q, delta = q - p."""
    if q < 0.0 or other < 0.0:
        return math.inf
    return scaled_excess(p, q, delta) + scaled_excess(rest, other, -delta)


@kernel
def log_shrink(p: float, rest: float, x: float) -> float:
    """Return the s >= 0 for which the relative entropy from p to 1 - rest exp(-s) is x; rest = 1 - p > 0.

    In s the entropy is convex, and a line for large x. The first value is its expansion to order x, written so that it
    keeps that limit: rest s = x + p log(q/p), where p log(q/p) = g - (1 + p) x / 3 + ..., g = sqrt(2 p rest x).
    """
    if p <= 0.0:
        return x / rest
    g = math.sqrt(2.0 * p * rest * x)
    s = (x + g * g / (g + (1.0 + p) * x / 3)) / rest
    for _ in range(STEPS):
        if not 0.0 < s < 1e300:
            break
        drop = math.expm1(-s)
        delta = -rest * drop
        q = p + delta
        slope = delta / q
        newton = (scaled_excess(p, q, delta) + rest * excess_below(s, drop) - x) / slope
        step = newton / (1.0 - 0.5 * (newton / delta) * (1.0 - slope) * (rest - delta))
        s -= step
        if abs(step) <= ENOUGH * s:
            break
    return s


@kernel
def largest_gain(p: float, rest: float, x: float) -> float:
    """Return the largest delta for which the relative entropy from p to p + delta is at most x; p + rest = 1."""
    if not x > 0.0 or rest <= 0.0:
        return 0.0
    if x > SATURATED * rest:
        return rest
    variance = p * rest
    skew = rest - p
    if not (x < 0.02 and 50.0 * x * skew * skew < variance and variance > 1e-60):
        return -rest * math.expm1(-log_shrink(p, rest, x))
    # The usual case, a small x: five terms of the series in sqrt(x), and one of Halley's steps.
    scale = math.sqrt(variance)
    r = math.sqrt(2.0 * x)
    k = skew / scale
    kk = k * k
    delta = k * (kk + 27.0) / 270 - r * (kk * (kk - 18.0) + 225.0) / 4320
    delta = scale * r * (1.0 + r * (k / 3 + r * ((kk - 9.0) / 36 - r * delta)))
    q, other = p + delta, rest - delta
    newton = (p * excess(delta / p) + rest * excess(-delta / rest) - x) * q * other / delta
    return delta - newton / (1.0 - 0.5 * (newton / delta) * (p * other / q + rest * q / other))
