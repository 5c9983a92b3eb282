"""Every page by the rules of axe-core, light and dark: with and without decisions, many arms, errors, admin keys."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from browser import Look, accessibility_violations, violations_in_each_look
from service.page.site import DESK, PHONE, Seen, Site

LOOKS: tuple[Look, ...] = (("light", DESK), ("dark", DESK), ("dark", PHONE))
CHANCES = {"first": 0.8, "second": 0.3, "third": 0.1}
PATHS = (
    "/",
    "/?after=zzzz",
    "/new",
    "/changes",
    "/experiments/axe played",
    "/experiments/axe played?sort=arm&down=0",
    "/experiments/axe played/archive",
    "/experiments/axe played/retire?arm=%22first%22",
    "/experiments/axe untouched",
    "/experiments/axe paused",
    "/experiments/axe archived",
    "/experiments/axe of many arms",
    "/experiments/axe of many arms?page=2",
    "/experiments/axe of many arms?find=nowhere",
    "/experiments/nowhere",
)


@pytest.fixture(scope="session")
def filled(site: Site) -> Site:
    """A site with an experiment in each state. Made once for each site: a worker may come back to this file."""
    site.create("axe played", list(CHANCES))
    site.stream("axe played", CHANCES, 10)
    site.ask("POST", "/v1/experiments/axe played/arms/retire", site.admin, json={"arm": "third"})
    for name in ("axe untouched", "axe paused", "axe archived"):
        site.create(name, ["first", "second"])
    site.ask("POST", "/v1/experiments/axe paused/pause", site.admin)
    site.ask("POST", "/v1/experiments/axe archived/archive", site.admin)
    site.create("axe of many arms", list(range(120)))
    site.decide("axe of many arms", 30)
    return site


@pytest.fixture(scope="module")
def seen(filled: Site, browser: Browser) -> Iterator[Seen]:
    with filled.visit(browser) as visitor:
        visitor.log_in(filled.admin)
        yield visitor


def violations(page: Page, path: str) -> list[str]:
    page.goto(path)
    return violations_in_each_look(page, LOOKS)


@pytest.mark.parametrize("path", PATHS)
def test_no_page_breaks_a_rule(seen: Seen, path: str) -> None:
    assert violations(seen.page, path) == []


def test_nor_does_a_form_that_was_refused(seen: Seen) -> None:
    page = seen.page
    page.goto("/new")
    page.get_by_label("Policy", exact=True).select_option("moss")
    page.get_by_role("button", name="Create").click()
    page.get_by_text("This must be filled in for moss").wait_for()
    assert violations_in_each_look(page, LOOKS) == []
    page.goto("/experiments/axe played")
    page.get_by_label("Label").fill("first")
    page.get_by_role("button", name="Add").click()
    page.get_by_role("alert").wait_for()
    assert violations_in_each_look(page, LOOKS) == []


def test_nor_does_what_a_key_sees_that_only_reads(filled: Site, browser: Browser) -> None:
    with filled.visit(browser) as reader:
        reader.log_in(filled.make_key("read", experiments=["axe played"]))
        assert violations(reader.page, "/") == []
        assert violations(reader.page, "/experiments/axe played") == []
    with filled.visit(browser) as reader:
        reader.log_in(filled.make_key("read", experiments=["elsewhere"]))
        assert violations(reader.page, "/") == []


def test_nor_does_the_login(filled: Site, browser: Browser) -> None:
    with filled.visit(browser) as visitor:
        assert violations(visitor.page, "/login") == []
        visitor.page.get_by_label("API key").fill("ocucb_no")
        visitor.page.get_by_role("button", name="Log in").click()
        visitor.page.get_by_role("alert").wait_for()
        assert violations_in_each_look(visitor.page, LOOKS) == []


def test_nor_does_the_documentation_but_for_what_swagger_ui_builds(filled: Site, browser: Browser) -> None:
    with filled.visit(browser) as visitor:
        visitor.page.goto("/docs")
        visitor.page.locator(".opblock").first.wait_for()
        broken = {text.split(": ")[1] for text in violations_in_each_look(visitor.page, LOOKS[:2])}
    assert broken <= {"nested-interactive"}  # a link inside of a button, in each of its lines


def test_a_page_that_breaks_rules_is_found(filled: Site, browser: Browser) -> None:
    with filled.visit(browser) as visitor:
        visitor.page.goto("/login")
        visitor.page.evaluate("document.querySelector('label').remove()")
        visitor.page.evaluate("document.querySelector('#key').removeAttribute('placeholder')")
        assert [text.partition(":")[0] for text in accessibility_violations(visitor.page)] == ["label"]


def test_so_is_one_that_does_so_in_the_dark_or_on_a_phone(filled: Site, browser: Browser) -> None:
    faint = "h1 { color: #777; background: #888; }"
    with filled.visit(browser) as visitor:
        for condition, looks in (("prefers-color-scheme: dark", LOOKS[1:]), ("max-width: 500px", LOOKS[2:])):
            visitor.page.goto("/login")
            visitor.page.evaluate(
                "rule => document.styleSheets[0].insertRule(rule, document.styleSheets[0].cssRules.length)",
                f"@media ({condition}) {{ {faint} }}",
            )
            found = violations_in_each_look(visitor.page, LOOKS)
            assert [text.split(": ")[:2] for text in found] == [
                [f"{scheme}, {width} wide", "color-contrast"] for scheme, width in looks
            ]
