"""Charts from plain numbers: where lines, areas, marks and labels lie. The template `chart.html` draws them as SVG.

A chart is as wide as its place on the page: x is in thousandths of the width, y in pixels, and text never stretches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ocucb.compiled import Floats
from ocucb.service.web.page.numbers import percent, short, ticks

WIDTH = 1000.0
TOP_MARGIN, BOTTOM_MARGIN = 10.0, 1.0
LABEL_SPACING = 17.0
MAX_LABEL_LENGTH = 18


class AxisTick(NamedTuple):
    """A mark of an axis: where it lies, in percent of the width or in pixels from the top, and its text."""

    place: float
    text: str
    anchor: str = "middle"


class ChartPath(NamedTuple):
    """A path, the class that colours it, and what it says when it is pointed at."""

    path: str
    style: str
    title: str


class EndLabel(NamedTuple):
    """The label of a curve at its right end, and the same for a legend."""

    place: float
    name: str
    value: str
    style: str


class PageChart(NamedTuple):
    """A chart, ready to be drawn."""

    title: str
    height: int
    across: tuple[AxisTick, ...]
    up: tuple[AxisTick, ...]
    areas: tuple[ChartPath, ...]
    lines: tuple[ChartPath, ...]
    ends: tuple[EndLabel, ...]


class ChartLine(NamedTuple):
    """A line to draw: its points, its name, the value to say at its end, and its class."""

    at: Floats
    values: Floats
    name: str
    value: str
    style: str


class ChartBand(NamedTuple):
    """An area of a stack: its share in each bucket, its name and its class."""

    shares: Floats
    name: str
    style: str


def draw_lines(title: str, curves: Sequence[ChartLine], height: int = 220) -> PageChart:
    """Return curves over decisions. Zero is always part of the chart."""
    every = np.concatenate([curve.values for curve in curves])
    low, high = min(0.0, float(every.min())), max(0.0, float(every.max()))
    high = high if high > low else low + 1.0
    last = max(float(curve.at[-1]) for curve in curves)
    y = _y_scale(low, high, height)
    lines = tuple(
        ChartPath(_path(curve.at / last * WIDTH, y(curve.values)), curve.style, f"{curve.name}: {curve.value}")
        for curve in curves
    )
    ends = _spread_labels(
        [EndLabel(float(y(curve.values[-1:])[0]), _shorten(curve.name), curve.value, curve.style) for curve in curves]
    )
    up = tuple(AxisTick(float(y(np.array([value]))[0]), short(value)) for value in ticks(low, high, 5))
    return PageChart(title, height, _x_ticks(last), up, (), lines, _move_inside(ends, height))


def draw_stack(title: str, edges: Floats, bands: Sequence[ChartBand], height: int = 260) -> PageChart:
    """Return shares of a whole, one above the other, over decisions."""
    last = float(edges[-1])
    middle = (edges[:-1] + edges[1:]) / 2.0
    at = np.concatenate([[0.0], middle[1:-1] if middle.size > 1 else [], [last]]) / last * WIDTH
    y = _y_scale(0.0, 1.0, height)
    areas, ends = [], []
    under = np.zeros(at.size)
    for band in bands:
        values = band.shares if band.shares.size > 1 else np.repeat(band.shares, 2)
        over = np.minimum(1.0, under + values)
        now = float(values[-1])
        areas.append(ChartPath(_area(at, y(under), y(over)), band.style, f"{band.name}: {percent(now)} now"))
        centre = float(y(np.array([(under[-1] + over[-1]) / 2.0]))[0])
        ends.append(EndLabel(centre, _shorten(band.name), percent(now), band.style))
        under = over
    up = tuple(AxisTick(float(y(np.array([share]))[0]), percent(share)) for share in (0.0, 0.25, 0.5, 0.75, 1.0))
    return PageChart(title, height, _x_ticks(last), up, tuple(areas), (), _move_inside(_spread_labels(ends), height))


def assign_colours(places: Sequence[int], most: int) -> list[int]:
    """Return a colour for each place, all different: its own if that is free, so that colours seldom change.

    >>> assign_colours([0, 1, 7, 30], 7)
    [0, 1, 2, 3]
    """
    taken: list[int] = []
    for place in places:
        wanted = (place + step for step in range(most))
        taken.append(next((slot % most for slot in wanted if slot % most not in taken), 0))
    return taken


def _y_scale(low: float, high: float, height: int) -> Callable[[Floats], Floats]:
    """Return the map from values to pixels from the top."""
    inside = height - TOP_MARGIN - BOTTOM_MARGIN
    return lambda values: TOP_MARGIN + inside * (1.0 - (values - low) / (high - low))


def _x_ticks(last: float) -> tuple[AxisTick, ...]:
    """Return marks at round numbers of decisions; the outermost must not leave the chart."""
    marks = [(100.0 * value / last, value) for value in ticks(0.0, last, 6) if value == round(value)]
    return tuple(AxisTick(place, short(value), "end" if place > 97.0 else "middle") for place, value in marks)


def _path(x: Floats, y: Floats) -> str:
    return "M" + "L".join(f"{_digits(a)},{_digits(b)}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _area(x: Floats, under: Floats, over: Floats) -> str:
    return f"{_path(np.concatenate([x, x[::-1]]), np.concatenate([over, under[::-1]]))}Z"


def _digits(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _spread_labels(ends: Sequence[EndLabel]) -> list[EndLabel]:
    """Return labels moved down until none covers another."""
    order = sorted(range(len(ends)), key=lambda number: ends[number].place)
    moved = list(ends)
    for before, number in pairwise(order):
        place = max(moved[number].place, moved[before].place + LABEL_SPACING)
        moved[number] = moved[number]._replace(place=place)
    return moved


def _move_inside(ends: Sequence[EndLabel], height: int) -> tuple[EndLabel, ...]:
    """Return labels moved up where they would hang below the chart."""
    moved = list(ends)
    lowest = height - 8.0
    for number in sorted(range(len(moved)), key=lambda number: -moved[number].place):
        moved[number] = moved[number]._replace(place=round(min(moved[number].place, lowest), 1))
        lowest = moved[number].place - LABEL_SPACING
    return tuple(moved)


def _shorten(name: str) -> str:
    return name if len(name) <= MAX_LABEL_LENGTH else f"{name[: MAX_LABEL_LENGTH - 1]}…"
