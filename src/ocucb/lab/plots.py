"""Figures for papers, and the only home of colours.

Colours are those of Okabe and Ito, told apart by the colour-blind; every policy also has its own line style and marker,
so that a figure reads in grey. Text is never parsed as mathematics: labels may hold any character.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import Any, Literal

import matplotlib.style
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from ocucb.errors import ParameterError
from ocucb.lab.chart import Scale
from ocucb.lab.curves import Band, bound_curves, curve_with_band
from ocucb.lab.dataset import pull_shares, regret_samples
from ocucb.lab.identification import Identified
from ocucb.lab.problem import Problem
from ocucb.lab.statistics import quantiles, share_with_interval
from ocucb.lab.summary import SummaryRow

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DARK_PALETTE = ("#4AA3DF", "#F07F3C", "#2CC295", "#E29BC3", "#F0B23E", "#8FD0F5", "#F2F2F2")
PAGE_COLOURS = {
    "light": {"paper": "#ffffff", "panel": "#f6f7f9", "ink": "#1b1f24", "soft": "#5c6670", "line": "#d9dee3"},
    "dark": {"paper": "#14171a", "panel": "#1d2226", "ink": "#e8eaed", "soft": "#a0a8b0", "line": "#363d44"},
}
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)), (0, (9, 2)))
THEORY_DASHES: tuple[Any, ...] = ((0, (8, 3)), (0, (2, 2)), (0, (8, 2, 2, 2)), (0, (4, 1, 1, 1, 1, 1)))
MARKERS = "osD^vPX*"
THEORY = "#707070"
UNNAMED = re.compile(r"_child\d+")
SHARE_COLOURMAP = "cividis"
WIDTH = 3.5  # inches: a column of most two-column styles
STYLE = {
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "font.size": 8.0,
    "legend.borderpad": 0.2,
    "legend.columnspacing": 1.0,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "lines.linewidth": 1.3,
    "lines.markersize": 3.5,
    "pdf.fonttype": 42,  # fonts that publishers accept
    "svg.hashsalt": "ocucb",
    "text.parse_math": False,
    "xtick.labelsize": 7.0,
    "xtick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.labelsize": 7.0,
    "ytick.major.width": 0.6,
}
CHANGES = "changes of the means"
METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".svg": {"Date": None, "Creator": None},
}


Points = Sequence[tuple[float, Sequence[SummaryRow]]]


def regret_curves(
    dataset: xr.Dataset,
    problem: Problem,
    *,
    band: Band = "normal",
    theory: bool = True,
    t_scale: Scale | None = None,
    regret_scale: Scale = "linear",
    width: float = WIDTH,
) -> Figure:
    """Draw mean regret against t, with a band: an interval of the mean, or the 5 % to 95 % quantiles of runs.

    Where means change there is a dotted line, and t is linear unless a scale is given: all stretches count alike.
    """
    with figure_style():
        figure, axes = blank_figure(width, 0.68)
        t, top = dataset["t"].to_numpy(), 0.0
        for k, policy in enumerate(_policies(dataset)):
            samples = regret_samples(dataset, problem.name, policy)
            if len(samples) == 0:
                continue
            middle, low, high = curve_with_band(samples, band)
            every = (k * max(1, t.size // 40), max(1, t.size // 6))
            axes.plot(t, middle, label=policy, markevery=every, **line_style(k))
            axes.fill_between(t, low, high, color=line_style(k)["color"], alpha=0.18, linewidth=0)
            top = max(top, float(np.nanmax([middle, high])))
        for curve, dashes in zip(bound_curves(problem, t.tolist()) if theory else [], THEORY_DASHES, strict=False):
            axes.plot(curve.t, curve.values, label=curve.label, color=THEORY, linestyle=dashes, linewidth=0.9, zorder=1)
        if problem.changes:
            rounds, whole_height = [at for at, _ in problem.changes], axes.get_xaxis_transform()
            axes.vlines(rounds, 0, 1, THEORY, ":", transform=whole_height, linewidth=0.6, zorder=0)
            axes.plot([], [], color=THEORY, linestyle=":", label="turns of the means" if problem.smooth else CHANGES)
        set_scales(axes, t_scale or ("linear" if problem.changes else "log"), regret_scale)
        if regret_scale == "linear":
            axes.set_ylim(0.0, min(axes.get_ylim()[1], 1.3 * top) if top > 0.0 else None)
        axes.set_xlim(float(t[0]), float(t[-1]))
        axes.set_xlabel("round t")
        axes.set_ylabel("regret")
        axes.set_title(problem.name, fontsize=8.0)
        add_legend(figure, axes)
    return figure


def points_by(measure: Literal["gap", "arms"], rows: Sequence[SummaryRow], problems: Sequence[Problem]) -> Points:
    """Return the points of a sweep over problems: by the smallest gap, or by the number of arms."""
    measures: Mapping[str, Callable[[Problem], float]] = {
        "gap": lambda problem: min((gap for gap in problem.gaps if gap > 0.0), default=0.0),
        "arms": lambda problem: float(problem.arms),
    }
    return [(measures[measure](problem), [row for row in rows if row.problem == problem.name]) for problem in problems]


def sweep_curves(
    points: Points, label: str, *, x_scale: Scale = "linear", regret_scale: Scale = "linear", width: float = WIDTH
) -> Figure:
    """Draw final regret against what was swept: each point is its value and the rows of its summary."""
    ordered = sorted(points, key=lambda point: point[0])
    with figure_style():
        figure, axes = blank_figure(width, 0.68)
        for k, policy in enumerate(dict.fromkeys(row.policy for _, rows in ordered for row in rows)):
            line = [(x, row) for x, rows in ordered for row in rows if row.policy == policy and row.runs > 0]
            x = [x for x, _ in line]
            axes.plot(x, [row.mean for _, row in line], label=policy, markevery=max(1, len(x) // 12), **line_style(k))
            low, high = ([getattr(row, end) for _, row in line] for end in ("low", "high"))
            axes.fill_between(x, low, high, color=line_style(k)["color"], alpha=0.18, linewidth=0)
        set_scales(axes, x_scale, regret_scale)
        if regret_scale == "linear":
            axes.set_ylim(bottom=0.0)
        axes.set_xlabel(label)
        axes.set_ylabel("regret at the horizon")
        add_legend(figure, axes)
    return figure


def verdict_curves(
    found: Mapping[str, Sequence[Identified]], title: str, least: float, *, width: float = WIDTH
) -> Figure:
    """Draw which share of the runs of each policy had a verdict after how many rounds; and the fewest, if known."""
    with figure_style():
        figure, axes = blank_figure(width, 0.68)
        for k, (label, runs) in enumerate(found.items()):
            rounds = np.sort([run.rounds for run in runs if run.arm >= 0])
            shares = 100.0 * np.arange(1, len(rounds) + 1) / len(runs)
            style = {**line_style(k), "marker": ""}
            axes.step(rounds, shares, where="post", label=label, **style)
        if math.isfinite(least):
            axes.axvline(least, color=THEORY, linewidth=0.9, linestyle=THEORY_DASHES[0], label="T*(μ) log(1/δ)")
        set_scales(axes, "log", "linear")
        axes.set_ylim(0.0, 102.0)
        axes.set_xlabel("round t")
        axes.set_ylabel("% of runs with a verdict")
        axes.set_title(title, fontsize=8.0)
        add_legend(figure, axes)
    return figure


def error_rates(found: Mapping[str, Sequence[Identified]], title: str, *, width: float = WIDTH) -> Figure:
    """Draw in which share of the runs of each policy the verdict's arm is not the best, with a 95 % interval."""
    with figure_style():
        figure, axes = blank_figure(width, 0.3 + 0.07 * len(found))
        for k, runs in enumerate(found.values()):
            wrong = [run.gap > 0.0 for run in runs if run.arm >= 0]
            rate = share_with_interval(sum(wrong), len(wrong))
            if wrong:
                color = line_style(k)["color"]
                axes.plot([100.0 * rate.low, 100.0 * rate.high], [k, k], color=color, linewidth=1.3)
                axes.plot(100.0 * rate.mean, k, marker=line_style(k)["marker"], color=color, markersize=5.0)
        axes.set_yticks(range(len(found)), _wrapped(list(found)))
        axes.set_ylim(len(found) - 0.4, -0.6)
        axes.set_xlim(left=0.0)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("% of runs whose verdict is not the best arm")
        axes.set_title(title, fontsize=8.0)
    return figure


