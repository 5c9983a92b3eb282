"""The report, as a reader meets it: opened from a file in a real browser that has no network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from browser import Scheme, Visit, accessibility_violations, chromium, visit
from ocucb import MOSS, UCB, OCUCBn
from ocucb.lab.figure_style import PAGE_COLOURS
from ocucb.lab.problem import Problem, bernoulli_rare, mixed_gaps, worst_case
from ocucb.lab.report import as_script, render
from ocucb.lab.result import Result
from sample_results import empty, played, study

HOSTILE = """<b>&"</script><img src=x onerror=alert(1)>' $x_1$ %{x} {{data}}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three policies on two Gaussian problems, of ten and of four arms."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    experiment = study()
    Result(experiment, played(experiment)).report(path)
    return path


@pytest.fixture(scope="module")
def opened(browser: Browser, report: Path) -> Iterator[Visit]:
    """The report as some tests read it. They leave its charts as they were; to draw these takes seconds."""
    with visit(browser, report) as seen:
        yield seen


@pytest.fixture(scope="module")
def opened_in_the_dark(browser: Browser, report: Path) -> Iterator[Visit]:
    with visit(browser, report, scheme="dark") as seen:
        yield seen


def traces(page: Page, chart: str) -> list[dict[str, Any]]:
    """What Plotly was given to draw."""
    given: list[dict[str, Any]] = json.loads(page.evaluate(f"JSON.stringify(document.getElementById('{chart}').data)"))
    return given


def names(page: Page) -> list[str]:
    return [trace["name"] for trace in traces(page, "regret") if trace.get("showlegend") is not False]


def test_it_opens_without_complaint_and_without_network(opened: Visit, report: Path) -> None:
    opened.page.wait_for_selector("#shares .heatmaplayer image")
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith(("data:", "blob:"))] == [report.as_uri()]


def test_nothing_in_it_points_outside(report: Path) -> None:
    page = re.sub(r"<script>.*?</script>", "", report.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert "Content-Security-Policy" in page
    assert not re.search(r"https?://|src=|@import|url\(", page)


def test_no_button_uploads_a_chart(opened: Visit) -> None:
    titles = opened.page.locator("#regret .modebar-btn").evaluate_all("all => all.map(b => b.dataset.title)")
    assert "Download plot as a PNG" in titles
    assert not [title for title in titles if re.search("share|cloud|upload|edit", title, re.IGNORECASE)]


def test_curves_are_drawn_with_bands_and_bounds(browser: Browser, report: Path) -> None:
    with visit(browser, report) as seen:
        page = seen.page
        bounds = ["Lai–Robbins: 78 log t", "Theorem 1's sum (constant 1)", "OCUCB-n(1.1): at most"]
        assert names(page) == ["OCUCB-n", "UCB", "Thompson sampling", *bounds]
        drawn = traces(page, "regret")
        assert len(drawn) == 3 * 3 + 3
        assert page.locator("#regret .scatterlayer .trace").count() == len(drawn)
        low, high, mean = (np.array(trace["y"]) for trace in drawn[:3])
        assert (low <= mean).all()
        assert (mean <= high).all()
        assert mean[-1] > 0
        assert page.locator("#distribution .boxlayer .trace.boxes").count() == 3
        page.uncheck("#bounds")
        assert len(names(page)) == 3
        page.check("#log-regret")
        assert page.evaluate("document.getElementById('regret').layout.yaxis.type") == "log"
        assert seen.complaints == []


def test_hovering_shows_policies_and_numbers(opened: Visit) -> None:
    chart = opened.page.locator("#regret .nsewdrag")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    opened.page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 0.5 * box["height"])
    label = opened.page.locator("#regret .hoverlayer .legend")
    label.wait_for()
    text = label.text_content() or ""
    assert re.search(r"round \d+", text)
    assert re.search(r"OCUCB-n: [\d.]+ \([\d.]+ … [\d.]+\)", text)
    assert "Thompson sampling: " in text


