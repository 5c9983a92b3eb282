"""Accuracy of the Gittins table, against inductions of their own at random points between the knots.

"off by" is the largest error of the index g; in brackets, in units of 1/√T.

    python -m benchmarks.gittins_table
"""

from __future__ import annotations

import numpy as np

from benchmarks.table import write
from ocucb.compiled import Floats
from ocucb.policies.gittins import level, level_parameters
from tools import gittins_table

POINTS = 200
HORIZONS = (100, 1_000, 10_000)


def random_points(size: int) -> list[tuple[int, int]]:
    """Return pairs of pulls and remaining rounds, uniform in their logarithms, and some at the edges."""
    draws = np.exp(np.random.default_rng(1).uniform(0.0, np.log(size), (POINTS, 2))).astype(int)
    edges = [(1, size - 1), (17, size - 1), (size - 1, 17), (size - 1, size - 1), (17, 17), (1, 17), (17, 2)]
    return edges + [(int(pulls), int(remaining)) for pulls, remaining in draws if remaining > 1]


def index_from(parameters: Floats, pulls: int, remaining: int) -> float:
    """Return the index as the policy has it."""
    confidence = level(parameters[0] - remaining + 1.0, float(pulls), 1.0, 1.0, parameters)
    return float(np.sqrt(2.0 * confidence / pulls))


def direct(pulls: int, remaining: int, nodes: int) -> float:
    """Return the index by an induction of its own."""
    scaled = gittins_table.scaled_indices(float(pulls), np.array([float(remaining)]), nodes)[0]
    return float(scaled * np.sqrt(remaining / (pulls * (pulls + remaining))))


def measure(horizon: int) -> list[str]:
    """Compare the table at random points with inductions of their own."""
    parameters, points = level_parameters(horizon), random_points(horizon)
    exact = np.array([direct(*point, nodes=20) for point in points])
    knot = np.array([direct(*point, nodes=gittins_table.NODES) for point in points])
    table = np.array([index_from(parameters, *point) for point in points])
    unit = np.array([np.sqrt(pulls) for pulls, _ in points])
    errors = [f"{np.abs(one - exact).max():.1e} ({np.abs(unit * (one - exact)).max():.1e})" for one in (knot, table)]
    return [f"{horizon:,}", *errors]


def main() -> None:
    """Measure and write the table."""
    rows = [measure(horizon) for horizon in HORIZONS]
    write("gittins_table", __doc__ or "", ["horizon", "induction off by", "table off by"], rows)


if __name__ == "__main__":
    main()
