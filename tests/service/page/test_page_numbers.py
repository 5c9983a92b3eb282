"""What the page computes from one look at an experiment, against what can be said by hand."""

from __future__ import annotations

import doctest
import importlib
import math
from typing import Any

import numpy as np
import pytest

from ocucb.compiled import Floats
from ocucb.labels import Label
from ocucb.noise import NOISES, Bernoulli, Exponential, Gaussian, Noise, Poisson
from ocucb.policies import UCB
from ocucb.service.definition import Definition
from ocucb.service.history import History, Span
from ocucb.service.replies import View
from ocucb.service.web.page import history_charts, regret
from ocucb.service.web.page.arms import ARMS_PER_PAGE, COLUMNS, REMEMBERING_COLUMNS, ArmsTable, Sorting
from ocucb.service.web.page.charts import ChartBand, ChartLine, assign_colours, draw_lines, draw_stack
from ocucb.service.web.page.summary import ExperimentSummary
from ocucb.theory.bounds import finite_time_sum


def span(pulls: dict[Label, int], others: int = 0, total: float = 0.0, rewards: int = 0) -> Span:
    return Span(sum(pulls.values()) + others, 0, pulls, others, rewards, total)


def view(means: list[float], pulls: list[int], spans: list[Span] | None = None, **what: Any) -> View:
    """An experiment with arms "a", "b", ...; a mean of nan is one of no rewards."""
    arms = tuple("abcdefghijklmnopqrstuvwxyz"[: len(means)])
    missing = [count if math.isnan(mean) else 0 for mean, count in zip(means, pulls, strict=True)]
    given: dict[str, Any] = {
        "definition": Definition("any", arms, seed=1),
        "seq": 1,
        "status": "active",
        "rounds": sum(pulls),
        "arms": arms,
        "pulls": tuple(pulls),
        "pending": tuple(missing),
        "means": tuple(means),
        "indices": tuple(means),
        "effective_arms": (1.0,) * len(means),
        "history": tuple(spans or []),
    }
    gone = len(what.get("retired", ()))
    return View(**{**given, "retired_pulls": (4,) * gone, "retired_means": (0.25,) * gone, **what})


@pytest.mark.parametrize("name", ["numbers", "charts", "summary", "login", "views"])
def test_doctests(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"ocucb.service.web.page.{name}"), extraglobs={"np": np})
    assert result.failed == 0
    assert result.attempted > 0


def test_leader_is_who_had_most_of_late() -> None:
    assert history_charts.leader([]) is None
    spans = [span({"a": 90, "b": 10}), span({"b": 60, "a": 40}), span({"b": 5})]
    assert history_charts.leader(spans) == history_charts.Leader("b", 65 / 105, 105)
    assert history_charts.leader([span({"a": 3}, others=1)]) == history_charts.Leader("a", 0.75, 4)


def test_shares_add_up_and_keep_their_order() -> None:
    history = History()
    for number in range(5000):
        history.decide(number % 7 if number < 2500 else number % 2, 0)
    shares = history_charts.shares(history.spans(), 6)
    assert shares.edges[0] == 0.0
    assert shares.edges[-1] == 5000.0
    assert shares.rows.shape == (7, len(shares.edges) - 1)
    assert len(shares.edges) <= history_charts.MAX_CHART_BUCKETS + 1
    np.testing.assert_allclose(shares.rows.sum(axis=0), 1.0)
    assert shares.arms == (0, 1, 2, 3, 4, 5)
    np.testing.assert_allclose(shares.rows[:2, -1], 0.5, atol=0.02)


@pytest.mark.parametrize("decisions", [1, 9, 10, 11, 19, 25, 239, 240, 241, 3000])
def test_shares_of_any_number_of_decisions(decisions: int) -> None:
    history = History()
    for _ in range(decisions):
        history.decide("a", 0)
    shares = history_charts.shares(history.spans(), 6)
    assert shares.edges[-1] == decisions
    assert (np.diff(shares.edges) >= min(decisions, history_charts.MIN_DECISIONS_PER_BUCKET / 2)).all()
    assert shares.rows[0].tolist() == [1.0] * (len(shares.edges) - 1)


