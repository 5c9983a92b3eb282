"""Quantiles of the beta law with both shapes >= 1, from the logarithm of a tail.

As for the gamma law, but in the log-odds of x: there the density is x^a (1 - x)^b / B(a, b), and x and 1 - x are both
known to full relative precision.
"""

from __future__ import annotations

import math

from ocucb.compiled import kernel
from ocucb.noise.binary import log_shrink
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

WIDE = 700.0  # log-odds beyond which exp would overflow


@kernel
def log_odds_increase(p: float, rest: float, y: float) -> float:
    """Return how far log-odds must move up from p for a relative entropy of y."""
    s = log_shrink(p, rest, y)
    return s + math.log1p(-rest * math.expm1(-s) / p)


@kernel
def log_odds_change(p: float, rest: float, total: float, r: float) -> float:
    """Return the log-odds of x less those of p at the signed root r."""
    y = 0.5 * r * r / total
    return max(-WIDE, -log_odds_increase(rest, p, y)) if r < 0.0 else min(WIDE, log_odds_increase(p, rest, y))


@kernel
def tail_below(a: float, b: float, x: float, lead: float) -> float:
    """Return P(X < x) / (x (1 - x) density(x)), given lead = a - (a + b) x, which cancels if computed here."""
    scale = 1.0 / (a + 1.0)
    part = a * scale * (lead + 1.0)
    ratio = 1.0 / part
    change = ratio
    total = ratio
    for n in range(1, TERMS):
        numerator = (a + n - 1.0) * (a + b + n - 1.0) * n * (b - n) * x * x * scale * scale
        part = n + n * (b - n) * x * scale
        scale = 1.0 / (a + 2.0 * n + 1.0)
        part += (a + n) * scale * (lead + 1.0 + n * (2.0 - x))
        ratio = 1.0 / (part + numerator * ratio)
        change *= part * ratio - 1.0
        total += change
        if abs(change) <= DIGITS * total:
            break
    return total


@kernel
def quantile(a: float, b: float, level: float) -> float:
    """Return the x that X exceeds with probability exp(-level)."""
    if level <= 0.0:
        return 0.0
    if level > 200.0 * b:
        return 1.0  # 1 - x, about exp(-level / b), is nothing beside 1
    mirrored = a > b  # keep to the side where x is small, so that nothing below cancels
    if mirrored:
        a, b = b, a
    z = 0.0 - upper_quantile(level) if mirrored else upper_quantile(level)  # at the median 0, not -0
    total = a + b
    p, rest = a / total, b / total
    scale = math.sqrt(p * rest / total)
    k, t = (rest - p) / (total * scale), -1.0 / total
    r = first_root(z, k, t)
    for _ in range(STEPS):
        s = log_odds_change(p, rest, total, r)
        odds = p * math.expm1(s)
        x = math.exp(s) / (1.0 + odds)
        old, r = r, improved_root(z, r, rest * odds / ((1.0 + odds) * scale), x / (1.0 + odds), k, t)
        if abs(r - old) <= CLOSE or a < LARGE:
            break
    s = log_odds_change(p, rest, total, r)
    if a < LARGE:
        # log P = log mass + constant - total (log(1 + p (exp(s) - 1)) - p s), on the side of the median where z lies
        target = -level if (z > 0.0) != mirrored else math.log(-math.expm1(-level))
        target -= (
            math.log(total * scale) - HALF_LOG_TWO_PI + stirling_error(total) - stirling_error(a) - stirling_error(b)
        )
        for _ in range(STEPS):
            odds = p * math.expm1(s)
            x = p * math.exp(s) / (1.0 + odds)
            lead = -b * odds / (1.0 + odds)
            mass = tail_below(a, b, x, lead) if z < 0.0 else tail_below(b, a, rest / (1.0 + odds), -lead)
            slope = math.copysign(1.0 / mass, -z)
            newton = (math.log(mass) - total * (math.log1p(odds) - p * s) - target) / slope
            step = newton / max(0.5, 1.0 - 0.5 * newton * (lead - slope))
            s = min(max(s - step, -WIDE), WIDE)
            if abs(step) <= ENOUGH:
                break
    odds = p * math.expm1(s)
    return min(1.0, (rest if mirrored else p * math.exp(s)) / (1.0 + odds))
