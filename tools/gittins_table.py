"""Makes the table in src/ocucb/policies/ by which the exact Gittins index is found: backward induction at knots.

    python -m tools.gittins_table        about 15 seconds

gittins_table.f64  the knots, of pulls and of remaining rounds, and the scaled index at each pair of them

With T pulls behind and r rounds ahead, N = T + r stays constant while the arm is played. Let V be the most that playing
it can earn over retiring at 0 when its posterior mean is ν, and D = V - r ν. Then, with s = 1/√(T(T+1)),

    D(ν, T) = max{ -r ν, E D(ν + s Z, T+1) },   D(·, N) = 0,

and the index of an arm of mean 0 is minus the ν where the two sides of the maximum meet, the boundary. Above it D is
smooth and falls to 0 like a Gaussian tail. Everything is measured in steps s and from the boundary, so that the
expectation is one fixed matrix, and only a shift and a stretch of the points depend on T (`docs/policies/gittins.md`).
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple

import numpy as np

from ocucb.compiled import Floats, Integers, kernel
from ocucb.policies.gittins import LONGEST_EXACT_HORIZON, TABLE_FILE

DENSE, RATIO = 16, 1.2  # every whole number up to DENSE is a knot, then steps of about RATIO
NODES = 12  # Chebyshev points in a panel
# In steps. The boundary moves by 1.31 at most while r <= 10,000, so it stays inside the first panel.
EDGES = (-2.0, 0.0, *(2.0**k for k in range(1, 11)))
REACH = 9.5  # steps; P(|Z| > REACH) is 2e-21
TAIL = 7.7  # standard deviations of what the arm may still learn, beyond which D is taken as 0
FAINT = 1e-30  # taken as 0: far below rounding, and on the way to denormal numbers, which are slow


class Grid(NamedTuple):
    """Panels of points, and what a step does to values at them. Panel 0 lies below the boundary."""

    edges: Floats
    points: Floats  # (panel, point)
    weights: Floats  # of the barycentric formula, the same in every panel
    spread: Floats  # (to panel, from panel, from point, to point): E of the interpolant above the boundary
    linked: Integers  # (to panel, from panel): 1 if within reach
    below: Floats  # P(x + Z < 0) at the points
    deficit: Floats  # E min{0, x + Z} at the points


@cache
def make_grid(nodes: int = NODES) -> Grid:
    """Return the grid, its expectations integrated by Gauss and Legendre's rule."""
    angles = (2.0 * np.arange(nodes) + 1.0) * math.pi / (2 * nodes)
    weights = np.where(np.arange(nodes) % 2, -1.0, 1.0) * np.sin(angles)
    edges = np.array(EDGES)
    points = (edges[1:, None] + edges[:-1, None] - np.diff(edges)[:, None] * np.cos(angles)) / 2
    rule, shares = np.polynomial.legendre.leggauss(64)
    spread = np.zeros((len(points), len(points), nodes, nodes))
    for target, row in enumerate(points):
        for source in range(1, len(points)):
            low, high = np.clip((row - REACH, row + REACH), edges[source], edges[source + 1])[..., None]
            if (low < high).any():
                x = low + (high - low) / 2 * (1.0 + rule)
                density = (high - low) / 2 * shares * _density(x - row[:, None])
                parts = weights / (x[..., None] - points[source])
                parts /= parts.sum(axis=-1, keepdims=True)
                spread[target, source] = np.einsum("iq,iqj->ji", density, parts)
    below = np.array([[math.erfc(x / math.sqrt(2.0)) / 2 for x in row] for row in points])
    deficit = points * below - _density(points)
    for vanishing in (spread, below, deficit):
        vanishing[np.abs(vanishing) < FAINT] = 0.0
    linked = (np.abs(spread).max(axis=(2, 3)) > 0.0).astype(np.int64)
    return Grid(edges, points, weights, spread, linked, below, deficit)


def _density(x: Floats) -> Floats:
    density: Floats = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    return density


@kernel
def interpolate(x: float, points: Floats, weights: Floats, values: Floats) -> float:
    above, below = 0.0, 0.0
    for k in range(len(weights)):
        if x == points[k]:
            return float(values[k])
        part = weights[k] / (x - points[k])
        above += part * values[k]
        below += part
    return above / below


