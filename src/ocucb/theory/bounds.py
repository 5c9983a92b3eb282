"""Upper and lower bounds on regret, for noise of scale 1 unless a noise family is given."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ocucb.checks import whole
from ocucb.compiled import Floats
from ocucb.errors import ParameterError
from ocucb.noise import Bernoulli, Noise
from ocucb.theory.gaps import effective_arms, gaps

Booleans = npt.NDArray[np.bool_]


class Alternative(NamedTuple):
    """The means under which an arm would be best, and what the regret would at least be there."""

    means: Floats
    bound: Floats


def finite_time_sum(
    means: npt.ArrayLike, n: npt.ArrayLike, rho: float = 0.5, *, corrected: bool = False, shrink: bool = False
) -> Floats:
    """Return the sum of Theorem 1 at each horizon n, without its constant C_η.

    Σ_{i: Δ_i > 0} ( Δ_i + (1/Δ_i) log max{ n Δ_i² log(n) / k_{i,ρ}, log(n) } )   (Theorem 1)

    As printed it is negative for n = 2 and small gaps, where log(n) < 1, so no regret is below it. The last line of the
    proof has one term more, log max{ n Δ_i² log(n) / k_{i,ρ}, log(n), e }: that is `corrected`, for n = 1 as well.
    `shrink` is the corrected sum with n Δ_i² in place of n Δ_i² log(n): the guarantee of OCUCB-n with t in place of
    t log t, for every ρ in [1/2, 1] (docs/theorem.md).

    >>> round(float(finite_time_sum([0.0, -0.5], 1000)), 6)
    14.021917
    >>> round(float(finite_time_sum([0.0, -0.5], 2)), 6), float(finite_time_sum([0.0, -0.5], 2, corrected=True))
    (-0.233026, 2.5)
    >>> round(float(finite_time_sum([0.0, -0.5], 1000, shrink=True)), 6)
    10.156627
    """
    positive = corrected or shrink
    rounds = _rounds(n, 1 if positive else 2)
    gap, effective = _suboptimal(means, rho)
    log = np.log(rounds)
    inside = np.maximum(rounds * gap**2 * (1.0 if shrink else log) / effective, log)
    return np.asarray(np.sum(gap + np.log(_at_least_e(inside, positive)) / gap, axis=-1))


def klucb_plus_sum(means: npt.ArrayLike, n: npt.ArrayLike, *, corrected: bool = False) -> Floats:
    """Return the sum that bounds KL-UCB+'s regret under subgaussian noise, without its constant.

    Σ_{i: Δ_i > 0} ( Δ_i + (1/Δ_i) log(n Δ_i²) )   (section 3, its last display)

    As printed a term is negative where n Δ_i² < exp(-Δ_i²), so the sum can bound no regret there. `corrected` has
    log max{ n Δ_i², e }, as the log₊ of Lemma `tail`, from which the display is made, gives it.

    >>> round(float(klucb_plus_sum([0.0, -0.5], 1000)), 6)
    11.542922
    >>> round(float(klucb_plus_sum([0.0, -0.05], 100)), 6), float(klucb_plus_sum([0.0, -0.05], 100, corrected=True))
    (-27.675887, 20.05)
    """
    rounds = _rounds(n, 1)
    gap = gaps(means)
    gap = gap[gap > 0.0]
    with np.errstate(divide="ignore"):  # a gap too small for its square to be told from 0
        return np.asarray(np.sum(gap + np.log(_at_least_e(rounds * gap**2, corrected)) / gap, axis=-1))


def klucb_plus_bernoulli_sum(means: npt.ArrayLike, n: npt.ArrayLike, *, corrected: bool = False) -> Floats:
    """Return the sum that bounds KL-UCB+'s regret under Bernoulli noise, without its constant C_η.

    Σ_{i: Δ_i > 0} ( Δ_i + (Δ_i / d_i) log(n d_i) ),  d_i = d(μ_i, μ*)   (section 3, the theorem commented out)

    As printed a term is negative where n d_i < exp(-d_i); `corrected` has log max{ n d_i, e }. An arm whose d_i is
    infinite, because the best arm never fails, adds Δ_i alone: the limit of its term.

    >>> round(float(klucb_plus_bernoulli_sum([0.5, 0.25], 1000)), 6)
    9.564436
    >>> float(klucb_plus_bernoulli_sum([1.0, 0.25], 1000))
    0.75
    """
    rounds = _rounds(n, 1)
    values, gap = np.asarray(means, dtype=np.float64), gaps(means)
    if not ((values >= 0.0) & (values <= 1.0)).all():
        raise ParameterError(f"means must be between 0 and 1, got {means!r}; a Bernoulli mean is a probability")
    below = gap > 0.0
    divergences = _divergences(values[below], float(values.max()), Bernoulli())
    far = np.isinf(divergences)
    near = np.where(far, 1.0, divergences)
    # A gap too small for d to be told from 0 bounds nothing: its term is infinite, or as printed minus infinity.
    with np.errstate(divide="ignore"):
        terms = np.log(_at_least_e(rounds * near, corrected)) * (gap[below] / near)
    return np.asarray(np.sum(gap[below] + np.where(far, 0.0, terms), axis=-1))


def asymptotic_slope(means: npt.ArrayLike, eta: float) -> float:
    """Return what OCUCB-n's regret is at most, divided by log(n), for n without end.

    limsup R(n) / log(n) <= Σ_{i: Δ_i > 0} 2η/Δ_i   (Theorem 1)

    >>> asymptotic_slope([0.0, -0.5, -1.0], eta=1.5)
    9.0
    """
    gap = gaps(means)
    return float(np.sum(2.0 * eta / gap[gap > 0.0]))


def lai_robbins_slope(means: npt.ArrayLike, noise: Noise) -> float:
    """Return what the regret of any consistent policy is at least, divided by log(n), for n without end.

    liminf R(n) / log(n) >= Σ_{i: Δ_i > 0} Δ_i / d(μ_i, μ*)   (Lai and Robbins, 1985, cited after Theorem 1)

    d is the divergence of the noise family; Gaussian noise gives Σ 2σ²/Δ_i.

    >>> from ocucb.noise import Gaussian
    >>> lai_robbins_slope([0.0, -0.5, -1.0], Gaussian())
    6.0
    """
    values, gap = np.asarray(means, dtype=np.float64), gaps(means)
    below = gap > 0.0
    divergences = _divergences(values[below], float(values.max()), noise)
    with np.errstate(divide="ignore"):  # a gap too small for its square to be told from 0: no bound on its pulls
        return float(np.sum(gap[below] / divergences))


def worst_case_rate(arms: int, n: npt.ArrayLike) -> Floats:
    """Return the minimax rate, without a constant.

    √(K n)   (the worst case discussed after Theorem 1; OCUCB-n is within a factor √(log log n) of it)

    >>> float(worst_case_rate(10, 1000))
    100.0
    """
    return np.asarray(np.sqrt(whole("arms", arms, 1, "give the number of arms") * np.asarray(n, dtype=np.float64)))


def lower_bound_condition(means: npt.ArrayLike, n: npt.ArrayLike) -> Booleans:
    """Say at which horizons n the lower bound of Appendix A speaks about these means.

    n Δ_i² / (k_{i,1/2} log(n)) >= 1 for all i with Δ_i > 0, and μ in [0, 1]^K   (Appendix A, its assumption)

    Adding a number to all means changes no regret, so gaps of at most 1 are enough for the second part.

    >>> lower_bound_condition([0.0, -0.1], [1000, 10000]).tolist()
    [False, True]
    """
    inside, gap = _inside(means, n)
    return np.asarray((inside >= 1.0).all(axis=-1) & (gap <= 1.0).all())


def lower_bound(means: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """Return the right-hand side of statement 1 of the lower bound. It claims nothing where its condition fails.

    (1/4) Σ_{i: Δ_i > 0} (1/Δ_i) log( n Δ_i² / (k_{i,1/2} log(n)) )   (Appendix A, statement 1)

    A policy may stay below it on these means, if it then pays on one of the alternatives (statement 2).

    >>> round(float(lower_bound([0.0, -0.5], 1000)), 6)
    1.447835
    """
    return 0.25 * _logarithms(means, n)


def lower_bound_alternative(means: npt.ArrayLike, arm: int, n: npt.ArrayLike) -> Alternative:
    """Return the means under which `arm` is best, and the right-hand side of statement 2 there.

    μ'_i = μ_i + 2Δ_i, μ'_j = μ_j;  (1/2) Σ_{j: Δ'_j > 0} (1/Δ'_j) log( n Δ'_j² / (k'_{j,1/2} log(n)) )
    (Appendix A, statement 2)

    >>> lower_bound_alternative([0.5, 0.25], 1, 1000).means.tolist()
    [0.5, 0.75]
    """
    gap = gaps(means)
    if not 0 <= whole("arm", arm, 0, "arms are numbered from 0") < gap.size or gap[arm] == 0.0:
        worse = np.flatnonzero(gap).tolist()
        raise ParameterError(f"arm must be one that is not optimal, got {arm}; use one of {worse}")
    other = np.array(means, dtype=np.float64)
    other[arm] += 2.0 * gap[arm]
    return Alternative(other, 0.5 * _logarithms(other, n))


def _logarithms(means: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """Return Σ_{i: Δ_i > 0} (1/Δ_i) log( n Δ_i² / (k_{i,1/2} log(n)) )."""
    inside, gap = _inside(means, n)
    return np.asarray(np.sum(np.log(inside) / gap, axis=-1))


def _inside(means: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return n Δ_i² / (k_{i,1/2} log(n)), one column per suboptimal arm; and their gaps."""
    rounds = _rounds(n)
    gap, effective = _suboptimal(means, 0.5)
    return rounds * gap**2 / (effective * np.log(rounds)), gap


def _suboptimal(means: npt.ArrayLike, rho: float) -> tuple[Floats, Floats]:
    """Return gaps and effective arms of the arms with a gap."""
    gap = gaps(means)
    return gap[gap > 0.0], effective_arms(means, rho)[gap > 0.0]


def _divergences(means: Floats, best: float, noise: Noise) -> Floats:
    """Return d(μ_i, μ*) for each mean."""
    family = noise.family()
    divergences = [family.divergence(float(mean), best, family.parameters) for mean in means]
    return np.array(divergences, dtype=np.float64)


def _at_least_e(inside: Floats, corrected: bool) -> Floats:
    """Return what stands in a logarithm, or where it is to be corrected, at least e."""
    return np.maximum(inside, math.e) if corrected else inside


def _rounds(n: npt.ArrayLike, least: int = 2) -> Floats:
    """Return horizons as a column, for one column per arm."""
    rounds = np.asarray(n, dtype=np.float64)
    if not (rounds >= least).all() or not math.isfinite(rounds.max(initial=least)):
        reason = "the bounds divide by log(n)" if least > 1 else "give a number of rounds"
        raise ParameterError(f"n must be {least} round{'s' * (least > 1)} or more, got {n!r}; {reason}")
    return rounds[..., np.newaxis]
