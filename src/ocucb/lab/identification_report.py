"""One HTML page with all there is about an identification: figure, table, settings, provenance. It needs no network."""

from __future__ import annotations

import base64
import importlib.resources
import json
import math
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from matplotlib.figure import Figure

from ocucb.lab.figure_style import figure_bytes
from ocucb.lab.identification import Identification, IdentificationRow, Identified
from ocucb.lab.plots import error_rate_figure, verdict_figure
from ocucb.lab.report import colours_css, provenance_html
from ocucb.lab.runs import provenance

HEADS = {
    "rounds": "rounds until a verdict",
    "least": "times the fewest possible",
    "wrong": "wrong verdicts",
    "rate": "share of wrong ones",
    "undecided": "without a verdict",
    "regret": "simple regret",
}


def identification_figure(experiment: Identification, found: Mapping[str, Sequence[Identified]]) -> Figure:
    """Draw how soon verdicts came; or how often they were wrong, if all came after the same number of rounds."""
    if experiment.delta is None:
        return error_rate_figure(found, f"{experiment.problem.name}, {experiment.rounds:,} rounds")
    return verdict_figure(found, experiment.problem.name, experiment.least_rounds())


def write_identification_report(
    experiment: Identification,
    found: Mapping[str, Sequence[Identified]],
    rows: Sequence[IdentificationRow],
    path: str | Path,
) -> None:
    """Write the page."""
    image = base64.b64encode(figure_bytes(identification_figure(experiment, found), ".svg")).decode()
    fixed = experiment.delta is None
    shown = [name for name in HEADS if not (fixed and name in ("rounds", "least", "undecided"))]
    notes = experiment.problem.notes()
    parts = {
        "title": escape(f"Verdicts on {experiment.problem.name}"),
        "facts": escape("; ".join([_facts(experiment), *notes])),
        "colours": colours_css(),
        "figure": f'<img alt="{escape(_words(experiment))}" src="data:image/svg+xml;base64,{image}">',
        "caption": escape(_words(experiment)),
        "heads": "".join(f'<th scope="col">{HEADS[name]}</th>' for name in shown),
        "table": "\n".join(_table_row(row, shown) for row in rows),
        "settings": escape(experiment.describe()),
        "provenance": provenance_html(json.dumps(provenance(experiment.seed))),
    }
    template = importlib.resources.files("ocucb.lab").joinpath("identification_template.html")
    text = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template.read_text(encoding="utf-8"))
    Path(path).write_text(text, encoding="utf-8")


def _facts(experiment: Identification) -> str:
    runs = f"{experiment.runs:,} runs of each policy, seed {experiment.seed}"
    if experiment.delta is None:
        return f"{experiment.rounds:,} rounds, {runs}"
    least = f"T*(μ) log(1/δ) = {experiment.least_rounds():,.0f} rounds"
    return f"δ = {experiment.delta:g}, {runs}, at most {experiment.max_rounds:,} rounds; {least}"


def _words(experiment: Identification) -> str:
    if experiment.delta is None:
        return "Share of the runs in which the arm of the largest mean is not the best one, with a 95 % interval."
    return "Share of the runs that had a verdict after so many rounds; the grey line is the fewest possible as δ falls."


def _table_row(row: IdentificationRow, shown: Sequence[str]) -> str:
    decided = row.runs - row.undecided
    cells = {
        "rounds": _between(row.rounds, row.rounds_low, row.rounds_high, ",.0f"),
        "least": f"{row.to_least:.2f}" if math.isfinite(row.to_least) else "–",
        "wrong": f"{row.wrong:,} of {decided:,}",
        "rate": _between(100 * row.error, 100 * row.error_low, 100 * row.error_high, ".1f", " %"),
        "undecided": f"{row.undecided:,}",
        "regret": _between(row.simple_regret, row.simple_regret_low, row.simple_regret_high, ".3g"),
    }
    numbers = "".join(f"<td>{cells[name]}</td>" for name in shown)
    return f'<tr><th scope="row">{escape(row.policy)}</th>{numbers}</tr>'


def _between(value: float, low: float, high: float, style: str, unit: str = "") -> str:
    if math.isnan(value):
        return "–"
    return f"{value:{style}}{unit} <small>({low:{style}} … {high:{style}})</small>"