@kernel
def root_below_zero(low: float, points: Floats, weights: Floats, values: Floats) -> float:
    """Return the root in [low, 0] of the convex, rising interpolant, by secants."""
    old, x = low, 0.0
    old_value, value = interpolate(old, points, weights, values), interpolate(x, points, weights, values)
    while abs(x - old) > 1e-13 and value != old_value:
        old, old_value, x = x, value, x - value * (x - old) / (value - old_value)
        value = interpolate(x, points, weights, values)
    return x


@kernel
def write_expectation(rounds: float, boundary: float, known: Floats, panels: int, grid: Grid, expected: Floats) -> None:
    """Write E D one step on, given D at the points above the boundary; below it D is -rounds (boundary + x)."""
    nodes = len(grid.weights)
    for target in range(panels):
        for i in range(nodes):
            expected[target, i] = -rounds * (boundary * grid.below[target, i] + grid.deficit[target, i])
        for source in range(1, panels):
            if grid.linked[target, source]:
                for j in range(nodes):
                    for i in range(nodes):
                        expected[target, i] += grid.spread[target, source, j, i] * known[source, j]


@kernel
def write_next_step(shift: float, stretch: float, panels: int, grid: Grid, expected: Floats, known: Floats) -> None:
    """Move D from the points of a step at T to those of a step at T - 1, which is `stretch` times longer."""
    panel = 0
    for target in range(1, len(grid.points)):
        for i in range(len(grid.weights)):
            x = shift + stretch * grid.points[target, i]
            while panel < panels and x > grid.edges[panel + 1]:
                panel += 1
            known[target, i] = 0.0
            if panel < panels:
                value = interpolate(x, grid.points[panel], grid.weights, expected[panel])
                if abs(value) > FAINT:
                    known[target, i] = value / stretch


@kernel
def index_in_steps(pulls: float, rounds: int, grid: Grid, known: Floats, expected: Floats) -> float:
    """Return g(rounds, pulls) in steps 1/√(pulls(pulls+1)); `pulls` may be infinite. The last two are for scratch."""
    boundary = 0.0  # with one round left the better of ν and 0 is taken, so D = 0 above 0
    known[:] = 0.0
    for left in range(2, rounds + 1):
        width = 4.0 - boundary + TAIL * math.sqrt(left * (1.0 - left / (pulls + rounds)))
        panels = 1
        while panels < len(grid.points) and grid.edges[panels] < width:
            panels += 1
        write_expectation(left - 1.0, boundary, known, panels, grid, expected)
        line = known[0]  # free: D is never needed below the boundary
        for i in range(len(line)):
            line[i] = left * (boundary + grid.points[0, i]) + expected[0, i]
        shift = root_below_zero(grid.edges[0], grid.points[0], grid.weights, line)
        boundary += shift
        if left < rounds:
            stretch = math.sqrt(1.0 + 2.0 / (pulls + (rounds - left) - 1.0))
            boundary /= stretch
            write_next_step(shift, stretch, panels, grid, expected, known)
    return -boundary


def scaled_indices(pulls: float, rounds: Floats, nodes: int = NODES) -> Floats:
    """Return g √(T(T+m)/m), the index over the standard deviation of what is still to be learnt, for each m."""
    on = make_grid(nodes)
    known, expected = np.empty_like(on.points), np.empty_like(on.points)
    steps = np.array([index_in_steps(pulls, int(m), on, known, expected) for m in rounds])
    return steps * np.sqrt((1.0 + (rounds - 1.0) / (pulls + 1.0)) / rounds)


def knots() -> Floats:
    """Return the pulls, and the remaining rounds, at which the table holds exact values."""
    count = math.ceil(math.log(LONGEST_EXACT_HORIZON / DENSE) / math.log(RATIO))
    return np.union1d(np.arange(1.0, DENSE), np.rint(np.geomspace(DENSE, LONGEST_EXACT_HORIZON, count + 1)))


def compute_table() -> Floats:
    """Return the knots, and the scaled index: a row per knot of pulls and one for infinitely many."""
    rounds = knots()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        values = list(pool.map(lambda pulls: scaled_indices(pulls, rounds), [*rounds, math.inf]))
    return np.array([rounds, *values])


def main() -> None:
    """Compute the table, and write it to its place."""
    TABLE_FILE.write_bytes(compute_table().astype("<f8").tobytes())


if __name__ == "__main__":
    main()
