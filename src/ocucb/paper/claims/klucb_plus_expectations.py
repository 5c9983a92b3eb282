"""Section 3, the two expectations: when optimism prevails, and when an arm has settled."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ocucb.lab.chart import Chart, Line
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Table, Wrong
from ocucb.paper.evidence import ALARM, Interval, at_most, mean_interval
from ocucb.paper.walks import GAUSSIAN, last_times
from ocucb.theory.confidence import alpha_constant, alpha_mean_bound, alpha_mean_floor

PURPOSE = 31  # of the walks: no other check reads them
SAFE = 7.0  # walks are left where they come back with probability exp(-SAFE²/2) at most


def waiting_printed(gap: float) -> float:
    """Return Δ^-2."""
    return 1.0 / (gap * gap)


def waiting_corrected(gap: float) -> float:
    """Return 1 + Δ^-2: τ_Δ is a round, so 1 at least."""
    return 1.0 + 1.0 / (gap * gap)


def waiting_too_short(gap: float) -> float:
    """Return 1 + Δ^-1."""
    return 1.0 + 1.0 / gap


def check_waiting(effort: Effort, *, form: Callable[[float], float] = waiting_printed) -> Finding:
    """Compare what is known of E[τ_Δ], from both sides, with 4A_η times a form; τ_Δ is 1 + α at most."""
    gaps = (10.0 ** np.arange(-6.0, 6.1, effort.pick(1.0, 0.25))).tolist()
    rows, failed, unsure, lines = [], "", 0, []
    for eta in (1.01, 1.1, 2.0, 16.0):
        constant = 4.0 * alpha_constant(eta)
        lows, highs = [], []
        for gap in gaps:
            samples = np.ceil(np.array([0.5, 1.0, 2.0, 4.0]) * (2.0 / gap) ** 2)
            lows.append(max(1.0, alpha_mean_floor(gap / 2.0, eta, 1.0, [math.inf], samples)))
            highs.append(1.0 + alpha_mean_bound(gap / 2.0, eta, 1.0, [math.inf]))
            claim = constant * form(gap)
            unsure += highs[-1] > claim
            if lows[-1] > claim and not failed:
                failed = f"η = {eta:g}, Δ = {gap:g}: E[τ_Δ] ≥ {lows[-1]:.4g}, and 4A_η times the form is {claim:.4g}"
        most = max(high / (constant * form(gap)) for gap, high in zip(gaps, highs, strict=True))
        rows.append((f"{eta:g}", f"{constant:.4g}", f"{most:.4g}"))
        if eta == 2.0:
            lines = [
                Line("E[τ_Δ], at most", gaps, highs),
                Line("E[τ_Δ], at least", gaps, lows),
                Line("4A_η times the form", gaps, [constant * form(gap) for gap in gaps], bound=True),
            ]
    return Finding(
        Conclusion.FAILS if failed else Conclusion.OPEN if unsure else Conclusion.HOLDS,
        f"Over {4 * len(gaps)} pairs of η and Δ, the bound that is proved is at most "
        f"{max(float(r[2]) for r in rows):.4g} "
        "times 4A_η times the form.",
        counterexample=failed,
        tables=(Table("E[τ_Δ] as proved, over 4A_η times the form", ("η", "4A_η", "largest"), tuple(rows)),),
        charts=(Chart("How long optimism takes, η = 2", "Δ", "rounds", tuple(lines), "log", "log"),),
    )


def settling_printed(scaled: float, gap: float) -> float:
    """Return 1 + Δ^-2 log(nΔ²), with nΔ² given."""
    return 1.0 + math.log(scaled) / gap**2


def settling_corrected(scaled: float, gap: float) -> float:
    """Return 1 + Δ^-2 log₊(nΔ²)."""
    return 1.0 + max(1.0, math.log(scaled)) / gap**2


def settling_too_short(scaled: float, gap: float) -> float:
    """Return 1 + Δ^-1 log₊(nΔ²)."""
    return 1.0 + max(1.0, math.log(scaled)) / gap


def check_settling(effort: Effort, *, form: Callable[[float, float], float] = settling_printed) -> Finding:
    """Measure E[τ_i] and compare it with C_η times a form."""
    scaled, etas = (1.0, math.e, 30.0, 1e3, 1e6), (1.1, 2.0)
    runs, gaps = effort.pick((100, (4.0, 1.0, 0.125)), (4000, (4.0, 1.0, 0.25, 0.0625)))
    measured: dict[tuple[float, float, float], Interval] = {}
    for eta in etas:
        slacks = [math.sqrt(2.0 * eta * math.log(one)) for one in scaled]
        for gap in gaps:
            horizon = math.ceil(4.0 / gap**2 * (slacks[-1] + SAFE) ** 2)
            last = last_times(GAUSSIAN, gap / 2.0, slacks, horizon, runs, effort.seed, PURPOSE)
            times = np.maximum(last + 1.0, math.ceil(gap**-2.0))
            for column, one in enumerate(scaled):
                measured[eta, gap, one] = mean_interval(times[:, column], len(etas) * len(gaps) * len(scaled))
    limits = {key: _constant(key[0]) * form(key[2], key[1]) for key in measured}
    conclusion = at_most(measured.values(), limits.values())
    worst = max(measured, key=lambda key: measured[key].value / limits[key])
    words = (
        f"η = {worst[0]:g}, Δ = {worst[1]:g}, nΔ² = {worst[2]:.3g}: E[τ_i] = {measured[worst].value:.1f} (at least "
        f"{measured[worst].low:.1f}), and C_η times the form is {limits[worst]:.1f}"
    )
    lines = tuple(
        Line(f"Δ = {gap:g}", scaled, [measured[1.1, gap, one].value / form(one, gap) for one in scaled]) for gap in gaps
    )
    rows = tuple(
        (f"{eta:g}", f"{gap:g}", *(f"{measured[eta, gap, one].value:.1f}" for one in scaled))
        for eta in etas
        for gap in gaps
    )
    return Finding(
        conclusion,
        f"Nearest to the bound, or worst: {words}.",
        ALARM,
        words if conclusion is Conclusion.FAILS else "",
        (Table("E[τ_i]", ("η", "Δ", *(f"nΔ² = {one:.3g}" for one in scaled)), rows),),
        (Chart("E[τ_i] over the form, η = 1.1", "nΔ²", "ratio", lines, "log", "log"),),
    )


def _constant(eta: float) -> float:
    """Return C_η = 8 (η + √(πη) + 1), which `ocucb.theory.stopping.settling_bound` makes of Lemma tail."""
    return 8.0 * (eta + math.sqrt(math.pi * eta) + 1.0)


_WAITING = (
    "Lemma conc2 with d = 1, ρ = 1, λ = ∞ and Δ/2 gives 1 + 4A_η/Δ² with A_η of docs/theorem.md, step 3. Over Δ from "
    "10⁻⁶ to 10⁶, that bound, summed by machine, and a floor for Gaussian noise, or 1, are held against 4A_η times the "
    "form."
)
_SETTLING = (
    "C_η = 8 (η + √(πη) + 1) comes from Lemma tail. τ_i is read off Gaussian walks, over gaps and nΔ² from 1 on, with "
    "log max{1, nΔ²} in its definition; a walk is left where it comes back with probability 3·10⁻¹¹ at most."
)

CHECKS: tuple[Check, ...] = (
    Check(
        "waiting, as printed",
        ("sec:warmup",),
        "E[τ_Δ] = O_η(1) Δ^-2.",
        _WAITING,
        check_waiting,
        None,
    ),
    Check(
        "waiting",
        ("sec:warmup",),
        "The same with 1 + Δ^-2: τ_Δ is a round, so it is 1 at least, however large Δ is.",
        _WAITING,
        check_waiting,
        Wrong("1 + Δ^-1.", {"form": waiting_too_short}),
        {"form": waiting_corrected},
        "waiting, as printed",
    ),
    Check(
        "settling, as printed",
        ("sec:warmup",),
        "E[τ_i] = O_η(1) (1 + Δ_i^-2 log(nΔ_i²)).",
        _SETTLING,
        check_settling,
        None,
    ),
    Check(
        "settling",
        ("sec:warmup",),
        "The same with log₊, as Lemma tail has it: τ_i is 1/Δ_i² at least, also where nΔ_i² = 1.",
        _SETTLING,
        check_settling,
        Wrong("Δ_i^-1 in place of Δ_i^-2.", {"form": settling_too_short}),
        {"form": settling_corrected},
        "settling, as printed",
    ),
)
