"""The site: made without a warning, complete, and read without a network."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from browser import chromium, visit

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    page.relative_to(ROOT / "docs").with_suffix("").as_posix()
    for page in (ROOT / "docs").rglob("*.md")
    if "_build" not in page.parts
)
WRITTEN_OUT = {  # of pages that the package makes, something that only it says
    "library": "class Bandit(",
    "http": "## POST /v1/experiments/{name}/decisions",
    "commands": "## ocucb compare",
    "noise": "## bernoulli",
    "errors": "| 409 | `name-taken` |",
}
LOADED = re.compile(r"""<(?:script|img|iframe|link)[^>]*(?:src|href)=["'](https?:)?//""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, made once for all workers; a link that leads nowhere is a warning, and a warning is an error."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    made, unfinished = shared / "site", own / "unfinished_site"
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            words = [
                "-m",
                "sphinx",
                "--fail-on-warning",
                "--keep-going",
                "--quiet",
                str(ROOT / "docs"),
                str(unfinished),
            ]
            done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=900, check=False)
            assert done.returncode == 0, done.stderr
            unfinished.rename(made)
    return made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser; each visit has a profile of its own."""
    with chromium() as opened:
        yield opened


def test_every_page_is_there_as_html_and_as_markdown(site: Path) -> None:
    listed = (site / "llms.txt").read_text(encoding="utf-8")
    for page in PAGES:
        assert (site / f"{page}.html").is_file(), page
        source, copy = ((folder / f"{page}.md").read_text(encoding="utf-8") for folder in (ROOT / "docs", site))
        assert copy == source or page.startswith("reference/") or page == "policies"
        assert f"]({page}.md)" in listed
    for page, made in WRITTEN_OUT.items():
        copy = (site / "reference" / f"{page}.md").read_text(encoding="utf-8")
        assert made in copy
        assert ":::{" not in copy
        assert "automodule" not in copy


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert not LOADED.search(page.read_text(encoding="utf-8")), page


def test_the_reference_has_every_public_name_and_every_route(site: Path) -> None:
    library = (site / "reference" / "library.html").read_text(encoding="utf-8")
    for name in ("Bandit", "OCUCBn", "Bandit.choose", "Verdict", "register"):
        assert f'id="ocucb.{name}"' in library
    assert 'id="ocucb_client.Client.decide"' in (site / "reference" / "client.html").read_text(encoding="utf-8")
    assert "/v1/experiments/{name}/decisions" in (site / "reference" / "http.html").read_text(encoding="utf-8")


def test_the_reference_begins_with_what_is_used_most(site: Path) -> None:
    for page, names in {
        "library": ("Bandit", "OCUCBn", "Bernoulli", "register"),
        "client": ("Client", "Decision"),
    }.items():
        text = (site / "reference" / f"{page}.html").read_text(encoding="utf-8")
        module = {"library": "ocucb", "client": "ocucb_client"}[page]
        places = [text.index(f'id="{module}.{name}"') for name in names]
        assert places == sorted(places)
        assert text.count("Return what the compiled selectors need.") <= 2  # of the bases, not of each policy


def test_formulas_have_raised_and_lowered_letters(site: Path) -> None:
    for page in ("theorem", "explicit_bound", "policies/ocucb-n", "reference/theory"):
        text = (site / f"{page}.html").read_text(encoding="utf-8")
        shown = re.sub(
            r"<(code|pre|script|title)\b.*?</\1>",
            "",
            text[text.index("<article") : text.index("</article>")],
            flags=re.DOTALL,
        )
        assert "<sub>" in shown
        assert "<sup>" in shown
        assert not re.search(r"_\{|\^[({]", shown), page
    assert "mixed_gaps" in (site / "explicit_bound.html").read_text(encoding="utf-8")


def test_it_is_read_and_searched_without_a_network(site: Path, browser: Browser) -> None:
    with visit(browser, site / "index.html") as seen:
        seen.page.goto(f"{(site / 'search.html').as_uri()}?q=horizon")
        seen.page.locator("ul.search li a").first.wait_for(timeout=60_000)
        assert not [address for address in seen.requests if not address.startswith("file:")]
        assert seen.complaints == []


def test_a_phone_shows_all_of_it(site: Path, browser: Browser) -> None:
    for page in ("index", "theorem", "howto/choose_policy", "reference/library", "reference/http"):
        with visit(browser, site / f"{page}.html", width=390, scheme="dark") as seen:
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390, page


def test_a_phone_shows_help_and_names_of_metrics_without_scrolling(site: Path, browser: Browser) -> None:
    wide = "all => all.filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.innerText)"
    with visit(browser, site / "reference" / "commands.html", width=390) as seen:
        assert seen.page.locator("article pre, article .table-wrapper").evaluate_all(wide) == []
    with visit(browser, site / "production.html", width=390) as seen:
        table = seen.page.locator(".table-wrapper", has_text="ocucb_http_requests_total")
        assert table.evaluate_all(wide) == []
        assert table.locator("wbr").count() > 10


def test_the_questions_of_choosing_a_policy_are_drawn(site: Path, browser: Browser) -> None:
    """Of the list that stands below: every question, and every link, in lines that fit."""
    page = site / "howto" / "choose_policy.html"
    with visit(browser, page, width=390, scheme="dark") as seen:
        chart = seen.page.locator("svg.question-chart")
        assert chart.locator("rect.asked").count() == seen.page.locator("details ol > li").count() == 5
        links = [link.get_attribute("href") for link in chart.locator("a").all()]
        assert links == [link.get_attribute("href") for link in seen.page.locator("details ol a").all()]
        assert all((page.parent / str(link)).is_file() for link in links)
        ends = "all => all.map(one => one.getBBox().x + one.getBBox().width)"
        assert max(chart.locator("text").evaluate_all(ends)) < 376


def test_the_moving_picture_moves_on_its_page(site: Path, browser: Browser) -> None:
    with visit(browser, site / "motion.html") as seen:
        frame = seen.page.frame_locator("iframe")
        frame.locator("#step").click()
        assert frame.locator("#why-title").inner_text() == "Why arm B in round 2?"
        assert seen.complaints == []


def test_tutorials_were_executed_and_are_notebooks_too(site: Path) -> None:
    for page in PAGES:
        if page.startswith("tutorials/"):
            text = (site / f"{page}.html").read_text(encoding="utf-8")
            notebook = json.loads((site / f"{page}.ipynb").read_text(encoding="utf-8"))
            code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
            assert text.count('class="cell docutils container"') == len(code) >= 3
            assert 'class="cell_output docutils container"' in text
            assert text.count('src="../_images/') == sum("plt.subplots(" in one or ".plot()" in one for one in code)
            assert f'href="{page.removeprefix("tutorials/")}.ipynb"' in text