def test_among_very_many_arms_only_those_that_can_be_seen_are_named() -> None:
    history = History()
    for number in range(3000):
        history.decide(number if number < 2000 else -1, 0)
    assert history_charts.shares(history.spans(), 6).arms == (-1,)


def test_regret_ends_at_the_exact_sum() -> None:
    pulls, means = np.array([60.0, 30.0, 10.0]), np.array([1.0, 0.5, 0.0])
    spans = [span({"a": 10, "b": 20}, others=5), span({"a": 50, "b": 10, "c": 2}, others=3)]
    found = regret.estimate(spans, ["a", "b", "c"], pulls, means, Gaussian(), 0.5)
    assert found is not None
    assert found.total == 25.0
    assert found.at.tolist() == [0.0, 35.0, 100.0]
    assert found.estimate.tolist() == [0.0, 15.0, 25.0]  # 20 halves and 5 of gap 1; 10 halves, 2 of 1, 3 of 1
    assert found.shape[-1] == pytest.approx(25.0)
    shape = finite_time_sum(means - 1.0, found.shape_at, 0.5, corrected=True)
    np.testing.assert_allclose(found.shape / found.shape[-1], shape / shape[-1])


def test_regret_of_forgotten_and_imported_pulls() -> None:
    means = np.array([1.0, 0.0])
    forgotten = regret.estimate([span({"a": 5, "b": 10})], ["a", "b"], np.array([5.0, 4.0]), means, Gaussian(), 0.5)
    assert forgotten is not None
    assert forgotten.estimate.tolist() == [0.0, 4.0]
    imported = regret.estimate([span({"a": 5, "b": 10})], ["a", "b"], np.array([5.0, 40.0]), means, Gaussian(), 0.5)
    assert imported is not None
    assert imported.estimate.tolist() == [30.0, 40.0]


def test_regret_before_there_is_any() -> None:
    nothing = np.array([math.nan, math.nan])
    assert regret.estimate([], ["a", "b"], np.zeros(2), nothing, Gaussian(), 0.5) is None
    assert regret.estimate([span({"a": 1})], ["a", "b"], np.array([1.0, 0.0]), nothing, Gaussian(), 0.5) is None


@pytest.mark.parametrize(
    "means", [[0.5], [0.5, 0.5, 0.5], [0.5, math.nan], [0.5, 0.5 - 1e-13], [1e308, -1e308], [0.0, -1e-320]]
)
@pytest.mark.parametrize("noise", [Gaussian(), Gaussian(1e-300), Bernoulli(), Poisson(), Exponential()])
def test_regret_of_means_that_are_hardly_different_or_absurd(means: list[float], noise: Noise) -> None:
    pulls = np.full(len(means), 10.0)
    with np.errstate(all="raise"):
        found = regret.estimate([span({"a": 20})], list("abc")[: len(means)], pulls, np.array(means), noise, 0.5)
    if found is not None:
        assert np.isfinite(found.estimate).all()
        assert np.isfinite(found.shape).all()
        assert (np.diff(found.estimate) >= 0.0).all()


def test_the_shape_for_many_arms_is_nearly_that_of_all_their_means() -> None:
    means: Floats = np.random.default_rng(1).normal(size=2000)
    pulls = np.full(2000, 5.0)
    found = regret.estimate([span({}, others=10_000)], list(range(2000)), pulls, means, Gaussian(), 0.5)
    assert found is not None
    near = np.where(means.max() - means < 0.01, means.max(), means)  # what 10,000 rounds cannot tell apart
    exact = finite_time_sum(near, found.shape_at, 0.5, corrected=True)
    np.testing.assert_allclose(found.shape / found.shape[-1], exact / exact[-1], rtol=1e-3)


