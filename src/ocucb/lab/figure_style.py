"""The style of figures: colours, lines, fonts and numbers, and files of the same bytes for the same figure.

Colours are those of Okabe and Ito, told apart by the colour-blind; every line also has its own style and marker, so
that a figure reads in grey. Text is never parsed as mathematics: labels may hold any character.
"""

from __future__ import annotations

import importlib
import math
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from ocucb.errors import ParameterError
from ocucb.lab.chart import Scale

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
METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".svg": {"Date": None, "Creator": None},
}


def prepare_figures() -> None:
    """Import what figures need, and what writes them, which Matplotlib does when the first is written."""
    for suffix in METADATA:
        importlib.import_module(f"matplotlib.backends.backend_{suffix.removeprefix('.').replace('png', 'agg')}")
    importlib.import_module("ocucb.lab.plots")


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
    """Return a context in which figures have the style of this project."""
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


def line_style(k: int) -> dict[str, Any]:
    """Return colour, line style and marker of the k-th line; no two of the first 42 look the same."""
    return {
        "color": PALETTE[k % len(PALETTE)],
        "linestyle": DASHES[k % len(DASHES)],
        "marker": MARKERS[k % len(MARKERS)],
    }


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
