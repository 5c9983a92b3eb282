"""Seconds and accuracy of the Gittins tables: `.venv/bin/python benchmarks/gittins_table.py [size ...]`, by hand."""

from __future__ import annotations

import sys
import tempfile
import time
from os import environ

import numpy as np

from ocucb.compiled import Floats
from ocucb.policies import gittins_table
from ocucb.policies.gittins import level, parameters_of

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
    scaled = gittins_table.scaled(float(pulls), np.array([float(remaining)]), nodes)[0]
    return float(scaled * np.sqrt(remaining / (pulls * (pulls + remaining))))


def main(sizes: list[int]) -> None:
    gittins_table.scaled(1.0, np.array([3.0]))  # compiles
    for size in sizes:
        start = time.perf_counter()
        parameters = parameters_of(size)
        seconds = time.perf_counter() - start
        points = random_points(size)
        exact = np.array([direct(*point, nodes=20) for point in points])
        knot = np.array([direct(*point, nodes=gittins_table.NODES) for point in points])
        table = np.array([index_from(parameters, *point) for point in points])
        unit = np.array([np.sqrt(pulls) for pulls, _ in points])
        print(
            f"{size:6d}: {seconds:6.2f} s, {parameters.nbytes / 1024:.1f} KiB;"
            f" induction off by {np.abs(knot - exact).max():.1e} ({np.abs(unit * (knot - exact)).max():.1e} x 1/√T),"
            f" table off by {np.abs(table - exact).max():.1e} ({np.abs(unit * (table - exact)).max():.1e} x 1/√T)"
        )
        start = time.perf_counter()
        gittins_table._tables.clear()
        parameters_of(size)
        print(f"        {1e3 * (time.perf_counter() - start):.2f} ms from disk")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        environ["OCUCB_CACHE_DIR"] = folder
        main([int(size) for size in sys.argv[1:]] or list(gittins_table.SIZES))
