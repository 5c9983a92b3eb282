"""The concentration section: the maximal inequality, the iterated logarithm, and the tail of a last exceedance.

S_n is a sum of n independent 1-subgaussian variables. Bounds that no float could hold are returned as logarithms.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ocucb.checks import above, at_least, whole, within
from ocucb.compiled import Floats
from ocucb.errors import ParameterError

# SciPy publishes no types.
_special: Any = importlib.import_module("scipy.special")

_ETA = "Lemma lil is about eta above 1"
_TERMS = 2000  # of an infinite product, one by one; what is left is integrated


def maximal_bound(epsilon: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """Return what P(S_t >= ε for some t <= n) is at most.

    exp(-ε²/(2n))   (Lemma conc)

    >>> float(maximal_bound(2.0, 2.0)) == math.exp(-1.0)
    True
    """
    level, rounds = np.asarray(epsilon, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if not (level > 0.0).all() or not (rounds > 0.0).all():
        raise ParameterError("epsilon and n must be greater than 0; Lemma conc says nothing else")
    return np.asarray(np.exp(-0.5 * level * level / rounds))


def iterated_logarithm_boundary(n: npt.ArrayLike, eta: float) -> Floats:
    """Return the boundary under which S_n stays for all n with probability p(η) at least.

    √(2 η n log max{e, log n})   (Lemma lil)

    >>> float(iterated_logarithm_boundary(2, eta=4.0))
    4.0
    """
    rounds = np.asarray(n, dtype=np.float64)
    if not (rounds >= 1.0).all():
        raise ParameterError(f"n must be 1 or more, got {n!r}; the walk starts with its first step")
    inner = np.log(np.maximum(math.e, np.log(rounds)))
    return np.asarray(np.sqrt(2.0 * above("eta", eta, 0.0, _ETA) * rounds * inner))


def log_survival_floor(eta: float, start: float = 1.0, ratio: float | None = None) -> float:
    """Return the logarithm of what P(S_n stays under its boundary for all n >= start) is at least.

    Π_{k>=0} ( 1 - min{ e^{-s}, log(start r^k)^{-s} } ),  s = η/r   (Appendix, proof of Lemma lil, corrected)

    Block k is [start r^k, start r^{k+1}], and Lemma conc bounds its failure by exp(-s log max{e, log(start r^k)}). The
    failures' complements are decreasing events of independent steps, so they are positively associated and their
    probabilities may be multiplied. From start = 1 this bounds p(η) itself.

    Parameters
    ----------
    ratio : r, between 1 and η; the paper's 1 + ε = (1 + η)/2 unless given.

    >>> round(math.exp(log_survival_floor(3.0)), 4)
    0.0537
    """
    above("eta", eta, 1.0, _ETA)
    first = math.log(at_least("start", start, 1.0, "the walk starts with n = 1"))
    growth = 0.5 * (1.0 + eta) if ratio is None else ratio
    if not 1.0 < growth < eta:
        raise ParameterError(f"ratio must be between 1 and eta = {eta:g}, got {growth:g}; leave it out for (1 + eta)/2")
    width, power = math.log(growth), eta / growth
    early = max(0, math.ceil((math.e - first) / width))  # blocks that start before log n = e
    return early * math.log1p(-math.exp(-power)) + _log_product(first + early * width, width, power)


def log_line_survival(eta: float, n: float | None = None) -> float:
    """Return the logarithm of what P(S_s stays under the boundary of Lemma lil for all s <= n) is at least, by lines.

    Π_{k>=0} ( 1 - max{e, kw}^{-s} ),  s = η/cosh²(w/4), over blocks [e^{kw}, e^{(k+1)w}] that start before n

    Not in the paper. The chord of c√t over a block has 2ab = (c²/2)/cosh²(w/4), so that Ville's inequality for that
    line (`ocucb.theory.line_crossing`) loses w²/16 of the exponent where Lemma conc loses w; with w of the order √(η-1)
    this makes log(1/p) of the order (η-1)^{-3/2}, not (η-1)^{-2}. The best of some w is taken.

    Parameters
    ----------
    n : how far the walk is followed; without end unless given.

    >>> round(math.exp(log_line_survival(3.0)), 3), round(log_line_survival(1.0001))
    (0.773, -650163)
    """
    above("eta", eta, 1.0, _ETA)
    last = math.inf if n is None else math.log(at_least("n", n, 1.0, "the walk starts with n = 1"))
    best = -math.inf
    for share in (0.05, 0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        power = 1.0 + (eta - 1.0) * (1.0 - share)
        width = 4.0 * math.acosh(math.sqrt(eta / power))
        early = math.ceil(math.e / width)  # blocks that start before log n = e
        if last / width < _TERMS:
            starts = np.maximum(math.e, width * np.arange(math.floor(last / width) + 1))
            found = float(np.sum(np.log1p(-(starts**-power))))
        else:
            found = early * math.log1p(-math.exp(-power)) + _log_product(early * width, width, power)
        best = max(best, found)
    return best


def log_survival_floor_printed(eta: float, blocks: int | None = None) -> float:
    """Return the logarithm of the bound on p(η) that ends the proof, as printed.

    exp(-η k_0) Π_{k>=k_0} ( 1 - (1/(k log(1+ε)))^{1+ε/(1+ε)} ),  η = 1 + 2ε   (Appendix, proof of Lemma lil)

    Parameters
    ----------
    blocks : k_0; the best one unless given. Minus infinity where k_0 log(1+ε) <= 1, for the product then says nothing.

    >>> round(math.exp(log_survival_floor_printed(3.0)), 6)
    9.4e-05
    """
    excess = 0.5 * (above("eta", eta, 1.0, _ETA) - 1.0)
    width, power = math.log1p(excess), 1.0 + excess / (1.0 + excess)
    if blocks is None:
        # A block costs exp(-η) before k_0 and its own factor after it; the factors rise with k.
        blocks = math.floor((-math.expm1(-eta)) ** (-1.0 / power) / width) + 1
    first = whole("blocks", blocks, 0, "k_0 is a number of blocks") * width
    return -math.inf if first <= 1.0 else -eta * blocks + _log_product(first, width, power)


def log_survival_ceiling(eta: float, delta: float = 1.0, reach: float = math.inf) -> float:
    """Return the logarithm of what P(S_n <= √(2 η n log(log(n)/δ)) for all n) is at most, for Gaussian steps.

    -((1 - 2^{-1/2})/log 2) (δ/(η √(2π))) ∫_{w_0}^{reach} w²/(1+w²) exp(-(1 - 1/η) w²/2) dw,  w_0 = √(2η log(log(32)/δ))

    Not in the paper. Z_j = S_n/√n at n = 2^j is a reversible chain whose second eigenvalue is ρ = 2^{-1/2}. Kept under
    a level w, its transition operator has norm 1 - (1 - ρ) P(Z > w) at most: a unit vector that vanishes above w has a
    constant part of √P(Z <= w) at most, and of the rest only a share ρ is left. The norms of the steps to n = 32, 64,
    ... multiply, log(1-x) <= -x, P(Z > w) >= φ(w) w/(1+w²), and the sum over j is at least the integral over log n.
    (Computed from 0; the part below w_0 is taken off without its exponential, so as too much.)

    At η <= 1 the integral has no end: the walk crosses. Lemma lil's boundary is that of δ = 1 where n >= 16.

    Parameters
    ----------
    reach : how far the walk is followed: up to S_n/√n = reach on the boundary.

    >>> log_survival_ceiling(1.0)
    -inf
    >>> round(log_survival_ceiling(1.0001), 2)
    -20.77
    """
    above("eta", eta, 0.0, "it scales the boundary")
    for_lemma = "use 1 for Lemma lil's boundary"
    within("delta", above("delta", delta, 0.0, for_lemma), 0.0, 1.0, for_lemma)
    start = math.sqrt(2.0 * eta * math.log(math.log(32.0) / delta))
    share = (1.0 - math.sqrt(0.5)) / math.log(2.0) * delta / (eta * math.sqrt(2.0 * math.pi))
    bend = max(0.0, 0.5 * (1.0 - 1.0 / eta))  # below η = 1 as if at 1: less than is true
    return -share * max(0.0, _flat_part(bend, reach) - _flat_part(0.0, start))


def crossing_bound(eta: float, delta: float) -> float:
    """Return what P(S_n >= √(2 η n log(log(n)/δ)) for some n >= 2) is at most, by peeling.

    Σ_{k>=0} (δ/log(2 r^k))^{η/r},  r = (1 + η)/2   (what the display before Lemma lil says of η = 1, with η > 1)

    Divided by δ it falls as δ does, so it is O_η(δ). No bound at η = 1 can be: see `log_survival_ceiling`.

    >>> round(crossing_bound(2.0, 0.01), 4)
    0.02
    """
    growth = 0.5 * (1.0 + above("eta", eta, 1.0, "the sum has no end at 1"))
    within("delta", delta, 0.0, math.log(2.0), "the boundary must be real from n = 2 on")
    width, power = math.log(growth), eta / growth
    terms = math.log(2.0) + width * np.arange(_TERMS)
    # Convex terms are below their integrals around them.
    rest = (math.log(2.0) + width * (_TERMS - 0.5)) ** (1.0 - power) / (width * (power - 1.0))
    return float(delta**power * (np.sum(terms**-power) + rest))


def tail_start(b: float, delta: float, eta: float) -> int:
    """Return the time in units of which Lemma tail measures τ.

    t_0 = ⌈8 η log₊(b)/Δ²⌉,  log₊(x) = max{1, log x}   (Appendix, proof of Lemma tail)

    >>> tail_start(math.e, delta=2.0, eta=1.5)
    3
    """
    _tail_parameters(b, delta, eta)
    return math.ceil(8.0 * eta * max(1.0, math.log(b)) / delta**2)


def tail_bound(alpha: npt.ArrayLike) -> Floats:
    """Return what P(τ >= α t_0) is at most.

    Σ_{k>=0} exp(-α 2^k / 4)   (Appendix, proof of Lemma tail)

    >>> round(float(tail_bound(8.0)), 4)
    0.154
    """
    level = np.asarray(alpha, dtype=np.float64)
    if not (level >= 1.0).all():
        raise ParameterError(f"alpha must be 1 or more, got {alpha!r}; the proof starts there")
    return np.asarray(np.exp(-0.25 * level[..., np.newaxis] * 2.0 ** np.arange(13)).sum(axis=-1))


def tail_moment() -> float:
    """Return what E[(τ/t_0)²] is at most, by the tail bound.

    ∫_0^∞ 2α min{1, Σ_{k>=0} exp(-α 2^k / 4)} dα   (Appendix, proof of Lemma tail, whose O(1) this is)

    As t_0 <= 8η (1 + log₊(b)/Δ²), Lemma tail holds with the constant 8η √(this).

    >>> round(tail_moment(), 2)
    39.79
    """
    low, high = 1.0, 4.0  # where the sum falls through 1
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if float(tail_bound(middle)) > 1.0 else (low, middle)
    rates = 0.25 * 2.0 ** np.arange(13)
    return float(high**2 + np.sum(2.0 * np.exp(-rates * high) * (1.0 + rates * high) / rates**2))


def sharp_tail_bound(t: npt.ArrayLike, b: float, delta: float, eta: float) -> Floats:
    """Return what P(τ > t) is at most, without peeling.

    exp(-(Δ√t - √(2 η log b))²/2)  where t >= 2η log(b)/Δ², else 1

    Not in the paper. Past t the walk must reach a line of slope c = Δ - √(2 η log(b)/t), where the supermartingale
    exp(c S_n - c² n/2) is exp(c² t/2) at least.

    >>> float(sharp_tail_bound(4.0, b=math.exp(0.5), delta=1.0, eta=1.0)) == math.exp(-0.5)
    True
    """
    _tail_parameters(b, delta, eta)
    excess = np.maximum(0.0, delta * np.sqrt(np.asarray(t, dtype=np.float64)) - math.sqrt(2.0 * eta * math.log(b)))
    return np.asarray(np.exp(-0.5 * excess * excess))


def sharp_tail_moment(t: float, b: float, delta: float, eta: float) -> float:
    """Return what E[τ² 1{τ > t}] is at most, by the sharp tail bound.

    (t+1)² P(τ > t) + ∫_t^∞ 2(x+1) P(τ > x) dx   (τ - 1 is the last time that is not yet below Δ)

    From t = 2η log(b)/Δ², or less, it bounds E[τ²] itself.

    >>> round(sharp_tail_moment(0.0, b=math.e, delta=1.0, eta=1.5) ** 0.5, 2)
    11.17
    """
    _tail_parameters(b, delta, eta)
    slack = math.sqrt(2.0 * eta * math.log(b))
    t = max(at_least("t", t, 0.0, "it is a time"), (slack / delta) ** 2)
    # With y = Δ√x - slack, dx = 2(y + slack)/Δ² dy: moments of exp(-y²/2) beyond the y of t.
    y = delta * math.sqrt(t) - slack
    now = float(sharp_tail_bound(t, b, delta, eta))
    none = math.sqrt(0.5 * math.pi) * float(_special.erfc(y / math.sqrt(2.0)))
    one, two, three = now, y * now + none, (y * y + 2.0) * now
    cube = three + 3.0 * slack * two + 3.0 * slack**2 * one + slack**3 * none
    return (t + 1.0) ** 2 * now + 4.0 * cube / delta**4 + 4.0 * (one + slack * none) / delta**2


def _tail_parameters(b: float, delta: float, eta: float) -> None:
    above("b", b, 1.0, "Lemma tail is about b above 1")
    above("delta", delta, 0.0, "Lemma tail is about a positive delta")
    above("eta", eta, 0.0, "it scales the confidence level")


def _log_product(first: float, width: float, power: float) -> float:
    """Return what Σ_{k>=0} log(1 - (first + k width)^{-power}) is at least, for first > 1; close to the sum itself."""
    terms = np.log1p(-((first + width * np.arange(_TERMS)) ** -power))
    # -log(1 - x^{-s}) is convex, so below its integral around each place; Σ_m x^{-ms}/m is integrated term by term.
    rest, m = first + width * (_TERMS - 0.5), np.arange(1, 2000)
    return float(terms.sum() - np.sum(rest ** (1.0 - m * power) / (m * (m * power - 1.0))) / width)


def _flat_part(bend: float, end: float) -> float:
    """Return ∫_0^end w²/(1+w²) exp(-bend w²) dw, for end infinite or bend 0."""
    if bend == 0.0:
        return end - math.atan(end)
    if end < math.inf:
        raise ParameterError(f"reach must be infinite for eta above 1, got {end:g}; leave it out")
    return 0.5 * math.sqrt(math.pi / bend) - 0.5 * math.pi * float(_special.erfcx(math.sqrt(bend)))
