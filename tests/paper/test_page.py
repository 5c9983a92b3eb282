"""The page on the paper, as a reader meets it: opened from a file in a real browser that has no network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

import sample_claims
from browser import Scheme, Visit, chromium, violations_in_each_look, visit
from ocucb.lab.figure_style import DARK_PALETTE, PAGE_COLOURS, PALETTE
from ocucb.lab.runners.local import threads
from ocucb.paper import table
from ocucb.paper.claim import Claim, Conclusion, Effort, Finding
from ocucb.paper.execute import CheckResult, execute, select_claims
from ocucb.paper.page import render, write_page
from sample_claims import HOSTILE

CLAIMS = (*sample_claims.CLAIMS, sample_claims.STRANGE, sample_claims.BROKEN)
NAMES = ["1-mean-of-dice", "1-endless", "2-cubes", "2-squares", "3-hostile", "4-broken"]
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch) -> tuple[Claim, ...]:
    monkeypatch.setattr(table, "CLAIMS", CLAIMS)
    return CLAIMS


def results(claims: tuple[Claim, ...], effort: Effort) -> list[CheckResult]:
    with threads(2) as pool:
        return list(execute(claims, effort, pool))


@pytest.fixture(scope="module")
def found() -> list[CheckResult]:
    """What came out of the sample claims; to draw its charts is most of the work, so it is done once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "CLAIMS", CLAIMS)
        return results(CLAIMS, Effort())


@pytest.fixture(scope="module")
def page(found: list[CheckResult], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "paper.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "CLAIMS", CLAIMS)
        write_page(found, Effort(), path)
    return path


@pytest.fixture(scope="module")
def seen(browser: Browser, page: Path) -> Iterator[Visit]:
    """The page as most tests read it. They change nothing in it."""
    with visit(browser, page) as opened:
        yield opened


def words(page: Page, selector: str) -> str:
    return " ".join((page.locator(selector).text_content() or "").split())


def facts(page: Page, name: str) -> dict[str, str]:
    """What is said of a check, by term."""
    terms, texts = (page.locator(f"#check-{name} .facts > {tag}").all_text_contents() for tag in ("dt", "dd"))
    return dict(zip(terms, texts, strict=True))


def rgb(color: str) -> str:
    return f"rgb({', '.join(str(int(color[k : k + 2], 16)) for k in (1, 3, 5))})"


def test_it_opens_without_complaint_and_without_network(browser: Browser, page: Path) -> None:
    with visit(browser, page) as seen:
        assert seen.complaints == []
        assert [url for url in seen.requests if not url.startswith("data:")] == [page.as_uri()]
    text = page.read_text(encoding="utf-8")
    assert "Content-Security-Policy" in text
    assert "<script" not in text
    tags = re.findall(r"<[^>]*>", text.replace(escape(HOSTILE), ""))
    assert not [tag for tag in tags if re.search(r"https?://|\ssrc=|url\((?!#)", tag)]


def test_every_claim_and_check_has_its_section(seen: Visit) -> None:
    sections = seen.page.locator("main > section")
    assert [section.get_attribute("id") for section in sections.all()] == [f"claim-{k}" for k in (1, 2, 3, 4)]
    assert seen.page.locator(".check h3").all_text_contents() == NAMES
    conclusions = seen.page.locator(".check > header .badge").all_text_contents()
    assert conclusions == [
        "✓holds",
        "?not decidable at this size",
        "✗fails as printed",
        "✓holds",
        "✗fails as printed",
        "!did not finish",
    ]
    assert [words(seen.page, f".counts > .{kind}")[:9] for kind in ("holds", "fails", "open", "error")] == [
        "2✓ holdde",
        "2✗ fail a",
        "1? not de",
        "1! did no",
    ]
    assert "6 checks of 4 claims, at quick size, with seed 0." in words(seen.page, "body > header")


def test_a_check_says_what_was_done_and_what_came_out(seen: Visit) -> None:
    dice, cubes = facts(seen.page, "1-mean-of-dice"), facts(seen.page, "2-cubes")
    squares, broken = facts(seen.page, "2-squares"), facts(seen.page, "4-broken")
    assert words(seen.page, "#check-1-mean-of-dice .statement h4") == "The paper says"
    assert words(seen.page, "#check-1-mean-of-dice .statement > p:not(.places)").startswith(
        "The average of many throws"
    )
    assert words(seen.page, "#check-1-mean-of-dice .places") == "eq:sampleremark after the sample"
    assert dice["What was done"].startswith("A die is thrown")
    assert dice["What came out"].startswith("The average of 1,000 throws is 3.")
    assert dice["False-alarm rate"] == "at most 0.0001"
    assert dice["Would fail if"].startswith("the die had seven sides")
    assert cubes["Counterexample"] == "n = 2: the sum is 4, the power is 8."
    assert cubes["False-alarm rate"] == "nothing random decides"
    assert squares["Corrects"] == "2-cubes"
    assert "Would fail if" not in cubes
    assert squares["Its nature"].startswith("An identity")
    assert "Its nature" not in cubes
    assert broken["Error"].startswith("ZeroDivisionError: there is no finding at quick size")


def test_a_statement_and_its_correction_stand_beside_each_other_in_mathematics(seen: Visit) -> None:
    printed, corrected = seen.page.locator("#check-2-cubes .statement").all()
    assert printed.locator("h4").text_content() == "The paper says"
    assert corrected.locator("h4").text_content() == "Corrected, in 2-squares"
    for statement, power in ((printed, "3"), (corrected, "2")):
        assert statement.locator("math").all_text_contents() == ["∑k=1n(2k−1)", f"=n{power}"]
        assert statement.locator("msup").last.evaluate("e => e.namespaceURI").endswith("MathML")
    left, right = printed.bounding_box(), corrected.bounding_box()
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] <= right["x"]
    assert left["y"] == right["y"]
    # The exponent is drawn higher and smaller than what it belongs to: the browser knows what a formula is.
    base, exponent = (printed.locator("msup").last.locator(f":scope > {one}").bounding_box() for one in ("mi", "mn"))
    assert base is not None
    assert exponent is not None
    assert exponent["y"] < base["y"]
    (alone,) = seen.page.locator("#check-2-squares .statement").all()
    assert alone.locator("h4").text_content() == "The paper should say"


