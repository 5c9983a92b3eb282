"""The last display in the proof of part (b)."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ocucb.compiled import Floats
from ocucb.paper.claim import Conclusion, Effort, Finding, Table
from ocucb.theory.confidence import confidence_scale

special: Any = importlib.import_module("scipy.special")  # not typed

PLAIN = 0.01  # a Δ to look at by hand, with d = 1, ρ = 1/2, λ = 1
MARGIN = 1e-9  # far more than rounding can do


def printed(gap: Floats, cap: float) -> Floats:
    """Return √λ log₊(1/(λΔ²)) / max{1, W(Δ^-2)}."""
    return np.asarray(math.sqrt(cap) * _log(gap, cap) / np.maximum(1.0, special.lambertw(gap**-2.0).real))


def twice(gap: Floats, cap: float) -> Floats:
    """Return 2√λ, at which the display arrives."""
    return np.full(gap.shape, 2.0 * math.sqrt(cap))


def once(gap: Floats, cap: float) -> Floats:
    """Return √λ."""
    return np.full(gap.shape, math.sqrt(cap))


def left(gap: Floats, cap: float, rho: float) -> Floats:
    """Return min{1/Δ, λ^ρ Δ^(2ρ-1) log₊(1/(λΔ²)) / W(Λ)}."""
    lambert = special.lambertw([confidence_scale(float(value), rho, [cap]) for value in gap]).real
    return np.asarray(np.minimum(1.0 / gap, cap**rho * gap ** (2.0 * rho - 1.0) * _log(gap, cap) / lambert))


def run(effort: Effort, *, right: Callable[[Floats, float], Floats] = printed) -> Finding:
    """Compare both sides with d = 1, for Δ < λ^(-1/2) and Λ ≥ e."""
    ratios, worst, failed, tried, rows = np.geomspace(0.97, 1e-200, effort.pick(300, 4000)), 0.0, "", 0, []
    for rho in (0.5, 0.51, 0.55, 0.6, 0.75, 0.9, 1.0):
        for cap in (1.0, 10.0, 1e4, 1e12):
            gap = np.sqrt(ratios / cap)
            gap = gap[[confidence_scale(float(value), rho, [cap]) >= math.e for value in gap]]
            share = left(gap, cap, rho) / right(gap, cap)
            at, tried = int(np.argmax(share)), tried + gap.size
            rows.append((f"{rho:g}", f"{cap:g}", f"{share[at]:.4f}", f"{gap[at]:.3g}"))
            if share[at] > 1.0 + MARGIN and share[at] > worst:
                failed = example(float(gap[at]), cap, rho, right)
            worst = max(worst, float(share[at]))
    if failed and (left(np.array([PLAIN]), 1.0, 0.5) > right(np.array([PLAIN]), 1.0) * (1.0 + MARGIN)).all():
        failed = example(PLAIN, 1.0, 0.5, right)
    tables = (Table("Largest ratio of left to right", ("ρ", "λ", "ratio", "at Δ"), tuple(rows)),)
    outcome = f"The left side is up to {worst:.4f} times the right, over {tried:,} points with Δ down to 1e-106."
    conclusion = Conclusion.FAILS if failed else Conclusion.HOLDS if worst < 1.0 - MARGIN else Conclusion.OPEN
    return Finding(conclusion, outcome, 0.0, failed, tables)


def example(gap: float, cap: float, rho: float, right: Callable[[Floats, float], Floats]) -> str:
    """Put a point into words."""
    at = np.array([gap])
    sides = f"left {float(left(at, cap, rho)[0]):.5g}, right {float(right(at, cap)[0]):.5g}"
    return f"d = 1, ρ = {rho:g}, λ = {cap:g}, Δ = {gap:.4g}: {sides}"


def _log(gap: Floats, cap: float) -> Floats:
    """Return log₊(1/(λΔ²))."""
    return np.asarray(np.maximum(1.0, -math.log(cap) - 2.0 * np.log(gap)))
