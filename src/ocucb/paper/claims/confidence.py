"""Lemma conc2: both parts, what ρ does to them, the tail of α behind them, and a step of the proof.

How it is decided stands in `ocucb.paper.conc2`.
"""

from __future__ import annotations

from ocucb.paper.claim import Check, Wrong
from ocucb.paper.conc2 import means, rho, step, tail
from ocucb.paper.conc2.grid import corrected_a, corrected_b, printed_b, quarter_sum

_BOUNDS = (
    "An upper bound with all constants, for any 1-subgaussian noise, and a lower one for Gaussian noise, over a grid "
    "of Δ from 10 to 1e-10, η from 1.01 to 4096 and λ from 1 to ∞"
)
_WALKS = (
    "; and Gaussian walks for d = 1, 10 and 100, pushed down and weighted back, so that samples are bounded where "
    "plain ones of α have no variance."
)
_PART_B = {"part": "beta", "rhos": (1.0, 0.75, 0.55, 0.5)}

CHECKS = (
    Check(
        "conc2 (a)",
        ("lem:conc2",),
        "For ρ in (1/2, 1], Δ E[α] is O(1/((2ρ-1)(η-1)²)) times Σ min{1/Δ, √λ_i}.",
        f"{_BOUNDS}: is there a constant for all η? 50 is tried.",
        means.run,
        None,
    ),
    Check(
        "conc2 (a) corrected",
        ("lem:conc2",),
        "The same with max{1, (η-1)^-2} for (η-1)^-2: α falls as η grows, but not to 0, as it is at least d whenever "
        "the first sample is below -Δ. The constant 50 serves.",
        _BOUNDS + _WALKS,
        means.run,
        Wrong("λ_i^(1/4) in place of √λ_i", {"total": quarter_sum}),
        {"factor": corrected_a},
        "conc2 (a)",
    ),
    Check(
        "conc2 (a) near 1/2",
        ("lem:conc2",),
        "The bound of (a) has a factor 1/(2ρ-1), that of (b) has none; the discussion calls it the price of a smaller "
        "confidence level, not observed in practice. Sharpened: (a) needs no such factor, for any ρ in [1/2, 1].",
        "Does 50 max{1, (η-1)^-2} serve for ρ down to 1/2 over the grid? And walks with λ = 1, where Λ grows most.",
        rho.run,
        Wrong("ρ down to 1/4", {"rhos": (0.25, 0.4, 0.5, 0.75, 1.0)}),
    ),
    Check(
        "conc2 (b)",
        ("lem:conc2",),
        "For ρ in [1/2, 1], Δ E[β] is O(1/(η-1)²) times Σ min{1/Δ, √λ_i}; β log β = α, and β = 0 where α = 0.",
        f"{_BOUNDS}: is there a constant for all η? 90 is tried.",
        means.run,
        None,
        {**_PART_B, "factor": printed_b},
    ),
    Check(
        "conc2 (b) corrected",
        ("lem:conc2",),
        "The same with max{1, (η-1)^-2} for (η-1)^-2. The constant 90 serves.",
        _BOUNDS + _WALKS,
        means.run,
        Wrong("λ_i^(1/4) in place of √λ_i", {"total": quarter_sum}),
        {**_PART_B, "factor": corrected_b},
        "conc2 (b)",
    ),
    Check(
        "conc2 tail",
        ("lem:conc2",),
        "P(α ≥ xΛ) is O(η/(η-1)) times x^-η_2, with η_2 = 2η/(1+η) (in the proof).",
        "Bounds from both sides over the grid, for x up to 1e12: does the constant 500 serve? And the tail measured "
        "with walks pushed as far down as x asks.",
        tail.run,
        Wrong("twice the exponent", {"power": tail.doubled_power}),
    ),
    Check(
        "conc2 last step",
        ("lem:conc2",),
        "For Δ < λ^(-1/2), min{1/Δ, λ^ρ Δ^(2ρ-1) log₊(1/(λΔ²))/W(Λ)} < √λ log₊(1/(λΔ²))/max{1, W(Δ^-2)}, where W is "
        "productlog.",
        "Both sides for d = 1, where Λ may be far below Δ^-2.",
        step.run,
        None,
    ),
    Check(
        "conc2 last step corrected",
        ("lem:conc2",),
        "The same minimum is at most 2√λ, which is all that is used.",
        "The same comparison, without what stands between.",
        step.run,
        Wrong("√λ in place of 2√λ", {"right": step.once}),
        {"right": step.twice},
        "conc2 last step",
    ),
)
