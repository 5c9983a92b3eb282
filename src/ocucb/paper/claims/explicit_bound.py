"""Claim 17: an upper bound on regret with every constant, and its steps. docs/explicit_bound.md has the proof."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from ocucb.lab.chart import Chart, Line
from ocucb.lab.problem import Problem, linear_gaps, mixed_gaps, moss_trap, worst_case
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Table, Wrong
from ocucb.paper.evidence import ALARM, at_most, mean_interval, proportion
from ocucb.paper.regrets import decades, format_interval, format_power, regrets
from ocucb.paper.runs import RunSetting, worst_runs
from ocucb.policies import OCUCBn
from ocucb.theory.line_crossing import line_exponent
from ocucb.theory.regret_bound import Index, low_index_probability, regret_bound, settling_pulls

ETA = 1.1
KAPPA = 0.2


def check_line(effort: Effort, *, times: float = 1.0) -> Finding:
    """Count how often Gaussian walks cross a root and a line between u and v, and compare with exp(-E)."""
    runs = effort.pick(20_000, 400_000)
    cases = [
        (u, v, root, slope) for u, v in ((1, 1), (4, 8), (16, 32), (16, 64)) for root, slope in ((1.0, 0.0), (0.5, 0.1))
    ]
    rng = np.random.default_rng([effort.seed, 17])
    sums = np.cumsum(rng.standard_normal((runs, 64)), axis=1)
    measured, limits, rows = [], [], []
    for u, v, root, slope in cases:
        s = np.arange(u, v + 1.0)
        boundary = root * np.sqrt(s) + slope * s
        crossed = int((sums[:, u - 1 : v] >= boundary).any(axis=1).sum())
        measured.append(proportion(crossed, runs, len(cases)))
        limits.append(math.exp(-times * float(line_exponent(u, boundary[0], v, boundary[-1]))))
        rows.append(
            (f"{u} to {v}", f"{root:g} √s + {slope:g} s", format_interval(measured[-1], 3), f"{limits[-1]:.3f}")
        )
    conclusion = at_most(measured, limits)
    worst = max(range(len(cases)), key=lambda k: measured[k].low - limits[k])
    return Finding(
        conclusion,
        f"Over {len(cases)} boundaries the walk crosses at most "
        f"{max(one.value / limit for one, limit in zip(measured, limits, strict=True)):.2f} times as often as allowed.",
        ALARM,
        f"s from {rows[worst][0]}, boundary {rows[worst][1]}: {rows[worst][2]}, allowed {rows[worst][3]}"
        if conclusion is Conclusion.FAILS
        else "",
        (Table("Gaussian walks", ("s", "boundary", "crossed", "exp(-E)"), tuple(rows)),),
    )


def cases(effort: Effort) -> tuple[RunSetting, ...]:
    """Return where pulls are counted."""
    n = effort.pick(600, 5000)
    return (
        RunSetting(worst_case(2, 1.0), ETA, 0.5, n),
        RunSetting(worst_case(5, 0.7), ETA, 1.0, n),
        RunSetting(worst_case(5, 1.0), 2.0, 0.5, n, shrink=True),
    )


def check_pulls(effort: Effort, *, width: float = 1.0 - KAPPA) -> Finding:
    """Count choices of arm 2 in rounds with γ_1 ≥ μ_1 - κΔ, and compare with N(Δ).

    width : by how many gaps a chosen arm's index must be too high, which is 1 - κ.
    """
    measured, limits, rows = [], [], []
    runs = effort.pick(120, 1500)
    for setting in cases(effort):
        gap, arms = max(setting.problem.gaps), setting.problem.arms
        chosen = []
        for run in worst_runs(setting, setting.policy, effort.seed, runs, runs):
            high = run.indices[:, 0] >= setting.problem.means[0] - KAPPA * gap
            chosen.append(float(np.sum(high & (run.choices[arms:] == 1))))
        measured.append(mean_interval(chosen, 3))
        index = Index(arms, setting.n, setting.eta, setting.rho, setting.shrink)
        limits.append(float(settling_pulls(gap, index, 1.0 - width)))
        rows.append((str(setting), format_interval(measured[-1], 1), f"{limits[-1]:.1f}"))
    conclusion = at_most(measured, limits)
    worst = max(range(len(limits)), key=lambda k: measured[k].low / limits[k])
    share = max(one.value / limit for one, limit in zip(measured, limits, strict=True))
    return Finding(
        conclusion,
        f"Arm 2 is chosen in at most {share:.2f} N(Δ) such rounds.",
        ALARM,
        f"{rows[worst][0]}: {rows[worst][1]} pulls, {rows[worst][2]} allowed" if conclusion is Conclusion.FAILS else "",
        (Table(f"Pulls, κ = {KAPPA:g}", ("setting", "counted", "N(Δ)"), tuple(rows)),),
    )


def check_waiting(effort: Effort, *, eta_times: float = 1.0) -> Finding:
    """Count walks that fall below -g(s) for some s, and compare with the bound on P(γ_1(t) < μ_1 - x).

    eta_times : η of the bound over η of the index.
    """
    runs, rounds = effort.pick(4_000, 100_000), (20, 100, 500)
    sums = np.cumsum(np.random.default_rng([effort.seed, 18]).standard_normal((runs, rounds[-1])), axis=1)
    measured, limits, rows = [], [], []
    for t, (arms, rho), x in itertools.product(rounds, ((2, 0.5), (10, 1.0)), (0.05, 0.15)):
        s = np.arange(1.0, t - arms + 1.0)
        shared = s + (arms - 1) * np.minimum(s, ((t - 1 - s) / (arms - 1)) ** rho * s ** (1.0 - rho))
        level = np.log(np.maximum(t * math.log(t) / shared, max(math.e, math.log(t))))
        low = (sums[:, : s.size] < -(s * x + np.sqrt(2.0 * ETA * s * level))).any(axis=1)
        measured.append(proportion(int(low.sum()), runs, 12))
        limits.append(float(low_index_probability(x, Index(arms, t, eta_times * ETA, rho, False), t, t)))
        rows.append((f"{t}", f"{arms}", f"{rho:g}", f"{x:g}", format_interval(measured[-1], 4), f"{limits[-1]:.4f}"))
    conclusion = at_most(measured, limits)
    worst = max(range(len(limits)), key=lambda k: measured[k].low / limits[k])
    share = max(one.value / limit for one, limit in zip(measured, limits, strict=True))
    return Finding(
        conclusion,
        f"Gaussian walks are below -g at most {share:.2f} times as often as allowed, in {len(rows)} cases.",
        ALARM,
        "t, K, ρ, x, counted, allowed: " + ", ".join(rows[worst]) if conclusion is Conclusion.FAILS else "",
        (Table("P(-S_s > g(s) for some s)", ("t", "K", "ρ", "x", "counted", "allowed"), tuple(rows)),),
    )


def problems(effort: Effort) -> dict[Problem, int]:
    """Return the usual problems, and how often each is played."""
    usual = (worst_case(2, 0.5), worst_case(10, 0.5), linear_gaps(10), mixed_gaps(), moss_trap(10))
    more = (worst_case(2, 0.1), worst_case(10, 0.1), worst_case(100, 0.5))
    return dict.fromkeys(effort.pick(usual, usual + more), effort.pick(40, 400))


def proved(problem: Problem, n: int) -> float:
    """Return the bound."""
    return regret_bound(problem.means, n, ETA).value


def twice_the_gap(problem: Problem, n: int) -> float:
    """Return the first sum with 2Δ in place of (1-κ)Δ, and no waiting."""
    gap = np.array(problem.gaps)
    pulls = settling_pulls(gap[gap > 0.0], Index(problem.arms, n, ETA, 0.5, False), -1.0)
    return float(np.sum(gap[gap > 0.0] * (1.0 + pulls)))


def check_bound(effort: Effort, *, bound: Callable[[Problem, int], float] = proved) -> Finding:
    """Compare mean regret with the bound, and publish the ratio."""
    horizons = effort.pick(decades(3, 4), decades(3, 6))
    played = {p: regrets(OCUCBn(ETA, 0.5), p, horizons, runs, effort.seed) for p, runs in problems(effort).items()}
    measured, limits, rows, lines = [], [], [], []
    for problem, regret in played.items():
        values = [bound(problem, n) for n in horizons]
        found = [mean_interval(regret[:, k], len(played) * len(horizons)) for k in range(len(horizons))]
        measured += found
        limits += values
        for n, one, value in zip(horizons, found, values, strict=True):
            ratio = value / one.value
            rows.append((problem.name, format_power(n), format_interval(one, 1), f"{value:.1f}", f"{ratio:.2f}"))
        ratios = [value / one.value for one, value in zip(found, values, strict=True)]
        lines.append(Line(problem.name, list(horizons), ratios))
    conclusion = at_most(measured, limits)
    worst = max(range(len(limits)), key=lambda k: measured[k].low / limits[k])
    least, most = min(float(row[-1]) for row in rows), max(float(row[-1]) for row in rows)
    return Finding(
        conclusion,
        f"The bound is {least:.2f} to {most:.2f} times the mean regret, on {len(played)} problems.",
        ALARM,
        " ".join(rows[worst][:4]) if conclusion is Conclusion.FAILS else "",
        (
            Table(
                "Mean regret, η = 1.1, ρ = 1/2, and the bound",
                ("problem", "n", "regret", "bound", "ratio"),
                tuple(rows),
            ),
        ),
        (Chart("The bound over mean regret", "n", "ratio", tuple(lines), x_scale="log"),),
    )


_PLACE = "improving analysis and constants"

CHECKS: tuple[Check, ...] = (
    Check(
        "line",
        ("lem:conc", _PLACE),
        "Step 1 of docs/explicit_bound.md: a walk crosses a concave boundary g between u and v with probability "
        "exp(-E) at most, E = max{2ab : a + bu ≤ g(u), a + bv ≤ g(v)}.",
        "Gaussian walks and boundaries of a root and a line, over single times and blocks.",
        check_line,
        Wrong("E tripled.", {"times": 3.0}),
    ),
    Check(
        "pulls",
        ("eq:aucb", _PLACE),
        "Step 3: an arm of gap Δ is chosen at most N(Δ) times, in expectation, in rounds with γ_1 ≥ μ_1 - κΔ.",
        "Such rounds are counted in runs of OCUCB-n, whose indices are worked out again from choices and tapes.",
        check_pulls,
        Wrong("An arm's index is asked to be too high by 2Δ, not by (1-κ)Δ.", {"width": 2.0}),
    ),
    Check(
        "waiting",
        ("eq:aucb", _PLACE),
        "Step 5: the index of the best arm is below μ_1 - x in round t with probability Σ exp(-E) at most.",
        "That happens only if -S_s > g(s) for some s up to t - K; Gaussian walks for which it does are counted.",
        check_waiting,
        Wrong("The bound for an index with 3η in place of η.", {"eta_times": 3.0}),
    ),
    Check(
        "bound",
        ("thm:main", _PLACE),
        "R(n) ≤ Σ Δ_i (1 + N(Δ_i)) + Σ_m (g_m - g_(m-1)) W(κ g_m), with no unknown constant.",
        "OCUCB-n on the usual problems; the bound is divided by mean regret.",
        check_bound,
        Wrong("2Δ in place of (1-κ)Δ, and no waiting.", {"bound": twice_the_gap}),
    ),
)