def test_arms_in_every_order() -> None:
    what = view([0.5, math.nan, 0.9, 0.5], [10, 1, 20, 10], retired=("z", 7))
    arms = ArmsTable(what._replace(indices=(1.0, -math.inf, 2.0, math.inf), arms=("a10", 3, "a2", "B")))

    def order(column: str, down: bool) -> list[Label]:
        return [row.arm for row in arms.page(Sorting(column, down)).rows]

    assert order("pulls", True) == ["a2", "a10", "B", 3, "z", 7]
    assert order("pulls", False) == [3, "B", "a10", "a2", "z", 7]
    assert order("mean", True) == ["a2", "a10", "B", 3, "z", 7]
    assert order("mean", False) == ["B", "a10", "a2", 3, "z", 7]
    assert order("index", True) == ["B", "a2", "a10", 3, "z", 7]
    assert order("arm", False) == [3, "a2", "a10", "B", "z", 7]
    assert {column.name for column in REMEMBERING_COLUMNS} == {"arm", *arms.columns}


def test_pages_of_arms() -> None:
    size = 2 * ARMS_PER_PAGE + 10
    many = view([0.5], [1])._replace(
        arms=tuple(range(size)),
        pulls=(1,) * size,
        pending=(0,) * size,
        means=(0.5,) * size,
        indices=(1.0,) * size,
        effective_arms=(1.0,) * size,
        retired=tuple(f"r{number}" for number in range(ARMS_PER_PAGE)),
        retired_pulls=(1,) * ARMS_PER_PAGE,
        retired_means=(math.nan,) * ARMS_PER_PAGE,
    )
    arms = ArmsTable(many)
    seen: list[Label] = []
    for number in range(1, 5):
        page = arms.page(Sorting("arm", False, number))
        assert (page.page, page.pages, page.found, page.first) == (
            number,
            4,
            size + ARMS_PER_PAGE,
            1 + ARMS_PER_PAGE * (number - 1),
        )
        seen += [row.arm for row in page.rows]
    assert seen == [*range(size), *(f"r{number}" for number in range(ARMS_PER_PAGE))]
    assert arms.page(Sorting(page=99)).page == 4
    assert arms.page(Sorting(page=0)).page == 1
    found = arms.page(Sorting("arm", False, 1, "R1"))
    assert [row.arm for row in found.rows] == ["r1", *(f"r1{digit}" for digit in range(10))]
    assert all(row.retired for row in found.rows)
    assert arms.page(Sorting(find="nowhere")).rows == ()


def test_charts_stay_inside_their_frame() -> None:
    at = np.linspace(0.0, 730.0, 50)
    values = np.sin(at) * 1e-3
    chart = draw_lines(
        "waves", [ChartLine(at, values, "one", "1", "accent"), ChartLine(at, -values, "two", "2", "theory")]
    )
    edges = np.array([0.0, 10.0, 20.0, 33.0])
    bands = [ChartBand(np.array([0.3, 0.1, 0.0]), f"arm {number}", f"c{number}") for number in range(10)]
    stack = draw_stack("shares", edges, bands)
    for drawn in (chart, stack):
        points = [
            pair.split(",") for shape in (*drawn.lines, *drawn.areas) for pair in shape.path.strip("MZ").split("L")
        ]
        assert all(0.0 <= float(x) <= 1000.0 and 0.0 <= float(y) <= drawn.height for x, y in points)
        assert all(0.0 <= mark.place <= 100.0 for mark in drawn.across)
        places = sorted(end.place for end in drawn.ends)
        assert (np.diff(places) >= 16.9).all()
        assert places[-1] <= drawn.height
    assert [mark.text for mark in chart.across] == ["0", "200", "400", "600"]
    assert [mark.text for mark in stack.across] == ["0", "10", "20", "30"]


def test_charts_of_a_single_point() -> None:
    flat = draw_lines("flat", [ChartLine(np.array([0.0, 1.0]), np.zeros(2), "none", "0", "accent")])
    assert [mark.text for mark in flat.across] == ["0", "1"]
    one = draw_stack("one", np.array([0.0, 1.0]), [ChartBand(np.array([1.0]), "only", "c0")])
    assert one.areas[0].path.count("L") == 3


def test_colours_are_different_and_seldom_change() -> None:
    assert assign_colours([0, 6, 12, 3], 6) == [0, 1, 2, 3]
    for places in ([5, 4, 3, 2, 1, 0], [0, 6, 12, 18, 24, 30], [7, 8, 100, 3]):
        assert len(set(assign_colours(places, 6))) == len(places)


