"""Charts drawn in the style of `figure_style`, and as SVG that stands inside a page and takes its colours.

Apart from `figure_style` and `plots`, the only module that knows Matplotlib.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from html import escape
from textwrap import fill
from threading import Lock
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from ocucb.lab.chart import Chart, Scale
from ocucb.lab.figure_style import (
    METADATA,
    PALETTE,
    THEORY,
    THEORY_DASHES,
    add_legend,
    blank_figure,
    figure_style,
    line_style,
    set_scales,
)

WIDTH = 3.6  # inches: text is of reading size on a screen, and can be read on a phone
ASPECT = 0.62
WRAPPED = {"x": 44, "y": 24, "legend": 54}  # characters of a line of text, so that none leaves the figure
MARKED = 12  # points of a line, about, that carry a marker
MATPLOTLIB_LOCK = Lock()  # Matplotlib's settings are those of the whole process
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Each colour of a line, and what stands for it inside a page. Black is the page's ink.
COLOURS = {color.lower(): f"var(--line-{k}, {color})" for k, color in enumerate(PALETTE[:-1])}
COLOURS |= {"#000000": "var(--ink, #000000)", THEORY: f"var(--soft, {THEORY})"}


def draw_chart(chart: Chart, width: float = WIDTH) -> Figure:
    """Draw the curves of a chart. Its title is left to the page."""
    with figure_style(), mpl.rc_context({"legend.fontsize": 7.0}):
        figure, axes = blank_figure(width, ASPECT)
        measured = [line for line in chart.lines if not line.bound]
        bounds = [line for line in chart.lines if line.bound]
        for k, line in enumerate(measured):
            every = 1 if len(line.x) <= MARKED else 1.0 / MARKED  # a share of the axes: evenly spaced to the eye
            axes.plot(line.x, line.y, label=_wrapped(line.label, "legend"), markevery=every, **line_style(k))
            if line.low is not None and line.high is not None:
                axes.fill_between(line.x, line.low, line.high, color=line_style(k)["color"], alpha=0.18, linewidth=0)
        for k, line in enumerate(bounds):
            dashes = THEORY_DASHES[k % len(THEORY_DASHES)]
            bound_style: dict[str, Any] = {"color": THEORY, "linestyle": dashes, "linewidth": 1.1, "zorder": 1}
            axes.plot(line.x, line.y, label=_wrapped(line.label, "legend"), **bound_style)
        set_scales(
            axes,
            _possible(chart.x_scale, [x for line in chart.lines for x in line.x]),
            _possible(chart.y_scale, [y for line in chart.lines for y in line.y]),
        )
        _set_ticks(axes)
        axes.set_xlabel(_wrapped(chart.x_label, "x"))
        axes.set_ylabel(_wrapped(chart.y_label, "y"))
        add_legend(figure, axes)
    return figure


def _wrapped(text: str, where: str) -> str:
    return fill(text, WRAPPED[where], break_long_words=False, break_on_hyphens=False)


def _possible(scale: Scale, values: Sequence[float]) -> Scale:
    """Return the scale, or a linear one where there is no logarithm to show."""
    return scale if any(0.0 < value < math.inf for value in values) else "linear"


def _set_ticks(axes: Axes) -> None:
    """Give logarithmic axes ticks that suit their span: powers of ten if it is wide, round numbers if it is narrow."""
    for axis, scale in ((axes.xaxis, axes.get_xscale()), (axes.yaxis, axes.get_yscale())):
        low, high = sorted(axis.get_view_interval())
        if scale == "log" and (low < 1e-4 or high >= 1e12):
            axis.set_major_formatter(FuncFormatter(power_of_ten))
        if scale == "log" and sum(low <= tick <= high for tick in axis.get_majorticklocs()) < 3:
            wide = high > 10.0 * low
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=15) if wide else MaxNLocator(5))
            axis.set_minor_locator(NullLocator())


def power_of_ten(value: float, position: object = None) -> str:
    """Return a number of a wide logarithmic axis.

    >>> power_of_ten(1e-12), power_of_ten(1.0), power_of_ten(2e-5)
    ('10⁻¹²', '1', '2·10⁻⁵')
    """
    if not value > 0.0:
        return f"{value:g}"
    digits, _, exponent = f"{value:.2e}".partition("e")
    power = f"10{str(int(exponent)).translate(RAISED)}" if int(exponent) else ""
    factor = f"{float(digits):g}"
    return "·".join(part for part in ("" if power and factor == "1" else factor, power) if part)


def to_svg(chart: Chart, key: str, width: float = WIDTH) -> str:
    """Return a chart as an SVG element to stand inside a page, the same text for the same chart.

    Colours are the page's: `--ink`, `--soft` and `--line-0` … where it defines them, else those of `figure_style`. The
    ids in it begin with the key, so that a page may hold many charts.
    """
    file = io.StringIO()
    with MATPLOTLIB_LOCK, figure_style(), mpl.rc_context({"svg.fonttype": "none"}):
        draw_chart(chart, width).savefig(file, format="svg", metadata=METADATA[".svg"], transparent=True)
    text = file.getvalue()
    text = text[text.index("<svg") :]
    # What Matplotlib says of itself, and a style that would reach the whole page.
    text = re.sub(r"<metadata>.*?</metadata>\s*|<defs>\s*<style.*?</defs>\s*", "", text, flags=re.DOTALL)
    name = f"{escape(key)}-title"
    head = f'<svg class="chart" role="img" aria-labelledby="{name}" style="font-family: system-ui, sans-serif"'
    title = f'<title id="{name}">{escape(chart.title)}</title>'
    used = set(re.findall(r'(?:url\(#|href="#)([^")]+)', text))
    text = re.sub(r"<[^>]*>", lambda tag: _tag(tag[0], key, used), text)  # tags alone: labels may hold any text
    return re.sub(r'<svg [^>]*?(viewBox="[^"]*")[^>]*>', lambda found: f"{head} {found[1]}>\n {title}", text).strip()


def _tag(tag: str, key: str, used: set[str]) -> str:
    """Return a tag as it stands in a page: ids with the key before them, if used; short numbers; colours by name."""
    tag = re.sub(r'(url\(#|href="#)([^")]+)', rf"\g<1>{key}-\g<2>", tag)
    tag = re.sub(r' id="([^"]*)"', lambda found: f' id="{key}-{found[1]}"' if found[1] in used else "", tag)
    tag = re.sub(r' d="([^"]*)"', lambda found: f' d="{_shortened(found[1])}"', tag)
    tag = re.sub(r"font-family: [^;\"]*; ?", "", tag)
    tag = re.sub(r"(stroke|fill): (#[0-9a-f]{6})", lambda found: f"{found[1]}: {COLOURS.get(found[2], found[2])}", tag)
    return tag.replace('<text style="', f'<text style="fill: {COLOURS["#000000"]}; ')


def _shortened(path: str) -> str:
    """Return a path with a hundredth of a point as its finest step."""
    return re.sub(r"(\.\d\d)\d+", r"\1", " ".join(path.split()))
