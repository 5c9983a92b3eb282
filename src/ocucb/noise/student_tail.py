"""Quantiles of Student's t law with any degrees of freedom above 0, from the logarithm of a tail.

With w = t²/ν, 1/(1 + w) follows Beta(ν/2, 1/2) and w/(1 + w) Beta(1/2, ν/2). The continued fraction of the first gives
the tail beyond t, that of the second the mass between the median and t. Each is used where it converges fast.
"""

from __future__ import annotations

import math

from ocucb.compiled import kernel
from ocucb.noise.beta_tail import tail_below
from ocucb.noise.normal import upper_quantile
from ocucb.noise.signed_root import stirling_error

HALF_LOG_PI = 0.5 * math.log(math.pi)
LOG_TWO = math.log(2.0)
WIDE = 700.0  # log w beyond which exp would overflow
FAR = 600.0  # log w beyond which the tail is w^(-ν/2) / (ν B), and nothing else counts
STEPS = 40  # a bound on the work; three or four do
ENOUGH = 1e-9  # a step after which Newton's error, about its square, is below rounding


@kernel
def log_beta(a: float) -> float:
    """Return log B(a, 1/2)."""
    if a < 0.5:
        return math.lgamma(a) - math.lgamma(a + 0.5) + HALF_LOG_PI
    rise = a * math.log1p(0.5 / a) + 0.5 * math.log(a) - 0.5 + stirling_error(a + 0.5) - stirling_error(a)
    return HALF_LOG_PI - rise


@kernel
def central_mass(a: float, w: float, constant: float) -> float:
    """Return P(0 < T < t), 2a degrees of freedom, w = t²/(2a), constant = log B(a, 1/2)."""
    y = w / (1.0 + w)
    mass = tail_below(0.5, a, y, 0.5 - (0.5 + a) * y)
    return 0.5 * mass * math.sqrt(y) * math.exp(-a * math.log1p(w) - constant)


@kernel
def central_quantile(a: float, target: float, first: float, constant: float) -> float:
    """Return sqrt(w) with P(0 < T < t) = target, by Newton's steps from a first guess."""
    root = first
    for _ in range(STEPS):
        w = root * root
        density = math.exp(-(a + 0.5) * math.log1p(w) - constant)
        step = (central_mass(a, w, constant) - target) / density
        root = max(root - step, 0.5 * root)
        if abs(step) <= ENOUGH * root:
            break
    return root


@kernel
def tail_quantile(a: float, level: float, first: float, constant: float) -> float:
    """Return sqrt(w) with P(T > t) = exp(-level), by Newton's steps in log w from a first guess."""
    s = first
    for _ in range(STEPS):
        w = math.exp(s)
        x = 1.0 / (1.0 + w)
        mass = tail_below(a, 0.5, x, a - (a + 0.5) * x)
        # log P = log(mass/2) + a log x + log(1 - x)/2 - log B; its slope in s is -1/mass.
        here = math.log(0.5 * mass) - (a + 0.5) * math.log1p(w) + 0.5 * s - constant
        step = (here + level) * mass
        s = min(max(s + step, -WIDE), WIDE)
        if abs(step) <= ENOUGH:
            break
    return math.exp(0.5 * s)


@kernel
def upper_quantile_over_root(freedom: float, level: float) -> float:
    """Return t/√ν for the t that is exceeded with probability exp(-level)."""
    if level <= 0.0:
        return -math.inf
    if level < LOG_TWO:
        # The tail on the other side, by its logarithm; the law is symmetric.
        return -upper_half(freedom, -math.log(-math.expm1(-level)), 0.5 + math.expm1(-level))
    return upper_half(freedom, level, 0.5 - math.exp(-level))


@kernel
def upper_half(freedom: float, level: float, target: float) -> float:
    """Return t/√ν for a tail of exp(-level), at most 1/2, where `target` is 1/2 less that, in absolute value."""
    target = abs(target)
    if target == 0.0:
        return 0.0
    a = 0.5 * freedom
    constant = log_beta(a)
    far = (level - math.log(freedom) - constant) / a
    if far > FAR:
        return math.exp(0.5 * far)
    # Wallace 1959: sqrt(ν log(1 + t²/ν)) is almost normal.
    z = upper_quantile(level) * (8.0 * freedom + 3.0) / (8.0 * freedom + 1.0)
    u = z * z / freedom
    if -math.expm1(-u) * (a + 2.5) < 1.5:  # w/(1 + w), below about its mean
        return central_quantile(a, target, math.sqrt(math.expm1(u)), constant)
    return tail_quantile(a, level, min(u, FAR) if u > 30.0 else math.log(math.expm1(u)), constant)
