"""The steps of Lemma lil's proof, and how p(η) depends on η near 1."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ocucb.compiled import Floats
from ocucb.lab.chart import Chart, Line
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Table, Wrong
from ocucb.paper.evidence import Interval, at_most, exact
from ocucb.paper.walks import lattice_survival
from ocucb.theory.concentration import (
    iterated_logarithm_boundary,
    log_survival_ceiling,
    log_survival_floor,
)

Growth = Callable[[float], float]

JUMPS = ((20.0, 0.7), (30.0, 0.9), (40.0, 0.95))  # η, and the share of what Lemma conc would allow a jump


def block_bound_printed(eta: float) -> float:
    """Return exp(-η), the bound on P(F_k) for all k that the proof prints."""
    return math.exp(-eta)


def block_bound(eta: float) -> float:
    """Return exp(-η/(1+ε)), η = 1 + 2ε: what Lemma conc gives, for a block is 1+ε times as long as it starts late."""
    return math.exp(-2.0 * eta / (1.0 + eta))


def two_jumps(eta: float, share: float) -> tuple[Interval, float]:
    """Return where P(F_0) lies for a step that jumps rarely, and how much room E exp(λX) <= exp(λ²/2) has.

    X is √(2η) with probability share·exp(-η), √η with share·exp(-η/2), and else a constant that makes its mean 0. One
    jump of the first kind or two of the second reach the boundary √(2ηn), at n = 1 and n = 2; none, never.
    """
    sizes = np.array([math.sqrt(2.0 * eta), math.sqrt(eta)])
    chances = share * np.exp(-0.5 * sizes**2)
    still = 1.0 - chances.sum()
    powers = np.geomspace(1e-4, sizes[0] + 12.0, 20_000)
    powers = np.concatenate((powers, -powers))[:, np.newaxis]
    grown = np.expm1(powers * sizes) @ chances + still * np.expm1(powers[:, 0] * -(chances @ sizes) / still)
    room = 1.0 - grown / np.expm1(0.5 * powers[:, 0] ** 2)
    low, high = chances[0] + chances[1] ** 2, 0.5 * (1.0 + eta) * chances.sum()
    return Interval(float(low), math.nan, float(high)), float(room.min())


def check_first_blocks(effort: Effort, *, statement: Growth = block_bound_printed) -> Finding:
    """Compare P(F_k) with the bound for blocks k that start early."""
    horizon = effort.pick(2048, 16_384)
    rows, chances, limits = [], [], []
    for eta in (1.25, 2.0, 3.0, 5.0):
        blocks = enumerate(_blocks(eta, horizon))
        chance, k = max((1.0 - _survives(eta, horizon, (block,)), k) for k, block in blocks)
        rows.append((f"{eta:g}", "Rademacher", str(k), f"{chance:.4g}", f"{statement(eta):.4g}"))
        chances.append(exact(chance))
        limits.append(statement(eta))
    for eta, share in JUMPS:
        jumping, room = two_jumps(eta, share)
        if room < 0.0:
            raise ArithmeticError(f"jumps of share {share} at eta {eta} are not 1-subgaussian")
        least = f"≥ {jumping.low:.4g}"
        rows.append((f"{eta:g}", f"two jumps, c = {share:g}", "0", least, f"{statement(eta):.4g}"))
        chances.append(jumping)
        limits.append(statement(eta))
    conclusion = at_most(chances, limits)
    eta, share = JUMPS[0]
    low, limit = two_jumps(eta, share)[0].low, statement(eta)
    return Finding(
        conclusion,
        "A 1-subgaussian step that jumps rarely breaks it. The lemma survives: a block that costs a factor "
        "1 - exp(-η/(1+ε)) > 0.63 is then charged with exp(-η) < 0.37."
        if conclusion is Conclusion.FAILS
        else f"All {len(rows)} cases are below the bound: {rows[0][3]} against {rows[0][4]} at η = {rows[0][0]}.",
        counterexample=f"X = √(2η) with probability c exp(-η), √η with c exp(-η/2), else a constant that makes its "
        f"mean 0, is 1-subgaussian at η = {eta:g}, c = {share:g}; P(F_0) ≥ (c + c²) exp(-η) = {low:.3g} > {limit:.3g}."
        if conclusion is Conclusion.FAILS
        else "",
        tables=(Table("The likeliest block to fail", ("η", "steps", "k", "P(F_k)", "bound"), tuple(rows)),),
    )


def _blocks(eta: float, horizon: int) -> list[tuple[int, int]]:
    """Return first and last n of the blocks [(1+ε)^k, (1+ε)^{k+1}] up to the horizon, η = 1 + 2ε."""
    growth, blocks, k = 0.5 * (1.0 + eta), [], 0
    while growth ** (k + 1) <= horizon:
        blocks.append((math.ceil(growth**k), math.floor(growth ** (k + 1))))
        k += 1
    return blocks


def _only(eta: float, horizon: int, blocks: tuple[tuple[int, int], ...]) -> Floats:
    """Return the highest places under the boundary, in these blocks; none elsewhere. Reaching it counts as failing."""
    barrier = np.full(horizon, math.inf)
    for first, last in blocks:
        n = np.arange(first, last + 1)
        barrier[first - 1 : last] = np.ceil(iterated_logarithm_boundary(n, eta)) - 1.0
    return barrier


def _survives(eta: float, horizon: int, blocks: tuple[tuple[int, int], ...]) -> float:
    """Return the probability that none of these blocks fails, for Rademacher steps."""
    return float(lattice_survival(_only(eta, horizon, blocks))[-1])


def given_survival(alone: float, earlier: float, both: float) -> float:
    """Return P(this block fails | the earlier ones do not), from the probabilities of not failing."""
    return 1.0 - both / earlier


def given_failure(alone: float, earlier: float, both: float) -> float:
    """Return P(this block fails | one of the earlier ones does)."""
    return (1.0 - alone - earlier + both) / (1.0 - earlier)


def check_conditioning(
    effort: Effort, *, condition: Callable[[float, float, float], float] = given_survival
) -> Finding:
    """Compare P(F_k) with what it is given the blocks before, for Rademacher steps."""
    horizon = effort.pick(1024, 8192)
    rows: list[tuple[str, ...]] = []
    rises = []
    for eta in (1.25, 2.0, 3.0):
        # A walk has to be able to fail in a block and in one before it; where it is not, both sides are equal.
        able = [block for block in _blocks(eta, horizon) if _can_fail(eta, block)]
        for k in range(1, len(able)):
            now, before = (able[k],), tuple(able[:k])
            alone, earlier, both = (_survives(eta, horizon, blocks) for blocks in (now, before, before + now))
            rises.append((condition(alone, earlier, both) - (1.0 - alone), eta, able[k], 1.0 - alone))
        rows += [(f"{e:g}", f"{n[0]} to {n[1]}", f"{a + rise:.5f}", f"{a:.5f}") for rise, e, n, a in rises[-3:]]
    rise, eta, n, alone = max(rises)
    at = f"η = {eta:g}, n = {n[0]} to {n[1]}: {alone + rise:.4g} given the blocks before, {alone:.4g} alone"
    return Finding(
        Conclusion.FAILS if rise > 0.0 else Conclusion.HOLDS,
        f"{sum(r[0] > 0.0 for r in rises)} of {len(rises)} blocks are likelier to fail; nearest to it, or worst, is "
        f"{at}. In general it follows from positive association (Harris): not failing is a decreasing event of "
        "independent steps. The condition as printed starts at F_1, the blocks at F_0.",
        counterexample=f"{at}." if rise > 0.0 else "",
        tables=(Table("The last blocks", ("η", "n in", "P(F_k | blocks before)", "P(F_k)"), tuple(rows)),),
    )


def _can_fail(eta: float, block: tuple[int, int]) -> bool:
    n = np.arange(block[0], block[1] + 1)
    return bool((iterated_logarithm_boundary(n, eta) <= n).any())


def polynomial(eta: float) -> float:
    """Return log(1/p) if 1/p were as large as (2(η+1)/(η-1))^100."""
    return 100.0 * math.log(2.0 * (eta + 1.0) / (eta - 1.0))


def exponential_of_square(eta: float) -> float:
    """Return log(1/p) if p were exp(-2((η+1)/(η-1))²)."""
    return 2.0 * ((eta + 1.0) / (eta - 1.0)) ** 2


def exponential_of_fourth_root(eta: float) -> float:
    """Return log(1/p) if p were exp(-2((η+1)/(η-1))^{1/4})."""
    return 2.0 * math.sqrt(math.sqrt((eta + 1.0) / (eta - 1.0)))


def check_dependence(effort: Effort, *, statement: Growth = polynomial) -> Finding:
    """Enclose log(1/P(S_n stays under its boundary)) for η near 1 and compare it with a claimed growth."""
    excesses = [10.0**-power for power in range(effort.pick(12, 13))]
    etas = [1.0 + excess for excess in excesses]
    least, most = [-log_survival_ceiling(eta) for eta in etas], [-log_survival_floor(eta) for eta in etas]
    claimed = [statement(eta) for eta in etas]
    conclusion = at_most([Interval(a, math.nan, b) for a, b in zip(least, most, strict=True)], claimed)
    above = [i for i in range(len(etas)) if least[i] > claimed[i]]
    broken = ""
    if above:
        first = above[0]
        broken = (
            f"η - 1 = {excesses[first]:.0e}: log(1/P) ≥ {least[first]:,.0f} > {claimed[first]:,.0f} for Gaussian steps."
        )
    degrees = ", ".join(f"{least[i] / math.log(1.0 / excesses[i]):.2g}" for i in (4, 7, 10))
    return Finding(
        conclusion,
        f"For Gaussian steps at η - 1 = 1e-4, 1e-7, 1e-10 the probability is at most (η-1)^d with d = {degrees}: for "
        "η - 1 ≤ 1e-4 it is at most exp(-0.2/√(η-1)), which falls below every power. The proof's own "
        "log(1/p) goes like 4/(η-1)².",
        counterexample=broken,
        charts=(
            Chart(
                "How unlikely it is to stay under the boundary, as η falls to 1",
                "η - 1",
                "log(1/P)",
                (
                    Line("at least, Gaussian steps", excesses[1:], least[1:]),
                    Line("at most, by the proof", excesses[1:], most[1:]),
                    Line("claimed", excesses[1:], claimed[1:], bound=True),
                ),
                x_scale="log",
                y_scale="log",
            ),
        ),
    )


CHECKS = (
    Check(
        name="first blocks",
        places=("app:lem:lil",),
        says="Every block k fails with probability exp(-η) at most: the naive bound of the proof.",
        done="Failure probabilities of blocks: exactly for Rademacher steps, and between bounds for a step that jumps "
        "rarely; that E exp(λX) ≤ exp(λ²/2) is verified for it over a fine grid of λ.",
        run=check_first_blocks,
        wrong=None,
    ),
    Check(
        name="first blocks, corrected",
        places=("app:lem:lil",),
        says="Lemma conc gives exp(-η/(1+ε)), for a block ends 1 + ε times as late as it starts.",
        done="As before.",
        run=check_first_blocks,
        wrong=Wrong("exp(-η), as printed", {"statement": block_bound_printed}),
        subject={"statement": block_bound},
        corrects="first blocks",
    ),
    Check(
        name="conditioning on earlier blocks",
        places=("app:lem:lil",),
        says="A block is no likelier to fail when no block before it has.",
        done="Both probabilities, exactly, for Rademacher steps and all blocks up to a horizon.",
        run=check_conditioning,
        wrong=Wrong("when a block before it has failed", {"condition": given_failure}),
    ),
    Check(
        name="polynomial in 1/(eta - 1)",
        places=("sec:conc", "lem:lil"),
        says="Constants O_η(1) depend on η no worse than polynomially in 1/(η - 1). √E[J²] in the proof of Lemma tau "
        "is one, and J, the first arm in Φ, has a mean of more than 1/P(i in Φ) where arms are many: the inverse of "
        "Lemma lil's probability at (1+η)/2.",
        done="That probability is enclosed: from above for Gaussian steps, looked at for n = 32, 64, ... only; from "
        "below by what the proof's steps prove. Claimed, generously: 1/p ≤ (2(η+1)/(η-1))^100.",
        run=check_dependence,
        wrong=None,
    ),
    Check(
        name="exponential in 1/(eta - 1)",
        places=("sec:conc", "lem:lil"),
        says="The proof of Lemma lil gives p(η) ≥ exp(-2((η+1)/(η-1))²).",
        done="The same enclosure.",
        run=check_dependence,
        wrong=Wrong("an exponent of 1/4 in place of 2", {"statement": exponential_of_fourth_root}),
        subject={"statement": exponential_of_square},
        corrects="polynomial in 1/(eta - 1)",
    ),
)
