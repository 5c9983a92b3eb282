"""What is drawn of a problem: the mean regret curves with their bands, and the bounds that need no made-up constant."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ocucb.compiled import Floats, Integers
from ocucb.lab.problem import Problem
from ocucb.lab.runs import Runs, regret_samples, runs_of
from ocucb.lab.statistics import Band, mean_with_band
from ocucb.theory import finite_time_sum, lai_robbins_slope, lower_bound, lower_bound_condition, regret_bound

if TYPE_CHECKING:
    import xarray as xr

ETA = 1.1  # of the OCUCB-n whose upper bound is drawn, with ρ = 1/2
BOUNDED = 16  # rounds at which that bound is computed, of all that a curve has


class BoundCurve(NamedTuple):
    """A bound to draw: what it is called, and its values from the round where it starts to mean something."""

    label: str
    t: Floats
    values: Floats


class MeanCurve(NamedTuple):
    """Mean regret of a policy at each checkpoint, the ends of its band, and the regret of each run at the last one."""

    policy: str
    mean: Floats
    low: Floats
    high: Floats
    final: Floats


class RegretCurves(NamedTuple):
    """The checkpoints of a result, and on one of its problems a curve per policy, None if no run of it was played."""

    t: Integers
    policies: list[MeanCurve | None]
    bounds: list[BoundCurve]


def regret_curves(
    dataset: Runs | xr.Dataset, problem: Problem, band: Band = "normal", *, theory: bool = True
) -> RegretCurves:
    """Return what is drawn of one problem; without theory, no bounds."""
    runs = runs_of(dataset)
    curves: list[MeanCurve | None] = []
    for policy in runs.policies:
        samples = regret_samples(runs, problem.name, policy)
        final = samples[:, -1].copy()  # so that not all checkpoints of all runs are kept
        curves.append(MeanCurve(policy, *mean_with_band(samples, band), final) if len(samples) else None)
    return RegretCurves(runs.t, curves, bound_curves(problem, runs.t.tolist()) if theory else [])


def bound_curves(problem: Problem, rounds: Sequence[int]) -> list[BoundCurve]:
    """Return the bounds that can be drawn for a problem without a constant made up.

    The Lai-Robbins slope times log t, for every noise family; for Gaussian noise also Theorem 1's sum, whose constant
    nobody knows, with constant 1 (and rho = 1/2), statement 1 of Appendix A where its condition holds, and a true upper
    bound on the regret of OCUCB-n (docs/explicit_bound.md) where it is below t times the largest gap. Noise of scale σ
    is noise of scale 1 on means divided by σ. None where the problem is not plain, of which the bounds do not speak.
    """
    if not problem.plain:
        return []
    steps = np.array([step for step in rounds if step >= 2], dtype=np.float64)
    slope = lai_robbins_slope(problem.means, problem.noise)
    curves = [BoundCurve(f"Lai–Robbins: {slope:.3g} log t", steps, slope * np.log(steps))]
    scale = problem.noise.gaussian_scale()
    if scale is not None and max(problem.gaps) > 0.0:
        means = np.array(problem.means) / scale
        curves.append(BoundCurve("Theorem 1's sum (constant 1)", steps, scale * finite_time_sum(means, steps)))
        holds = steps[lower_bound_condition(means, steps)]
        curves.append(BoundCurve("Appendix A, statement 1", holds, scale * lower_bound(means, holds)))
        curves.append(_upper_bound(means, scale, steps))
    return [
        BoundCurve(label, t[values > 0.0], values[values > 0.0]) for label, t, values in curves if (values > 0.0).any()
    ]


def _upper_bound(means: Floats, scale: float, steps: Floats) -> BoundCurve:
    """Return what regret of OCUCB-n is at most, at some of the rounds: those where that is news."""
    some = steps[np.unique(np.linspace(0, steps.size - 1, BOUNDED).round().astype(np.int64))] if steps.size else steps
    values = np.array([_regret_bound(tuple(means.tolist()), int(t)) for t in some.tolist()])
    news = values < some * float(means.max() - means.min()) * (1.0 - 1e-9)
    return BoundCurve(f"OCUCB-n({ETA:g}): at most", some[news], scale * values[news])


@lru_cache(maxsize=1024)  # figures of several results on the same problem need the same
def _regret_bound(means: tuple[float, ...], t: int) -> float:
    return regret_bound(means, t, ETA).value
