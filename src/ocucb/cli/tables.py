"""Tables for people."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ocucb.cli.screen import add_column, plain, titled
from ocucb.lab.experiment import Experiment
from ocucb.lab.statistics import Row
from ocucb.lab.study import Sweep

MOST = 20  # lines of a sweep
GUTTER = 3  # between columns


def comparison(problem: str, rows: Sequence[Row], experiment: Experiment) -> Group:
    """Return regret, paired differences and best-arm shares on one problem."""
    columns = {
        "regret": _regrets(rows),
        f"difference to {experiment.labels[0]}": [_difference(row) for row in rows],
        "best arm": [Text(f"{100 * row.best_arm_share:.1f} %") for row in rows],
    }
    table = plain()
    table.add_column("policy", overflow="fold")
    for title, cells in columns.items():
        add_column(table, title, cells)
    for row, *cells in zip(rows, *columns.values(), strict=True):
        table.add_row(row.policy, *cells)
    remark = "± is half a 95 % interval; differences are paired, run by run; best arm: share of rounds on it"
    return titled(f"{problem}: {_facts(rows, experiment)}", table, remark)


def sweep_tables(
    sweep: Sweep, problem: str, points: Sequence[tuple[float, Sequence[Row]]], width: int
) -> list[RenderableType]:
    """Return final regret, one line per value and one column per policy; more tables if they do not fit the width."""
    shown = _some(points, MOST)
    values = [Text(f"{value:,g}") for value, _ in shown]
    columns = list(zip(*(_regrets(rows) for _, rows in shown), strict=True))
    labels = [row.policy for row in points[0][1]]
    widest = GUTTER + max(cell.cell_len for cells in columns for cell in cells)
    room = width - max(len(sweep.label), *(value.cell_len for value in values))
    tables = -(-len(columns) * widest // max(room, widest))
    each = -(-len(columns) // tables)
    parts: list[RenderableType] = [Text(problem, "bold"), ""]
    for first in range(0, len(columns), each):
        table = plain()
        add_column(table, sweep.label, values)
        for label, cells in list(zip(labels, columns, strict=True))[first : first + each]:
            add_column(table, label, cells)
        for line in zip(values, *columns[first : first + each], strict=True):
            table.add_row(*line)
        parts += [table, ""]
    left_out = "" if len(shown) == len(points) else f"; {len(shown)} of {len(points)} values, all are in table.csv"
    return [*parts, Text(f"regret at the horizon; ± is half a 95 % interval{left_out}", "dim")]


def with_error(mean: float, half: float, sign: str = "") -> str:
    """Return a mean and its error, with as many digits as the error's first two.

    >>> with_error(1234.5678, 3.21)
    '1,234.6 ± 3.2'
    """
    if not math.isfinite(half):
        return f"{mean:{sign},.4g}" if math.isfinite(mean) else "–"
    digits = 0 if half == 0.0 else min(6, max(0, 1 - math.floor(math.log10(half))))
    return f"{mean:{sign},.{digits}f} ± {half:,.{digits}f}".replace("-", "−")


def _regrets(rows: Sequence[Row]) -> list[Text]:
    """Return regret with its error, the least in bold."""
    least = min(row.mean for row in rows)
    halves = [_half(row.low, row.high) for row in rows]
    styles = ["bold" if row.mean == least else "" for row in rows]
    return [Text(with_error(row.mean, half), style) for row, half, style in zip(rows, halves, styles, strict=True)]


def _difference(row: Row) -> Text:
    if not math.isfinite(row.difference):
        return Text("–")
    style = "red" if row.difference_low > 0.0 else "green" if row.difference_high < 0.0 else ""
    return Text(with_error(row.difference, _half(row.difference_low, row.difference_high), "+"), style)


def _facts(rows: Sequence[Row], experiment: Experiment) -> str:
    runs = rows[0].runs
    text = f"n = {experiment.horizon:,}, {runs:,} runs of each policy, seed {experiment.seed}"
    if experiment.precision is None:
        return text
    reached = max(row.standard_error / row.mean for row in rows if row.mean)
    return f"{text}, standard errors within {100 * reached:.2g} %"


def _half(low: float, high: float) -> float:
    return (high - low) / 2.0


def _some(points: Sequence[tuple[float, Sequence[Row]]], most: int) -> list[tuple[float, Sequence[Row]]]:
    """Return so many points, evenly taken, both ends among them."""
    if len(points) <= most:
        return list(points)
    return [points[round(i * (len(points) - 1) / (most - 1))] for i in range(most)]
