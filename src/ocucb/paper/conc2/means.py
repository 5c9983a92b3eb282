"""Δ E[α] and Δ E[β] against Σ min{1/Δ, √λ_i}: parts (a) and (b)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ocucb.lab.chart import Chart, Line
from ocucb.paper.claim import Conclusion, Effort, Finding, Table
from ocucb.paper.conc2.grid import BETA_TO_ALPHA, ETAS, LIMIT, NAME, Factor, Part, Total, points, printed_a, sandwich
from ocucb.paper.conc2.walks import WalkSetting, affordable, left_out, measure
from ocucb.paper.evidence import ALARM, Interval, at_most, mean_interval
from ocucb.theory.confidence import confidence_sum

TEN = (*(4.0**i for i in range(9)), math.inf)
HUNDRED = (*(float(cap) for cap in np.geomspace(1.0, 1e6, 99)), math.inf)


def run(
    effort: Effort,
    *,
    part: Part = "alpha",
    factor: Factor = printed_a,
    total: Total = confidence_sum,
    rhos: Sequence[float] = (1.0, 0.75, 0.55, 0.505),
) -> Finding:
    """Decide "Δ E ≤ LIMIT · factor(η, ρ) · total(Δ, λ)"; where it is not refuted, measure too."""
    limit, needed, enough = LIMIT[part], dict.fromkeys(ETAS, 0.0), dict.fromkeys(ETAS, 0.0)
    failed = ""
    for point in points(rhos):
        floor, bound = sandwich(part, point)
        claim = factor(point.eta, point.rho) * total(point.gap, [point.cap])
        needed[point.eta] = max(needed[point.eta], floor / claim)
        enough[point.eta] = max(enough[point.eta], bound / claim)
        if floor / claim > limit and not failed:
            failed = f"{point}: Δ E[{NAME[part]}] ≥ {floor:.4g}, and {claim:.4g} stands after the O(.)"
    rows = tuple((f"{eta:g}", f"{needed[eta]:.4g}", f"{enough[eta]:.4g}") for eta in ETAS)
    table = Table("The constant, over all Δ, ρ, λ tried", ("η", "needed (Gaussian noise)", "enough (proved)"), rows)
    if failed:
        small = max(constant for eta, constant in enough.items() if eta <= 2.0)
        outcome = (
            f"The constant needed grows over the grid up to {max(needed.values()):.3g}, and further beyond it. For η ≤ "
            f"2 one of {small:.3g} is enough."
        )
        return Finding(Conclusion.FAILS, outcome, 0.0, failed, (table,))
    return measured(effort, part, factor, total, min(rhos), max(enough.values()), table)


def measured(
    effort: Effort, part: Part, factor: Factor, total: Total, rho: float, enough: float, bounds: Table
) -> Finding:
    """Measure the ratio of Δ E to the sum over i, and hold its intervals against what the statement allows."""
    near = f"ρ = {rho:g}"
    settings = {
        "ρ = 1, λ = ∞": WalkSetting(1.0, [math.inf]),
        "ρ = 1, λ = 1": WalkSetting(1.0, [1.0]),
        f"{near}, λ = 1": WalkSetting(rho, [1.0]),
        f"{near}, d = 10": WalkSetting(rho, TEN),
        "ρ = 0.75, d = 100": WalkSetting(0.75, HUNDRED),
    }
    gaps = effort.pick((1.0, 0.1), (1.0, 0.3, 0.1, 0.03, 0.01))
    etas = effort.pick((1.02, 1.1, 1.4, 2.0), (1.02, 1.05, 1.1, 1.2, 1.5, 2.0))
    of = len(gaps) * len(etas) * len(settings)
    found = {}
    for gap in gaps:
        scales = [gap / total(gap, setting.caps) for setting in settings.values()]
        for eta in etas:
            intervals = expectations(effort, part, gap, eta, list(settings.values()), of)
            found[gap, eta] = [
                Interval(*(scale * end for end in ends)) for scale, ends in zip(scales, intervals, strict=True)
            ]
    limits = [LIMIT[part] * factor(eta, setting.rho) for _, eta in found for setting in settings.values()]
    conclusion = at_most([interval for row in found.values() for interval in row], limits)
    if conclusion is Conclusion.HOLDS and enough > LIMIT[part]:
        conclusion = Conclusion.OPEN
    rows = [
        (f"{gap:g}", f"{eta:g}", *(f"{value:.3f} ± {(high - low) / 2:.3f}" for low, value, high in row))
        for (gap, eta), row in found.items()
    ]
    name = f"Δ E[{NAME[part]}] / Σ min{{1/Δ, √λ}}"
    last = [found[gaps[-1], eta] for eta in etas]
    growth = max(first.value / final.value for first, final in zip(last[0], last[-1], strict=True))
    peak = max(interval.high for row in found.values() for interval in row)
    outcome = (
        f"A constant of {enough:.3g} is proved to serve the whole grid: Δ from 10 to 1e-10, η from 1.01 to 4096. The "
        f"ratio itself, measured, is {peak:.3g} at most. From η = 2 to 1.02 at Δ = {gaps[-1]:g} it grows {growth:.2g} "
        "times at most, where (η-1)^-2 grows 2500 times."
    )
    tables = (Table(f"{name}, measured", ("Δ", "η", *settings), tuple(rows)), bounds)
    charts = (chart(f"{name} at Δ = {gaps[-1]:g}", etas, list(settings), last),)
    return Finding(conclusion, outcome, ALARM, "", tables, charts)


def expectations(
    effort: Effort, part: Part, gap: float, eta: float, settings: list[WalkSetting], of: int
) -> list[Interval]:
    """Return intervals for E[α] or E[β], with what lies beyond the horizon added above."""
    walks = measure(effort.seed, gap, eta, settings, affordable(effort, gap))
    columns = walks.alpha.T if part == "alpha" else walks.beta.T
    found = []
    for (rho, caps), column in zip(settings, columns, strict=True):
        low, value, high = mean_interval(column, of)
        found.append(Interval(low, value, high + BETA_TO_ALPHA * left_out(gap, eta, rho, caps)))
    return found


def chart(title: str, etas: Sequence[float], labels: Sequence[str], found: Sequence[Sequence[Interval]]) -> Chart:
    """Draw measured ratios against η - 1."""
    x = [eta - 1.0 for eta in etas]
    lines = [
        Line(label, x, [row[i].value for row in found], [row[i].low for row in found], [row[i].high for row in found])
        for i, label in enumerate(labels)
    ]
    lines.append(Line("(η-1)^-2", x[-3:], [value**-2.0 for value in x[-3:]], bound=True))
    return Chart(title, "η - 1", "ratio", tuple(lines), "log", "log")
