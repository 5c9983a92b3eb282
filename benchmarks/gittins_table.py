"""Seconds and accuracy of the Gittins tables, against inductions of their own at random points between the knots.

"off by" is the largest error of the index g; in brackets, in units of 1/√T.

    python -m benchmarks.gittins_table
"""

from __future__ import annotations

import tempfile
import time
from os import environ

import numpy as np

from benchmarks.table import write
from ocucb.compiled import Floats
from ocucb.policies import gittins_table
from ocucb.policies.gittins import level, level_parameters

POINTS = 200


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


def measure(size: int) -> list[str]:
    """Compute one table, and compare it at random points with inductions of their own."""
    start = time.perf_counter()
    parameters = level_parameters(size)
    seconds = time.perf_counter() - start
    points = random_points(size)
    exact = np.array([direct(*point, nodes=20) for point in points])
    knot = np.array([direct(*point, nodes=gittins_table.NODES) for point in points])
    table = np.array([index_from(parameters, *point) for point in points])
    unit = np.array([np.sqrt(pulls) for pulls, _ in points])
    gittins_table._tables.clear()
    start = time.perf_counter()
    level_parameters(size)
    loading = 1e3 * (time.perf_counter() - start)
    errors = [f"{np.abs(one - exact).max():.1e} ({np.abs(unit * (one - exact)).max():.1e})" for one in (knot, table)]
    return [f"{size:,}", f"{seconds:.2f}", f"{loading:.2f}", f"{parameters.nbytes / 1024:.1f}", *errors]


def main() -> None:
    """Measure and write the table."""
    gittins_table.scaled_indices(1.0, np.array([3.0]))  # compiles
    with tempfile.TemporaryDirectory() as folder:
        environ["OCUCB_CACHE_DIR"] = folder
        rows = [measure(size) for size in gittins_table.SIZES]
    header = ["horizon", "made in, s", "read in, ms", "KiB", "induction off by", "table off by"]
    write("gittins_table", __doc__ or "", header, rows)


if __name__ == "__main__":
    main()