def final_distribution(
    dataset: xr.Dataset, problem: Problem, *, regret_scale: Scale = "linear", width: float = WIDTH
) -> Figure:
    """Draw where the final regret of runs lies: quartiles in a box, 5 % to 95 % as whiskers, the mean as a marker."""
    policies, t = _policies(dataset), int(dataset["t"][-1])
    with figure_style():
        figure, axes = blank_figure(width, 0.22 + 0.085 * len(policies))
        for k, policy in enumerate(policies):
            samples = regret_samples(dataset, problem.name, policy, t)
            if len(samples) == 0:
                continue
            whisker, first, middle, third, end = quantiles(samples, (0.05, 0.25, 0.5, 0.75, 0.95)).tolist()
            color = line_style(k)["color"]
            outside = samples[(samples < whisker) | (samples > end)]
            axes.plot(outside, np.full(outside.size, k), ".", color=color, alpha=0.6, markersize=3.5, markeredgewidth=0)
            axes.plot([whisker, end], [k, k], color=color, linewidth=1.0)
            axes.barh(k, third - first, left=first, height=0.5, facecolor=_pale(color), edgecolor=color, linewidth=1.0)
            axes.plot([middle, middle], [k - 0.25, k + 0.25], color=color, linewidth=1.8, solid_capstyle="butt")
            axes.plot(
                samples.mean(), k, marker=line_style(k)["marker"], color="white", markeredgecolor=color, markersize=4.5
            )
        axes.set_yticks(range(len(policies)), _wrapped(policies))
        axes.set_ylim(len(policies) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_xscale(regret_scale)
        axes.xaxis.set_major_formatter(FuncFormatter(compact_number))
        axes.set_xlabel(f"regret after {compact_number(t)} rounds")
        figure.supxlabel("box: quartiles, line: 5 to 95 %, marker: mean", fontsize=6.0, color=THEORY)
        axes.set_title(problem.name, fontsize=8.0)
    return figure


def arm_shares(dataset: xr.Dataset, problem: Problem, *, width: float = WIDTH) -> Figure:
    """Draw the mean share of rounds that each policy gave each arm, on a logarithmic colour scale."""
    policies = _policies(dataset)
    shares = np.full((len(policies), problem.arms), np.nan)
    for k, policy in enumerate(policies):
        runs = pull_shares(dataset, problem, policy)
        shares[k] = 100.0 * runs.mean(axis=0) if len(runs) else np.nan
    known = np.ma.masked_where(~(shares > 0.0), shares)
    norm = LogNorm(known.min(), known.max()) if known.count() else LogNorm(1.0, 100.0)
    with figure_style():
        figure, axes = blank_figure(width, 0.22 + 0.085 * len(policies))
        image = axes.imshow(known, cmap=SHARE_COLOURMAP, norm=norm, aspect="auto", interpolation="nearest")
        if problem.arms <= 12:
            for (k, arm), share in np.ndenumerate(shares):
                color = "black" if norm(share) > 0.5 else "white"
                axes.text(arm, k, percent(share), ha="center", va="center", fontsize=6.0, color=color)
        groups = _groups(problem.gaps)
        by_gap = problem.fixed and len(groups) <= 12
        if by_gap:
            axes.set_xticks([middle for middle, _ in groups], [f"{gap:.3g}" for _, gap in groups])
        axes.set_xlabel("gap of the arm" if by_gap else "arm")
        axes.set_yticks(range(len(policies)), _wrapped(policies))
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        bar = figure.colorbar(image, ax=axes, format=FuncFormatter(compact_number), pad=0.02, aspect=12)
        bar.ax.yaxis.set_minor_formatter(NullFormatter())
        bar.outline.set_visible(False)
        bar.set_label("% of rounds")
        axes.set_title(problem.name, fontsize=8.0)
    return figure


def _groups(gaps: Sequence[float]) -> list[tuple[float, float]]:
    """Return the middle and the gap of each block of neighbours with equal gaps."""
    blocks = [list(block) for _, block in groupby(range(len(gaps)), key=lambda arm: round(gaps[arm], 9))]
    return [((block[0] + block[-1]) / 2, gaps[block[0]]) for block in blocks]


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure as its suffix says: .pdf, .png or .svg. The same figure gives the same bytes."""
    suffix = Path(path).suffix.lower()
    if suffix not in METADATA:
        raise ParameterError(f"a figure must be saved as {', '.join(METADATA)}, got {str(path)!r}")
    with figure_style():
        figure.savefig(path, dpi=300, metadata=METADATA[suffix])


def figure_bytes(figure: Figure, suffix: str) -> bytes:
    """Return a figure as the bytes of such a file."""
    with figure_style():
        file = BytesIO()
        figure.savefig(file, format=suffix.removeprefix("."), metadata=METADATA[suffix])
    return file.getvalue()


def compact_number(value: float, position: object = None) -> str:
    """Return a number as an axis shows it: 0.05, 20, 5k, 1.5M."""
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= unit:
            return f"{value / unit:.4g}{letter}"
    return f"{value:.4g}"


def percent(share: float) -> str:
    """Return a percentage in three characters or so: 97, 3.1, .04."""
    if not math.isfinite(share):
        return "–"
    if share >= 9.95:
        return f"{share:.0f}"
    if share < 0.005:
        return "0"
    return f"{share:.1f}" if share >= 0.95 else f"{share:.2f}".lstrip("0")


def figure_style() -> Any:
    """Return a context in which figures have the style of the house."""
    # The defaults first, so that a user's own settings change no figure.
    return matplotlib.style.context(["default", STYLE])


class NotebookFigure(Figure):
    """A figure that a notebook shows, whether or not pyplot is used there."""

    def _repr_png_(self) -> bytes:
        with figure_style(), BytesIO() as file:
            self.savefig(file, format="png", dpi=200, metadata=METADATA[".png"])
            return file.getvalue()


def blank_figure(width: float, aspect: float) -> tuple[Figure, Axes]:
    """Return a figure of so many inches, and its axes."""
    figure = NotebookFigure(figsize=(width, width * aspect))
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def _policies(dataset: xr.Dataset) -> list[str]:
    return [str(policy) for policy in dataset["policy"].to_numpy()]


def line_style(k: int) -> dict[str, Any]:
    """Return colour, line style and marker of the k-th line; no two of the first 42 look the same."""
    return {
        "color": PALETTE[k % len(PALETTE)],
        "linestyle": DASHES[k % len(DASHES)],
        "marker": MARKERS[k % len(MARKERS)],
    }


def _pale(color: str) -> tuple[str, float]:
    return color, 0.25


def set_scales(axes: Axes, x: Scale, y: Scale) -> None:
    """Set both scales, with numbers as `compact_number` writes them."""
    axes.set_xscale(x)
    axes.set_yscale(y)
    for axis, scale in ((axes.xaxis, x), (axes.yaxis, y)):
        axis.set_major_formatter(FuncFormatter(compact_number))
        low, high = axis.get_view_interval()
        if scale == "log":
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100.0 * low else (1.0,), numticks=15))
            axis.set_minor_formatter(NullFormatter())


def add_legend(figure: Figure, axes: Axes) -> None:
    """Put the legend below, in as many columns as fit; the figure grows by its height."""
    # Named one by one: Matplotlib leaves out labels that begin with an underscore when it collects them. A line without
    # a label is called _child0, _child1 and so on.
    handles = [line for line in axes.get_lines() if not UNNAMED.fullmatch(str(line.get_label()))]
    labels = [str(line.get_label()) for line in handles]
    for columns in (3, 2, 1):
        legend = figure.legend(handles, labels, loc="outside lower center", ncols=columns)
        extent = legend.get_window_extent()
        if columns == 1 or extent.width <= figure.bbox.width:
            figure.set_figheight(figure.get_figheight() + extent.height / figure.dpi)
            return
        legend.remove()


def _wrapped(labels: Sequence[str]) -> list[str]:
    return [fill(label, 18, break_long_words=False, break_on_hyphens=False) for label in labels]
