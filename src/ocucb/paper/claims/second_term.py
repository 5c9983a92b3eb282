"""The proof of Lemma stopping (b) and of its first half: inequalities between sums over arms, on drawn problems."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ocucb.compiled import Floats
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Table, Wrong
from ocucb.paper.claims.decomposition import Times, random_times
from ocucb.paper.runs import Run, settings, unlucky_settings, worst_runs
from ocucb.theory.confidence import confidence_alpha, confidence_beta

ROUNDING = 1e-12
CONSTANT = 15.6  # 2 √(16 (1 + log 16)): two blocks per arm, and bounds in a block that differ by 16 (1 + log 16)


def arithmetic(pulls: Floats) -> float:
    """Return the mean of the pulls of A_2, which takes the place of each of them."""
    return float(pulls.mean())


def geometric(pulls: Floats) -> float:
    """Return the geometric mean, which is too small."""
    return float(np.exp(np.log(pulls).mean()))


def shared(own: float, others: Floats, rho: float) -> float:
    """Return Σ_j min{s, T_j^ρ s^(1-ρ)}."""
    return float(np.minimum(own, others**rho * own ** (1.0 - rho)).sum())


def check_confidence(effort: Effort, *, mean: Callable[[Floats], float] = arithmetic) -> Finding:
    """Look for pulls of A_2 that share more than pulls that are all their mean."""
    rng = np.random.default_rng([effort.seed, 181])
    worst, example = 0.0, ""
    for _ in range(effort.pick(3_000, 100_000)):
        pulls = np.ceil(10.0 ** rng.uniform(0.0, rng.uniform(0.1, 6.0), int(rng.integers(1, 12))))
        own, rho = float(10.0 ** rng.uniform(0.0, 6.0)), float(rng.uniform(0.0, 1.0))
        ratio = shared(own, pulls, rho) / shared(own, np.full(pulls.size, mean(pulls)), rho)
        if ratio > worst:
            worst = ratio
            example = f"s = {own:.6g}, ρ = {rho:.4g}, pulls {', '.join(f'{one:g}' for one in pulls)}: {ratio:.6g} times"
    fails = worst > 1.0 + 1e-12
    return Finding(
        Conclusion.FAILS if fails else Conclusion.HOLDS,
        f"Σ over A_2 is at most {worst:.6f} times what it is with ω in place of each T_j.",
        counterexample=example if fails else "",
    )


def check_tapes(effort: Effort, *, counted: bool = True) -> Finding:
    """Follow runs in which Δ_2 ≤ Δ_J/4, and compare Σ_j min{s, T_j^ρ s^(1-ρ)} with what ω makes of it, in each round.

    counted : ω has the pulls of A_2 that β and the τ_i allow; otherwise it is 1 there.
    """
    n, worst, example, states, rows = effort.pick(1000, 10_000), 0.0, "", 0, []
    for setting in (*settings(n), *unlucky_settings(n)):
        most = 0.0
        for run in worst_runs(setting, setting.policy, effort.seed, effort.pick(50, 1000), effort.pick(2, 30)):
            times, candidates = random_times(run)
            for width in (one for one in candidates if 0.0 < 4.0 * times.gap[1] <= one or 0.0 == times.gap[1] < one):
                limits = pulls_allowed(run, times, width, counted)
                own = run.pulls[:, :1].astype(np.float64)
                rest = own ** (1.0 - setting.rho)
                left = np.minimum(own, run.pulls**setting.rho * rest).sum(axis=1)
                right = np.minimum(own, limits**setting.rho * rest).sum(axis=1)
                states += left.size
                most = max(most, float((left / right).max()))
                if most > max(worst, 1.0 + ROUNDING):
                    example = f"{setting}, seed {effort.seed}, Δ_J = {width:g}: {most:.4g} times"
                worst = max(worst, most)
        rows.append((str(setting), f"{setting.bad_luck:g}", f"{most:.4f}" if most else "no such Δ_J"))
    return Finding(
        Conclusion.FAILS if example else Conclusion.HOLDS,
        f"In {states:,} states Σ_j min{{s, T_j^ρ s^(1-ρ)}} is at most {worst:.4f} times what it is with ω.",
        counterexample=example,
        tables=(Table("With T_j over with ω_j", ("setting", "best arm too low by", "largest"), tuple(rows)),),
    )


def pulls_allowed(run: Run, times: Times, width: float, counted: bool) -> Floats:
    """Return ω: τ_j on A_1, the mean of what A_2 may be pulled on A_2, ∞ elsewhere; β comes from the tape of arm 2."""
    setting, gap, settled = run.setting, times.gap, times.settled.astype(np.float64)
    far, middle = gap > 2.0 * width, (gap >= width) & (gap <= 2.0 * width)
    limits = np.where(far, settled, math.inf)
    centred = run.tape[1] - setting.problem.means[1]
    alpha = min(float(confidence_alpha(centred, width / 4.0, setting.eta, setting.rho, limits)), 1e300)
    shared = (1.0 + float(confidence_beta(alpha)) + float(settled[middle].sum())) / float(middle.sum())
    return np.asarray(np.where(middle, shared if counted else 1.0, limits))


def check_blocks(effort: Effort, *, constant: float = CONSTANT) -> Finding:
    """Compare √(Σ_ℓ |Ã_ℓ| Σ_(Ã_ℓ) m_j) with C Σ √m_j, m_j = 1 + log(b_j)/Δ_j², over gaps of many kinds."""
    rng = np.random.default_rng([effort.seed, 182])
    worst, example, rows = 0.0, "", []
    for kind in ("equal", "near", "spread", "far"):
        most = 0.0
        for _ in range(effort.pick(200, 10_000)):
            arms, n = int(rng.integers(2, 200)), float(10.0 ** rng.uniform(1.0, 9.0))
            width = {"equal": 0.0, "near": 1.0, "spread": 4.0, "far": 9.0}[kind]
            gap = 10.0 ** (rng.uniform(-4.0, 1.0) + width * rng.uniform(-1.0, 0.0, arms - 1))
            effective = 1.0 + np.minimum(1.0, gap[:, np.newaxis] / gap).sum(axis=1)
            level = np.log(np.maximum(n * gap**2 * math.log(n) / effective, max(math.log(n), math.e)))
            bound = 1.0 + level / gap**2
            octave = np.floor(np.log2(gap))
            blocks = [(octave == one) | (octave == one + 1.0) for one in np.unique([*octave, *(octave - 1.0)])]
            left = math.sqrt(sum(float(block.sum() * bound[block].sum()) for block in blocks))
            ratio = left / float(np.sqrt(bound).sum())
            most = max(most, ratio)
            if ratio > worst:
                worst, example = ratio, f"{arms} arms, {kind} gaps from {gap.min():.3g} to {gap.max():.3g}, n = {n:.3g}"
        rows.append((kind, f"{most:.4f}"))
    fails = worst > constant
    return Finding(
        Conclusion.FAILS if fails else Conclusion.HOLDS,
        f"The left side is at most {worst:.3f} times Σ √(1 + log(b_j)/Δ_j²) ({example}); {constant:g} is enough by the "
        "reasons given, for all gaps.",
        counterexample=f"{example}: {worst:.4f} times, allowed {constant:g}" if fails else "",
        tables=(Table("The largest ratio", ("gaps", "left over right"), tuple(rows)),),
    )


CHECKS: tuple[Check, ...] = (
    Check(
        "B-big",
        ("eq:B-big", "app:lem:second-term"),
        "With ω_j, the mean of the pulls that A_2 may have, in place of T_j, Σ_j min{s, T_j^ρ s^(1-ρ)} does not fall, "
        "so that B_1 is at least what ω makes of it.",
        "Pulls of A_2 are drawn over six decades, with s and ρ.",
        check_confidence,
        Wrong("The geometric mean in place of the mean.", {"mean": geometric}),
    ),
    Check(
        "B-big on tapes",
        ("eq:B-big", "app:lem:second-term"),
        "If Δ_2 ≤ Δ_J/4, then in every round t ≤ n of a run, with s = T_1(t-1), Σ_j min{s, T_j^ρ s^(1-ρ)} is at most "
        "the same with ω_j for T_j, so that B_1 is at least what ω makes of it; read with 1 + β for β.",
        "Runs of OCUCB-n of the largest regret, also on tapes whose best arm disappoints; A_1, A_2, τ_i, β and ω are "
        "worked out from the tape.",
        check_tapes,
        Wrong("ω_j = 1 on A_2.", {"counted": False}),
    ),
    Check(
        "blocks of gaps",
        ("eq:hard-3", "app:lem:second-term"),
        "√(Σ_ℓ |Ã_ℓ| Σ_(j in Ã_ℓ) E[τ_j]) is O_η(1) Σ √(1 + log(b_j)/Δ_j²), Ã_ℓ being the gaps from 2^ℓ to 2^(ℓ+2).",
        "With the bound of Lemma tau for E[τ_j]. In words: within Ã_ℓ it differs by 16 (1 + log 16) at most, so the "
        "left side is at most Σ_ℓ |Ã_ℓ| max √ ≤ 2 √(16 (1 + log 16)) Σ √. Computed for gaps of four kinds.",
        check_blocks,
        Wrong("1 in place of the constant.", {"constant": 1.0}),
    ),
)
