"""Lemma tech1: the series that a union bound over geometric blocks leaves behind, and what bounds it.

    Σ_{k≥0} min{η^(k+1), λ^ρ η^((1-ρ)(k+1))} exp(-x η^k),   η > 1, ρ in [0, 1], λ in (0, ∞], x > 0

The bound as printed is too small for large η. The corrected one rests on three lines. The terms f(k) are log-concave in
k, hence unimodal, so their sum is at most sup f + ∫ f (the paper counts sup f twice). With η^k = u and
min{ηu, λ^ρ(ηu)^(1-ρ)} ≤ η min{u, λ^ρ u^(1-ρ)}, sup f is at most η/(ex), and at most η λ^ρ x^(ρ-1). And ∫ f is at most
η/(x log η), and for a = λx < 1 at most (η/(x log η)) (a + a^ρ ∫_a^1 v^-ρ dv + a^ρ/e), where ∫_a^1 v^-ρ dv ≤ log(1/a).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats
from ocucb.errors import ParameterError

ROUNDING = 2.0**-50  # no elementary function of NumPy is off by more, relative to its value
FAR = 60.0  # terms with x η^k beyond x + FAR are bounded, not summed
TERMS = 10_000_000
_LARGEST = 1e300


class Bracket(NamedTuple):
    """Two numbers with the true one between them, whatever was cut off or rounded."""

    low: Floats
    high: Floats


def peeling_sum(eta: npt.ArrayLike, rho: npt.ArrayLike, cap: npt.ArrayLike, x: npt.ArrayLike) -> Bracket:
    """Return numbers just below and just above the series, some 1e-12 of its size apart.

    Σ_{k≥0} min{η^(k+1), λ^ρ η^((1-ρ)(k+1))} exp(-x η^k)   (Lemma tech1, left-hand side)

    cap : λ, which may be infinite.

    >>> low, high = peeling_sum(100.0, 1.0, np.inf, 1.0)
    >>> round(float(low), 6), round(float(high), 6)
    (36.787944, 36.787944)
    """
    base, exponent, limit, rate = _parameters(eta, rho, cap, x)
    low, high = np.empty(base.shape), np.empty(base.shape)
    pairs, pair = np.unique(np.stack((base.ravel(), rate.ravel())), axis=1, return_inverse=True)
    for i in range(pairs.shape[1]):
        where = (pair == i).reshape(base.shape)
        low[where], high[where] = _brackets(float(pairs[0, i]), exponent[where], limit[where], float(pairs[1, i]))
    return Bracket(low, high)


def peeling_bound_printed(eta: npt.ArrayLike, rho: npt.ArrayLike, cap: npt.ArrayLike, x: npt.ArrayLike) -> Floats:
    """Return the right-hand side as printed, which is too small for large η.

    (1/x) (2/e + η/log η)                           if xλ ≥ 1
    (λ^ρ x^(ρ-1) / log η) (1 + 1/e + log(1/(λx)))   otherwise        (Lemma tech1)

    >>> round(float(peeling_bound_printed(100.0, 1.0, np.inf, 1.0)), 6)
    22.450483
    """
    base, exponent, limit, rate = _parameters(eta, rho, cap, x)
    long, log, scale = _second_case(exponent, limit, rate)
    second = scale / np.log(base) * (1.0 + 1.0 / math.e + log)
    return np.asarray(np.where(long, (2.0 / math.e + base / np.log(base)) / rate, second))


def peeling_bound(eta: npt.ArrayLike, rho: npt.ArrayLike, cap: npt.ArrayLike, x: npt.ArrayLike) -> Floats:
    """Return the corrected right-hand side.

    (η/x) (1/e + 1/log η)                                     if xλ ≥ 1
    η λ^ρ x^(ρ-1) (1 + (1 + 1/e + log(1/(λx))) / log η)       otherwise        (Lemma tech1, corrected)

    >>> round(float(peeling_bound(100.0, 1.0, np.inf, 1.0)), 6)
    58.502668
    """
    base, exponent, limit, rate = _parameters(eta, rho, cap, x)
    long, log, scale = _second_case(exponent, limit, rate)
    second = base * scale * (1.0 + (1.0 + 1.0 / math.e + log) / np.log(base))
    return np.asarray(np.where(long, base / rate * (1.0 / math.e + 1.0 / np.log(base)), second))


def uniform_peeling_bound(eta: npt.ArrayLike, cap: npt.ArrayLike, x: npt.ArrayLike) -> Floats:
    """Return a bound that serves every ρ in [1/2, 1] with one constant.

    η (1 + (3 + 1/e)/log η) min{1/x, √(λ/x)}   (docs/theorem.md, step 2)

    It keeps ∫_a^1 v^-ρ dv, a = λx, as it stands, which is at most 1/(1-ρ) as well as log(1/a).

    >>> round(float(uniform_peeling_bound(2.0, 0.5, 0.5)), 6)
    11.717646
    """
    base, _, limit, rate = _parameters(eta, 0.5, cap, x)
    with np.errstate(over="ignore", under="ignore"):
        scale = np.minimum(1.0 / rate, np.sqrt(limit / rate))
    return np.asarray(base * (1.0 + (3.0 + 1.0 / math.e) / np.log(base)) * scale)


def peeling_rate(rho: npt.ArrayLike, cap: npt.ArrayLike, x: npt.ArrayLike) -> Floats:
    """Return the part of the bound that does not depend on η.

    min{1/x, λ^ρ x^(ρ-1) log₊(1/(λx))}, log₊(y) = max{1, log y}   (Lemma tech1, last line)

    The printed constant O(η/(η-1)) before it cannot serve large η; η²/(η-1) does, with 3 + 1/e:
    1 ≤ η/(η-1) and 1/log η ≤ η/(η-1) turn `peeling_bound` into that.

    >>> peeling_rate(1.0, [np.inf, 0.5], 1.0).tolist()
    [1.0, 0.5]
    """
    _, exponent, limit, rate = _parameters(2.0, rho, cap, x)
    long, log, scale = _second_case(exponent, limit, rate)
    return np.asarray(np.where(long, 1.0 / rate, np.minimum(1.0 / rate, scale * np.maximum(1.0, log))))


def _second_case(rho: Floats, cap: Floats, x: Floats) -> tuple[npt.NDArray[np.bool_], Floats, Floats]:
    """Say where xλ ≥ 1; and elsewhere give log(1/(λx)) and λ^ρ x^(ρ-1)."""
    with np.errstate(over="ignore", under="ignore"):
        long = np.asarray(x * cap >= 1.0)
    finite = np.where(long, 1.0 / x, cap)  # any finite number where it is not looked at
    return long, np.asarray(-np.log(finite) - np.log(x)), np.asarray(finite**rho * x ** (rho - 1.0))


def _parameters(eta: npt.ArrayLike, rho: npt.ArrayLike, cap: npt.ArrayLike, x: npt.ArrayLike) -> tuple[Floats, ...]:
    """Return all four as arrays of one shape."""
    arrays = np.broadcast_arrays(*(np.asarray(values, dtype=np.float64) for values in (eta, rho, cap, x)))
    base, exponent, limit, rate = arrays
    if not ((base > 1.0) & np.isfinite(base)).all():
        raise ParameterError(f"eta must be greater than 1 and finite, got {eta!r}; use eta=1.1")
    if not ((exponent >= 0.0) & (exponent <= 1.0)).all():
        raise ParameterError(f"rho must be between 0 and 1, got {rho!r}; rho=0.5 is the canonical choice")
    if not (limit > 0.0).all():
        raise ParameterError(f"cap must be positive or infinite, got {cap!r}; give one λ")
    if not ((rate > 0.0) & np.isfinite(rate)).all():
        raise ParameterError(f"x must be positive and finite, got {x!r}; use Δ²/(2η)")
    return tuple(arrays)


def _brackets(eta: float, rho: Floats, cap: Floats, x: float) -> Bracket:
    """Return bounds of series that share η and x: summed up to x η^k = x + FAR, with room for rounding and the rest."""
    step = math.log(eta)
    terms = max(1, math.ceil(math.log1p(FAR / x) / step) + 1)
    if terms > TERMS:
        raise ParameterError(f"eta and x must not ask for {terms} terms, got eta={eta!r}, x={x!r}; use a larger eta")
    grown: Floats = np.arange(terms + 1, dtype=np.float64) * step  # log η^k, one more than is summed
    shift = np.where((rho > 0.0) & (cap < math.inf), rho * np.log(np.minimum(cap, _LARGEST)), math.inf)
    with np.errstate(over="ignore", under="ignore"):
        decay = np.minimum(x * np.exp(grown), _LARGEST)
        # f(k+1)/f(k) ≤ η exp(-x η^k (η-1)), which falls with k: what follows is below a geometric series.
        rest = 1.001 / -math.expm1(step - min(float(decay[-1]) * (eta - 1.0), _LARGEST))
        # Absolute error of the exponent, and some ulps for exp and for NumPy's pairwise sum.
        room = ROUNDING * (4.0 * (grown + step) + decay * (2.0 * grown + 4.0) + 16.0)
        ends = [_ends(grown + step, decay, room, rest, *row) for row in zip(shift, rho, strict=True)]
    low, high = np.array(ends).reshape((-1, 2)).T
    return Bracket(low, high)


def _ends(grown: Floats, decay: Floats, room: Floats, rest: float, shift: float, rho: float) -> tuple[float, float]:
    """Return the bounds of one series, from log η^(k+1), x η^k, the error of its terms, and log λ^ρ."""
    values = np.exp(np.minimum(grown, shift + (1.0 - rho) * grown) - decay)
    room = room + ROUNDING * 4.0 * (abs(shift) if shift < math.inf else 0.0)
    low = float(np.sum(values[:-1] * np.maximum(0.0, 1.0 - room[:-1])))
    high = float(np.sum(values[:-1] * (1.0 + 2.0 * room[:-1])))
    return low, high + float(values[-1]) * rest + 1e-250  # the last against underflow