def test_hovering_a_share_names_policy_arm_and_gap(opened: Visit) -> None:
    opened.page.locator("#shares .nsewdrag").hover()
    label = opened.page.locator("#shares .hoverlayer .hovertext")
    label.wait_for()
    assert re.search(r"^UCBarm \d, gap [\d.]+ % of rounds$", label.text_content() or "")


def test_the_selector_changes_charts_and_table(browser: Browser, report: Path) -> None:
    with visit(browser, report) as seen:
        page = seen.page
        rows = page.locator("#summary tbody tr:visible")
        before, first = traces(page, "regret")[2]["y"], rows.all_text_contents()
        page.select_option("#problem", label="worst_case(4, 0.5)")
        assert traces(page, "regret")[2]["y"] != before
        assert len(traces(page, "shares")[0]["z"][0]) == 4
        assert "Appendix A, statement 1" in names(page)  # its condition holds here, and not on the first problem
        assert rows.count() == 3
        assert rows.all_text_contents() != first
        assert seen.complaints == []


def test_the_table_sorts_both_ways_with_unknowns_last(opened: Visit) -> None:
    header = opened.page.locator("#summary thead th").nth(4)
    values = opened.page.locator("#summary tbody tr:visible td:nth-child(5)")
    for direction in ("ascending", "descending"):
        header.locator("button").click()
        assert header.get_attribute("aria-sort") == direction
        numbers = [float(v) for v in values.evaluate_all("all => all.map(c => c.dataset.value)")]
        assert np.isnan(numbers[-1])
        assert numbers[:-1] == sorted(numbers[:-1], reverse=direction == "descending")


@pytest.mark.parametrize("which", ["opened", "opened_in_the_dark"])
def test_no_rule_of_accessibility_is_broken(which: str, request: pytest.FixtureRequest) -> None:
    seen: Visit = request.getfixturevalue(which)
    assert accessibility_violations(seen.page) == []


@pytest.mark.parametrize(
    ("which", "scheme", "other"), [("opened", "light", "dark"), ("opened_in_the_dark", "dark", "light")]
)
def test_colours_follow_the_reader(which: str, scheme: Scheme, other: Scheme, request: pytest.FixtureRequest) -> None:
    seen: Visit = request.getfixturevalue(which)
    assert seen.page.evaluate("document.getElementById('regret').layout.paper_bgcolor") == PAGE_COLOURS[scheme]["paper"]
    for shown in (other, scheme):
        seen.page.emulate_media(color_scheme=shown)
        seen.page.wait_for_function(
            "paper => document.getElementById('regret').layout.paper_bgcolor === paper",
            arg=PAGE_COLOURS[shown]["paper"],
        )
    assert seen.complaints == []


def test_no_rule_of_accessibility_is_broken_on_a_phone_in_the_dark(browser: Browser, report: Path) -> None:
    with visit(browser, report, width=390, scheme="dark") as seen:
        assert accessibility_violations(seen.page) == []


def test_a_phone_shows_all_of_it(browser: Browser, report: Path) -> None:
    with visit(browser, report, width=390) as seen:
        page = seen.page
        page.wait_for_selector("#shares .heatmaplayer image")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        for chart in ("regret", "distribution", "shares"):
            box = page.locator(f"#{chart} .main-svg").first.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= 390
        title, legend = (page.locator(f"#regret {part}").bounding_box() for part in (".xtitle", ".legend .bg"))
        assert title is not None
        assert legend is not None
        assert title["y"] + title["height"] <= legend["y"] + 1  # they do not overlap


