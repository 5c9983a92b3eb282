"""How many optimists there are: where the first one stands, and how many rivals they leave to an arm."""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats
from ocucb.lab.chart import Chart, Line
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Table, Wrong
from ocucb.paper.evidence import ALARM, Interval, at_most, proportion
from ocucb.paper.runs import optimistic_prefixes
from ocucb.theory.concentration import log_line_survival
from ocucb.theory.optimists import NEVER, chase_constant, optimist_tail, shares

# SciPy publishes no types.
_stats: Any = importlib.import_module("scipy.stats")


def first_optimist_tail(effort: Effort, shared: bool = False) -> Finding:
    """Count how far down the first optimist stands, Φ being made of s <= n."""
    arms, runs, n = 40, effort.pick(4000, 40_000), effort.pick(400, 4000)
    reach = range(1, effort.pick(8, 10))
    measured: list[Interval] = []
    limits, rows, lines = [], [], []
    of = 3 * (len(reach) + 1)
    for eta in (1.1, 2.0, 4.0):
        stays = optimistic_prefixes(arms, n, eta, effort.seed, runs, shared=shared, enough=True)
        member = proportion(int((stays[:, 0] == n).sum()), runs, of)
        optimistic = stays == n
        optimistic[:, :NEVER] = False
        first = np.where(optimistic.any(axis=1), optimistic.argmax(axis=1) + 1, arms + 1)
        tail = [proportion(int((first > NEVER + m).sum()), runs, of) for m in reach]
        measured += tail
        limits += [(1.0 - member.high / 2.0) ** m for m in reach]
        squares = float((first.astype(float) ** 2).mean())
        rows.append(
            (
                f"{eta:g}",
                f"{member.value:.3f} ({member.low:.3f} to {member.high:.3f})",
                f"{math.exp(log_line_survival(0.5 * (1.0 + eta), n)):.3g}",
                f"{tail[3].value:.4f}",
                f"{(1.0 - member.value) ** reach[3]:.4f}",
                f"{squares:.2f}",
            )
        )
        x = [float(m) for m in reach]
        y = [one.value for one in tail]
        seen = [k for k, value in enumerate(y) if value > 0.0]
        lines.append(Line(f"η = {eta:g}", [x[k] for k in seen], [y[k] for k in seen]))
        lines.append(Line(f"(1 - p)^(j - 2), η = {eta:g}", x, [(1.0 - member.value) ** m for m in reach], bound=True))
    conclusion = at_most(measured, limits)
    worst = max(range(len(limits)), key=lambda k: measured[k].low - limits[k])
    return Finding(
        conclusion,
        f"P(J > j) over (1 - p/2)^(j - 2), p the measured probability that an arm is in Φ, n = {n}: at most "
        f"{max(one.value / limit for one, limit in zip(measured, limits, strict=True)):.2f} for j = "
        f"3 to {NEVER + reach[-1]} and η = 1.1, 2, 4. It falls like (1 - p)^(j - 2), as for independent arms.",
        false_alarm=ALARM,
        counterexample=(
            f"P(J > {NEVER + reach[worst % len(reach)]}) >= {measured[worst].low:.4f}, limit {limits[worst]:.4f}"
            if conclusion is Conclusion.FAILS
            else ""
        ),
        tables=(
            Table(
                f"Optimists, n = {n}",
                ("η", "P(i in Φ)", "proved at least", "P(J > 6)", "(1 - p)^4", "E[J²]"),
                tuple(rows),
            ),
        ),
        charts=(Chart("Where the first optimist stands", "j - 2", "P(J > j)", tuple(lines), y_scale="log"),),
    )


def all_others(arms: int, arm: int) -> list[int]:
    """Return the arms over which the paper sums: all but i."""
    return [j for j in range(arms) if j != arm]


def eligible(arms: int, arm: int) -> list[int]:
    """Return the arms that can be optimists, but i."""
    return [j for j in range(NEVER, arms) if j != arm]


def too_sharp(counted: npt.ArrayLike, probability: float) -> float:
    """Return the bound with its exponent doubled, as if the 2 below the fraction were missing."""
    return optimist_tail(counted, probability) ** 2


