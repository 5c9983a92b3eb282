"""The table of a result: for each policy on each problem mean regret with an interval, and the difference to the first.

Two policies are compared over the runs that both have played: those met the same rewards, so their difference is known
far better than either mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ocucb.compiled import Floats
from ocucb.lab.experiment import Experiment
from ocucb.lab.runs import Runs, best_arm_shares, difference_samples, regret_samples, runs_of
from ocucb.lab.statistics import IntervalKind, interval, quantiles
from ocucb.notebook_table import html_table

if TYPE_CHECKING:
    import xarray as xr

REMARK = "± is half a 95 % interval; differences are paired, run by run; best arm: share of rounds on it"


class SummaryRow(NamedTuple):
    """A policy on a problem, at the horizon. `difference` is to the reference policy, the first; NaN for itself."""

    problem: str
    policy: str
    runs: int
    mean: float
    standard_error: float
    low: float
    high: float
    difference: float
    difference_low: float
    difference_high: float
    best_arm_share: float
    median: float
    q05: float
    q95: float

    @property
    def regret_text(self) -> str:
        """Mean regret and its error."""
        return with_error(self.mean, (self.high - self.low) / 2.0)

    @property
    def difference_text(self) -> str:
        """The difference to the reference policy and its error."""
        if not math.isfinite(self.difference):
            return "–"
        return with_error(self.difference, (self.difference_high - self.difference_low) / 2.0, "+")

    @property
    def best_arm_text(self) -> str:
        """The share of rounds spent on optimal arms."""
        return f"{100 * self.best_arm_share:.1f} %" if math.isfinite(self.best_arm_share) else "–"


class Summary(tuple[SummaryRow, ...]):
    """The rows: problems in order, and for each the policies in order. Printed, or in a notebook, it is a table.

    notes : for each problem that is not plain, in what.
    """

    notes: dict[str, list[str]]

    def __new__(cls, rows: Iterable[SummaryRow] = (), notes: dict[str, list[str]] | None = None) -> Summary:
        made = super().__new__(cls, rows)
        made.notes = notes or {}
        return made

    def tables(self) -> list[tuple[str, list[list[str]]]]:
        """Return for each problem its name and the table as text: a header, and a line per policy."""
        header = ["policy", "regret", f"difference to {self[0].policy}", "best arm"]
        lines: dict[str, list[list[str]]] = {}
        for row in self:
            table = lines.setdefault(row.problem, [header])
            table.append([row.policy, row.regret_text, row.difference_text, row.best_arm_text])
        return list(lines.items())

    def __str__(self) -> str:
        parts = []
        for problem, table in self.tables():
            parts.append("\n".join([problem, *self.notes.get(problem, []), "", *text_table(table), ""]))
        return "\n".join([*parts, REMARK])

    def _repr_html_(self) -> str:
        parts = [
            html_table([problem, *self.notes.get(problem, [])], header, lines)
            for problem, (header, *lines) in self.tables()
        ]
        return "".join([*parts, f"<p>{REMARK}</p>"])


def summarize(dataset: Runs | xr.Dataset, experiment: Experiment, kind: IntervalKind = "normal") -> Summary:
    """Return the table; the first policy is the reference."""
    runs = runs_of(dataset)
    t, reference = int(runs.t[-1]), experiment.policies[0][0]
    rows = []
    for problem in experiment.problems:
        for policy, _ in experiment.policies:
            samples = regret_samples(runs, problem.name, policy, t)
            differences = np.empty(0)  # to itself a policy has none, not even one of 0 that would be known for sure
            if policy != reference:
                differences = difference_samples(runs, problem.name, policy, reference, t)
            shares = best_arm_shares(runs, problem, policy, experiment.seed)
            rows.append(_row(problem.name, policy, samples, differences, shares, kind))
    return Summary(rows, {problem.name: notes for problem in experiment.problems if (notes := problem.notes())})


def text_table(table: list[list[str]]) -> list[str]:
    """Return the lines of a table of which the first row is the header: labels to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["   ".join([label.ljust(widths[0]), *map(str.rjust, rest, widths[1:])]) for label, *rest in table]
    return [lines[0], "─" * len(lines[0]), *lines[1:]]


def with_error(mean: float, half: float, sign: str = "") -> str:
    """Return a mean and its error, with as many digits as the error's first two.

    >>> with_error(1234.5678, 3.21)
    '1,234.6 ± 3.2'
    """
    if not math.isfinite(half):
        return f"{mean:{sign},.4g}" if math.isfinite(mean) else "–"
    digits = 0 if half == 0.0 else min(6, max(0, 1 - math.floor(math.log10(half))))
    return f"{mean:{sign},.{digits}f} ± {half:,.{digits}f}".replace("-", "−")


def _row(
    problem: str, policy: str, samples: Floats, differences: Floats, shares: Floats, kind: IntervalKind
) -> SummaryRow:
    estimate, paired = interval(samples, kind), interval(differences, kind)
    low, middle, high = quantiles(samples, (0.05, 0.5, 0.95))
    return SummaryRow(
        problem=problem,
        policy=policy,
        runs=len(samples),
        mean=float(estimate.mean),
        standard_error=float(estimate.standard_error),
        low=float(estimate.low),
        high=float(estimate.high),
        difference=float(paired.mean),
        difference_low=float(paired.low),
        difference_high=float(paired.high),
        best_arm_share=float(np.mean(shares)) if len(shares) else math.nan,
        median=float(middle),
        q05=float(low),
        q95=float(high),
    )
