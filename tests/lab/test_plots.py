"""Figures: what is drawn, what it is called, and the files that come of it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
import xarray as xr
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from ocucb import Gaussian
from ocucb.errors import ParameterError
from ocucb.lab import figure_style, plots
from ocucb.lab.curves import bound_curves, regret_curves
from ocucb.lab.experiment import Experiment
from ocucb.lab.problem import Problem, bernoulli_rare, linear_gaps, mixed_gaps, switching, worst_case
from ocucb.lab.runs import regret_samples
from ocucb.lab.statistics import Band, Estimate, interval
from ocucb.lab.summary import summarize
from ocucb.theory import finite_time_sum, lower_bound, regret_bound
from sample_results import POLICIES, empty, made_up, played, study

LABELS = [label for label, _ in POLICIES]
ODD = ("_underscore", "$x_1$ 100% {x}", "a & <b>")
MAGIC = {".png": b"\x89PNG\r\n", ".pdf": b"%PDF-", ".svg": b"<?xml"}


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    return study()


@pytest.fixture(scope="module")
def dataset(experiment: Experiment) -> xr.Dataset:
    return played(experiment)


def regret(dataset: xr.Dataset, problem: str, policy: str) -> Estimate:
    return interval(regret_samples(dataset, problem, policy))


def lines(figure: Figure) -> dict[str, Any]:
    return {str(line.get_label()): line for line in figure.axes[0].get_lines()}


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def everything(figure: Figure) -> None:
    """Draw, so that whatever Matplotlib would complain about fails the test."""
    figure.canvas.draw()


def regret_figure(
    dataset: xr.Dataset, problem: Problem, band: Band = "normal", *, theory: bool = True, **options: Any
) -> Figure:
    return plots.regret_figure(regret_curves(dataset, problem, band, theory=theory), problem, **options)


def test_regret_curves_show_means_bands_and_bounds(dataset: xr.Dataset, experiment: Experiment) -> None:
    problem = experiment.problems[0]
    figure = regret_figure(dataset, problem)
    everything(figure)
    axes = figure.axes[0]
    drawn = lines(figure)
    names = ["Lai–Robbins: 78 log t", "Theorem 1's sum (constant 1)", "OCUCB-n(1.1): at most"]
    assert list(drawn) == [*LABELS, *names]
    assert legend(figure) == list(drawn)
    for label in LABELS:
        estimate = regret(dataset, problem.name, label)
        np.testing.assert_array_equal(drawn[label].get_xdata(), dataset["t"])
        np.testing.assert_array_equal(drawn[label].get_ydata(), estimate.mean)
    assert len(axes.collections) == len(LABELS)
    band = axes.collections[0].get_paths()[0].vertices
    first = regret(dataset, problem.name, LABELS[0])
    assert np.max(np.asarray(band)[:, 1]) == pytest.approx(float(first.high.max()))
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title()) == ("round t", "regret", "mixed_gaps")
    assert axes.get_xscale() == "log"


def test_regret_curves_on_other_scales_without_bounds(dataset: xr.Dataset, experiment: Experiment) -> None:
    figure = regret_figure(
        dataset, experiment.problems[1], band="quantiles", theory=False, t_scale="linear", regret_scale="log"
    )
    everything(figure)
    assert legend(figure) == LABELS
    assert (figure.axes[0].get_xscale(), figure.axes[0].get_yscale()) == ("linear", "log")


def test_bounds_are_those_of_the_theory_and_scale_with_the_noise() -> None:
    t = [1, 2, 10, 1000, 100_000]
    unit = {curve.label: curve for curve in bound_curves(mixed_gaps(), t)}
    labels = [
        "Lai–Robbins: 78 log t",
        "Theorem 1's sum (constant 1)",
        "Appendix A, statement 1",
        "OCUCB-n(1.1): at most",
    ]
    assert list(unit) == labels
    most = unit["OCUCB-n(1.1): at most"]
    np.testing.assert_array_equal(most.t, [1000, 100_000][-most.t.size :])  # where it is below t times the largest gap
    np.testing.assert_allclose(most.values[-1], regret_bound(mixed_gaps().means, 100_000, 1.1).value)
    sum_, below = unit["Theorem 1's sum (constant 1)"], unit["Appendix A, statement 1"]
    np.testing.assert_array_equal(sum_.t, [10, 1000, 100_000])  # at n = 2 the sum is negative
    np.testing.assert_allclose(sum_.values, finite_time_sum(mixed_gaps().means, sum_.t))
    np.testing.assert_array_equal(below.t, [100_000])  # where its condition holds
    np.testing.assert_allclose(below.values, lower_bound(mixed_gaps().means, 100_000))
    half = Problem(tuple(mean / 2 for mean in mixed_gaps().means), Gaussian(0.5))
    for curve, scaled in zip(unit.values(), bound_curves(half, t), strict=True):
        np.testing.assert_allclose(scaled.values, curve.values / 2)


def test_only_lai_robbins_is_drawn_for_other_noise() -> None:
    assert [curve.label for curve in bound_curves(bernoulli_rare(), [1, 10, 100])] == ["Lai–Robbins: 17.4 log t"]


def test_no_bound_is_drawn_where_there_is_none() -> None:
    assert bound_curves(Problem((0.5, 0.5)), [1, 10, 100]) == []
    assert bound_curves(mixed_gaps(), [1]) == []


def test_policies_differ_in_more_than_colour() -> None:
    policies = [(f"policy {k}", POLICIES[0][1]) for k in range(12)]
    one = study([worst_case(3, 0.5)], policies, horizon=50, runs=2)
    drawn = regret_figure(played(one), one.problems[0], theory=False).axes[0].get_lines()
    looks = {(line.get_linestyle(), str(getattr(line, "_dash_pattern", "")), line.get_marker()) for line in drawn}
    assert len(looks) == 12
    assert len({to_hex(line.get_color()) for line in drawn}) == len(figure_style.PALETTE)


def test_sweep_curves_by_gap_and_by_arms() -> None:
    one = study([worst_case(3, gap) for gap in (0.5, 0.1, 0.3)], horizon=60, runs=5)
    rows = summarize(played(one), one)
    figure = plots.sweep_figure(plots.points_by("gap", rows, one.problems), "gap")
    everything(figure)
    drawn = lines(figure)
    assert list(drawn) == legend(figure) == LABELS
    np.testing.assert_allclose(drawn["UCB"].get_xdata(), [0.1, 0.3, 0.5])
    means = {row.problem: row.mean for row in rows if row.policy == "UCB"}
    expected = [means[name] for name in ("worst_case(3, 0.1)", "worst_case(3, 0.3)", "worst_case(3, 0.5)")]
    np.testing.assert_allclose(drawn["UCB"].get_ydata(), expected)
    assert len(figure.axes[0].collections) == 3
    by_arms = plots.points_by("arms", rows, [linear_gaps(4), worst_case(3, 0.5)])
    assert [(x, len(found)) for x, found in by_arms] == [(4.0, 0), (3.0, 3)]


def test_sweeps_over_anything_take_points_as_they_come() -> None:
    points = []
    for horizon in (40, 400):
        one = study([worst_case(3, 0.5)], horizon=horizon, runs=4)
        points.append((float(horizon), summarize(played(one), one)))
    figure = plots.sweep_figure(points, "horizon n", x_scale="log", regret_scale="log")
    everything(figure)
    assert figure.axes[0].get_xlabel() == "horizon n"
    np.testing.assert_array_equal(lines(figure)["OCUCB-n"].get_xdata(), [40, 400])


def test_changes_of_means_are_drawn_and_named_once() -> None:
    one = Experiment((switching(2, 0.5, 10, 4),), POLICIES, 40, 2)
    figure = regret_figure(played(one), one.problems[0])
    everything(figure)
    assert legend(figure) == [*LABELS, plots.CHANGES]
    [drawn] = figure.axes[0].collections[len(LABELS) :]
    assert isinstance(drawn, LineCollection)
    assert [float(np.asarray(segment)[0, 0]) for segment in drawn.get_segments()] == [11.0, 21.0, 31.0]
    assert figure.axes[0].get_xscale() == "linear"
    assert regret_figure(played(one), one.problems[0], t_scale="log").axes[0].get_xscale() == "log"


def test_final_distribution_shows_quartiles_and_mean() -> None:
    samples = np.arange(101.0)
    dataset, one = made_up([samples], np.ones((1, 101, 2)), (0.0, -1.0))
    figure = plots.final_regret_figure(dataset, one.problems[0])
    everything(figure)
    axes = figure.axes[0]
    box = axes.patches[0].get_extents().transformed(axes.transData.inverted())
    assert [box.x0, box.x1] == pytest.approx([25.0, 75.0])
    drawn = [np.asarray(line.get_xdata()).tolist() for line in axes.get_lines()]
    assert [5.0, 95.0] in drawn
    assert [50.0, 50.0] in drawn
    assert [0.0, 1.0, 2.0, 3.0, 4.0, 96.0, 97.0, 98.0, 99.0, 100.0] in drawn
    assert [text.get_text() for text in axes.get_yticklabels()] == ["policy 0"]
    assert axes.get_xlabel() == "regret after 10 rounds"


def test_arm_shares_show_percentages_by_gap() -> None:
    pulls = np.array([[[90, 9, 1], [70, 27, 3]], [[50, 25, 25], [-1, -1, -1]]])
    dataset, one = made_up([[1.0, 2.0], [3.0, np.nan]], pulls, (0.0, -0.5, -0.5))
    figure = plots.arm_share_figure(dataset, one.problems[0])
    everything(figure)
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.texts] == ["80", "18", "2.0", "50", "25", "25"]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0", "0.5"]
    assert axes.get_xticks().tolist() == [0.0, 1.5]


def test_many_arms_are_coloured_without_numbers() -> None:
    one = study([linear_gaps(40)], horizon=200, runs=3)
    figure = plots.arm_share_figure(played(one), one.problems[0])
    everything(figure)
    assert len(figure.axes[0].texts) == 0
    assert figure.axes[0].get_xlabel() == "arm"


def figures(dataset: xr.Dataset, problem: Problem) -> list[Figure]:
    return [
        regret_figure(dataset, problem),
        plots.final_regret_figure(dataset, problem),
        plots.arm_share_figure(dataset, problem),
    ]


@pytest.mark.parametrize("played_runs", [0, 1])
def test_results_that_are_hardly_begun_can_be_drawn(experiment: Experiment, played_runs: int) -> None:
    partial = played(experiment) if played_runs else empty(experiment)
    partial["regret"].to_numpy()[:, :, played_runs:] = np.nan
    partial["pulls"].to_numpy()[:, :, played_runs:] = -1
    for figure in figures(partial, experiment.problems[0]):
        everything(figure)


def test_labels_may_hold_any_character() -> None:
    one = study([Problem((0.0, -0.5), name=ODD[1])], [(label, POLICIES[0][1]) for label in ODD], horizon=30, runs=3)
    dataset = played(one)
    for figure in figures(dataset, one.problems[0]):
        everything(figure)
        assert figure.axes[0].get_title() == ODD[1]
    assert legend(regret_figure(dataset, one.problems[0], theory=False)) == list(ODD)


@pytest.mark.parametrize("width", [2.5, 3.5, 7.0])
def test_nothing_leaves_the_figure(dataset: xr.Dataset, experiment: Experiment, width: float) -> None:
    figure = regret_figure(dataset, experiment.problems[0], width=width)
    everything(figure)
    frame, inside = figure.legends[0].get_window_extent(), figure.bbox
    assert inside.x0 - 1 <= frame.x0
    assert frame.x1 <= inside.x1 + 1
    label = figure.axes[0].xaxis.label.get_window_extent()
    assert label.y0 >= frame.y1 - 1  # the legend is below the axis
    assert figure.get_figwidth() == width


@pytest.mark.parametrize("suffix", list(MAGIC))
def test_files_are_what_their_suffix_says_and_always_the_same(
    dataset: xr.Dataset, experiment: Experiment, suffix: str, tmp_path: Path
) -> None:
    one, other = tmp_path / f"one{suffix}", tmp_path / f"other{suffix}"
    for path in (one, other):
        figure_style.save_figure(regret_figure(dataset, experiment.problems[0]), path)
    assert one.read_bytes().startswith(MAGIC[suffix])
    assert one.read_bytes() == other.read_bytes()
    assert b"CreationDate" not in one.read_bytes()


def test_pdf_is_vector_with_fonts_that_publishers_take(
    dataset: xr.Dataset, experiment: Experiment, tmp_path: Path
) -> None:
    figure_style.save_figure(regret_figure(dataset, experiment.problems[0]), tmp_path / "figure.pdf")
    content = (tmp_path / "figure.pdf").read_bytes()
    assert b"/Subtype /Type3" not in content
    assert b"/Subtype /Image" not in content
    assert re.search(rb"/Subtype /(CIDFontType2|TrueType)", content)


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"saved as \.png, \.pdf, \.svg, got 'figure\.jpg'"):
        figure_style.save_figure(Figure(), "figure.jpg")


def test_settings_of_the_user_change_nothing(dataset: xr.Dataset, experiment: Experiment, tmp_path: Path) -> None:
    problem = experiment.problems[0]
    figure_style.save_figure(plots.arm_share_figure(dataset, problem), tmp_path / "one.png")
    with matplotlib.rc_context({"font.size": 20.0, "axes.facecolor": "red", "savefig.dpi": 10}):
        figure_style.save_figure(plots.arm_share_figure(dataset, problem), tmp_path / "other.png")
        assert matplotlib.rcParams["font.size"] == 20.0
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "other.png").read_bytes()


def test_figures_need_no_pyplot() -> None:
    code = "import sys, ocucb.lab.plots; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0"), (0.05, "0.05"), (20, "20"), (999, "999"), (5000, "5k"), (1.5e6, "1.5M"), (1e9, "1G"), (-2500, "-2.5k")],
)
def test_numbers_on_axes(number: float, shown: str) -> None:
    assert figure_style.compact_number(number) == shown


@pytest.mark.parametrize(
    ("share", "shown"),
    [(100, "100"), (9.96, "10"), (9.9, "9.9"), (0.96, "1.0"), (0.31, ".31"), (0.004, "0"), (float("nan"), "–")],
)
def test_numbers_in_cells(share: float, shown: str) -> None:
    assert figure_style.percent(share) == shown


def test_the_page_can_be_read_in_the_light_and_in_the_dark() -> None:
    def contrast(one: str, other: str) -> float:
        """The contrast ratio of WCAG 2."""

        def light(color: str) -> float:
            channels = np.array(to_rgb(color))
            linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
            return float(linear @ [0.2126, 0.7152, 0.0722]) + 0.05

        bright, dim = sorted((light(one), light(other)), reverse=True)
        return bright / dim

    for color in figure_style.DARK_PALETTE:
        assert contrast(color, figure_style.PAGE_COLOURS["dark"]["paper"]) > 4.5
    for theme in figure_style.PAGE_COLOURS.values():
        assert contrast(theme["ink"], theme["paper"]) > 7.0
        assert contrast(theme["soft"], theme["paper"]) > 4.5
