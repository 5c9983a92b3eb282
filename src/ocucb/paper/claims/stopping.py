"""When an arm has settled, its index is in the lower half of its gap, or an optimist is chosen before it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats, Integers
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Table, Wrong
from ocucb.paper.claims import settling
from ocucb.paper.runs import Run, settings, worst_runs
from ocucb.policies import Greedy, Uniform
from ocucb.theory.gaps import gaps
from ocucb.theory.index import shared_pulls
from ocucb.theory.optimists import NEVER, chase_constant, optimists, shares
from ocucb.theory.stopping import settling_time, tape_confidence

Confidences = Callable[..., Floats]  # (means, n, optimistic, eta, rho, shrink=...)


def unit(eta: float) -> float:
    """Return 1: an optimist counted in full, as if it had all the pulls that its gap allows."""
    return 1.0


def rivals(effort: Effort, weight: Callable[[float], float] = chase_constant) -> Finding:
    """Look for a state in which no optimist is behind, and yet the confidence of arm i exceeds B_i."""
    rng = np.random.default_rng(effort.seed)
    rows, least, example = [], math.inf, ""
    for eta, rho in itertools.product((1.1, 2.0, 16.0), (0.5, 0.75, 1.0)):
        c, smallest = chase_constant(eta), math.inf
        for arms in np.repeat((3, 10, 100, 1000), effort.pick(12, 500)).tolist():
            gap = np.sort(10.0 ** rng.uniform(-4.0, 0.0, arms))
            gap[0] = 0.0
            arm = int(rng.integers(1, arms))
            optimistic = (rng.uniform(size=arms) < rng.uniform()) & (np.arange(arms) >= NEVER)
            optimistic[arm] = False
            pulls = np.where(optimistic, np.ceil(c / np.maximum(gap, gap[arm]) ** 2), 1.0)
            pulls[arm] = np.ceil(gap[arm] ** -2)
            if rng.uniform() < 0.5:
                pulls *= 2.0 ** rng.integers(0, 12, arms)
            counted = 1.0 + weight(eta) * float(shares(-gap, arm, rho)[optimistic].sum())
            room = float(shared_pulls(pulls, rho)[arm]) * gap[arm] ** 2 / counted
            smallest = min(smallest, room)
            if room < least:
                least = room
                example = (
                    f"η = {eta:g}, ρ = {rho:g}, K = {arms}, {int(optimistic.sum())} optimists, Δ_i = {gap[arm]:.6g}, "
                    f"T_i = {pulls[arm]:.0f}: Δ_i² Σ_j min{{T_i, T_j^ρ T_i^(1-ρ)}} / K_i = {room:.6g}"
                )
        rows.append((f"{eta:g}", f"{rho:g}", f"{c:.4g}", f"{smallest - 1.0:.3g}"))
    conclusion = Conclusion.HOLDS if least >= 1.0 else Conclusion.FAILS
    return Finding(
        conclusion,
        f"Δ_i² Σ_j min{{T_i, T_j^ρ T_i^(1-ρ)}} / K_(i,ρ) is never below 1 + ({least - 1.0:.3g}) in these states; from "
        "1 on, B_i(t-1) <= B_i for t <= n.",
        counterexample=example if conclusion is Conclusion.FAILS else "",
        tables=(Table("Smallest excess over 1", ("η", "ρ", "c_η", "Δ_i² Σ_j min{...} / K_i - 1"), tuple(rows)),),
    )


def only_the_floor(
    means: npt.ArrayLike, n: float, optimistic: npt.ArrayLike, eta: float, rho: float, *, shrink: bool = False
) -> Floats:
    """Return B_i without its first term: max{log n, e} for every arm."""
    return np.full(np.size(means), max(math.log(n), math.e))


class Settled(NamedTuple):
    """What one run says.

    counts : in how many states T_i >= τ_i; in how many of these the lemma breaks; the same where no optimist is behind.
    highest : the largest γ_i - μ_i - Δ_i/2 where T_i >= τ_i and no optimist is behind.
    """

    counts: Integers
    highest: float


def follow(run: Run, confidences: Confidences) -> Settled:
    """Apply the lemma to every state of a run and every arm i."""
    setting = run.setting
    means, gap = np.array(setting.problem.means), gaps(setting.problem.means)
    optimistic = optimists(run.tape, means, setting.eta)
    levels = confidences(means, setting.n, optimistic, setting.eta, setting.rho, shrink=setting.shrink)
    chosen, c = run.indices.argmax(axis=1), chase_constant(setting.eta)
    counts, highest = np.zeros(4, dtype=np.int64), -math.inf
    for i in np.flatnonzero(gap).tolist():
        settled = run.pulls[:, i] >= settling_time(run.tape[i], means[i], gap[i], levels[i], setting.eta)
        behind = run.pulls <= c / np.maximum(gap, gap[i]) ** 2
        behind[:, i] = False
        alone = settled & ~behind[:, optimistic].any(axis=1)
        above = run.indices[:, i] - means[i] - gap[i] / 2.0
        high = above >= 0.0
        counts += [np.sum(settled), np.sum(settled & high & (chosen == i)), np.sum(alone), np.sum(alone & high)]
        highest = max(highest, float(above[alone].max(initial=-math.inf)))
    return Settled(counts, highest)


def settled_on_tapes(effort: Effort, confidences: Confidences = tape_confidence, *, shrink: bool = False) -> Finding:
    """Apply the lemma to states that OCUCB-n, greedy play and even play arrive at."""
    rows, total, example = [], np.zeros(4, dtype=np.int64), ""
    played, kept = effort.pick(50, 1000), effort.pick(2, 20)
    for setting in settings(effort.pick(1500, 10_000), shrink):
        cells, highest = [str(setting)], -math.inf
        for policy in (setting.policy, Greedy(), Uniform()):
            found = [follow(run, confidences) for run in worst_runs(setting, policy, effort.seed, played, kept)]
            sums = np.sum([one.counts for one in found], axis=0)
            total += sums
            cells.append(str(sums[0]))
            highest = max([highest, *(one.highest for one in found)])
            if (sums[1] or sums[3]) and not example:
                example = (
                    f"{setting}, seed {effort.seed}, states of {policy.name}: T_i >= τ_i and γ_i >= μ_i + Δ_i/2 in "
                    f"{sums[1]} states where i is chosen, {sums[3]} where no optimist is behind"
                )
        rows.append((*cells, f"{highest:.4f}" if highest > -math.inf else "none"))
    return Finding(
        Conclusion.FAILS if total[1] or total[3] else Conclusion.HOLDS,
        f"T_i >= τ_i in {total[0]} pairs of a state and an arm; in {total[1]} of them i is chosen with "
        f"γ_i >= μ_i + Δ_i/2. In {total[2]} of them no optimist is behind; in {total[3]} of these γ_i >= μ_i + Δ_i/2.",
        counterexample=example,
        tables=(
            Table(
                "How often T_i >= τ_i, and the largest index then, if no optimist is behind",
                ("setting", "states of OCUCB-n", "of greedy play", "of even play", "largest γ_i - μ_i - Δ_i/2"),
                tuple(rows),
            ),
        ),
    )


CHECKS: tuple[Check, ...] = (
    Check(
        "tau-bound, its step",
        ("lem:tau-bound", "eq:def:K", "eq:def:bt"),
        "If T_i >= Δ_i^-2 and each optimist j has T_j >= c_η min{Δ_i^-2, Δ_j^-2}, then B_i(t-1) <= B_i.",
        "That is Σ_j min{T_i, T_j^ρ T_i^(1-ρ)} >= Δ_i^-2 K_(i,ρ), which uses c_η^ρ >= c_η without saying so. Looked "
        "for: a state of 3 to 1000 arms that breaks it, with pulls as few as allowed, or more.",
        rivals,
        Wrong("K_(i,ρ) without its factor c_η.", {"weight": unit}),
    ),
    Check(
        "tau-bound on tapes",
        ("lem:tau-bound", "eq:def:bt"),
        "If T_i(t-1) >= τ_i, then I_t is not i, or γ_i(t) < μ_i + Δ_i/2.",
        "All states of runs of OCUCB-n (those of the largest regret), of greedy and of even play; equation (1) is "
        "asked for its choice in each. τ_i and Φ come from the tape's first n samples: more would only make τ_i "
        "larger, so that the lemma would speak of fewer states. What the proof shows is checked too: if no optimist "
        "is behind, γ_i(t) < μ_i + Δ_i/2 whether i is chosen or not. In its own runs OCUCB-n hardly ever pulls an arm "
        "τ_i times. The lemma's '<' is '<=' by the definition of τ_i; with Gaussian noise they differ with "
        "probability 0.",
        settled_on_tapes,
        Wrong("B_i without its first term: max{log n, e}.", {"confidences": only_the_floor}),
    ),
    *settling.CHECKS,
)
