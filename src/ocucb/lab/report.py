"""One HTML page with all there is about a result: charts, table, settings, provenance. It needs no network."""

from __future__ import annotations

import importlib
import importlib.resources
import json
import math
import re
from html import escape
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats
from ocucb.lab.curves import MeanCurve
from ocucb.lab.experiment import Experiment
from ocucb.lab.figure_style import DARK_PALETTE, PAGE_COLOURS, PALETTE, SHARE_COLOURMAP, compact_number
from ocucb.lab.plots import points_by
from ocucb.lab.problem import Problem
from ocucb.lab.result import Result
from ocucb.lab.runs import Runs, mean_pull_shares
from ocucb.lab.statistics import quantiles
from ocucb.lab.summary import Summary, SummaryRow

EXTREMES = 200  # runs outside the whiskers that are drawn, per policy
WIDEST = 1000  # arms whose shares are drawn

Plain = Any  # what JSON can hold


def write_report(result: Result, path: str | Path) -> None:
    """Write the page. It holds all it needs, Plotly's program included."""
    Path(path).write_text(render(result), encoding="utf-8")


def render(result: Result) -> str:
    """Return the page as text."""
    runs, experiment, rows = result.runs, result.experiment, result.summary()
    plotly: Any = importlib.import_module("plotly.offline")  # not typed
    parts = {
        "title": escape(_title(experiment)),
        "facts": escape(_facts(runs, experiment, rows)),
        "colours": colours_css(),
        "selector": _selector(experiment.problems),
        "reference": escape(experiment.policies[0][0]),
        "table": "\n".join(_table_row(row) for row in rows),
        "settings": escape(str(runs.attributes.get("experiment", ""))),
        "provenance": provenance_html(str(runs.attributes.get("provenance", ""))),
        "data": as_script(_data(result, rows)),
        "plotly": plotly.get_plotlyjs().replace("</script", "<\\/script"),
    }
    template = importlib.resources.files("ocucb.lab").joinpath("report_template.html").read_text(encoding="utf-8")
    # All at once, so that no part is searched for the names of others.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def as_script(data: Plain) -> str:
    """Return data as JSON that can stand inside a script element, whatever text it holds."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _data(result: Result, rows: Summary) -> Plain:
    experiment = result.experiment
    return {
        "t": result.runs.t.tolist(),
        "policies": [label for label, _ in experiment.policies],
        "problems": [_problem(result, problem) for problem in experiment.problems],
        "sweep": _sweep(experiment, rows),
        "palette": {"light": PALETTE, "dark": DARK_PALETTE},
        "page": PAGE_COLOURS,
        "scale": SHARE_COLOURMAP.capitalize(),
    }


def _problem(result: Result, problem: Problem) -> Plain:
    curves, wide = result.curves(problem), problem.arms > WIDEST
    shares = np.empty((len(curves.policies), 0)) if wide else mean_pull_shares(result.runs, problem)
    return {
        "name": problem.name,
        "gaps": _numbers(problem.gaps),
        "fixed": problem.fixed,
        "notes": problem.notes(),
        "changes": [at for at, _ in problem.changes],
        "wide": wide,
        "policies": [_policy(curve, row) for curve, row in zip(curves.policies, shares, strict=True)],
        "theory": [{"label": c.label, "t": _numbers(c.t), "values": _numbers(c.values)} for c in curves.bounds],
    }


def _policy(curve: MeanCurve | None, shares: Floats) -> Plain:
    """Return what is drawn of one policy on one problem; None if no run was played."""
    if curve is None:
        return None
    final = np.sort(curve.final)
    box = quantiles(final, (0.05, 0.25, 0.5, 0.75, 0.95))
    outside = np.concatenate([final[final > box[4]][::-1], final[final < box[0]]])[:EXTREMES]
    return {
        "runs": len(final),
        "mean": _numbers(curve.mean),
        "low": _numbers(curve.low),
        "high": _numbers(curve.high),
        "box": _numbers(box),
        "outside": _numbers(outside),
        "shares": _numbers(100.0 * shares),
    }


def _sweep(experiment: Experiment, rows: Summary) -> Plain:
    """Return final regret against the number of arms or the gap, if the problems are of one kind; else None."""
    measures: dict[Literal["arms", "gap"], str] = {"arms": "arms K", "gap": "smallest gap"}
    kinds = {problem.name.partition("(")[0] for problem in experiment.problems}
    for measure in measures:
        points = sorted(points_by(measure, rows, experiment.problems), key=lambda point: point[0])
        x = [value for value, _ in points]
        if len(kinds) == 1 and len(x) >= 3 and len(set(x)) == len(x):
            break
    else:
        return None
    curves = [
        {name: _numbers([getattr(at[k], name) for _, at in points]) for name in ("mean", "low", "high")}
        for k in range(len(experiment.policies))
    ]
    return {"label": measures[measure], "x": _numbers(x), "curves": curves}


def _numbers(values: npt.ArrayLike) -> list[float | None]:
    """Return numbers of six digits, and None for those that are unknown."""
    return [
        float(f"{value:.6g}") if math.isfinite(value) else None for value in np.asarray(values, dtype=float).tolist()
    ]


def _title(experiment: Experiment) -> str:
    policies, problems = len(experiment.policies), len(experiment.problems)
    where = experiment.problems[0].name if problems == 1 else f"{problems} problems"
    return f"Regret of {policies} {'policy' if policies == 1 else 'policies'} on {where}"


def _facts(runs: Runs, experiment: Experiment, rows: Summary) -> str:
    fewest, most = min(row.runs for row in rows), max(row.runs for row in rows)
    count = compact_number(most) if fewest == most else f"{compact_number(fewest)} to {compact_number(most)}"
    return f"{int(runs.t[-1]):,} rounds, {count} runs each, seed {experiment.seed}"


def colours_css() -> str:
    """Return the colours of a page, light and dark."""

    def block(theme: str) -> str:
        return ":root{" + ";".join(f"--{name}:{value}" for name, value in PAGE_COLOURS[theme].items()) + "}"

    return f"{block('light')}\n@media (prefers-color-scheme: dark){{{block('dark')}}}"


def _selector(problems: tuple[Problem, ...]) -> str:
    if len(problems) == 1:
        return ""
    options = "".join(f'<option value="{k}">{escape(problem.name)}</option>' for k, problem in enumerate(problems))
    return f'<label class="selector">Problem <select id="problem">{options}</select></label>'


def _table_row(row: SummaryRow) -> str:
    """Return a line of the table; each cell carries the number it is sorted by."""
    digits = 3 if math.isnan(row.mean) else min(3, max(0, 3 - math.floor(math.log10(max(row.mean, 1.0)))))

    def number(value: float, sign: str = "") -> str:
        return "–" if math.isnan(value) else f"{value:{sign},.{digits}f}".replace("-", "−")

    def between(low: float, high: float, sign: str = "") -> str:
        return "–" if math.isnan(low) else f"{number(low, sign)} … {number(high, sign)}"

    cells = [
        (row.runs, f"{row.runs:,}"),
        (row.mean, number(row.mean)),
        (row.high - row.low, between(row.low, row.high)),
        (row.difference, number(row.difference, "+")),
        (row.difference_high - row.difference_low, between(row.difference_low, row.difference_high, "+")),
        (row.best_arm_share, "–" if math.isnan(row.best_arm_share) else f"{100 * row.best_arm_share:.2f} %"),
        (row.median, number(row.median)),
        (row.q95 - row.q05, between(row.q05, row.q95)),
    ]
    numbers = "".join(f'<td data-value="{value!r}">{text}</td>' for value, text in cells)
    return f'<tr data-problem="{escape(row.problem)}"><th scope="row">{escape(row.policy)}</th>{numbers}</tr>'


def provenance_html(text: str) -> str:
    """Return what is known of the making of the result, as a list of terms, or as it stands if it is no JSON object."""
    try:
        facts = json.loads(text)
    except ValueError:
        facts = None
    if not isinstance(facts, dict):
        return f"<pre>{escape(text)}</pre>"
    terms = "".join(f"<dt>{escape(name)}</dt><dd>{escape(_words(value))}</dd>" for name, value in facts.items())
    return f"<dl>{terms}</dl>"


def _words(value: Plain) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(part)}" for name, part in value.items())
    return value if isinstance(value, str) else json.dumps(value)