def test_a_glance_at_every_stage() -> None:
    empty = ExperimentSummary(view([math.nan, math.nan], [0, 0]))
    assert [panel.chart for panel in empty.panels] == [None, None, None]
    assert empty.leader is None
    assert empty.mean_text == "–"
    waiting = ExperimentSummary(view([math.nan, math.nan], [1, 1], [span({"a": 1, "b": 1})]))
    assert [panel.chart is None for panel in waiting.panels] == [False, True, True]
    assert waiting.pending == 2
    spans = [span({"a": 8, "b": 2}, total=5.0, rewards=10)]
    played = ExperimentSummary(view([0.5, 0.25], [8, 2], spans))
    assert all(panel.chart for panel in played.panels)
    assert (played.mean, played.total, played.rewards) == (0.5, 5.0, 10)
    assert played.styles == {"a": "c0", "b": "c1"}
    huge = ExperimentSummary(view([1e308, -1e308], [8, 2], [span({"a": 8, "b": 2}, total=math.inf, rewards=10)]))
    assert [panel.chart is None for panel in huge.panels] == [False, True, True]
    listed = ExperimentSummary(view([0.5, 0.25], [8, 2], spans)._replace(arms=()))
    assert (listed.decisions, listed.leader) == (10, history_charts.Leader("a", 0.8, 10))


@pytest.mark.parametrize("noise", [kind() for kind in NOISES.values()])
@pytest.mark.parametrize("size", [1e-320, 1e-30, 1e30, 1.7e308])
def test_absurd_numbers_can_be_shown(noise: Noise, size: float) -> None:
    low, high = noise.support()
    means = [min(max(value, low), high) for value in (size, -size, 0.0)]
    spans = [span({"a": 1, "b": 1, "c": 1}, total=sum(means), rewards=3) for _ in range(3)]
    what = view(means, [3, 3, 3], spans, definition=Definition("any", ("a", "b", "c"), noise=noise, seed=1))
    if noise.family().spreads:
        what = what._replace(spreads=(size, 0.0, 1.0))
    summary = ExperimentSummary(what._replace(indices=(math.inf, -math.inf, size)))
    for column in COLUMNS:
        rows = summary.arms.page(Sorting(column.name)).rows
        assert {row.arm for row in rows} == {"a", "b", "c"}
        assert all(0.0 <= place <= 120.0 for row in rows for place in row.plot or ())
    drawn = [shape.path for panel in summary.panels if panel.chart for shape in panel.chart.lines]
    assert not [path for path in drawn if "nan" in path or "inf" in path]


def test_the_caption_of_regret_says_what_it_is() -> None:
    spans = [span({"a": 50, "b": 50}, total=50.0, rewards=100)]
    ours = ExperimentSummary(view([1.0, 0.0], [50, 50], spans)).panels[2].caption
    assert "not a bound" in ours
    assert "estimated today" in ours
    assert "about OCUCB-n" not in ours
    other = Definition("any", ("a", "b"), UCB(), seed=1)
    theirs = ExperimentSummary(view([1.0, 0.0], [50, 50], spans, definition=other)).panels[2].caption
    assert "about OCUCB-n, and this is ucb" in theirs
    same = ExperimentSummary(view([1.0, 1.0], [50, 50], spans)).panels[2].caption
    assert "too close" in same


def test_a_retired_arm_stays_in_the_regret() -> None:
    spans = [span({"a": 50, "b": 30, "c": 20}, total=50.0, rewards=100)]
    before = ExperimentSummary(view([1.0, 0.5, 0.0], [50, 30, 20], spans)).panels[2]
    after = ExperimentSummary(
        view([1.0, 0.5], [50, 30], spans, retired=("c",), retired_pulls=(20,), retired_means=(0.0,))
    ).panels[2]
    better = ExperimentSummary(
        view([1.0, 0.5], [50, 30], spans, retired=("c",), retired_pulls=(20,), retired_means=(9.0,))
    ).panels[2]
    assert before.words == after.words == "About 35 so far."
    assert better.words == "About 15 so far."
