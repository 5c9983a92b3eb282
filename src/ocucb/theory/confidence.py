"""Lemma conc2: when an index that shares its confidence among many arms can be trusted for good.

μ̂_s is the mean of s samples of 1-subgaussian noise, D(s) = Σ_i min{s, λ_i^ρ s^(1-ρ)}. α is the smallest number with
μ̂_s + √((2η/s) log max{1, α/D(s)}) ≥ -Δ for all s, and β log β = α.

Besides the lemma's own objects there are bounds with all constants, for any 1-subgaussian noise. They follow the
paper's proof, with blocks [b^k, b^(k+1)] of any base 1 < b < η and q = η/b (the paper has b = (1+η)/2):

    P(sup_block α_s ≥ y) ≤ max{1, y/D(b^(k+1))}^-q exp(-Δ² b^(k-1)/2)   by Lemma conc, so, summed over blocks,
    P(α ≥ y) ≤ (Σ_k D(b^(k+1)) exp(-Δ² b^k/(2η)) / y)^q,   and   E[α] ≤ (q/(q-1)) Σ_k D(b^(k+1)) exp(-Δ² b^(k-1)/2),

and both sums are those of Lemma tech1. Below them are floors for Gaussian noise, from a single s.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ocucb.checks import above, at_least, within
from ocucb.compiled import Floats
from ocucb.errors import ParameterError
from ocucb.theory.peeling import peeling_sum

# SciPy publishes no types.
_special: Any = importlib.import_module("scipy.special")

BASE = 1.5  # the largest base of blocks: beyond η = 2 wider ones only lose


def confidence_counts(s: npt.ArrayLike, rho: float, caps: npt.ArrayLike) -> Floats:
    """Return the sum that divides α, at each number of samples s.

    D(s) = Σ_i min{s, λ_i^ρ s^(1-ρ)}   (Lemma conc2)

    caps : λ_1, ..., λ_d, each at least 1, possibly infinite.

    >>> confidence_counts([1, 4, 16], 0.5, [4.0, np.inf]).tolist()
    [2.0, 8.0, 24.0]
    """
    samples, limits = np.asarray(s, dtype=np.float64)[..., None], _caps(caps)
    power = _rho(rho)
    return np.asarray(np.sum(np.minimum(samples, limits**power * samples ** (1.0 - power)), axis=-1))


def confidence_sum(gap: float, caps: npt.ArrayLike) -> float:
    """Return what Δ E[α] and Δ E[β] are compared with.

    Σ_i min{1/Δ, √λ_i}   (Lemma conc2)

    >>> confidence_sum(0.1, [4.0, np.inf])
    12.0
    """
    return float(np.sum(np.minimum(1.0 / _gap(gap), np.sqrt(_caps(caps)))))


def confidence_scale(gap: float, rho: float, caps: npt.ArrayLike) -> float:
    """Return the scale of α.

    Λ = Σ_i min{1/Δ², λ_i^ρ Δ^(2ρ-2) log₊(1/(λ_i Δ²))}   (proof of Lemma conc2)

    >>> round(confidence_scale(0.1, 1.0, [1.0, np.inf]) - math.log(100), 9)
    100.0
    """
    width, limits, power = _gap(gap), _caps(caps), _rho(rho)
    with np.errstate(divide="ignore"):
        log = np.maximum(1.0, -np.log(limits) - 2.0 * math.log(width))
    return float(np.sum(np.minimum(width**-2.0, limits**power * width ** (2.0 * power - 2.0) * log)))


def confidence_alpha(
    means: npt.ArrayLike, gap: float, eta: float, rho: float, caps: npt.ArrayLike, start: int = 1
) -> Floats:
    """Return α of sample means μ̂_s, s = start, start + 1, ... along the last axis.

    α = inf{α ≥ 0 : inf_s μ̂_s + √((2η/s) log max{1, α/D(s)}) ≥ -Δ}   (Lemma conc2)
      = max over s with μ̂_s < -Δ of D(s) exp(s (μ̂_s + Δ)²/(2η)), and 0 if there is no such s.

    >>> float(confidence_alpha([-0.5, -3.0, 0.0], gap=1.0, eta=2.0, rho=1.0, caps=[np.inf])) == 2 * math.exp(2)
    True
    """
    values, width = np.asarray(means, dtype=np.float64), _gap(gap)
    if values.ndim == 0 or values.shape[-1] == 0 or np.isnan(values).any():
        raise ParameterError(f"means must be one number or more for s = 1, 2, ..., got {means!r}; give sample means")
    s = np.arange(start, start + values.shape[-1], dtype=np.float64)
    short = np.minimum(0.0, values + width)
    with np.errstate(over="ignore"):
        needed = confidence_counts(s, rho, caps) * np.exp(s * short**2 / (2.0 * _eta(eta)))
    return np.asarray(np.max(np.where(short < 0.0, needed, 0.0), axis=-1))


def confidence_beta(alpha: npt.ArrayLike) -> Floats:
    """Return β with β log β = α.

    β = inf{β ≥ 0 : β log β = α} = α/W(α), and 0 for α = 0   (Lemma conc2)

    W is Lambert's function, which the paper calls productlog. At α = 0 both 0 and 1 solve the equation, with 0 log 0
    = 0; part (b) needs the 0, as Δ E[β] would grow with Δ otherwise.

    >>> confidence_beta([0.0, math.e, 4 * math.log(4)]).round(6).tolist()
    [0.0, 2.718282, 4.0]
    """
    values = np.asarray(alpha, dtype=np.float64)
    if not (values >= 0.0).all():
        raise ParameterError(f"alpha must be 0 or more, got {alpha!r}; use confidence_alpha")
    with np.errstate(invalid="ignore"):
        found = np.exp(np.real(_special.lambertw(values)))
    return np.asarray(np.where(values > 0.0, np.where(np.isinf(values), math.inf, found), 0.0))


def alpha_mean_bound(
    gap: float, eta: float, rho: float, caps: npt.ArrayLike, start: float = 1.0, base: float | None = None
) -> float:
    """Return a number that E[α] does not exceed, for any 1-subgaussian noise and all s ≥ start.

    E[α] ≤ (q/(q-1)) Σ_i Σ_k min{b^(k+1), λ_i^ρ b^((k+1)(1-ρ))} exp(-Δ² b^(k-1)/2), q = η/b   (proof of Lemma conc2)

    base : b; (1+η)/2 if not given, as in the paper. α falls as η grows, so η beyond 2 is taken as 2.

    >>> 0.1**2 * alpha_mean_bound(0.1, 2.0, 1.0, [np.inf]) < 45
    True
    """
    width, ratio, first = _gap(gap), min(2.0, _eta(eta)), at_least("start", start, 1.0, "s counts samples")
    blocks = _base(base, ratio)
    series = peeling_sum(blocks, _rho(rho), _caps(caps) / first, first * width**2 / (2.0 * blocks)).high
    return float(ratio / (ratio - blocks) * first * np.sum(series))


def alpha_constant(eta: float) -> float:
    """Return a constant that serves all Δ, all λ_1, ..., λ_d, all 1-subgaussian noise and all ρ in [1/2, 1] at once.

    Δ E[α] ≤ A_η Σ_i min{1/Δ, √λ_i},  A_η = (4η/(η-1)) b² (1 + (3 + 1/e)/log b), b = (1+η)/2   (docs/theorem.md)

    α falls as η grows, so η beyond 2 is taken as 2.

    >>> round(alpha_constant(2.0), 3), alpha_constant(3.0) == alpha_constant(2.0)
    (167.512, True)
    """
    ratio = min(2.0, _eta(eta))
    base = (1.0 + ratio) / 2.0
    return 2.0 * ratio / (ratio - 1.0) * 2.0 * base**2 * (1.0 + (3.0 + 1.0 / math.e) / math.log(base))


def alpha_tail_bound(level: npt.ArrayLike, gap: float, eta: float, rho: float, caps: npt.ArrayLike) -> Floats:
    """Return what P(α ≥ level) does not exceed, for any 1-subgaussian noise.

    P(α ≥ y) ≤ (Σ_i Σ_k min{b^(k+1), λ_i^ρ b^((k+1)(1-ρ))} exp(-Δ² b^k/(2bq)) / y)^q,
    q = η_2 = 2η/(1+η), b = min{(1+η)/2, 3/2}   (proof of Lemma conc2; as α falls with η, b q ≤ η may stand for η)

    >>> float(alpha_tail_bound(1e4, 0.1, 2.0, 1.0, [np.inf])) < 0.1
    True
    """
    ratio = _eta(eta)
    power, blocks = 2.0 * ratio / (1.0 + ratio), min((1.0 + ratio) / 2.0, BASE)
    series = peeling_sum(blocks, _rho(rho), _caps(caps), _gap(gap) ** 2 / (2.0 * blocks * power)).high
    return np.asarray(np.minimum(1.0, (np.sum(series) / np.asarray(level, dtype=np.float64)) ** power))


def alpha_mean_floor(gap: float, eta: float, rho: float, caps: npt.ArrayLike, s: npt.ArrayLike) -> float:
    """Return a number that E[α] reaches with Gaussian noise: the largest of E[α_s], α_s being what s alone asks for.

    E[α_s] = D(s) ∫_0^∞ φ(c + t) exp(t²/(2η)) dt = D(s) exp(-c²/2) erfcx(c/√(2a)) / (2√a), c = Δ√s, a = 1 - 1/η

    >>> round(alpha_mean_floor(1.0, 2.0, 1.0, [np.inf], 1), 6)
    0.183383
    """
    shifted, room = _gap(gap) * np.sqrt(np.asarray(s, dtype=np.float64)), 1.0 - 1.0 / _eta(eta)
    each = np.exp(-0.5 * shifted**2) * _special.erfcx(shifted / math.sqrt(2.0 * room)) / (2.0 * math.sqrt(room))
    return float(np.max(confidence_counts(s, rho, caps) * each))


def beta_mean_floor(gap: float, rho: float, caps: npt.ArrayLike, s: npt.ArrayLike) -> float:
    """Return a number that E[β] reaches with Gaussian noise, whatever η is: α is at least D(s) where μ̂_s < -Δ.

    E[β] ≥ P(μ̂_s < -Δ) β(D(s)) = Φ(-Δ√s) β(D(s))

    >>> round(beta_mean_floor(1.0, 1.0, [np.inf], 1), 6)
    0.279745
    """
    below = _special.ndtr(-_gap(gap) * np.sqrt(np.asarray(s, dtype=np.float64)))
    return float(np.max(below * confidence_beta(confidence_counts(s, rho, caps))))


def alpha_tail_floor(
    level: npt.ArrayLike, gap: float, eta: float, rho: float, caps: npt.ArrayLike, s: npt.ArrayLike
) -> Floats:
    """Return what P(α ≥ level) reaches with Gaussian noise, as one of the numbers s of samples shows.

    P(α ≥ y) ≥ P(α_s ≥ y) = Φ(-Δ√s - √(2η log max{1, y/D(s)}))

    >>> float(alpha_tail_floor(1.0, 1.0, 2.0, 1.0, [np.inf], 1).round(6))
    0.158655
    """
    samples = np.atleast_1d(np.asarray(s, dtype=np.float64))
    ratio = np.asarray(level, dtype=np.float64)[..., None] / confidence_counts(samples, rho, caps)
    quantile = _gap(gap) * np.sqrt(samples) + np.sqrt(2.0 * _eta(eta) * np.log(np.maximum(1.0, ratio)))
    return np.asarray(np.max(_special.ndtr(-quantile), axis=-1))


def _gap(gap: float) -> float:
    return above("gap", gap, 0.0, "give Δ")


def _eta(eta: float) -> float:
    return above("eta", eta, 1.0, "use eta=1.1")


def _rho(rho: float) -> float:
    return within("rho", rho, 0.0, 1.0, "rho=0.5 is the canonical choice")


def _base(base: float | None, eta: float) -> float:
    """Return the base of blocks, between 1 and η."""
    chosen = (1.0 + eta) / 2.0 if base is None else above("base", base, 1.0, "use (1 + eta) / 2")
    if chosen >= eta:
        raise ParameterError(f"base must be below eta, got {chosen:g} for eta={eta:g}; use (1 + eta) / 2")
    return chosen


def _caps(caps: npt.ArrayLike) -> Floats:
    """Return λ_1, ..., λ_d as an array."""
    values = np.asarray(caps, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not (values >= 1.0).all():
        raise ParameterError(f"caps must be a list of numbers of 1 or more, got {caps!r}; use inf where there is none")
    return values
