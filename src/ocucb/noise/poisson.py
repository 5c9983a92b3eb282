"""Poisson noise: a reward is a count."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ocucb.compiled import Floats, Parameters, constants, fused, inlined, kernel, rare_kernel
from ocucb.noise import gamma_tail, normal
from ocucb.noise.excess import inverse_above, scaled_excess
from ocucb.noise.mixture import HEAVY, LIGHT, dilution, mixed, remainder
from ocucb.noise.noise import LARGEST_FLOAT, Evidence, Family, Noise, Z

FEW = 3.0  # a mean up to which counting up from 0 is quicker than the expansion
SOME = 12.0  # a mean up to which it is quicker than `exact_count`
WHOLE = 1.5 * 2.0**52  # added and subtracted, it rounds a float below 2^51 to a whole number
# 1/count; at a mean of SOME no count above 70 is as likely as 1e-20.
_inverse = constants(1.0 / np.maximum(1.0, np.arange(128.0)))


@kernel
def divergence(p: float, q: float, family: Parameters) -> float:
    if q < 0.0:
        return math.inf
    return scaled_excess(p, q, q - p)


@kernel
def upper(mean: float, pulls: float, level: float, family: Parameters) -> float:
    x = max(level, 0.0) / pulls
    if x == 0.0:
        return mean
    if x > 1e18 * mean:
        return x  # the limit at mean 0, already right to the last digit
    return mean + mean * inverse_above(x / mean)


@kernel
def posterior(mean: float, pulls: float, level: float, family: Parameters) -> float:
    """Return the quantile of Gamma(1 + S, rate T), S the sum of the rewards."""
    return gamma_tail.quantile(1.0 + mean * pulls, level, 1.0) / pulls


@kernel
def switch(mean: float, pulls: float, level: float, family: Parameters) -> float:
    return upper(mean, pulls, abs(level), family)


@rare_kernel
def exact_count(count: float, mean: float, uniform: float) -> float:
    """Return the smallest count k with P(X <= k) >= uniform, starting nearby: X <= k if Gamma(k + 1) > mean."""
    level = -math.log(uniform)
    while gamma_tail.quantile(count + 1.0, level, 1.0) < mean:
        count += 1.0
    while count >= 1.0 and gamma_tail.quantile(count, level, 1.0) >= mean:
        count -= 1.0
    return count


@inlined
def counted_quantile(mean: float, uniform: float) -> float:
    """Return the exact quantile of a mean up to SOME: probabilities are added up until they reach the uniform.

    Four at a time: where among them the sum arrives is counted, without a guess that a processor can get wrong.
    """
    place = 0
    last = math.exp(-mean)
    total = last
    while True:
        one = last * (mean * _inverse(place + 1))
        two = one * (mean * _inverse(place + 2))
        three = two * (mean * _inverse(place + 3))
        four = three * (mean * _inverse(place + 4))
        after_one = total + one
        after_two = after_one + two
        after_three = after_two + three
        after_four = after_three + four
        if after_four >= uniform or four < 1e-20:
            break
        place += 4
        last, total = four, after_four
    count = place + (total < uniform) + (after_one < uniform) + (after_two < uniform) + (after_three < uniform)
    return exact_count(float(count), mean, uniform) if uniform > 0.9999 else float(count)


@rare_kernel
def undecided_quantile(mean: float, uniform: float, real: float) -> float:
    """Return the exact quantile where the expansion, which says it is about `real`, cannot tell."""
    if mean <= SOME:
        return counted_quantile(mean, uniform)
    count = real if real >= 2.0**52 else float(math.floor(real))  # a float above has no fraction
    return count if mean > 1e15 else exact_count(count, mean, uniform)


@inlined
def expanded_quantile(mean: float, uniform: float) -> float:
    """Return the exact quantile of a mean above FEW, by its expansion in 1/sqrt(mean) where that can tell.

    With s = 1/sqrt(mean), P(Gamma(real) > mean) is `uniform` for
    real = mean + z/s + (2 + z²)/6 - s z (2 + z²)/72 + s² (3z⁴ + 7z² - 16)/810 + s³ z (2684 - 548z² - 207z⁴)/155520,
    and the count is real without its fraction. All that depends on the mean alone is computed beside z, and what
    remains, a polynomial in z of real - 1/2, in few steps that wait for one another.
    """
    root = math.sqrt(mean)
    s = 1.0 / root
    s2 = s * s
    s3 = s * s2
    zeroth = mean - (1 / 6 + s2 * (16 / 810))
    first = root - (s * (1 / 36) - s3 * (2684 / 155520))
    second = 1 / 6 + s2 * (7 / 810)
    third = s * (-1 / 72) - s3 * (548 / 155520)
    # The expansion is within (0.04 + 0.005 z⁶)/mean², and rounding within the rest, which tells nothing above 1e15.
    within = 0.5 - (0.04 * (s2 * s2) + 4e-16 * mean)
    z = normal.quantile(uniform)
    y = z * z
    above = fused(y, fused(s3 * (-207 / 155520), z, s2 * (3 / 810)), fused(third, z, second))
    middle = fused(y, above, fused(first, z, zeroth))
    count = (middle + WHOLE) - WHOLE
    if abs(middle - count) < fused(-0.005 * (s2 * s2), y * y * y, within):
        return float(count)
    return undecided_quantile(mean, uniform, max(0.0, middle + 0.5))


@kernel
def quantile(mean: float, uniform: float, family: Parameters) -> float:
    """Return the exact quantile."""
    return counted_quantile(mean, uniform) if mean <= FEW else expanded_quantile(mean, uniform)


@kernel
def evidence_by(mean: float, count: float, null: float, weight: float, family: Parameters) -> float:
    """Return the evidence against a mean, by a mixture over Gamma(weight null, rate weight)."""
    total = count + weight
    middle = (weight * null + count * mean) / total
    value = total * scaled_excess(middle, null, count * (null - mean) / total) - dilution(count, weight)
    return value - 0.5 * math.log(middle / null) + remainder(total * middle) - remainder(weight * null)


@kernel
def evidence(mean: float, count: float, null: float, family: Parameters) -> float:
    """Return the evidence against a mean, by both priors."""
    heavy = evidence_by(mean, count, null, HEAVY, family)
    return mixed(heavy, evidence_by(mean, count, null, LIGHT, family))


@dataclass(frozen=True)
class Poisson(Noise):
    """Rewards that count events: 0, 1, 2, ...

    d(p, q) = q - p + p log(p/q);  posterior under a flat prior: Gamma(1 + S, rate T)

    >>> Poisson().upper(0.0, 2.5)
    2.5
    """

    name: ClassVar[str] = "poisson"
    formula: ClassVar[str] = "d(p, q) = q - p + p log(p/q)"
    summary: ClassVar[str] = "counts"
    interval_method: ClassVar[str] = "the score interval, whose variance is the mean"
    whole: ClassVar[bool] = True

    def family(self) -> Family:
        return Family(divergence, upper, posterior, switch, quantile)

    def evidence(self) -> Evidence:
        return Evidence(evidence)

    def standard_deviation(self, mean: float) -> float:
        return math.sqrt(mean)

    def interval_ends(self, means: Floats, counts: Floats) -> tuple[Floats, Floats]:
        centre = means + Z**2 / (2.0 * counts)
        half = Z * np.sqrt(means / counts + Z**2 / (4.0 * counts**2))
        return centre - half, centre + half

    def support(self) -> tuple[float, float]:
        return 0.0, LARGEST_FLOAT

    def expected(self) -> str:
        return "a whole number, 0 or more"
