"""What `identify` returns: the runs of each policy, and the identification they are of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ocucb.lab.identification import Identification, IdentificationRow, Identified, summarize_identification
from ocucb.notebook_table import html_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# xarray and Matplotlib are imported by the methods that need them.

REMARK = "± is half a 95 % interval, brackets are one; rounds, errors and simple regret are of runs with a verdict"
FIXED = "the verdict is the arm of the largest mean; ± is half a 95 % interval, brackets are one"


@dataclass(frozen=True, repr=False)
class IdentificationResult:
    """The runs of an identification. Printed, or in a notebook, it is a table with a line for each policy.

    Parameters
    ----------
    experiment : what was played.
    runs : for each label what came of every run: `rounds`, the `arm` of the verdict or -1, and the `gap` of that arm.
    """

    experiment: Identification
    runs: Mapping[str, Sequence[Identified]]

    def summary(self) -> list[IdentificationRow]:
        """Return for each policy mean rounds, wrong verdicts and simple regret, with 95 % intervals."""
        return summarize_identification(self.experiment, self.runs)

    def plot(self) -> Figure:
        """Return a figure: how soon verdicts came; or how often they were wrong, if rounds were fixed."""
        from ocucb.lab.identification_report import identification_figure  # noqa: PLC0415

        return identification_figure(self.experiment, self.runs)

    def report(self, path: str | Path) -> None:
        """Write one HTML page with figure, table, settings and provenance, which needs no network."""
        from ocucb.lab.identification_report import write_identification_report  # noqa: PLC0415

        write_identification_report(self.experiment, self.runs, self.summary(), path)

    def title(self) -> str:
        """Return what was played, in a line."""
        what = (
            f"{self.experiment.problem.name}: {self.experiment.runs:,} runs of each policy, seed {self.experiment.seed}"
        )
        if self.experiment.delta is None:
            return f"{what}, {self.experiment.rounds:,} rounds"
        return f"{what}, δ = {self.experiment.delta:g}"

    def remark(self) -> str:
        """Return how the table is to be read, in a line."""
        notes = self.experiment.problem.notes()
        if self.experiment.delta is None:
            return "; ".join([*notes, FIXED])
        least = f"T*(μ) log(1/δ) = {self.experiment.least_rounds():,.0f} rounds, the fewest possible as δ falls"
        return "; ".join([*notes, least, REMARK])

    def table(self) -> list[list[str]]:
        """Return the table as text: a header, and a line per policy."""
        from ocucb.lab.summary import with_error  # noqa: PLC0415

        rows = self.summary()
        columns = {
            "policy": [row.policy for row in rows],
            "rounds": [with_error(row.rounds, (row.rounds_high - row.rounds_low) / 2.0) for row in rows],
            "to T*(μ) log(1/δ)": [f"{row.to_least:.2f}" if math.isfinite(row.to_least) else "–" for row in rows],
            "wrong": [f"{row.wrong} of {row.runs - row.undecided}" for row in rows],
            "share of wrong ones": [_share(row) for row in rows],
            "no verdict": [f"{row.undecided}" for row in rows],
            "simple regret": [
                with_error(row.simple_regret, (row.simple_regret_high - row.simple_regret_low) / 2.0) for row in rows
            ],
        }
        if self.experiment.delta is None:
            for told in ("rounds", "to T*(μ) log(1/δ)", "no verdict"):
                del columns[told]
        return [list(columns), *map(list, zip(*columns.values(), strict=True))]

    def __str__(self) -> str:
        from ocucb.lab.summary import text_table  # noqa: PLC0415

        return "\n".join([self.title(), "", *text_table(self.table()), "", self.remark()])

    def __repr__(self) -> str:
        return f"<IdentificationResult: {', '.join(self.runs)} on {self.experiment.problem.name}>"

    def _repr_html_(self) -> str:
        header, *lines = self.table()
        return f"{html_table([self.title()], header, lines)}<p>{escape(self.remark())}</p>"


def _share(row: IdentificationRow) -> str:
    """Return the share of wrong verdicts with its interval, in percent."""
    if math.isnan(row.error):
        return "–"
    return f"{100 * row.error:.1f} % ({100 * row.error_low:.1f} to {100 * row.error_high:.1f})"
