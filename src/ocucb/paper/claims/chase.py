"""Optimistic arms chase the others: the chase lemma, on states and on tapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ocucb.compiled import Floats, Integers
from ocucb.lab.chart import Chart, Line
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Table, Wrong
from ocucb.paper.claims import optimists as optimistic
from ocucb.paper.runs import Run, settings, worst_runs
from ocucb.policies import Greedy, Uniform
from ocucb.theory.gaps import gaps
from ocucb.theory.index import confidence
from ocucb.theory.optimists import boundary, chase_constant, optimists

ETAS = (1.1, 1.5, 2.0, 4.0, 16.0)
RHOS = (0.0, 0.5, 1.0)
ARMS = (3, 30, 300, 3000)


class States(NamedTuple):
    """Pulls before a round, one row per state: arm 0 is i, arm 1 is the optimist j."""

    pulls: Floats

    @property
    def rounds(self) -> Floats:
        return np.asarray(self.pulls.sum(axis=1) + 1.0)


def without_room(eta: float) -> float:
    """Return the c for which the term √(2ηc log B_j / T_j) of the proof just fits, and nothing is left for Δ_j."""
    return (1.0 - math.sqrt((1.0 + eta) / (2.0 * eta))) ** 2


def draw(rng: np.random.Generator, arms: int, count: int, c: float) -> States:
    """Draw states in which T_j <= c T_i: others as often pulled as j, or once, or anything between and beyond."""
    optimist = np.floor(10.0 ** (rng.uniform(0.0, 1.0, count) * rng.choice([1.0, 5.0, 25.0, 250.0], count)))
    rival = np.ceil(optimist / c * (1.0 + 1e-12) * 10.0 ** rng.choice([0.0, 0.0, 1.0, 3.0], count))
    spread = rng.uniform(-1.0, 1.0, (count, arms - 2)) * rng.choice([0.0, 0.0, 1.0, 5.0], count)[:, np.newaxis]
    others = np.maximum(1.0, np.floor(optimist[:, np.newaxis] * 10.0**spread))
    others[rng.uniform(size=count) < 0.1] = 1.0
    return States(np.column_stack((rival, optimist, others)))


def margins(states: States, eta: float, rho: float, c: float) -> Floats:
    """Return √T_j (γ_j - γ_i) where everything the hypotheses leave open is as bad as can be.

    The average of j is as low as an optimist's may be, that of i as high as (b) allows, Δ_j² = c/T_j, and Δ_i is as
    good as 0. A state with a margin of 0 or less has means and rewards with which i is chosen.
    """
    log = np.log(confidence(states.pulls, states.rounds, rho)[:, :2])
    rival, optimist = states.pulls[:, 0], states.pulls[:, 1]
    below = np.sqrt(optimist) * boundary(optimist, eta)
    return np.asarray(
        np.sqrt(2.0 * eta * log[:, 1]) - below - math.sqrt(c) - np.sqrt(2.0 * eta * log[:, 0] * (optimist / rival))
    )


def search(effort: Effort, eta: float, c: float) -> Iterator[tuple[Floats, States, float]]:
    """Give margins of many states, with the states and ρ."""
    rng = np.random.default_rng((effort.seed, round(eta * 1000)))
    cells = effort.pick(12_000, 1_000_000)
    for arms in ARMS:
        for rho in RHOS:
            states = draw(rng, arms, cells // arms, c)
            yield margins(states, eta, rho, c), states, rho


def chase(effort: Effort, constant: Callable[[float], float] = chase_constant) -> Finding:
    """Look for a state in which i is chosen though an optimist is far behind."""
    rows, least, count, example = [], math.inf, 0, ""
    for eta in ETAS:
        c, smallest = constant(eta), math.inf
        for margin, states, rho in search(effort, eta, c):
            count += margin.size
            at = int(margin.argmin())
            smallest = min(smallest, float(margin[at]))
            if margin[at] < least:
                least = float(margin[at])
                i, j, others = states.pulls[at, 0], states.pulls[at, 1], states.pulls[at, 2:]
                example = (
                    f"η = {eta:g}, ρ = {rho:g}, c = {c:.6g}: K = {len(others) + 2}, T_j = {j:.6g}, T_i = {i:.6g}, the "
                    f"others pulled {others.min():.6g} to {others.max():.6g} times; Δ_j = √(c/T_j), both averages at "
                    f"their limits: √T_j (γ_j - γ_i) = {least:.4g}"
                )
        rows.append((f"{eta:g}", f"{c:.4g}", f"{without_room(eta):.4g}", f"{smallest:.4f}"))
    conclusion = Conclusion.HOLDS if least > 0.0 else Conclusion.FAILS
    said = (
        "an optimist that far behind always has the larger index" if least > 0.0 else "i has the larger index in some"
    )
    return Finding(
        conclusion,
        f"{count} states with the least favourable averages and gaps: {said}; smallest √T_j (γ_j - γ_i) {least:.4f}.",
        counterexample=example if conclusion is Conclusion.FAILS else "",
        tables=(
            Table(
                "Smallest margin over all states",
                ("η", "c used", "c without room for Δ_j", "smallest √T_j (γ_j - γ_i)"),
                tuple(rows),
            ),
        ),
        charts=(_sharpness(effort),),
    )


def _sharpness(effort: Effort) -> Chart:
    lines = []
    for eta in (1.1, 2.0, 16.0):
        c = chase_constant(eta)
        scales = np.geomspace(0.25, 16.0, effort.pick(7, 25))
        few = Effort("quick", effort.seed)
        smallest = [min(float(m.min()) for m, _, _ in search(few, eta, c * scale)) for scale in scales.tolist()]
        lines.append(Line(f"η = {eta:g}", scales.tolist(), smallest))
    lines.append(Line("the lemma needs more than 0", [0.25, 16.0], [0.0, 0.0], bound=True))
    return Chart(
        "How much larger the constant could be", "c / c_η", "smallest √T_j (γ_j - γ_i)", tuple(lines), x_scale="log"
    )


def by_index(run: Run) -> Integers:
    """Return what equation (1) chooses in each state of a run."""
    return np.asarray(run.indices.argmax(axis=1))


def by_mean(run: Run) -> Integers:
    """Return what greedy play chooses in each state of a run."""
    return np.asarray(run.averages.argmax(axis=1))


class Chased(NamedTuple):
    """What one run says: smallest T_j / min{T_i, Δ_j^-2} at a choice under (b); how often it applies, and breaks."""

    least: float
    applies: int
    breaks: int


def follow(run: Run, choice: Callable[[Run], Integers], c: float) -> Chased:
    """Apply the chase lemma to every state of a run, every i and every optimist j."""
    means, gap = np.array(run.setting.problem.means), gaps(run.setting.problem.means)
    calm = run.averages <= means + gap / 2.0
    chosen = choice(run)[:, np.newaxis]
    own = np.take_along_axis(run.pulls, chosen, axis=1)[:, 0]
    ours = np.take_along_axis(calm, chosen, axis=1)[:, 0]
    least, applies, breaks = math.inf, 0, 0
    for j in np.flatnonzero(optimists(run.tape, means, run.setting.eta)).tolist():
        pulls = run.pulls[:, j]
        limit = 1.0 / gap[j] ** 2 if gap[j] > 0.0 else math.inf
        behind = calm & (pulls <= c * np.minimum(run.pulls.T, limit)).T
        applies += int(behind.sum())
        breaks += int(np.take_along_axis(behind, chosen, axis=1).sum())
        relevant = ours & (chosen[:, 0] != j)
        if relevant.any():
            least = min(least, float((pulls / np.minimum(own, limit))[relevant].min()))
    return Chased(least, applies, breaks)


def chase_on_tapes(effort: Effort, choice: Callable[[Run], Integers] = by_index, *, shrink: bool = False) -> Finding:
    """Apply the chase lemma to states that OCUCB-n, greedy play and even play arrive at."""
    rows, applies, breaks, example = [], 0, 0, ""
    played, kept = effort.pick(50, 1000), effort.pick(2, 30)
    for setting in settings(effort.pick(1500, 10_000), shrink):
        c = chase_constant(setting.eta)
        cells = [str(setting), f"{c:.4g}"]
        for policy in (setting.policy, Greedy(), Uniform()):
            found = [follow(run, choice, c) for run in worst_runs(setting, policy, effort.seed, played, kept)]
            applied, broken = sum(one.applies for one in found), sum(one.breaks for one in found)
            applies, breaks = applies + applied, breaks + broken
            cells.append(f"{min(one.least for one in found):.4g} ({applied})")
            if broken and not example:
                example = f"{setting}, states of {policy.name}, seed {effort.seed}: {broken} choices of such an arm i"
        rows.append(tuple(cells))
    return Finding(
        Conclusion.FAILS if breaks else Conclusion.HOLDS,
        f"In {applies} triples of a state, an arm i and an optimist j the hypotheses hold; i is chosen in {breaks}.",
        counterexample=example,
        tables=(
            Table(
                "Smallest T_j / min{T_i, Δ_j^-2} when i is chosen under (b), and how often the lemma speaks",
                ("setting", "c_η", "states of OCUCB-n", "of greedy play", "of even play"),
                tuple(rows),
            ),
        ),
    )


CHECKS: tuple[Check, ...] = (
    Check(
        "chase",
        ("lem:chase",),
        "For some c_η in (0, 1), of η alone: an arm i whose average is at most Δ_i/2 too high is not chosen while an "
        "optimist j has T_j <= c_η min{T_i, Δ_j^-2}.",
        "The proof needs √(2η) - √(2η_1) >= √(2ηc) + √c, so c_η = ((√(2η) - √(2η_1)) / (1 + √(2η)))² is taken. The "
        "lemma speaks of states: pulls of 3 to 3000 arms are drawn, up to 10^250, with T_j = c T_i or less, and "
        "averages and gaps set to the least favourable that the hypotheses allow.",
        chase,
        Wrong("c = (1 - √(η_1/η))², which leaves no room for the gap of j.", {"constant": without_room}),
    ),
    Check(
        "chase on tapes",
        ("lem:chase", "def:O", "eq:aucb"),
        "The same, in runs: no round in which the lemma's hypotheses hold has I_t = i.",
        "Runs of the largest regret of OCUCB-n, of greedy and of even play. Pulls, averages and indices are worked out "
        "again from choices and tape; Φ from the tape's first n samples, all that n rounds can show. In each state "
        "equation (1) is asked for its choice: the lemma does not care how a state came about, and OCUCB-n itself "
        "hardly ever lets an optimist fall so far behind.",
        chase_on_tapes,
        Wrong("The arm of the largest average is chosen, not that of the largest index.", {"choice": by_mean}),
    ),
    *optimistic.CHECKS,
)
