"""Figures for papers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from textwrap import fill
from typing import TYPE_CHECKING, Literal

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from ocucb.lab.chart import Scale
from ocucb.lab.curves import RegretCurves
from ocucb.lab.figure_style import (
    SHARE_COLOURMAP,
    THEORY,
    THEORY_DASHES,
    WIDTH,
    add_legend,
    blank_figure,
    compact_number,
    figure_style,
    line_style,
    percent,
    set_scales,
)
from ocucb.lab.identification import Identified
from ocucb.lab.problem import Problem
from ocucb.lab.runs import Runs, mean_pull_shares, regret_samples, runs_of
from ocucb.lab.statistics import quantiles, share_with_interval
from ocucb.lab.summary import SummaryRow

if TYPE_CHECKING:
    import xarray as xr

CHANGES = "changes of the means"
Points = Sequence[tuple[float, Sequence[SummaryRow]]]


def regret_figure(
    curves: RegretCurves,
    problem: Problem,
    *,
    t_scale: Scale | None = None,
    regret_scale: Scale = "linear",
    width: float = WIDTH,
) -> Figure:
    """Draw mean regret against t, with bands and bounds.

    Where means change there is a dotted line, and t is linear unless a scale is given: all stretches count alike.
    """
    with figure_style():
        figure, axes = blank_figure(width, 0.68)
        t, top = curves.t, 0.0
        for k, curve in enumerate(curves.policies):
            if curve is None:
                continue
            every = (k * max(1, t.size // 40), max(1, t.size // 6))
            axes.plot(t, curve.mean, label=curve.policy, markevery=every, **line_style(k))
            axes.fill_between(t, curve.low, curve.high, color=line_style(k)["color"], alpha=0.18, linewidth=0)
            top = max(top, float(np.nanmax([curve.mean, curve.high])))
        for bound, dashes in zip(curves.bounds, THEORY_DASHES, strict=False):
            axes.plot(bound.t, bound.values, label=bound.label, color=THEORY, linestyle=dashes, linewidth=0.9, zorder=1)
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


def sweep_figure(
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


def verdict_figure(
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


def error_rate_figure(found: Mapping[str, Sequence[Identified]], title: str, *, width: float = WIDTH) -> Figure:
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


def final_regret_figure(
    dataset: Runs | xr.Dataset, problem: Problem, *, regret_scale: Scale = "linear", width: float = WIDTH
) -> Figure:
    """Draw where the final regret of runs lies: quartiles in a box, 5 % to 95 % as whiskers, the mean as a marker."""
    runs = runs_of(dataset)
    policies, t = runs.policies, int(runs.t[-1])
    with figure_style():
        figure, axes = blank_figure(width, 0.22 + 0.085 * len(policies))
        for k, policy in enumerate(policies):
            samples = regret_samples(runs, problem.name, policy, t)
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


def arm_share_figure(dataset: Runs | xr.Dataset, problem: Problem, *, width: float = WIDTH) -> Figure:
    """Draw the mean share of rounds that each policy gave each arm, on a logarithmic colour scale."""
    runs = runs_of(dataset)
    policies = runs.policies
    shares = 100.0 * mean_pull_shares(runs, problem)
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


def _pale(color: str) -> tuple[str, float]:
    return color, 0.25


def _wrapped(labels: Sequence[str]) -> list[str]:
    return [fill(label, 18, break_long_words=False, break_on_hyphens=False) for label in labels]
