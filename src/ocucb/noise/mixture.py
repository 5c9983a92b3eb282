"""Evidence against a mean, by a mixture of likelihood ratios: what confidence sequences are made of.

Let M_n(q) be the likelihood of an arm's n rewards under every other mean, averaged by a prior, over that under mean q.
If q is the mean, M_n(q) is a martingale that starts at 1, so it ever exceeds 1/α with probability at most α (Ville):
whatever the policy, however often one looks. The prior is the family's conjugate one, with its centre at q and the
weight of w rewards. In every family then, with N = n + w and m' the mean of all N,

    log M_n(q) = N d(m', q) - log(N/w)/2 + what is left of Stirling's formula

Two priors are mixed, 9 to 1. The heavy one makes intervals narrow at a hundred rewards and more. Under it alone a few
rewards say little, however far off they are: an arm that a policy soon leaves alone would never be ruled out.

H. Robbins, "Statistical methods related to the law of the iterated logarithm", 1970; S. R. Howard, A. Ramdas,
J. McAuliffe, J. Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", 2021.
"""

from __future__ import annotations

import math

from ocucb.compiled import Parameters, kernel

# Narrowest near a hundred rewards; at 1,000 the interval is 1.64 times that of a fixed number of rewards.
HEAVY = 20.0
LIGHT = 1.0
LOG_SHARE_OF_HEAVY, LOG_SHARE_OF_LIGHT = math.log(0.9), math.log(0.1)
HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)


@kernel
def dilution(count: float, weight: float) -> float:
    """Return log(N/w)/2: what the mixture costs against the best alternative in it."""
    return 0.5 * math.log1p(count / weight)


@kernel
def mixed(heavy: float, light: float) -> float:
    """Return the evidence of both priors together, from that of each."""
    one, other = heavy + LOG_SHARE_OF_HEAVY, light + LOG_SHARE_OF_LIGHT
    most = max(one, other)
    return most if most == math.inf else most + math.log1p(math.exp(min(one, other) - most))


@kernel
def remainder(x: float) -> float:
    """Return log Γ(x) - (x - 1/2) log x + x - log(2π)/2, x > 0: positive, and about 1/(12 x)."""
    if x < 10.0:
        return math.lgamma(x) - (x - 0.5) * math.log(x) + x - HALF_LOG_2_PI
    y = 1.0 / (x * x)
    return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y / 1680))) / x


@kernel
def subgaussian(mean: float, count: float, null: float, family: Parameters) -> float:
    """Return the evidence against mean `null` of rewards that are family[0]-subgaussian: Robbins' normal mixture."""
    z = (mean - null) / family[0]
    whole = 0.5 * count * z * z
    heavy = whole * (count / (count + HEAVY)) - dilution(count, HEAVY)
    return mixed(heavy, whole * (count / (count + LIGHT)) - dilution(count, LIGHT))
