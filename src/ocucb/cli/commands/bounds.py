"""`ocucb bounds`: what the paper and others prove about the regret on given means."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING

from rich.table import Table

from ocucb.checks import whole
from ocucb.cli.console import new_console, new_table
from ocucb.cli.options import Count, Means, Problems, Real, Spread, read_problems
from ocucb.errors import ParameterError
from ocucb.policies import OCUCBn
from ocucb.theory import (
    asymptotic_slope,
    effective_arms,
    finite_time_sum,
    gaps,
    lai_robbins_slope,
    lower_bound,
    lower_bound_condition,
    regret_bound,
)

if TYPE_CHECKING:
    from ocucb.lab import Problem

HORIZON = 100_000


def bounds(
    *,
    means: Means = None,
    problem: Problems = (),
    noise: Spread = None,
    horizon: Count = HORIZON,
    rho: Real = 0.5,
    eta: Real = 1.1,
) -> None:
    """Print gaps, effective arms, and upper and lower bounds on regret.

    Theorem 1 is for subgaussian noise, Appendix A for Gaussian noise. Noise of scale σ is noise of scale 1 on means
    divided by σ.

    Parameters
    ----------
    horizon
        The number of rounds n.
    rho
        The exponent of the effective arms, in [0, 1].
    eta
        The width of OCUCB-n's confidence interval.
    """
    from ocucb.lab.spec import format_noise

    OCUCBn(eta, rho)  # refuses what makes no sense, and notes which guarantee is lost
    rounds = whole("horizon", horizon, 2, "the bounds divide by log(n)")
    named = problem or (("mixed_gaps",) if means is None else ())
    console = new_console()
    for one in read_problems(means, named, noise):
        if not one.fixed:
            raise ParameterError(f"bounds speak of fixed means, got {one.name}, where {one.notes()[0]}")
        console.print(f"{one.name} under {format_noise(one.noise)} noise, n = {rounds:,}", style="bold")
        console.print("", _arm_table(one, rho), "", _bound_table(one, rounds, rho, eta), "", sep="\n")


def _arm_table(problem: Problem, rho: float) -> Table:
    """Return gaps and effective arms, one line for neighbours that are alike."""
    gap, effective = gaps(problem.means), effective_arms(problem.means, rho)
    table = new_table()
    for column in ("arm", "mean", "gap Δ", f"effective arms k, ρ = {rho:g}"):
        table.add_column(column, justify="right", no_wrap=True)
    for mean, alike in groupby(range(problem.arms), key=problem.means.__getitem__):
        first, *others = alike
        arms = f"{first}–{others[-1]}" if others else f"{first}"
        table.add_row(arms, f"{mean:g}", f"{gap[first]:.6g}", f"{effective[first]:.6g}")
    return table


def _bound_table(problem: Problem, n: int, rho: float, eta: float) -> Table:
    """Return the bounds, each with what it says."""
    table = new_table()
    table.add_column("bound", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("what it says")
    scale = problem.noise.subgaussian_scale()
    if scale is None:
        table.add_row("Theorem 1", "–", f"needs subgaussian noise, which {problem.noise.name} is not")
    else:
        means = [mean / scale for mean in problem.means]
        finite = scale * float(finite_time_sum(means, n, rho))
        slope = scale * asymptotic_slope(means, eta)
        table.add_row(
            "Theorem 1, sum", f"{finite:.6g}", "regret of OCUCB-n is at most this times a constant of η alone"
        )
        table.add_row("Theorem 1, slope", f"{slope:.6g}", _slope(f"of OCUCB-n, η = {eta:g}, is at most", slope, n))
    table.add_row("Upper bound", *_upper_bound(problem, n, rho, eta))
    if rho >= 0.5 and eta > 1.0 and problem.noise.gaussian_scale() is not None:
        table.add_row("Theorem 1, constants", *_constants(problem, n, rho, eta))
    least = lai_robbins_slope(problem.means, problem.noise)
    table.add_row("Lai–Robbins, slope", f"{least:.6g}", _slope("of a consistent policy is at least", least, n))
    table.add_row("Appendix A, sum", *_lower_bound(problem, n))
    return table


def _upper_bound(problem: Problem, n: int, rho: float, eta: float) -> tuple[str, str]:
    """Return what regret is at most, with no constant left open."""
    scale = problem.noise.gaussian_scale()
    if scale is None:
        return "–", "is for Gaussian bounds"
    bound = regret_bound([mean / scale for mean in problem.means], n, eta, rho)
    if bound.kappa == 0.0:
        return f"{scale * bound.value:.6g}", "n times the largest gap: nothing better is proved for so few rounds"
    return (
        f"{scale * bound.value:.6g}",
        f"regret of OCUCB-n, η = {eta:g}, ρ = {rho:g}, is at most this: no constant is open",
    )


def _constants(problem: Problem, n: int, rho: float, eta: float) -> tuple[str, str]:
    """Return what the paper's own proof gives when all its constants are multiplied."""
    from ocucb.theory.theorem_bound import theorem_bound  # needs SciPy, which other commands do not

    scale = problem.noise.gaussian_scale() or 1.0
    value = scale * theorem_bound([mean / scale for mean in problem.means], n, eta, rho)
    return f"{value:.3g}", "the same by the paper's own proof, all its constants multiplied"


def _slope(words: str, slope: float, n: int) -> str:
    return f"the limit of regret / log n {words} this; times log n: {slope * math.log(n):.6g}"


def _lower_bound(problem: Problem, n: int) -> tuple[str, str]:
    """Return statement 1 of Appendix A, and whether its condition holds."""
    scale = problem.noise.gaussian_scale()
    if scale is None:
        return "–", "is for Gaussian noise"
    means = [mean / scale for mean in problem.means]
    value = f"{scale * float(lower_bound(means, n)):.6g}"
    condition = "n Δ² ≥ k log n for every gap Δ, at ρ = 1/2, and no gap above 1"
    if not bool(lower_bound_condition(means, n)):
        return value, f"nothing, for its condition does not hold: {condition}"
    return (
        value,
        f"regret is at least this, or else large where another arm is made best; its condition holds: {condition}",
    )
