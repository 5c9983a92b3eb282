"""Exponential noise: a reward is a waiting time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from ocucb.compiled import Floats, Parameters, bits_of, float_of, kernel, polynomials
from ocucb.noise import gamma_tail
from ocucb.noise.excess import inverse_below, scaled_excess
from ocucb.noise.mixture import HEAVY, LIGHT, dilution, mixed, remainder
from ocucb.noise.noise import LARGEST_FLOAT, Evidence, Family, Noise, Z
from ocucb.noise.normal import COEFFICIENTS

LOG_TWO = 0.6931471805599453
# Made by tools/quantile_tables.py. Its digest stands here so that an edit of the table is an edit of this file.
TABLE_FILE = Path(__file__).with_name("exponential_table.f64")
TABLE_DIGEST = "9abfc015b57cff07cd8d109ad5e94cec9681204f801f968f641c7b1fc3e812c2"

_SHIFT = 52 - 5  # of bits, to the piece
_MANTISSA = (1 << 52) - 1
_HALF = 1022 << 52  # the bits of 1/2
_polynomial = polynomials(np.frombuffer(TABLE_FILE.read_bytes(), "<f8").reshape(-1, COEFFICIENTS))


@kernel
def divergence(p: float, q: float, family: Parameters) -> float:
    if p == q:
        return 0.0
    if p <= 0.0 or q <= 0.0:
        return math.inf  # a mean of 0 is certainty, which no other exponential law shares
    return scaled_excess(q, p, p - q) / q


@kernel
def upper(mean: float, pulls: float, level: float, family: Parameters) -> float:
    """Return the bound; for mean 0, from which every other law is infinitely far, 0."""
    if mean <= 0.0:
        return mean
    s = inverse_below(max(level, 0.0) / pulls)
    if s < 700.0:
        return mean + mean * math.expm1(s)
    root = math.exp(0.5 * s)  # the square alone might overflow
    return mean * root * root


@kernel
def posterior(mean: float, pulls: float, level: float, family: Parameters) -> float:
    """Return the quantile of 1/rate, rate ~ Gamma(1 + T, rate S), S the sum of the rewards; for S = 0, 0."""
    if mean <= 0.0:
        return 0.0
    return mean * pulls / gamma_tail.quantile(1.0 + pulls, level, -1.0)


@kernel
def switch(mean: float, pulls: float, level: float, family: Parameters) -> float:
    return upper(mean, pulls, abs(level), family)


@kernel
def quantile(mean: float, uniform: float, family: Parameters) -> float:
    """Return -mean log(1 - uniform), by a polynomial for the mantissa of 1 - uniform and its exponent's logarithm."""
    tail = 1.0 - uniform
    bits = bits_of(tail) - 1
    piece = (bits & _MANTISSA) >> _SHIFT
    x = float_of(((piece + 1) << _SHIFT) + _HALF) - float_of((bits & _MANTISSA) + 1 + _HALF)
    value = (1022 - (bits >> 52)) * LOG_TWO + _polynomial(piece, x)
    lost = uniform - (1.0 - tail)  # when 1 - uniform was rounded; of the tape's uniforms nothing
    return float(mean * (value + lost))


@kernel
def evidence_by(mean: float, count: float, null: float, weight: float, family: Parameters) -> float:
    """Return the evidence against a mean, by a mixture of rates over Gamma(weight, rate weight null)."""
    total = count + weight
    value = total * divergence((weight * null + count * mean) / total, null, family) - dilution(count, weight)
    return value + remainder(total) - remainder(weight)


@kernel
def evidence(mean: float, count: float, null: float, family: Parameters) -> float:
    """Return the evidence against a mean, by both priors."""
    heavy = evidence_by(mean, count, null, HEAVY, family)
    return mixed(heavy, evidence_by(mean, count, null, LIGHT, family))


@dataclass(frozen=True)
class Exponential(Noise):
    """Rewards that are exponential waiting times.

    d(p, q) = p/q - 1 - log(p/q);  posterior under a flat prior on the rate 1/mean: Gamma(1 + T, rate S)

    >>> round(Exponential().upper(1.0, 0.5), 12)
    3.314445823669
    """

    name: ClassVar[str] = "exponential"
    formula: ClassVar[str] = "d(p, q) = p/q - 1 - log(p/q)"
    summary: ClassVar[str] = "waiting times"
    interval_method: ClassVar[str] = "the score interval, whose standard deviation is the mean"

    def family(self) -> Family:
        return Family(divergence, upper, posterior, switch, quantile)

    def evidence(self) -> Evidence:
        return Evidence(evidence)

    def standard_deviation(self, mean: float) -> float:
        return mean

    def interval_ends(self, means: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """Solve |mean - q| = z q/√n for q. With few rewards there is no upper end."""
        ratio = Z / np.sqrt(counts)
        return means / (1.0 + ratio), np.where(ratio < 1.0, means / np.maximum(1.0 - ratio, 1e-300), math.inf)

    def support(self) -> tuple[float, float]:
        return 0.0, LARGEST_FLOAT

    def expected(self) -> str:
        return "a finite number, 0 or more"