def few_members(weights: Floats, p: float, threshold: float) -> Interval:
    """Return P{Σ of the weights of independent members <= threshold}, by going through all sets of members.

    Sums within rounding of the threshold are left out of the low end and put into the high end.
    """
    sums, chances = np.zeros(1), np.ones(1)
    for weight in weights.tolist():
        sums = np.concatenate((sums, sums + weight))
        chances = np.concatenate((chances * (1.0 - p), chances * p))
    low, value, high = (float(chances[sums <= threshold * (1.0 + room)].sum()) for room in (-1e-12, 0.0, 1e-12))
    return Interval(low, value, min(1.0, high))


def rivals_tail(
    effort: Effort,
    counted: Callable[[int, int], list[int]] = all_others,
    bound: Callable[[npt.ArrayLike, float], float] = optimist_tail,
) -> Finding:
    """Compute how likely half the expected share of optimists is missing, exactly, and compare with the bound."""
    measured: list[Interval] = []
    limits, cases, rows = [], [], []
    for arms in effort.pick((3, 4, 6, 12), (3, 4, 5, 6, 8, 12, 16, 18)):
        patterns = {
            "equal gaps": np.minimum(np.arange(arms), 1.0),
            "linear gaps": np.arange(arms) / arms,
            "doubling gaps": np.where(np.arange(arms) > 0, 2.0 ** (np.arange(arms) - arms), 0.0),
        }
        for (name, gap), rho, p in itertools.product(patterns.items(), (0.5, 1.0), (0.1, 0.3, 0.6, 0.9)):
            for arm in sorted({1, 2, arms - 1}):
                weights = shares(-gap, arm, rho)
                over = weights[counted(arms, arm)]
                if over.size == 0:
                    continue
                exact = few_members(weights[eligible(arms, arm)], p, p / 2.0 * float(over.sum()))
                measured.append(exact)
                limits.append(bound(over, p))
                cases.append(f"K = {arms}, {name}, i = {arm + 1}, ρ = {rho:g}, p = {p:g}")
    conclusion = at_most(measured, limits)
    order = sorted(range(len(limits)), key=lambda k: limits[k] - measured[k].value)
    exceeded = [k for k, limit in enumerate(limits) if measured[k].low > limit]
    rows = [(cases[k], f"{measured[k].value:.6g}", f"{limits[k]:.6g}") for k in exceeded[:1] + order[:7]]
    return Finding(
        conclusion,
        f"{len(limits)} cases computed exactly: the probability exceeds its bound in {len(exceeded)}. Smallest bound "
        f"minus probability: {limits[order[0]] - measured[order[0]].value:.4g} ({cases[order[0]]}).",
        counterexample=(
            f"{cases[exceeded[0]]}: P{{Σ over optimists <= (p/2) Σ}} = {measured[exceeded[0]].value:.6g}, bound "
            f"{limits[exceeded[0]]:.6g}"
            if exceeded
            else ""
        ),
        tables=(Table("Where the bound is closest, or exceeded most", ("case", "probability", "bound"), tuple(rows)),),
    )


def mean_inverse(weights: Floats, p: float, c: float) -> float:
    """Return E[1/(1 + c Σ of the weights of independent members)], by going through all sets of members."""
    sums, chances = np.zeros(1), np.ones(1)
    for weight in weights.tolist():
        sums = np.concatenate((sums, sums + weight))
        chances = np.concatenate((chances * (1.0 - p), chances * p))
    return float(np.sum(chances / (1.0 + c * sums)))


