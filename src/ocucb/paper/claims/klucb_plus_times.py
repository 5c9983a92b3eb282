"""Section 3, run by run: an arm of KL-UCB+ is pulled τ_i + τ_Δ times at most."""

from __future__ import annotations

import math
from typing import NamedTuple

from ocucb.lab.problem import Problem, worst_case
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Table, Wrong
from ocucb.paper.runs import Run, RunSetting, worst_runs
from ocucb.policies import KLUCBPlus
from ocucb.theory.confidence import confidence_alpha
from ocucb.theory.stopping import settling_time


class Pulled(NamedTuple):
    """An arm's pulls, τ_i and τ_Δ."""

    pulls: int
    settled: int
    optimism: float


def times(run: Run) -> list[Pulled]:
    """Return both times of each suboptimal arm, from the first n samples of the tape."""
    setting, means = run.setting, run.setting.problem.means
    found = []
    for arm, gap in enumerate(setting.problem.gaps):
        if gap > 0.0:
            level = max(1.0, setting.n * gap**2)
            settled = int(settling_time(run.tape[arm], means[arm], gap, level, setting.eta))
            # The smallest t with μ̂_s + √((2η/s) log max{1, t/s}) ≥ μ_1 - Δ/2 for all s: α of Lemma conc2, ρ = 1.
            alpha = float(confidence_alpha(run.tape[0] - means[0], gap / 2.0, setting.eta, 1.0, [math.inf]))
            found.append(Pulled(int(run.total[arm]), settled, max(1.0, math.ceil(min(alpha, setting.n + 1.0)))))
    return found


def check_pulls(effort: Effort, *, waiting: bool = True) -> Finding:
    """Compare T_i(n) with τ_i + τ_Δ in usual runs, and in runs whose best arm disappoints."""
    n = effort.pick(1000, 10_000)
    near = Problem((0.0, -0.5, -2.0), name="gaps 0.5 and 2")
    settings = [
        RunSetting(problem, eta, 1.0, n, bad_luck=luck)
        for problem, luck in ((worst_case(2, 1.0), 0.0), (worst_case(4, 1.0), 2.0), (near, 1.5), (near, 0.0))
        for eta in (1.1, 2.0)
    ]
    rows, worst, example, needed = [], 0.0, "", 0
    for setting in settings:
        most = 0.0
        for run in worst_runs(setting, KLUCBPlus(setting.eta), effort.seed, effort.pick(30, 300), effort.pick(4, 60)):
            for pulls, settled, optimism in times(run):
                needed += pulls > settled
                ratio = pulls / (settled + (optimism if waiting else 0.0))
                most = max(most, ratio)
                if ratio > max(1.0, worst):
                    example = f"{setting}, best arm {setting.bad_luck:g} too low: T_i = {pulls}, τ_i = {settled}"
                worst = max(worst, ratio)
        rows.append((str(setting), f"{setting.bad_luck:g}", f"{most:.3f}"))
    return Finding(
        Conclusion.FAILS if worst > 1.0 else Conclusion.HOLDS,
        f"T_i(n) is at most {worst:.3f} times τ_i + τ_Δ; in {needed} cases it is above τ_i alone.",
        counterexample=example if worst > 1.0 else "",
        tables=(Table("T_i(n) over τ_i + τ_Δ", ("setting", "best arm too low by", "largest"), tuple(rows)),),
    )


CHECKS: tuple[Check, ...] = (
    Check(
        "pulls",
        ("sec:warmup",),
        "T_i(n) ≤ τ_i + τ_(Δ_i) for KL-UCB+.",
        "On every tape; so also on tapes whose best arm lies 1.5 or 2 below its mean all along, where τ_Δ is what "
        "counts. Both times come from the tape's first n samples, with log max{1, nΔ²} in τ_i.",
        check_pulls,
        Wrong("T_i(n) ≤ τ_i.", {"waiting": False}),
    ),
)
