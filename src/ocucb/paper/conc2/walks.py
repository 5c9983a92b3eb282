"""Expectations of Lemma conc2's α and β, measured under walks that are pushed down and weighted back.

α has a tail of index η at best, so its plain average has no variance for η ≤ 2 and misses, at any affordable size, the
rare walks that make the expectation. Instead a walk of Gaussian steps is given the drift -θ until some time, both drawn
from a mixture, and W_s is the likelihood ratio of its first s steps, without drift to with. With the running maximum
M_s of what the first s samples ask of α, and any increasing f with f(0) = 0,

    E[f(α)] = E[Σ_s W_s (f(M_s) - f(M_{s-1}))]   under the mixture,

since each summand depends on s steps only. A new maximum at s, with z = -S_s/√s, has M_s ≤ D(s) exp(z²/(2η)), and W_s
is at most a constant times exp(-z²/(2 + 8/κ²)), κ being the width of the mixture, with 1 + 4/κ² < η. So the sum is
bounded; in practice it stays below ten times its mean, and Student's interval is honest. The same walks give P(α ≥ y)
for any y, as the expectation of W at the first s with M_s ≥ y.

Walks stop at HORIZON/Δ² samples; `left_out` bounds what that leaves out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ocucb.compiled import Floats, kernel
from ocucb.noise.normal import quantile
from ocucb.paper.claim import Effort
from ocucb.theory.confidence import alpha_mean_bound, confidence_counts
from ocucb.uniforms import stream, uniform

HORIZON = 48.0
NONE = -1e300  # log of a maximum that is still 0
TAPE = 912  # the stream of a seed that these walks draw from


class WalkSetting(NamedTuple):
    """ρ and λ_1, ..., λ_d."""

    rho: float
    caps: Sequence[float]


class Measured(NamedTuple):
    """Samples whose expectations are E[α], E[β] and P(α ≥ level), one row per walk, one column per setting."""

    alpha: Floats
    beta: Floats
    reached: Floats


def measure(
    seed: int,
    gap: float,
    eta: float,
    settings: Sequence[WalkSetting],
    runs: int,
    levels: Sequence[Sequence[float]] = (),
    spread: float = 0.0,
) -> Measured:
    """Walk `runs` times, for all settings at once.

    levels : one row per setting.
    spread : how many standard deviations walks are pushed down, at least; for levels far out.
    """
    length = horizon(gap)
    scales = max(1, math.ceil(math.log(length) / math.log(4.0)))
    ends = np.minimum(4.0 ** np.arange(1, scales + 1), float(length))
    # κ: wide enough for W M to be bounded between one end and the next, four times as far
    kappa = max(spread, math.sqrt(4.0 * eta / (eta - 1.0)))
    widths = kappa / np.sqrt(ends)
    parts = np.array_split(np.arange(1, length + 1), 1 + length // 10_000)
    counts = np.log([np.concatenate([confidence_counts(s, rho, caps) for s in parts]) for rho, caps in settings])
    lines = np.log(np.array(levels)) if levels else np.empty((len(settings), 0))
    alpha, beta = np.zeros((runs, len(settings))), np.zeros((runs, len(settings)))
    reached = np.zeros((runs, *lines.shape))
    scratch = np.empty((2, max(scales, len(settings))))
    _walks(seed, gap, eta, counts, ends, widths, lines, scratch, alpha, beta, reached)
    return Measured(alpha, beta, reached)


def horizon(gap: float) -> int:
    """Return how many samples a walk takes."""
    return math.ceil(HORIZON / gap**2)


def affordable(effort: Effort, gap: float) -> int:
    """Return how many walks a check may take for one Δ and one η."""
    return min(effort.pick(5_000, 20_000), effort.pick(2_500_000, 500_000_000) // horizon(gap))


def left_out(gap: float, eta: float, rho: float, caps: Sequence[float]) -> float:
    """Return what the samples after the horizon add to E[α] at most; E[β] gets no more than 1.77 times that."""
    return alpha_mean_bound(gap, eta, rho, caps, horizon(gap), min(1.0 + (min(eta, 2.0) - 1.0) / 2.0, 1.1))


@kernel
def _walks(
    seed: int,
    gap: float,
    eta: float,
    counts: Floats,
    ends: Floats,
    widths: Floats,
    lines: Floats,
    scratch: Floats,
    alpha: Floats,
    beta: Floats,
    reached: Floats,
) -> None:
    """Fill alpha, beta and reached, a row per walk."""
    scales, settings = len(ends), len(counts)
    key = stream(np.uint64(seed), TAPE)  # here, as Python would get it as a signed number
    for run in range(len(alpha)):
        own = stream(key, run)
        chosen = int(uniform(own, 0) * scales)
        drift = widths[chosen] * abs(quantile(uniform(own, 1)))
        tape = stream(own, 2)
        total, passed = 0.0, 0
        scratch[1, :settings] = NONE
        for i in range(counts.shape[1]):
            s = i + 1.0
            total += quantile(uniform(tape, i))
            if s <= ends[chosen]:
                total -= drift
            if passed < scales and s == ends[passed]:
                scratch[0, passed] = _log_likelihood(widths[passed], s, total)
                passed += 1
            short = -total - gap * s
            if short > 0.0:
                asked = short * short / (2.0 * eta * s)
                weight = math.nan
                for c in range(settings):
                    log_new, log_old = counts[c, i] + asked, scratch[1, c]
                    if log_new > log_old:
                        if math.isnan(weight):
                            weight = _log_weight(scratch[0], passed, widths, s, total)
                        alpha[run, c] += math.exp(weight + log_new) - math.exp(weight + log_old)
                        beta[run, c] += math.exp(weight + _log_beta(log_new)) - math.exp(weight + _log_beta(log_old))
                        for q in range(lines.shape[1]):
                            if log_old < lines[c, q] <= log_new:
                                reached[run, c, q] = math.exp(weight)
                        scratch[1, c] = log_new


@kernel
def _log_likelihood(width: float, s: float, total: float) -> float:
    """Return the log of the likelihood of s steps that add up to `total`, with drift to without.

    The drift is -θ, θ = |normal| times width: ∫ 2φ(θ/w)/w exp(-θS - θ²s/2) dθ = (√v/w) exp(S²v/2) erfc(S√(v/2)), where
    1/v = s + 1/w².
    """
    v = 1.0 / (s + 1.0 / (width * width))
    return (
        0.5 * math.log(v) - math.log(width) + 0.5 * total * total * v + math.log(math.erfc(total * math.sqrt(0.5 * v)))
    )


@kernel
def _log_weight(ended: Floats, passed: int, widths: Floats, s: float, total: float) -> float:
    """Return log W_s: minus the log of the likelihood averaged over the mixture. Drifts that ended keep theirs."""
    top = NONE
    for q in range(len(widths)):
        top = max(top, ended[q] if q < passed else _log_likelihood(widths[q], s, total))
    sum_ = 0.0
    for q in range(len(widths)):
        sum_ += math.exp((ended[q] if q < passed else _log_likelihood(widths[q], s, total)) - top)
    return math.log(len(widths)) - math.log(sum_) - top


@kernel
def _log_beta(log_alpha: float) -> float:
    """Return log β, which is W(α), for α ≥ 1: Newton's method for w + log w = log α."""
    if log_alpha == NONE:
        return NONE
    w = max(0.5, log_alpha - math.log(max(1.0, log_alpha)))
    for _ in range(50):
        step = (w + math.log(w) - log_alpha) * w / (w + 1.0)
        w -= step
        if abs(step) <= 1e-15 * w:
            break
    return w
