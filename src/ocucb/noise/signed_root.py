"""From a normal quantile to a gamma or beta quantile, almost exactly.

Both laws are, in a suitable variable, exp(-r²/2) times something slowly varying, where r²/2 is a relative entropy
(Poisson's for the gamma law, Bernoulli's for the beta law) and r has the sign of x - centre. So P(X > x) is the upper
tail of a standard normal at

    z = r + e₁(r) + e₂(r) + e₃(r) + ...,    e₁ = log(u/r)/r,    u = (x - centre)/(standard scale at the centre),

each term smaller than the last by the size of the smallest shape. The terms follow from matching densities,
    log z'(r) - z²/2 = log(r/u) - r²/2 + (3t - k²)/12 + ...,
when the local variance over that at the centre is 1 + k u + t u². Three terms leave a relative error in x of about
1e-11 at a shape of 100, falling as the fourth power; at a shape of 1 they leave 0.003, a start to be polished.

N. M. Temme, "Asymptotic inversion of incomplete gamma functions" (1992) and "... the incomplete beta function"
(1992), in the shape of O. E. Barndorff-Nielsen's r* (1986), which is the term e₁.
"""

from __future__ import annotations

import math

from ocucb.compiled import kernel
from ocucb.noise.normal import HALF_LOG_TWO_PI

LARGE = 150.0  # a smallest shape from which three terms are enough
ENOUGH = 1e-5  # a step in log x after which Halley's error, about its cube, is below rounding
CLOSE = 1e-3  # a step in r after which Newton's error is below rounding, for shapes from LARGE on
STEPS = 8  # a bound on the work; one or two do
TERMS = 1000  # a bound on the work; below LARGE, at most about 120 are used
DIGITS = 1e-16


@kernel
def stirling_error(shape: float) -> float:
    """Return log Γ(shape) less its Stirling approximation (shape - 1/2) log shape - shape + log(2π)/2."""
    if shape < 10.0:
        return math.lgamma(shape) - (shape - 0.5) * math.log(shape) + shape - HALF_LOG_TWO_PI
    y = 1.0 / (shape * shape)
    return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188 - y * 691 / 360360))))) / shape


@kernel
def first_root(z: float, k: float, t: float) -> float:
    """Return r for z, from the series of e₁ at 0."""
    return (z - k / 3) / (1.0 + (9.0 * t - k * k) / 36)


@kernel
def improved_root(z: float, r: float, u: float, variance: float, k: float, t: float) -> float:
    """Return r for z, by a Newton step from an r at which u and the variance 1 + k u + t u² are known."""
    kk = k * k
    tt = t * t
    if abs(r) < 0.2:  # the terms are 0/0 at 0: use their series
        c0 = k * (1 / 3 + (13.0 * kk - 81.0 * t) / 1620 - (kk * (3095.0 * kk - 24462.0 * t) + 49815.0 * tt) / 816480)
        c1 = (9.0 * t - kk) / 36 + (kk * (119.0 * kk - 918.0 * t) + 1215.0 * tt) / 38880
        c1 += (kk * (kk * (215827.0 * kk - 2084913.0 * t) + 6252633.0 * tt) - 5740875.0 * t * tt) / 146966400
        c2 = k * ((27.0 * t - kk) / 1620 - (kk * (302.0 * kk - 2475.0 * t) + 5589.0 * tt) / 204120)
        c3 = (kk * (7.0 * kk - 54.0 * t) + 135.0 * tt) / 6480
        return r - (r + c0 + r * (c1 + r * (c2 + r * c3)) - z) / (1.0 + c1 + r * (2.0 * c2 + r * 3.0 * c3))
    # growth is (log u)'; slope and bend are the derivatives of a term.
    ratio = r / u
    growth = variance / u * ratio
    growth_slope = growth * ((k + 2.0 * t * u) * ratio + 1.0 / r - 2.0 * growth)
    e1 = -math.log(ratio) / r
    e1_slope = (growth - 1.0 / r - e1) / r
    e1_bend = (growth_slope + 1.0 / (r * r) - 2.0 * e1_slope) / r
    e2 = (e1_slope - 0.5 * e1 * e1 - (3.0 * t - kk) / 12) / r
    e2_slope = (e1_bend - e1 * e1_slope - e2) / r
    e3 = (e2_slope - e1 * e2 - 0.5 * e1_slope * e1_slope) / r
    return r - (r + e1 + e2 + e3 - z) / (1.0 + e1_slope + e2_slope)
