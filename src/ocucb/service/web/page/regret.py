"""An estimate of the regret so far, and beside it the shape that Theorem 1 gives to regret."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ocucb.compiled import Floats
from ocucb.labels import Label
from ocucb.noise import Noise
from ocucb.service.history import Span
from ocucb.theory.bounds import finite_time_sum

MAX_POINTS, MIN_POINTS = 60, 12
MAX_TERMS = 2_000_000
MAX_EXACT_MEANS = 1000
MAX_SCALED_GAP = 1e100


class Regret(NamedTuple):
    """Estimated regret after so many decisions, and where there is one the shape, which meets it at the end."""

    at: Floats
    estimate: Floats
    shape_at: Floats
    shape: Floats

    @property
    def total(self) -> float:
        """The estimate so far."""
        return float(self.estimate[-1])


def estimate(
    spans: Sequence[Span],
    arms: Sequence[Label],
    pulls: Floats,
    means: Floats,
    noise: Noise,
    rho: float,
    playing: int | None = None,
) -> Regret | None:
    """Return the regret so far: Σ pulls (largest mean - mean), over arms that have a mean; None before there is one.

    Only the first `playing` arms can be the best: the others are retired, and those that were better cost nothing. The
    curve takes today's gaps for all of the past. Decisions for arms that a span does not name have the average gap with
    which its end is the exact sum.
    """
    known = np.isfinite(means)
    able = known & (np.arange(len(means)) < (len(means) if playing is None else playing))
    decisions = sum(span.decisions for span in spans)
    if not able.any() or not decisions:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = np.where(known, np.maximum(means[able].max() - means, 0.0), math.nan)
        total = float(pulls[known] @ gaps[known])
    if not math.isfinite(total):
        return None
    by_arm = {arm: float(gap) for arm, gap in zip(arms, gaps, strict=True) if gap == gap}
    at, curve = _curve(spans, by_arm, total)
    grid, shape = _shape(means[able], noise, rho, decisions)
    if shape.size and shape[-1] > 0.0:
        shape = shape * (total / shape[-1])
    return Regret(at, curve, grid, shape)


def _curve(spans: Sequence[Span], gaps: Mapping[Label, float], total: float) -> tuple[Floats, Floats]:
    """Return cumulative regret by decisions. What was imported, and so was never decided here, lies before them all."""
    named, unnamed, at = [0.0], [0], [0]
    for span in spans:
        known = {arm: count for arm, count in span.pulls.items() if arm in gaps}
        named.append(sum(count * gaps[arm] for arm, count in known.items()))
        unnamed.append(span.others + sum(span.pulls.values()) - sum(known.values()))
        at.append(span.decisions)
    here, rest = np.cumsum(named), np.cumsum(unnamed, dtype=np.float64)
    average = min(max(0.0, total - here[-1]) / max(rest[-1], 1.0), max(gaps.values()))
    curve = here + average * rest if rest[-1] else here
    if curve[-1] > total:  # some of these decisions were forgotten later
        curve = curve * (total / curve[-1])
    return np.cumsum(at, dtype=np.float64), np.asarray(curve + (total - curve[-1]))


def _shape(means: Floats, noise: Noise, rho: float, decisions: int) -> tuple[Floats, Floats]:
    """Return Theorem 1's sum at some n. Means closer to the best than so many rounds could tell count as the best.

    It speaks of a known scale; where each arm has its own, there is none.
    """
    if noise.family().spreads:
        return np.zeros(0), np.zeros(0)
    best = float(means.max())
    with np.errstate(over="ignore"):
        scaled = (means - best) / _scale(noise, best)
    scaled = np.where(scaled > -1.0 / math.sqrt(decisions), 0.0, _rounded(scaled))
    if not scaled.any() or scaled.min() < -MAX_SCALED_GAP:
        return np.zeros(0), np.zeros(0)
    points = min(MAX_POINTS, max(MIN_POINTS, MAX_TERMS // scaled.size))
    # As many points among the first decisions as among the last: that is where the curve bends.
    grid = np.unique(np.concatenate([np.geomspace(1, decisions, points // 2), np.linspace(1, decisions, points // 2)]))
    return grid, finite_time_sum(scaled, grid, rho, corrected=True)


def _rounded(scaled: Floats) -> Floats:
    """Return means of many arms to three digits: effective arms cost time for each different one."""
    if scaled.size <= MAX_EXACT_MEANS:
        return scaled
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = 10.0 ** (np.floor(np.log10(-scaled)) - 2.0)
        return np.where(scaled < 0.0, np.round(scaled / unit) * unit, 0.0)


def _scale(noise: Noise, best: float) -> float:
    """Return the scale for which the theorem's noise of scale 1 stands: a family's own, else that at the best mean."""
    scale = noise.subgaussian_scale()
    return max(noise.standard_deviation(best), 1e-300) if scale is None else scale
