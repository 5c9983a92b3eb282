"""Lemma conc, the maximal inequality: exactly for Rademacher steps, measured for Gaussian and uniform ones."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats
from ocucb.lab.chart import Chart, Line
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Table, Wrong
from ocucb.paper.evidence import ALARM, Interval, at_most, proportion
from ocucb.paper.walks import GAUSSIAN, NAMES, UNIFORM, running_peaks
from ocucb.theory.concentration import maximal_bound

_special: Any = importlib.import_module("scipy.special")  # SciPy publishes no types

Bound = Callable[[Any, float], Any]

MEASURED = (GAUSSIAN, UNIFORM)
ROUNDS = (1, 4, 16, 64, 256, 1024)
LEVELS = (0.125, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)  # ε/√n
PURPOSE = 100


def without_two(epsilon: npt.ArrayLike, n: float) -> Floats:
    """Return the bound with the 2 of its exponent left out."""
    return np.asarray(np.exp(-np.square(epsilon) / n))


def rademacher_log_peaks(n: int) -> Floats:
    """Return log P(S_t >= m for some t <= n) for m = 1, ..., n, exactly: P(S_n >= m) + P(S_n > m), by reflection."""
    ups = np.arange(n, -1, -1)
    choices = _special.gammaln(n + 1) - _special.gammaln(ups + 1) - _special.gammaln(n - ups + 1)
    above = np.logaddexp.accumulate(choices - n * math.log(2.0))  # place d: at least n - d steps up
    m = np.arange(1, n + 1)
    reached, passed = np.append(-np.inf, above)[[1 + (n - m) // 2, 1 + (n - m - 1) // 2]]
    return np.asarray(np.logaddexp(reached, passed))


def check_maximal(effort: Effort, *, statement: Bound = maximal_bound) -> Finding:
    """Compare P(S_t >= ε for some t <= n) with the bound."""
    runs = effort.pick(15_000, 400_000)
    cells = [(n, x) for n in ROUNDS for x in LEVELS]
    limits = [float(statement(x * math.sqrt(n), n)) for n, x in cells]
    measured: dict[int, list[Interval]] = {}
    for noise in MEASURED:
        peaks = running_peaks(noise, np.ones(ROUNDS[-1]), ROUNDS, runs, effort.seed, PURPOSE + noise)
        hits = [int(np.count_nonzero(peaks[:, ROUNDS.index(n)] >= x * math.sqrt(n))) for n, x in cells]
        measured[noise] = [proportion(hit, runs, of=len(MEASURED) * len(cells)) for hit in hits]
    everything = [interval for noise in MEASURED for interval in measured[noise]]
    conclusion = at_most(everything, limits * len(MEASURED))

    largest = effort.pick(256, 1024)  # up to there no bound is too small for a float
    ratios = {n: rademacher_log_peaks(n) - np.log(statement(np.arange(1, n + 1), n)) for n in range(1, largest + 1)}
    broken = [n for n in ratios if ratios[n].max() > 0.0]
    n = broken[0] if broken else max(ratios, key=lambda n: float(ratios[n].max()))
    m = int(ratios[n].argmax()) + 1
    chance, limit = math.exp(float(rademacher_log_peaks(n)[m - 1])), float(statement(m, n))
    exact = f"P(S_t ≥ {m} for some t ≤ {n}) = {chance:.4g}, bound {limit:.4g}"
    closest = {
        noise: max(zip(measured[noise], limits, cells, strict=True), key=lambda cell: cell[0].value / cell[1])
        for noise in MEASURED
    }
    return Finding(
        Conclusion.FAILS if broken else conclusion,
        f"Rademacher steps, exactly, for every n ≤ {largest} and every ε, come closest at {exact}. "
        + " ".join(f"{NAMES[noise]} steps do at {_cell(*closest[noise])}." for noise in MEASURED),
        ALARM,
        f"Rademacher steps: {exact}." if broken else "",
        (_table(measured, limits, cells),),
        (_chart(measured, statement),),
    )


def _cell(interval: Interval, limit: float, cell: tuple[int, float]) -> str:
    n, x = cell
    return f"n = {n}, ε = {x * math.sqrt(n):g}: {interval.value:.4f} (at most {interval.high:.4f}), bound {limit:.4f}"


def _table(measured: dict[int, list[Interval]], limits: list[float], cells: list[tuple[int, float]]) -> Table:
    rows = []
    for n in (ROUNDS[0], ROUNDS[2], ROUNDS[-1]):
        for x in LEVELS[1::2]:
            at = cells.index((n, x))
            values = [f"{measured[noise][at].value:.4f} ≤ {measured[noise][at].high:.4f}" for noise in MEASURED]
            rows.append((str(n), f"{x:g}", *values, f"{limits[at]:.4f}"))
    header = ("n", "ε/√n", *(f"{NAMES[noise]}: measured ≤ upper end" for noise in MEASURED), "exp(-ε²/2n)")
    return Table("P(S_t ≥ ε for some t ≤ n)", header, tuple(rows))


def _chart(measured: dict[int, list[Interval]], statement: Bound) -> Chart:
    n = ROUNDS[-1]
    lines = []
    for noise in MEASURED:
        last = measured[noise][-len(LEVELS) :]
        values, low, high = [i.value for i in last], [i.low for i in last], [i.high for i in last]
        lines.append(Line(NAMES[noise], LEVELS, values, low, high))
    m = np.arange(4, 3 * int(math.sqrt(n)) + 1)
    exact = np.exp(rademacher_log_peaks(n)[m - 1])
    lines.append(Line("Rademacher, exact", (m / math.sqrt(n)).tolist(), exact.tolist()))
    bound = [float(statement(x * math.sqrt(n), n)) for x in LEVELS]
    lines.append(Line("the lemma's bound", LEVELS, bound, bound=True))
    return Chart(f"The maximal inequality at n = {n}", "ε/√n", "P(S_t ≥ ε for some t ≤ n)", tuple(lines), y_scale="log")


CHECKS = (
    Check(
        name="maximal inequality",
        places=("lem:conc",),
        says="A sum of independent 1-subgaussian steps reaches ε > 0 within n steps with probability exp(-ε²/2n) at "
        "most.",
        done="Gaussian steps, and uniform ones of variance 1 (1-subgaussian, and at no smaller scale), are simulated "
        "over a grid of n and ε/√n. For Rademacher steps the reflection principle gives the probability itself, and "
        "whole ε, where the bound is least for what it bounds, stand for all.",
        run=check_maximal,
        wrong=Wrong("the 2 of the exponent is left out: exp(-ε²/n)", {"statement": without_two}),
    ),
)
