"""Claim 3: Theorem 1 for n without end, for every ρ in [0, 1], and what n can and cannot show of it."""

from __future__ import annotations

from collections.abc import Callable

from ocucb.lab.problem import Problem
from ocucb.paper.claim import Check, Effort, Finding, Nature, Wrong
from ocucb.paper.regrets import decades, without_warning
from ocucb.paper.slopes import ClaimedSlope, find_slopes
from ocucb.policies import UCB, OCUCBn, Policy
from ocucb.theory import asymptotic_slope

Algorithm = Callable[[float, float], Policy]  # (η, ρ) -> policy

TEN = Problem((0.0,) + (-0.5,) * 3 + (-1.0,) * 3 + (-2.0,) * 3, name="gaps 0.5, 1 and 2, three times each")
SETTINGS = ((1.1, 0.0), (1.1, 0.25), (1.1, 0.5), (1.1, 0.75), (1.1, 1.0), (2.0, 0.5))


def ocucb_n(eta: float, rho: float) -> Policy:
    """Return OCUCB-n; its finite-time guarantee is lost below ρ = 1/2, its asymptotic one is not."""
    return without_warning(OCUCBn, eta, rho)


def ucb_squared(eta: float, rho: float) -> Policy:
    """Return UCB with the level η log(t²)."""
    return UCB(4.0 * eta)


def check_slope(effort: Effort, *, algorithm: Algorithm = ocucb_n) -> Finding:
    """Measure the slope of regret in log n for every ρ and compare it with Σ 2η/Δ_i."""
    rows = [
        ClaimedSlope(
            f"η = {eta:g}, ρ = {rho:g}",
            algorithm(eta, rho),
            TEN,
            asymptotic_slope(TEN.means, eta),
            rho in (0.0, 0.5, 1.0),
        )
        for eta, rho in SETTINGS
    ]
    return find_slopes(rows, effort.pick(decades(2, 5), decades(2, 7)), effort.pick(60, 150), effort.seed)


CHECKS: tuple[Check, ...] = (
    Check(
        "slope",
        ("thm:main",),
        "For every ρ in [0, 1] and η > 1, regret divided by log n comes to Σ 2η/Δ_i at most as n goes to infinity, so "
        "that ρ does not matter in the limit and η is all that is lost against the lower bound of Lai and Robbins.",
        "OCUCB-n is played for long on ten arms with three sizes of gaps. Over the last two decades of n, the rise "
        "of mean regret per unit of log n is compared with Σ 2η/Δ_i; a rise above it is called a failure. The bound "
        "of Lai and Robbins is 1/η in the same units.",
        check_slope,
        Wrong("UCB with the level η log(t²), so that its regret rises twice as fast.", {"algorithm": ucb_squared}),
        nature=Nature.ONE_SIDED,
    ),
)