def test_text_of_others_stays_text(browser: Browser, tmp_path: Path) -> None:
    experiment = study(
        [Problem((0.0, -0.5), name=HOSTILE), worst_case(3, 0.5)],
        [(HOSTILE, OCUCBn()), ("plain", UCB())],
        horizon=100,
        runs=5,
    )
    dataset = played(experiment)
    dataset.attrs["experiment"] = HOSTILE
    dataset.attrs["provenance"] = json.dumps({HOSTILE: HOSTILE, "versions": {"ocucb": "0.1.0", "cpus": 2}})
    path = tmp_path / "report.html"
    Result(experiment, dataset).report(path)
    with visit(browser, path) as seen:
        page = seen.page
        page.wait_for_selector("#shares .heatmaplayer image")
        assert seen.complaints == []
        assert len(seen.requests) == len([url for url in seen.requests if url.startswith(("file:", "data:", "blob:"))])
        assert page.locator("img").count() == 0
        assert page.locator("#regret .legendtext").first.text_content() == HOSTILE
        assert page.locator("#distribution .ytick text").first.text_content() == HOSTILE
        assert page.locator("#summary tbody th").first.text_content() == HOSTILE
        assert page.locator("option").first.text_content() == HOSTILE
        assert page.locator("details pre").first.text_content() == HOSTILE
        assert page.locator("dt").first.text_content() == HOSTILE
        assert page.locator("dd").nth(1).text_content() == "ocucb 0.1.0, cpus 2"


def test_a_sweep_has_a_chart_across_problems(browser: Browser, tmp_path: Path) -> None:
    experiment = study([worst_case(5, gap) for gap in (0.5, 0.2, 1.0)], horizon=100, runs=5)
    path = tmp_path / "report.html"
    Result(experiment, played(experiment)).report(path)
    with visit(browser, path) as seen:
        assert traces(seen.page, "sweep")[2]["x"] == [0.2, 0.5, 1.0]
        assert seen.page.locator("#sweep .scatterlayer .trace").count() == 9
        assert seen.complaints == []


def test_a_result_that_is_not_finished_opens(browser: Browser, tmp_path: Path) -> None:
    """One policy was not played, another only once, and the arms of the second problem are too many to draw."""
    many = Problem((0.0,) + (-1.0,) * 1000, name="many")
    policies = [("a", OCUCBn()), ("b", UCB()), ("c", MOSS(1001))]
    experiment = study([bernoulli_rare(), many], policies, horizon=1001, runs=3)
    dataset = played(experiment)
    dataset["regret"].to_numpy()[:, 1] = np.nan
    dataset["pulls"].to_numpy()[:, 1] = -1
    dataset["regret"].to_numpy()[:, 2, 1:] = np.nan
    dataset["pulls"].to_numpy()[:, 2, 1:] = -1
    del dataset.attrs["experiment"]
    dataset.attrs["provenance"] = "by hand"
    path = tmp_path / "report.html"
    Result(experiment, dataset).report(path)
    with visit(browser, path) as seen:
        assert names(seen.page) == ["a", "c", "Lai–Robbins: 17.4 log t"]
        seen.page.select_option("#problem", label="many")
        assert seen.page.locator("#shares-section").is_hidden()
        assert "0 to 3 runs each" in (seen.page.locator("header").text_content() or "")
        assert "by hand" in (seen.page.locator("main").text_content() or "")
        assert seen.complaints == []


def test_a_result_with_no_run_opens(browser: Browser, tmp_path: Path) -> None:
    experiment = study([mixed_gaps()], horizon=100, runs=3)
    path = tmp_path / "report.html"
    Result(experiment, empty(experiment)).report(path)
    with visit(browser, path) as seen:
        assert seen.page.locator("#summary tbody tr:visible").count() == 3
        assert seen.page.locator("#problem").count() == 0
        assert seen.complaints == []


def test_the_same_result_gives_the_same_page() -> None:
    experiment = study(horizon=100, runs=4)
    assert render(Result(experiment, played(experiment))) == render(Result(experiment, played(experiment)))


def test_json_in_a_script_cannot_end_it() -> None:
    text = as_script({"label": HOSTILE + "\u2028<!--"})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"label": HOSTILE + "\u2028<!--"}
