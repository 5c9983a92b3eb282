"""What ρ near 1/2 does to part (a): nothing, though its constant explodes there.

The proof bounds ∫_a^1 v^-ρ dv by log(1/a), a = λΔ²/(2η), and a^(ρ-1/2) log(1/a) has the maximum 2/(e(2ρ-1)). But the
integral is at most 1/(1-ρ) too, and a^(ρ-1/2) min{log(1/a), 1/(1-ρ)} ≤ 2 for all ρ in [1/2, 1] and a in (0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ocucb.lab.chart import Chart, Line
from ocucb.paper.claim import Conclusion, Effort, Finding, Table
from ocucb.paper.conc2.grid import LIMIT, corrected_b, points, sandwich
from ocucb.paper.conc2.walks import WalkSetting, affordable, measure
from ocucb.paper.evidence import Interval, mean_interval
from ocucb.theory.confidence import confidence_scale, confidence_sum

ETA = 1.2


def run(effort: Effort, *, rhos: Sequence[float] = (0.5, 0.505, 0.52, 0.55, 0.6, 0.75, 1.0)) -> Finding:
    """Decide "Δ E[α] ≤ 50 max{1, (η-1)^-2} Σ min{1/Δ, √λ_i}" for all these ρ, and show both parts as ρ falls."""
    gaps = effort.pick((1.0, 0.3, 0.1), (1.0, 0.3, 0.1, 0.03, 0.01))
    alpha, beta = peaks(effort, rhos, gaps)
    proved, enough, failed = constants(rhos)
    scale = [max(gap * confidence_scale(gap, rho, [1.0]) for gap in np.geomspace(1e-150, 1.0, 600)) for rho in rhos]
    title = f"d = 1, λ = 1; measured at η = {ETA:g}, the largest for Δ from 1 to {gaps[-1]:g}"
    names = ("Δ E[α], measured", "Δ E[β], measured", "Δ E[α], proved bound", "Δ Λ, largest for Δ ≥ 1e-150")
    rows = [
        (
            f"{rho:g}",
            *(f"{m.value:.3f} ± {(m.high - m.low) / 2:.3f}" for m in (one, two)),
            f"{three:.3f}",
            f"{four:.3g}",
        )
        for rho, one, two, three, four in zip(rhos, alpha, beta, proved, scale, strict=True)
    ]
    lines = (
        *(
            Line(name, rhos, [m.value for m in found], [m.low for m in found], [m.high for m in found])
            for name, found in zip(names, (alpha, beta), strict=False)
        ),
        Line(names[2], rhos, proved, bound=True),
        Line(names[3], rhos, scale, bound=True),
    )
    tables = (Table(title, ("ρ", *names), tuple(rows)),)
    charts = (Chart(title, "ρ", "times √λ", lines, "linear", "log"),)
    if failed:
        return Finding(Conclusion.FAILS, "No constant serves these ρ.", 0.0, failed, tables, charts)
    outcome = (
        f"A constant of {enough:.3g}, free of ρ, is proved to serve (a) down to ρ = 1/2 itself. Measured, Δ E[α] is "
        f"{alpha[-1].value:.2f} at ρ = 1 and {alpha[0].value:.2f} at ρ = 1/2, Δ E[β] {beta[-1].value:.2f} and "
        f"{beta[0].value:.2f}. What explodes is Λ, not α."
    )
    return Finding(Conclusion.HOLDS if enough <= LIMIT["alpha"] else Conclusion.OPEN, outcome, 0.0, "", tables, charts)


def peaks(effort: Effort, rhos: Sequence[float], gaps: Sequence[float]) -> tuple[list[Interval], list[Interval]]:
    """Measure Δ E[α] and Δ E[β] with λ = 1, and return the largest over Δ for each ρ."""
    settings = [WalkSetting(rho, [1.0]) for rho in rhos]
    of = 2 * len(rhos) * len(gaps)
    walks = [measure(effort.seed, gap, ETA, settings, affordable(effort, gap)) for gap in gaps]
    alpha = [
        [mean_interval(gap * column, of) for column in walk.alpha.T] for gap, walk in zip(gaps, walks, strict=True)
    ]
    beta = [[mean_interval(gap * column, of) for column in walk.beta.T] for gap, walk in zip(gaps, walks, strict=True)]
    first, second = (
        [max(column, key=lambda m: m.value) for column in zip(*part, strict=True)] for part in (alpha, beta)
    )
    return first, second


def constants(rhos: Sequence[float]) -> tuple[list[float], float, str]:
    """Return what is proved of Δ E[α] at ETA and λ = 1, per ρ; the constant that serves all; and where none does."""
    proved, enough, failed = dict.fromkeys(rhos, 0.0), 0.0, ""
    for point in points(rhos, (1.01, ETA, 2.0, 256.0)):
        floor, bound = sandwich("alpha", point)
        claim = corrected_b(point.eta, point.rho) * confidence_sum(point.gap, [point.cap])
        enough = max(enough, bound / claim)
        if point.eta == ETA and point.cap == 1.0:
            proved[point.rho] = max(proved[point.rho], bound / confidence_sum(point.gap, [1.0]))
        if floor / claim > LIMIT["alpha"] and not failed:
            failed = f"{point}: Δ E[α] ≥ {floor:.4g}, and {claim:.4g} stands after the O(.)"
    return list(proved.values()), enough, failed
