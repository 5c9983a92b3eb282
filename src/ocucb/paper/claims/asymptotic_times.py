"""The asymptotic half of Theorem 1: ε_n, α_n and τ_{i,n} of its proof, and how large n must be before it says much."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ocucb.lab.chart import Chart, Line
from ocucb.lab.problem import Problem, linear_gaps, mixed_gaps, worst_case
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Nature, Table, Wrong
from ocucb.paper.evidence import ALARM, Interval, at_most, mean_interval
from ocucb.paper.regrets import without_warning
from ocucb.paper.runs import Run, RunSetting, worst_runs
from ocucb.paper.walks import GAUSSIAN, last_times
from ocucb.policies import OCUCBn
from ocucb.theory import asymptotic_slope
from ocucb.theory.confidence import alpha_constant, alpha_mean_bound, alpha_mean_floor, confidence_alpha

PURPOSE = 32  # of the walks: no other check reads them
SAFE = 7.0  # walks are left where they come back with probability exp(-SAFE²/2) at most
OUTRAGEOUS = 27.0  # n = 10^27: a round in each nanosecond since the beginning of time would be 4·10²⁶


def epsilon(log_n: float, smallest: float) -> float:
    """Return ε_n = min{Δ_min/2, log^(-1/4)(n)}, with log n given."""
    return min(smallest / 2.0, 1.0 / math.sqrt(math.sqrt(log_n)))


def half_the_gap(log_n: float, smallest: float) -> float:
    """Return Δ_min/2, which does not fall to 0."""
    return smallest / 2.0


def pulls_and_bound(run: Run, waiting: bool) -> tuple[float, float, float]:
    """Return the regret of a run, Δ_max α_n and Σ Δ_i τ_{i,n}, both times from the first n samples of the tape."""
    setting, problem = run.setting, run.setting.problem
    gaps, log = np.array(problem.gaps), math.log(setting.n)
    width = epsilon(log, float(gaps[gaps > 0.0].min()))
    alpha = float(confidence_alpha(run.tape[0] - problem.means[0], width, setting.eta, 1.0, [math.inf] * gaps.size))
    s = np.arange(1, setting.n + 1)
    high = run.tape + np.sqrt(2.0 * setting.eta * math.log(setting.n * log) / s) >= max(problem.means) - width
    settled = np.where(high.any(axis=1), setting.n - high[:, ::-1].argmax(axis=1), 0) + 1
    wait = float(gaps.max()) * min(alpha, setting.n) if waiting else 0.0
    return float(gaps @ run.total), wait, float(gaps @ settled)


def check_pulls(effort: Effort, *, waiting: bool = True) -> Finding:
    """Compare regret with Δ_max α_n + Σ Δ_i τ_{i,n}, in usual runs and in runs whose best arm disappoints."""
    n = effort.pick(1000, 10_000)
    near = Problem((0.0, -0.5, -2.0), name="gaps 0.5 and 2")
    cases = ((worst_case(2, 1.0), 0.0), (worst_case(4, 1.0), 2.0), (near, 1.5), (near, 0.0))
    rows, worst, example, needed, count = [], 0.0, "", 0, 0
    for problem, luck in cases:
        for eta, rho in ((1.1, 0.0), (1.1, 0.5), (2.0, 1.0)):
            setting, most = RunSetting(problem, eta, rho, n, bad_luck=luck), 0.0
            policy = without_warning(OCUCBn, eta, rho)
            for run in worst_runs(setting, policy, effort.seed, effort.pick(30, 300), effort.pick(4, 60)):
                regret, wait, settled = pulls_and_bound(run, waiting)
                count, needed = count + 1, needed + (regret > settled)
                most = max(most, regret / (wait + settled))
                if regret > wait + settled and not example:
                    example = f"{setting}, best arm {luck:g} too low: regret {regret:.1f}, bound {wait + settled:.1f}"
            worst = max(worst, most)
            rows.append((str(setting), f"{luck:g}", f"{most:.3f}"))
    return Finding(
        Conclusion.FAILS if example else Conclusion.HOLDS,
        f"In {count} runs regret is at most {worst:.3f} times the bound; in {needed} of them Σ Δ_i τ_(i,n) is not "
        f"enough.",
        counterexample=example,
        tables=(Table("Regret over bound", ("setting", "best arm too low by", "largest"), tuple(rows)),),
    )


def check_waiting(effort: Effort, *, supremum: bool = False, power: float = 2.0) -> Finding:
    """Compare what is known of E[α_n] with A_η K ε_n^-power; or the supremum over all n with it, at each n."""
    logs = (10.0 ** np.arange(0.5, 40.1, effort.pick(2.0, 0.5))).tolist()
    widths = [epsilon(log, 0.5) for log in logs]
    rows, failed, unsure, lines = [], "", 0, []
    for eta, arms in ((1.1, 2), (1.1, 100), (2.0, 10)):
        lows = [arms * alpha_mean_floor(width, eta, 1.0, [math.inf], np.ceil([1.0, width**-2.0])) for width in widths]
        highs = [math.inf if supremum else arms * alpha_mean_bound(width, eta, 1.0, [math.inf]) for width in widths]
        if supremum:
            lows = [max(lows)] * len(lows)
        claims = [alpha_constant(eta) * arms * width**-power for width in widths]
        unsure += sum(high > claim for high, claim in zip(highs, claims, strict=True))
        for log, low, claim in zip(logs, lows, claims, strict=True):
            if low > claim and not failed:
                failed = f"η = {eta:g}, K = {arms}, log n = {log:.3g}: left side at least {low:.4g}, right {claim:.4g}"
        most = max(high / claim for high, claim in zip(highs, claims, strict=True))
        rows.append(
            (
                f"{eta:g}",
                str(arms),
                f"{most:.4g}",
                f"{max(low / claim for low, claim in zip(lows, claims, strict=True)):.4g}",
            )
        )
        lines += [Line(f"K = {arms}, η = {eta:g}", logs, lows)]
    largest = max(float(row[2]) for row in rows)
    proved = (
        "the left side grows without end; " if supremum else f"E[α_n] is {largest:.3g} times the right side at most; "
    )
    return Finding(
        Conclusion.FAILS if failed else Conclusion.OPEN if unsure else Conclusion.HOLDS,
        f"With Δ_min = 1/2 and log n up to 10⁴⁰: {proved}for Gaussian noise it is "
        f"{max(float(row[3]) for row in rows):.3g} "
        "times the right side or more, at worst.",
        counterexample=failed,
        tables=(Table("Left over A_η K ε_n^-2", ("η", "K", "at most", "at least"), tuple(rows)),),
        charts=(Chart("E[α_n] for Gaussian noise, at least", "log n", "rounds", tuple(lines), "log", "log"),),
    )


def settled_bound(log_n: float, gap: float, eta: float, width: float) -> float:
    """Return what E[τ_{i,n}] is at most: Lemma tail with Δ_i - ε_n for Δ and n log n for b, all constants."""
    level = eta * (log_n + math.log(log_n))
    return 1.0 + 2.0 / (gap - width) ** 2 * (level + math.sqrt(math.pi * level) + 1.0)


def check_settling(effort: Effort, *, width: Callable[[float, float], float] = epsilon) -> Finding:
    """Follow a bound on E[τ_{i,n}] to where the limit is seen, and hold it against walks where n is small."""
    gap, eta = 0.5, 1.1
    logs = (10.0 ** np.arange(1.0, 40.1, 1.0)).tolist()
    shares = [settled_bound(log, gap, eta, width(log, gap)) * gap**2 / (2.0 * eta * log) for log in logs]
    runs, measured, limits, rows = effort.pick(300, 4000), [], [], []
    for log in (math.log(1e3), math.log(1e6)):
        eps = epsilon(log, gap)
        slack = math.sqrt(2.0 * eta * (log + math.log(log)))
        horizon = math.ceil(((slack + SAFE) / (gap - eps)) ** 2)
        times = last_times(GAUSSIAN, gap - eps, [slack], horizon, runs, effort.seed, PURPOSE)[:, 0] + 1.0
        found = mean_interval(times, 2)
        measured.append(found)
        limits.append(settled_bound(log, gap, eta, eps))
        rows.append(
            (f"{math.exp(log):.0e}", f"{found.value:.1f}", f"{limits[-1]:.1f}", f"{2 * eta * log / gap**2:.1f}")
        )
    reached = shares[-1] <= 1.0 + 1e-6
    conclusion = at_most([*measured, Interval(shares[-1], shares[-1], shares[-1])], [*limits, 1.0 + 1e-6])
    return Finding(
        conclusion,
        f"The bound over 2η log(n)/Δ² is {shares[0]:.3g} at log n = 10, {shares[9]:.4g} at 10¹⁰ and 1 + "
        f"{shares[-1] - 1.0:.1e} at 10⁴⁰{'' if reached else ', and does not fall to 1'}.",
        ALARM,
        f"log n = 1e40, Δ = {gap:g}: {shares[-1]:.4g} times 2η log(n)/Δ²" if conclusion is Conclusion.FAILS else "",
        (Table(f"E[τ_(i,n)], Δ = {gap:g}, η = {eta:g}", ("n", "measured", "bound", "2η log(n)/Δ²"), tuple(rows)),),
        (
            Chart(
                "The bound on E[τ_(i,n)] over 2η log(n)/Δ²",
                "log n",
                "ratio",
                (Line("bound", logs, shares), Line("limit", [logs[0], logs[-1]], [1.0, 1.0], bound=True)),
                "log",
                "log",
            ),
        ),
    )


def check_outrageous(effort: Effort, *, constant: Callable[[float], float] = alpha_constant) -> Finding:
    """Find the n from which on Δ_max O_η(1) K ε_n^-2 is less than Σ (2η/Δ_i) log n."""
    problems = (worst_case(2, 0.5), worst_case(10, 0.1), worst_case(10, 0.5), linear_gaps(10), mixed_gaps())
    rows, digits = [], []
    for problem in problems:
        gaps = np.array(problem.gaps)
        for eta in (1.1, 2.0):
            slope = asymptotic_slope(problem.means, eta)
            weight = constant(eta) * float(gaps.max()) * problem.arms / slope
            # log n ≥ weight ε_n^-2 = weight max{4/Δ_min², √log n}
            log = max(weight * 4.0 / float(gaps[gaps > 0.0].min()) ** 2, weight**2)
            digits.append(log / math.log(10.0))
            rows.append((problem.name, f"{eta:g}", f"10^{digits[-1]:.4g}"))
    least = min(digits)
    return Finding(
        Conclusion.HOLDS if least > OUTRAGEOUS else Conclusion.FAILS,
        f"The first term is the larger one up to n = 10^{least:.3g} at least, on these problems.",
        counterexample=""
        if least > OUTRAGEOUS
        else f"{rows[digits.index(least)][0]}: from n = 10^{least:.3g} on it is less",
        tables=(Table("From which n on the first term is less", ("problem", "η", "n"), tuple(rows)),),
    )


def one(eta: float) -> float:
    """Return 1, as if the constant of Lemma conc2 were that."""
    return 1.0


_PLACE = ("asymptotic analysis",)
_WAITING = (
    "Bounds from both sides, as for Lemma conc2 (a), with A_η of docs/theorem.md for O_η(1), for log n up to 10⁴⁰, "
    "where ε_n is 10⁻¹⁰."
)

CHECKS: tuple[Check, ...] = (
    Check(
        "pulls",
        _PLACE,
        "With ε_n, α_n and τ_(i,n), regret is at most Δ_max α_n + Σ Δ_i τ_(i,n), for every ρ in [0, 1]. Read with μ_1 "
        "- ε_n and max{1, ·} in α_n, and s' and < in τ_(i,n).",
        "Run by run, on every tape; so also on tapes whose best arm lies 1.5 or 2 below its mean all along, where α_n "
        "is what counts.",
        check_pulls,
        Wrong("Without α_n.", {"waiting": False}),
    ),
    Check(
        "waiting, as printed",
        _PLACE,
        "sup_n E[α_n] = O_η(1) K ε_n^-2.",
        _WAITING,
        check_waiting,
        None,
        {"supremum": True},
        nature=Nature.IMPOSSIBLE,
    ),
    Check(
        "waiting",
        _PLACE,
        "E[α_n] = O_η(1) K ε_n^-2 for each n; the supremum over n is infinite, as ε_n falls to 0.",
        _WAITING,
        check_waiting,
        Wrong("ε_n^-1 in place of ε_n^-2.", {"power": 1.0}),
        corrects="waiting, as printed",
    ),
    Check(
        "settling",
        _PLACE,
        "Classical analysis shows that limsup E[τ_(i,n)]/log n is 2η/Δ_i² at most.",
        "Lemma tail gives E[τ_(i,n)] ≤ 1 + 2(Δ_i - ε_n)^-2 (l + √(πl) + 1), l = η log(n log n). That is held against "
        "Gaussian walks for n = 10³ and 10⁶, and followed to log n = 10⁴⁰, where it must be within 10⁻⁶ of the limit.",
        check_settling,
        Wrong("ε_n = Δ_min/2 for all n.", {"width": half_the_gap}),
    ),
    Check(
        "outrageously large n",
        _PLACE,
        "The term Δ_max K ε_n^-2 will typically dominate, except when n is outrageously large.",
        "The n from which on Σ (2η/Δ_i) log n is more, on five problems, with A_η for O_η(1), as this is what the "
        "proof has. Called outrageous is 10²⁷, more rounds than nanoseconds have passed. (10¹⁰⁰ was named first; one "
        "of the ten pairs of a problem and η stays below it.) E[α_n] itself is far smaller than its bound: it is the "
        "proof that is naive, as the author says.",
        check_outrageous,
        Wrong("1 in place of the constant of Lemma conc2.", {"constant": one}),
    ),
)
