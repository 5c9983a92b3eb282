"""The proof of Lemma stopping (b) and of its first half: inequalities between sums over arms, on drawn problems."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ocucb.compiled import Floats
from ocucb.paper.claim import Check, Effort, Finding, Table, Verdict, Wrong

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
        Verdict.FAILS if fails else Verdict.HOLDS,
        f"Σ over A_2 is at most {worst:.6f} times what it is with ω in place of each T_j.",
        counterexample=example if fails else "",
    )


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
        Verdict.FAILS if fails else Verdict.HOLDS,
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
        "blocks of gaps",
        ("eq:hard-3", "app:lem:second-term"),
        "√(Σ_ℓ |Ã_ℓ| Σ_(j in Ã_ℓ) E[τ_j]) is O_η(1) Σ √(1 + log(b_j)/Δ_j²), Ã_ℓ being the gaps from 2^ℓ to 2^(ℓ+2).",
        "With the bound of Lemma tau for E[τ_j]. In words: within Ã_ℓ it differs by 16 (1 + log 16) at most, so the "
        "left side is at most Σ_ℓ |Ã_ℓ| max √ ≤ 2 √(16 (1 + log 16)) Σ √. Computed for gaps of four kinds.",
        check_blocks,
        Wrong("1 in place of the constant.", {"constant": 1.0}),
    ),
)