def rivals_missing(effort: Effort, factor: float = 3.0) -> Finding:
    """Compute k_i E[1/K_i] exactly, and compare it with factor/(c_η p)."""
    measured, cases, rows = [], [], []
    for arms in effort.pick((3, 4, 6, 12), (3, 4, 5, 6, 8, 12, 16, 18)):
        patterns = {
            "equal gaps": np.minimum(np.arange(arms), 1.0),
            "linear gaps": np.arange(arms) / arms,
            "doubling gaps": np.where(np.arange(arms) > 0, 2.0 ** (np.arange(arms) - arms), 0.0),
        }
        for (name, gap), p in itertools.product(patterns.items(), (0.02, 0.1, 0.5, 0.9)):
            for arm, c in itertools.product(sorted({1, 2, arms - 1}), (1.0, chase_constant(2.0))):
                weights = shares(-gap, arm, 0.5)
                measured.append(c * p * float(weights.sum()) * mean_inverse(weights[eligible(arms, arm)], p, c))
                cases.append(f"K = {arms}, {name}, i = {arm + 1}, p = {p:g}, c = {c:.3g}")
    for p, c in itertools.product((0.02, 0.1, 0.5), (1.0, chase_constant(4.0))):
        for arms in np.unique(np.geomspace(30, effort.pick(3_000, 100_000), 8).astype(np.int64)).tolist():
            count = np.arange(arms - NEVER)
            chances = _stats.binom.pmf(count, arms - NEVER - 1, p)
            measured.append(c * p * arms * float(np.sum(chances / (1.0 + c * count))))
            cases.append(f"K = {arms}, equal gaps, p = {p:g}, c = {c:.3g}")
    worst = int(np.argmax(measured))
    conclusion = Conclusion.FAILS if measured[worst] > factor else Conclusion.HOLDS
    order = np.argsort(measured)[::-1][:8].tolist()
    rows = [(cases[k], f"{measured[k]:.4f}") for k in order]
    return Finding(
        conclusion,
        f"{len(cases)} cases computed exactly: c p k_i E[1/K_i] is at most {measured[worst]:.4f} ({cases[worst]}), "
        f"where {factor:g} is allowed.",
        counterexample=f"{cases[worst]}: {measured[worst]:.4f}, above {factor:g}"
        if conclusion is Conclusion.FAILS
        else "",
        tables=(Table("The largest", ("case", "c p k_i E[1/K_i]"), tuple(rows)),),
    )


CHECKS: tuple[Check, ...] = (
    Check(
        "tail of J",
        ("def:O", "lem:lil"),
        "J = min Φ has a tail that falls exponentially, at a rate that depends on η only.",
        "As arms are in Φ independently with probability p, P(J > j) = (1 - p)^(j - 2). Φ is defined by all s <= n, "
        "which is all that the proof needs and all that n rounds can show; the paper's Φ, of all s, has a probability "
        "that no tape shows (heuristically exp(-(η_1 - 1)^(-3/2)/4), some 1e-10 at η = 1.1). p is measured on "
        "arm 1, J on arms 3 to 40 of other noise. Asked: is P(J > j) <= (1 - p/2)^(j - 2)?",
        first_optimist_tail,
        Wrong("All arms see the same noise, so that membership in Φ is not independent.", {"shared": True}),
    ),
    Check(
        "tail of K, step (a)",
        ("app:lem:K", "eq:def:K"),
        "P{Σ_(j in Φ, j ≠ i) w_j <= (p/2) Σ_(j ≠ i) w_j} <= exp(-(p Σ_(j ≠ i) w_j)² / (2 Σ_(j ≠ i) w_j²)), where "
        "w_j = min{1, (Δ_i/Δ_j)^(2ρ)}; p(η_1) is printed ρ(η) there, and Δ_j is printed Δ_J.",
        "Arms from 3 on are in Φ independently with probability p; the left side is computed exactly, over all sets.",
        rivals_tail,
        None,
    ),
    Check(
        "tail of K, arms that can be optimists",
        ("app:lem:K", "eq:def:K"),
        "The same with both sums over j > 2 only: arms 1 and 2 are never in Φ, and may be most of the sum.",
        "As before.",
        rivals_tail,
        Wrong("The exponent without the 2 below its fraction.", {"counted": eligible, "bound": too_sharp}),
        subject={"counted": eligible},
        corrects="tail of K, step (a)",
    ),
    Check(
        "tail of K, conclusion",
        ("app:lem:K", "app:lem:tau"),
        "P{K_(i,ρ) <= c_η p k_(i,ρ)/2} = O(1/k_(i,ρ)), which is used for E[1/K_(i,ρ)] = O_η(1/k_(i,ρ)) only. Executed "
        "is that, with a constant and without the tail: E[1/K_(i,ρ)] <= 3/(c_η p k_(i,ρ)).",
        "With W = Σ w_j over the j > 2, j ≠ i, 1/(1 + X) = ∫_0^1 u^X du and E[u^(wξ)] <= E[u^ξ]^w (Jensen, as w <= 1) "
        "give E[1/(1 + Σ w_j ξ_j)] <= ∫_0^1 (1 - p + pu)^W du <= 1/(p(1 + W)); and 1 + W >= k_i/3, K_i >= c(1 + Σ). "
        "Held against exact expectations, over all sets of optimists or by the binomial distribution.",
        rivals_missing,
        Wrong("1 in place of 3.", {"factor": 1.0}),
    ),
)
