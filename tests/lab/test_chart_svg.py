"""Charts from plain numbers: what is drawn, and the SVG that stands inside a page."""

from __future__ import annotations

import math
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.colors import to_hex

from ocucb.lab import figure_style
from ocucb.lab.chart import Chart, Line
from ocucb.lab.chart_svg import draw_chart, power_of_ten, to_svg

T = np.geomspace(1, 1e6, 60).tolist()
ROOTS = [math.sqrt(t) for t in T]
PICTURE = Chart(
    "Roots & <squares>",
    "round t",
    "size",
    (
        Line("_root", T, ROOTS, [0.9 * y for y in ROOTS], [1.1 * y for y in ROOTS]),
        Line("t", T, T),
        Line("bound", T, [2.0 * y for y in ROOTS], bound=True),
    ),
    "log",
    "log",
)


def narrow(values: list[float], scale: Any = "log") -> Chart:
    return Chart("narrow", "x", "y", (Line("a", [1.0, 2.0, 3.0], values),), "linear", scale)


def ticks(chart: Chart) -> list[str]:
    """The numbers that can be seen at the vertical axis."""
    figure = draw_chart(chart)
    figure.canvas.draw()
    axis = figure.axes[0].yaxis
    low, high = axis.get_view_interval()
    shown = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
    return [label.get_text() for place, label in shown if low <= place <= high]


def test_lines_bands_and_bounds_are_drawn() -> None:
    figure = draw_chart(PICTURE)
    figure.canvas.draw()
    axes = figure.axes[0]
    drawn = axes.get_lines()
    assert [line.get_label() for line in drawn] == ["_root", "t", "bound"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["_root", "t", "bound"]
    assert [to_hex(str(line.get_color())) for line in drawn] == [
        figure_style.PALETTE[0].lower(),
        figure_style.PALETTE[1].lower(),
        figure_style.THEORY,
    ]
    np.testing.assert_array_equal(np.asarray(drawn[0].get_ydata()), ROOTS)
    assert len(axes.collections) == 1
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("round t", "size")


@pytest.mark.parametrize(
    ("values", "least"), [([1.1, 1.2, 1.3], 3), ([0.9, 1.0, 30.0], 3), ([1e-30, 1e-3, 1.0], 3), ([1e3, 1e9, 1e15], 3)]
)
def test_a_logarithmic_axis_always_has_numbers(values: list[float], least: int) -> None:
    found = ticks(narrow(values))
    assert len(set(found)) == len(found) >= least
    assert max(map(len, found)) <= 6


def test_what_cannot_be_drawn_does_no_harm() -> None:
    for values in ([math.nan, 1.0, math.inf], [0.0, 0.0, 0.0], [-1.0, 0.0, 1.0]):
        for scale in ("log", "linear"):
            assert "<svg" in to_svg(narrow(values, scale), "k")
    assert "<svg" in to_svg(Chart("none", "x", "y", ()), "k")


def test_power_of_ten() -> None:
    values = (1e-12, 0.001, 1.0, 5.0, 10.0, 1e15, 0.0, 9.9999e-8, 2.5e-7)
    assert [power_of_ten(value) for value in values] == [
        "10⁻¹²",
        "10⁻³",
        "1",
        "5",
        "10¹",
        "10¹⁵",
        "0",
        "10⁻⁷",
        "2.5·10⁻⁷",
    ]


def test_svg_is_whole_and_takes_the_colours_of_the_page() -> None:
    text = to_svg(PICTURE, "one")
    root = ElementTree.fromstring(text.replace("<svg ", '<svg xmlns:xlink="http://www.w3.org/1999/xlink" ', 1))
    assert root[0].text == "Roots & <squares>"
    assert root.attrib["aria-labelledby"] == root[0].attrib["id"] == "one-title"
    assert set(re.findall(r"#[0-9a-fA-F]{6}(?!\))", text)) == set()  # a plain colour only as a fallback
    for color in ("--ink, #000000", f"--soft, {figure_style.THEORY}", f"--line-0, {figure_style.PALETTE[0]}"):
        assert f"var({color})" in text
    assert "font-family" not in text[text.index("<title") :]


def test_svgs_share_no_id_and_refer_to_their_own() -> None:
    texts = [to_svg(PICTURE, key) for key in ("one", "two")]
    ids = [set(re.findall(r' id="([^"]*)"', text)) for text in texts]
    assert ids[0]
    assert not ids[0] & ids[1]
    for text, own in zip(texts, ids, strict=True):
        assert set(re.findall(r'(?:url\(#|href="#|labelledby=")([^")]+)', text)) == own


def test_labels_may_hold_what_looks_like_markup() -> None:
    odd = 'a id="x" d="1.23456" <b> $y_1$ fill: #000000'
    text = to_svg(Chart(odd, odd, odd, (Line(odd, [1.0, 2.0], [1.0, 2.0]),)), "k")
    root = ElementTree.fromstring(text.replace("<svg ", '<svg xmlns:xlink="http://www.w3.org/1999/xlink" ', 1))
    assert root[0].text == odd
    texts = "".join(element.text or "" for element in root.iter() if element.tag.endswith("text"))
    assert texts.replace(" ", "").count(odd.replace(" ", "")) == 3  # two axes and the legend, broken into lines


def test_long_labels_stay_inside() -> None:
    long = "a label of many words that goes on, and on, and on, until nobody reads it any more, as labels do"
    figure = draw_chart(Chart("long", long, long, (Line(long, [1.0, 2.0], [1.0, 2.0]), Line("short", [1.0], [1.0]))))
    figure.canvas.draw()
    axes = figure.axes[0]
    for text in (axes.xaxis.label, axes.yaxis.label, *figure.legends[0].get_texts()):
        box = text.get_window_extent()
        assert box.x0 >= 0.0
        assert box.y0 >= 0.0
        assert box.x1 <= figure.bbox.width
        assert box.y1 <= figure.bbox.height


def test_the_same_chart_gives_the_same_text() -> None:
    assert to_svg(PICTURE, "k") == to_svg(PICTURE, "k")
