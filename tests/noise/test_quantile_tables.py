"""The tables by which rewards are drawn: against mpmath, monotone, symmetric, and made by the tool that is kept."""

from __future__ import annotations

import hashlib
import importlib
import math
from typing import Any

import numpy as np
import pytest

from ocucb.compiled import Floats
from ocucb.noise import Exponential, normal
from ocucb.noise.normal import PIECES
from tools.quantile_tables import DIGITS, TABLES, Table, end_of_piece, make_row, normal_quantile

mp: Any = importlib.import_module("mpmath")  # publishes no types

ULPS = 4.0
IDS = [table.file.name for table in TABLES]
RANDOM = np.random.default_rng(7)
# Tails of all sizes that the tape can draw, its smallest ones, and those whose quantile is near 0.
TAILS = np.concatenate([2.0 ** -(1.0 + 55.0 * RANDOM.random(1500)), 2.0 ** -np.arange(1.0, 55.0)])
CENTRAL = 0.5 - 2.0 ** -(2.0 + 50.0 * RANDOM.random(500))
UNIFORMS = (RANDOM.integers(0, 2**52, 2000) + 0.5) * 2.0**-52  # as the tape has them


def ulps(value: float, truth: Any) -> float:
    return float(abs(mp.mpf(value) - truth) / mp.mpf(math.ulp(float(truth))))


def rows(table: Table) -> Floats:
    return np.frombuffer(table.file.read_bytes(), "<f8").reshape(-1, 8)


@pytest.mark.parametrize("tails", [TAILS, CENTRAL], ids=["tails", "central"])
def test_the_normal_quantile_is_within_four_ulps(tails: Floats) -> None:
    with mp.workdps(DIGITS):
        assert max(ulps(-normal.quantile(tail), normal_quantile(mp.mpf(tail))) for tail in tails if tail < 0.5) < ULPS
    assert normal.quantile(0.5) == 0.0


def test_the_exponential_quantile_is_within_four_ulps() -> None:
    uniforms = np.concatenate([UNIFORMS, 2.0 ** -np.arange(1.0, 54.0), 1.0 - 2.0 ** -np.arange(1.0, 54.0), TAILS])
    with mp.workdps(DIGITS):
        assert max(ulps(Exponential().quantile(1.0, u), -mp.log1p(-mp.mpf(u))) for u in uniforms) < ULPS


def test_the_normal_quantile_is_symmetric() -> None:
    for uniform in UNIFORMS:  # 1 - u is exact for these
        assert normal.quantile(1.0 - uniform) == -normal.quantile(uniform)


@pytest.mark.parametrize("table", TABLES, ids=IDS)
def test_every_piece_rises_and_ends_below_the_next(table: Table) -> None:
    """With no negative coefficient each step of Horner's rule rises, rounded or not. So this is all that is needed."""
    found = rows(table)
    assert (found >= 0.0).all()
    with mp.workdps(DIGITS):
        ends = np.array([end_of_piece(table, number, row) for number, row in enumerate(found)])
    assert (ends[1:] <= found[:-1, 0]).all()
    assert ends[0] <= float(table.function(mp.mpf(table.top) * mp.mpf(2) ** -table.binades))


def test_the_quantiles_are_monotone_from_piece_to_piece() -> None:
    edges = np.sort(np.concatenate([2.0**-e * (1.0 + np.arange(PIECES) / PIECES) for e in range(2, 60)]))
    near = np.sort(np.concatenate([np.nextafter(edges, 0.0), edges, np.nextafter(edges, 1.0)]))
    assert (np.diff([normal.quantile(tail) for tail in near]) >= 0.0).all()
    assert (np.diff([Exponential().quantile(1.0, 1.0 - tail) for tail in near[near > 2.0**-53]]) <= 0.0).all()


@pytest.mark.parametrize("table", TABLES, ids=IDS)
def test_the_tables_are_what_the_tool_makes(table: Table) -> None:
    found = rows(table)
    assert hashlib.sha256(table.file.read_bytes()).hexdigest() == table.digest
    assert found.shape == (table.binades * PIECES, 8)
    with mp.workdps(DIGITS):
        for number in [*range(0, len(found), 37), len(found) - 1]:
            assert make_row(table, number).tolist() == found[number].tolist()
