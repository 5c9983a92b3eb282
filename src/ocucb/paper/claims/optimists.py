"""How many optimists there are: where the first one stands, and how many rivals they leave to an arm."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats
from ocucb.lab.chart import Chart, Line
from ocucb.paper.claim import Check, Effort, Finding, Table, Verdict, Wrong
from ocucb.paper.evidence import ALARM, Interval, at_most, proportion
from ocucb.paper.runs import optimistic_prefixes
from ocucb.theory.optimists import NEVER, chase_constant, late_crossing, optimist_tail, shares

# SciPy publishes no types.
_stats: Any = importlib.import_module("scipy.stats")


def first_optimist_tail(effort: Effort, shared: bool = False) -> Finding:
    """Count how far down the first optimist stands."""
    arms, runs, length = 40, effort.pick(4000, 40_000), effort.pick(400, 4000)
    reach = range(1, effort.pick(8, 10))
    measured: list[Interval] = []
    limits, rows, lines = [], [], []
    of = 3 * (len(reach) + 1)
    for eta in (1.1, 2.0, 4.0):
        stays = optimistic_prefixes(arms, length, eta, effort.seed, runs, shared=shared, enough=True)
        member = proportion(int((stays[:, 0] == length).sum()), runs, of)
        optimistic = stays == length
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
                f"{late_crossing(length, eta):.2f}",
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
    verdict = at_most(measured, limits)
    worst = max(range(len(limits)), key=lambda k: measured[k].low - limits[k])
    return Finding(
        verdict,
        f"P(J > j) over (1 - p/2)^(j - 2), p the measured probability that an arm stays optimistic for {length} "
        f"samples: at most {max(one.value / limit for one, limit in zip(measured, limits, strict=True)):.2f} for j = "
        f"3 to {NEVER + reach[-1]} and η = 1.1, 2, 4. It falls like (1 - p)^(j - 2), as for independent arms.",
        false_alarm=ALARM,
        counterexample=(
            f"P(J > {NEVER + reach[worst % len(reach)]}) >= {measured[worst].low:.4f}, limit {limits[worst]:.4f}"
            if verdict is Verdict.FAILS
            else ""
        ),
        tables=(
            Table(
                f"Optimists, as seen in {length} samples",
                ("η", "P(i in Φ)", "may still leave (bound)", "P(J > 6)", "(1 - p)^4", "E[J²]"),
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
    verdict = at_most(measured, limits)
    order = sorted(range(len(limits)), key=lambda k: limits[k] - measured[k].value)
    exceeded = [k for k, limit in enumerate(limits) if measured[k].low > limit]
    rows = [(cases[k], f"{measured[k].value:.6g}", f"{limits[k]:.6g}") for k in exceeded[:1] + order[:7]]
    return Finding(
        verdict,
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


def rivals_missing(effort: Effort, share: float = 0.5) -> Finding:
    """Compute P{K_i <= share · c_η p k_i} for many arms of equal gaps, and compare with 3/(p² k_i)."""
    measured, limits, rows = [], [], []
    sizes = np.unique(np.geomspace(3, effort.pick(1e5, 1e7), effort.pick(60, 400)).astype(np.int64))
    for eta, p in ((1.1, 0.5), (4.0, 0.5), (4.0, 0.1), (1e6, 0.1), (1e6, 0.02)):
        c = chase_constant(eta)
        # K_i = 1 + c times a binomial count of K - 2 arms or one fewer, as i is arm 2 or a later one; fewer are worse.
        exact = _stats.binom.cdf(np.floor(share * p * sizes - 1.0 / c), sizes - NEVER - 1, p)
        allowed = 3.0 / (p**2 * sizes)
        measured += [Interval(float(x) * (1.0 - 1e-9), float(x), float(x) * (1.0 + 1e-9)) for x in exact]
        limits += allowed.tolist()
        at = int((exact / allowed).argmax())
        rows.append((f"{eta:g}", f"{c:.4g}", f"{p:g}", f"{float(exact[at] / allowed[at]):.3g}", str(int(sizes[at]))))
    verdict = at_most(measured, limits)
    worst = max(range(len(limits)), key=lambda k: measured[k].value / limits[k])
    return Finding(
        verdict,
        f"P{{K_i <= {share:g} c_η p k_i}} is at most {measured[worst].value / limits[worst]:.3g} times 3/(p² k_i), for "
        f"3 to {sizes[-1]} arms of equal gaps.",
        counterexample=(
            f"K = {int(sizes[worst % sizes.size])}: probability {measured[worst].value:.4g}, limit {limits[worst]:.4g}"
            if verdict is Verdict.FAILS
            else ""
        ),
        tables=(Table("Largest share of the limit used", ("η", "c_η", "p", "share", "at K"), tuple(rows)),),
    )


CHECKS: tuple[Check, ...] = (
    Check(
        "tail of J",
        ("def:O", "lem:lil"),
        "J = min Φ has a tail that falls exponentially, at a rate that depends on η only.",
        "As arms are in Φ independently with probability p, P(J > j) = (1 - p)^(j - 2). p is measured on arm 1 and J "
        "on arms 3 to 40 of other noise, both on a prefix of the tape. Asked: is P(J > j) <= (1 - p/2)^(j - 2)? What "
        "the prefix cannot see is bounded by peeling: little for η = 4, nothing useful for η near 1, where an arm may "
        "leave Φ after more samples than any tape has.",
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
        "P{K_(i,ρ) <= c_η p k_(i,ρ)/2} = O(1/k_(i,ρ)).",
        "It survives the wrong step: c_η < 0.0859, so the event needs Σ over optimists <= p k_i/2 - 1/c_η, which is "
        "less than (p/2) Σ_(j > 2, j ≠ i) w_j, and k_i > 23. So the probability is at most exp(-p² (k_i - 3)/2) < "
        "3/(p² k_i). Held against exact binomial probabilities for arms of equal gaps.",
        rivals_missing,
        Wrong("K_i compared with all of c_η p k_i, not half of it.", {"share": 1.0}),
    ),
)
