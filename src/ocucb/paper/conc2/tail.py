"""The tail of α, on which both parts rest."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ocucb.compiled import Floats
from ocucb.lab.chart import Chart, Line
from ocucb.paper.claim import Conclusion, Effort, Finding, Table
from ocucb.paper.conc2.grid import points, samples
from ocucb.paper.conc2.walks import WalkSetting, measure
from ocucb.paper.evidence import ALARM, Interval, at_most, mean_interval
from ocucb.theory.confidence import alpha_tail_bound, alpha_tail_floor, confidence_scale

CONSTANT = 500.0
GAP = 0.1
SETTINGS = {"ρ = 1, λ = ∞": WalkSetting(1.0, [math.inf]), "ρ = 1/2, λ = 1": WalkSetting(0.5, [1.0])}


def proved_power(eta: float) -> float:
    """Return η_2 = 2η/(1+η)."""
    return 2.0 * eta / (1.0 + eta)


def doubled_power(eta: float) -> float:
    """Return 2η_2, as if a standard deviation had been taken for a variance."""
    return 2.0 * proved_power(eta)


def run(effort: Effort, *, power: Callable[[float], float] = proved_power) -> Finding:
    """Decide "P(α ≥ xΛ) ≤ 500 η/(η-1) x^-power(η)" over the grid, and measure the tail for two η."""
    enough, failed = constants(power)
    x, etas = effort.pick(np.geomspace(1.0, 1e6, 7), np.geomspace(1.0, 1e8, 17)), (1.2, 2.0)
    found = {eta: tails(effort, eta, x, len(etas) * len(SETTINGS) * x.size) for eta in etas}
    limits = [CONSTANT * eta / (eta - 1.0) * at ** -power(eta) for eta in etas for _ in SETTINGS for at in x.tolist()]
    conclusion = at_most([m for rows in found.values() for row in rows for m in row], limits)
    if conclusion is Conclusion.HOLDS and enough > CONSTANT:
        conclusion = Conclusion.OPEN
    outcome = f"A constant of {enough:.3g} is proved to serve the whole grid, η up to 4096 and ρ down to 0."
    if failed:
        conclusion, outcome = Conclusion.FAILS, "The constant needed grows with x."
    far = x[-1] / x[-3]
    slopes = [[math.log(row[-3].value / row[-1].value) / math.log(far) for row in rows] for rows in found.values()]
    told = [
        f"x^-{one:.2f} and x^-{two:.2f} for η = {eta:g}, where η_2 = {proved_power(eta):.2f}"
        for eta, (one, two) in zip(etas, slopes, strict=True)
    ]
    outcome += f" Measured up to x = {x[-1]:g}, the tail falls like {told[0]}; {told[1]}."
    return Finding(conclusion, outcome, ALARM, failed, (table(x, found),), (chart(x, found),))


def constants(power: Callable[[float], float]) -> tuple[float, str]:
    """Return the constant that is proved to be enough, and a point where more than CONSTANT is needed."""
    x, enough, failed = np.array((1.0, 1e2, 1e4, 1e8, 1e12)), 0.0, ""
    for point in points((1.0, 0.5, 0.0)):
        gap, eta, rho, cap = point
        claim = eta / (eta - 1.0) * x ** -power(eta)
        level = x * confidence_scale(gap, rho, [cap])
        floor = alpha_tail_floor(level, gap, eta, rho, [cap], samples(gap))
        enough = max(enough, float(np.max(alpha_tail_bound(level, gap, eta, rho, [cap]) / claim)))
        at = int(np.argmax(floor / claim))
        if floor[at] > CONSTANT * claim[at] and not failed:
            failed = f"{point}, x = {x[at]:g}: P(α ≥ xΛ) ≥ {floor[at]:.3g}, and {claim[at]:.3g} stands after the O(.)"
    return enough, failed


def tails(effort: Effort, eta: float, x: Floats, of: int) -> list[list[Interval]]:
    """Measure P(α ≥ xΛ), one row per setting."""
    levels = [(x * confidence_scale(GAP, *setting)).tolist() for setting in SETTINGS.values()]
    spread = math.sqrt(2.0 * eta * math.log(x[-1]))
    reached = measure(effort.seed, GAP, eta, list(SETTINGS.values()), effort.pick(1000, 50_000), levels, spread).reached
    return [[mean_interval(reached[:, c, i], of) for i in range(x.size)] for c in range(len(SETTINGS))]


def table(x: Floats, found: dict[float, list[list[Interval]]]) -> Table:
    """Show the measured tail."""
    names = tuple(f"η = {eta:g}, {label}" for eta in found for label in SETTINGS)
    columns = [row for rows in found.values() for row in rows]
    lines = tuple(
        (f"{level:.3g}", *(f"{c[i].value:.3g} ± {(c[i].high - c[i].low) / 2:.2g}" for c in columns))
        for i, level in enumerate(x)
    )
    return Table(f"P(α ≥ xΛ), measured at Δ = {GAP:g}", ("x", *names), lines)


def chart(x: Floats, found: dict[float, list[list[Interval]]]) -> Chart:
    """Draw the measured tail, and the proved powers without their constant."""
    lines = [
        Line(f"η = {eta:g}, {label}", x.tolist(), [m.value for m in row])
        for eta, rows in found.items()
        for label, row in zip(SETTINGS, rows, strict=True)
    ]
    lines += [Line(f"x^-η_2, η = {eta:g}", x.tolist(), (x ** -proved_power(eta)).tolist(), bound=True) for eta in found]
    return Chart(f"Tail of α at Δ = {GAP:g}", "x", "P(α ≥ xΛ)", tuple(lines), "log", "log")
