"""Makes the tables of polynomials in src/ocucb/noise/ by which rewards are drawn, with mpmath.

    python -m tools.quantile_tables

normal_table.f64       the value that a standard normal exceeds with probability p, for p in (0, 1/2]
exponential_table.f64  -log p, for p in (1/2, 1]

The exponent of p and the leading five bits of its mantissa pick a piece (low, high]. There the quantile is a polynomial
of degree seven in high - p. It has the true value at p = high, so that a quantile near 0 is right relative to its own
size, and interpolates at the nodes of Chebyshev. No coefficient is negative: each step of Horner's rule then rises with
high - p, however it is rounded. Where the end of a piece, as it is rounded, would lie above the start of the next, its
slope is made smaller by a few bits. So the rounded quantile is monotone.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ocucb.compiled import Floats
from ocucb.noise import exponential, normal
from ocucb.noise.normal import BINADES, COEFFICIENTS, PIECES

mp: Any = importlib.import_module("mpmath")  # publishes no types

DIGITS = 40


class Table(NamedTuple):
    """A file, the function it is made of, from where it ends how many binades it has, and whether it is odd there."""

    file: Path
    digest: str
    function: Callable[[Any], Any]
    top: float
    binades: int
    odd: bool


def normal_quantile(tail: Any) -> Any:
    """Return the value that a standard normal exceeds with this probability, to DIGITS digits."""
    value = mp.mpf(0) if tail == 0.5 else -mp.mpf(NormalDist().inv_cdf(float(tail)))
    for _ in range(2):  # Newton's steps, each of which doubles the digits
        value += (mp.erfc(value / mp.sqrt(2)) / 2 - tail) * mp.sqrt(2 * mp.pi) * mp.exp(value * value / 2)
    return value


def exponential_quantile(tail: Any) -> Any:
    """Return the value that a standard exponential exceeds with this probability."""
    return -mp.log(tail)


TABLES = [
    Table(normal.TABLE_FILE, normal.TABLE_DIGEST, normal_quantile, 0.5, BINADES, True),
    Table(exponential.TABLE_FILE, exponential.TABLE_DIGEST, exponential_quantile, 1.0, 1, False),
]


def piece(table: Table, number: int) -> tuple[Any, Any]:
    """Return the ends of a piece; the last one ends at the top."""
    binade, part = divmod(number, PIECES)
    start = mp.mpf(2) ** (binade - table.binades) * table.top
    return start * (1 + mp.mpf(part) / PIECES), start * (1 + mp.mpf(part + 1) / PIECES)


def interpolant(nodes: list[Any], values: list[Any]) -> list[Any]:
    """Return the coefficients, lowest first, of the polynomial through these points (Newton's divided differences)."""
    differences = list(values)
    for order in range(1, len(nodes)):
        for i in range(len(nodes) - 1, order - 1, -1):
            differences[i] = (differences[i] - differences[i - 1]) / (nodes[i] - nodes[i - order])
    found = [differences[-1]]
    for node, difference in zip(nodes[-2::-1], differences[-2::-1], strict=True):
        shifted = [mp.mpf(0), *found]
        found = [high - node * low for high, low in zip(shifted, [*found, mp.mpf(0)], strict=True)]
        found[0] += difference
    return found


def coefficients(table: Table, number: int) -> list[float]:
    """Return the polynomial of a piece, lowest first: the start, and what is left divided by high - p."""
    low, high = piece(table, number)
    odd = table.odd and number == table.binades * PIECES - 1  # in high - p, so that even powers vanish
    count = COEFFICIENTS // 2 if odd else COEFFICIENTS - 1
    nodes = [(high - low) * (1 - mp.cos(mp.pi * (2 * i + 1) / (2 * count))) / 2 for i in range(count)]
    start = mp.mpf(0) if odd else table.function(high)
    rest = [(table.function(high - node) - start) / node for node in nodes]
    if not odd:
        return [float(start), *map(float, interpolant(nodes, rest))]
    slopes = interpolant([node * node for node in nodes], rest)
    return [float(part) for pair in zip([mp.mpf(0)] * count, slopes, strict=True) for part in pair]


def end_of_piece(table: Table, number: int, row: Floats) -> float:
    """Return the polynomial of a piece at p = low as floats round it, each step once."""
    low, high = piece(table, number)
    value = mp.mpf(row[-1])
    for coefficient in row[-2::-1]:
        value = mp.mpf(float(value * (high - low) + mp.mpf(coefficient)))
    return float(value)


def make_row(table: Table, number: int) -> Floats:
    """Return the polynomial of a piece, which does not end above the start of the next."""
    row = np.array(coefficients(table, number))
    low, high = piece(table, number)
    limit = float(table.function(low))
    while (excess := end_of_piece(table, number, row) - limit) > 0.0:
        row[1] -= excess / float(high - low)
    return row


def make_table(table: Table) -> bytes:
    """Return all polynomials, a row each, the smallest p first."""
    with mp.workdps(DIGITS):
        rows = np.array([make_row(table, number) for number in range(table.binades * PIECES)])
    return rows.astype("<f8").tobytes()


def main() -> None:
    """Write the files, and say what their digests must be in the modules that read them."""
    for table in TABLES:
        data = make_table(table)
        table.file.write_bytes(data)
        digest = hashlib.sha256(data).hexdigest()
        print(f"{table.file.name}: {digest}, " + ("as it was" if digest == table.digest else "now: edit TABLE_DIGEST"))


if __name__ == "__main__":
    main()