def test_the_code_of_a_check_is_a_click_away(browser: Browser, page: Path) -> None:
    with visit(browser, page) as seen:
        details = seen.page.locator("#check-2-squares details.code")
        code = details.locator("pre")
        assert not code.is_visible()
        details.locator("summary").click()
        assert code.is_visible()
        assert "def " in (code.text_content() or "")
        assert "sample_claims" in (details.locator("summary").text_content() or "")


def test_links_lead_to_what_they_name(browser: Browser, page: Path) -> None:
    with visit(browser, page) as seen:
        targets = seen.page.locator("a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
        assert all(target.startswith("#") for target in targets)
        assert {f"#check-{name}" for name in NAMES} | {"#claim-1", "#contents"} <= set(targets)
        for target in set(targets):
            assert seen.page.locator(target).count() == 1
        seen.page.click("nav a[href='#check-2-cubes']")
        seen.page.click("#check-2-cubes a[href='#check-2-squares']")
        assert seen.page.url.endswith("#check-2-squares")
        box = seen.page.locator("#check-2-squares").bounding_box()
        assert box is not None
        assert 0 <= box["y"] < 900


def test_ids_are_unique(seen: Visit) -> None:
    ids = seen.page.locator("[id]").evaluate_all("all => all.map(e => e.id)")
    assert sorted(set(ids)) == sorted(ids)


def test_figures_are_drawn_and_have_a_name(seen: Visit) -> None:
    charts = seen.page.locator("svg[role=img]")
    assert charts.count() == 5  # one of dice, two and one of odd numbers, one of the strange claim
    first = seen.page.get_by_role("img", name="The average against the number of throws", exact=True)
    assert first.count() == 1
    assert {"throws t", "average", "average so far", "expectation"} <= set(first.locator("text").all_text_contents())
    dashed = first.locator("path[clip-path][style*=dasharray]")  # the bound
    assert dashed.evaluate("e => getComputedStyle(e).stroke") == rgb(PAGE_COLOURS["light"]["soft"])
    box = first.bounding_box()
    assert box is not None
    assert min(box["width"], box["height"]) > 200


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_reader(browser: Browser, page: Path, scheme: Scheme) -> None:
    palette = {"light": PALETTE, "dark": DARK_PALETTE}[scheme]
    with visit(browser, page, scheme=scheme) as seen:
        assert seen.page.evaluate(BACKGROUND) == rgb(PAGE_COLOURS[scheme]["paper"])
        chart = seen.page.locator("#check-2-squares svg").first
        label = chart.locator("text").first.evaluate("e => getComputedStyle(e).fill")
        strokes = chart.locator("path").evaluate_all("all => all.map(e => getComputedStyle(e).stroke)")
        assert label == rgb(PAGE_COLOURS[scheme]["ink"])
        assert {rgb(palette[0]), rgb(palette[1])} <= set(strokes)
        assert rgb("#000000") not in strokes
        seen.page.emulate_media(media="print")  # paper is white
        assert seen.page.evaluate(BACKGROUND) == rgb(PAGE_COLOURS["light"]["paper"])
        assert chart.locator("text").first.evaluate("e => getComputedStyle(e).fill") == rgb(
            PAGE_COLOURS["light"]["ink"]
        )


def test_no_rule_of_accessibility_is_broken(browser: Browser, page: Path) -> None:
    with visit(browser, page) as seen:
        assert violations_in_each_look(seen.page, [("light", 1200), ("dark", 1200), ("dark", 390)]) == []


@pytest.mark.parametrize("width", [320, 390, 800])
def test_a_phone_shows_all_of_it(browser: Browser, page: Path, width: int) -> None:
    with visit(browser, page, width=width) as seen:
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        for box in [
            one.bounding_box() for one in seen.page.locator("figure, .scroll, .check, .badge, dd, .formula").all()
        ]:
            assert box is not None
            assert box["x"] + box["width"] <= width
        wide = seen.page.locator("#check-1-mean-of-dice .scroll")
        if width < 400:
            assert wide.evaluate("e => e.scrollWidth > e.clientWidth")  # it scrolls, the page does not


def test_text_of_others_stays_text(seen: Visit) -> None:
    assert seen.page.locator("img").count() == 0
    said = facts(seen.page, "3-hostile")
    for term in ("What was done", "What came out", "Counterexample", "Would fail if"):
        assert said[term] == HOSTILE
    assert seen.page.locator("#check-3-hostile .statement > p").first.text_content() == HOSTILE
    chart = seen.page.locator("#check-3-hostile svg")
    assert chart.locator("title").text_content() == HOSTILE
    labels = "".join(chart.locator("text").all_text_contents())
    assert labels.replace(" ", "").count(HOSTILE.replace(" ", "")) == 3  # two axes and the legend, broken into lines
    assert seen.page.locator("#check-3-hostile table").locator("th, td").all_text_contents() == [HOSTILE] * 2


def test_the_same_findings_give_the_same_page(claims: tuple[Claim, ...], found: list[CheckResult]) -> None:
    again = list(reversed(results(claims, Effort())))  # they may come in any order
    assert render(found, Effort()) == render(again, Effort())
    other = results(select_claims([1]), Effort(seed=1))
    first = [result for result in found if result.claim.number == 1]
    assert render(other, Effort(seed=1)) != render(first, Effort())


def test_it_says_which_claims_and_what_it_depends_on(
    browser: Browser, claims: tuple[Claim, ...], tmp_path: Path
) -> None:
    path = tmp_path / "paper.html"
    effort = Effort("full", seed=7)
    write_page(results(select_claims([2]), effort), effort, path)
    with visit(browser, path) as seen:
        assert "2 checks of 1 claim (claim 2 alone), at full size, with seed 7." in words(seen.page, "body > header")
        assert words(seen.page, "footer dl").startswith("sizefull seed7 Python3.")
        assert seen.page.locator(".counts > li").count() == 4  # no word of errors where there are none


def test_what_is_not_of_the_paper_is_not_said_to_be() -> None:
    for claim in (table.CLAIMS[0], table.CLAIMS[-1]):
        page = render([CheckResult(claim, claim.checks[0], Finding(Conclusion.OPEN, "none"), "", 0.0)], Effort())
        assert ("<h4>Stated here</h4>" in page) == claim.ours
        assert ("<h4>The paper says</h4>" in page) != claim.ours


def not_executed() -> list[CheckResult]:
    """Every check of the paper, with nothing done."""
    return [
        CheckResult(claim, check, Finding(Conclusion.OPEN, "not executed here"), "", 0.0)
        for claim in table.CLAIMS
        for check in claim.checks
    ]


def test_every_check_of_the_paper_has_a_place_of_its_own() -> None:
    found = not_executed()
    anchors = re.findall(r'<article class="check open" id="([^"]+)"', render(found, Effort()))
    assert len(anchors) == len(set(anchors)) == len(found)


def test_no_formula_of_the_paper_scrolls_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "paper.html"
    write_page(not_executed(), Effort(), path)
    for width in (390, 1200):
        with visit(browser, path, width=width) as seen:
            formulas = seen.page.locator(".formula")
            sizes = formulas.evaluate_all(
                "all => all.map(e => [e.getAttribute('aria-label'), e.scrollWidth, e.clientWidth])"
            )
            assert len(sizes) > 100
            assert [label for label, needed, given in sizes if needed > given] == []


def test_a_formula_that_fits_is_not_broken(browser: Browser, page: Path) -> None:
    with visit(browser, page) as seen:
        equals = seen.page.locator("#check-2-squares .formula mo", has_text="=").last.bounding_box()
        sums = seen.page.locator("#check-2-squares .formula munderover").bounding_box()
    assert equals is not None
    assert sums is not None
    assert sums["x"] + sums["width"] < equals["x"]
    assert sums["y"] < equals["y"] < sums["y"] + sums["height"]
