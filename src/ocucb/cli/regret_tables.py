"""Tables of regret, for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ocucb.cli.console import add_number_column, new_table, titled
from ocucb.lab import Experiment, Problem, SummaryRow, Sweep
from ocucb.lab.summary import REMARK

MAX_VALUES = 20  # of a sweep, one line each
GUTTER = 3  # between columns


def comparison_table(problem: Problem, rows: Sequence[SummaryRow], experiment: Experiment) -> Group:
    """Return regret, paired differences and best-arm shares on one problem."""
    columns = {
        "regret": _regrets(rows),
        f"difference to {experiment.labels[0]}": _differences(rows),
        "best arm": [Text(row.best_arm_text) for row in rows],
    }
    table = new_table()
    table.add_column("policy", overflow="fold")
    for title, cells in columns.items():
        add_number_column(table, title, cells)
    for row, *cells in zip(rows, *columns.values(), strict=True):
        table.add_row(row.policy, *cells)
    return titled(f"{problem.name}: {_facts(rows, experiment)}", table, "; ".join([*problem.notes(), REMARK]))


def sweep_tables(
    sweep: Sweep, problem: str, points: Sequence[tuple[float, Sequence[SummaryRow]]], width: int
) -> list[RenderableType]:
    """Return final regret, one line per value and one column per policy; more tables if they do not fit the width."""
    shown = _evenly(points, MAX_VALUES)
    values = [Text(f"{value:,g}") for value, _ in shown]
    columns = list(zip(*(_regrets(rows) for _, rows in shown), strict=True))
    labels = [row.policy for row in points[0][1]]
    widest = GUTTER + max(cell.cell_len for cells in columns for cell in cells)
    room = width - max(len(sweep.label), *(value.cell_len for value in values))
    tables = -(-len(columns) * widest // max(room, widest))
    each = -(-len(columns) // tables)
    parts: list[RenderableType] = [Text(problem, "bold"), ""]
    for first in range(0, len(columns), each):
        table = new_table()
        add_number_column(table, sweep.label, values)
        for label, cells in list(zip(labels, columns, strict=True))[first : first + each]:
            add_number_column(table, label, cells)
        for line in zip(values, *columns[first : first + each], strict=True):
            table.add_row(*line)
        parts += [table, ""]
    left_out = "" if len(shown) == len(points) else f"; {len(shown)} of {len(points)} values, all are in table.csv"
    return [*parts, Text(f"regret at the horizon; ± is half a 95 % interval{left_out}", "dim")]


def _regrets(rows: Sequence[SummaryRow]) -> list[Text]:
    """Return regret with its error, the least in bold."""
    least = min(row.mean for row in rows)
    return [Text(row.regret_text, "bold" if row.mean == least else "") for row in rows]


def _differences(rows: Sequence[SummaryRow]) -> list[Text]:
    """Return differences with their errors, in colour those that are sure."""
    styles = ["red" if row.difference_low > 0.0 else "green" if row.difference_high < 0.0 else "" for row in rows]
    return [Text(row.difference_text, style) for row, style in zip(rows, styles, strict=True)]


def _facts(rows: Sequence[SummaryRow], experiment: Experiment) -> str:
    runs = rows[0].runs
    text = f"n = {experiment.horizon:,}, {runs:,} runs of each policy, seed {experiment.seed}"
    if experiment.precision is None:
        return text
    reached = max(row.standard_error / row.mean for row in rows if row.mean)
    return f"{text}, standard errors within {100 * reached:.2g} %"


def _evenly(
    points: Sequence[tuple[float, Sequence[SummaryRow]]], most: int
) -> list[tuple[float, Sequence[SummaryRow]]]:
    """Return so many points, evenly taken, both ends among them."""
    if len(points) <= most:
        return list(points)
    return [points[round(i * (len(points) - 1) / (most - 1))] for i in range(most)]
