"""A real browser for tests: Chromium, driven by Playwright, with a fresh profile and no network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from tools.programs import locate

Scheme = Literal["light", "dark"]
Look = tuple[Scheme, int]  # and a width
SLOW_MACHINE = 120_000.0  # milliseconds until a page is given up: a busy machine is no fault of it

# What Chromium shall do without. Only the last list counts, so Playwright's own is here again. Without our three
# a page takes half of the processor's time to open: each window has two popups of the address bar that are pages of
# their own, and after each page a process is started for the next, which may not come.
PLAYWRIGHTS = (
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
)
OURS = ("SpareRendererForSitePerProcess", "WebUIOmniboxAimPopup", "WebUIOmniboxPopup")

QUIET = (
    f"--disable-features={','.join((*PLAYWRIGHTS, *OURS))}",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser, closed at the end."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=locate("Chromium", playwright.chromium.executable_path), args=list(QUIET)
        )
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visit:
    """A page that was opened, and all that it complained about or asked the network for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def visit(browser: Browser, path: Path, width: int = 1200, scheme: Scheme = "light") -> Iterator[Visit]:
    """A file, opened without network in a context of its own."""
    context = browser.new_context(offline=True, color_scheme=scheme, viewport={"width": width, "height": 900})
    context.set_default_timeout(SLOW_MACHINE)
    seen = Visit(context.new_page())

    def heard(message: ConsoleMessage) -> None:
        seen.complaints.append(f"{message.type}: {message.text}")

    seen.page.on("console", heard)
    seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    seen.page.on("request", lambda request: seen.requests.append(request.url))
    seen.page.goto(path.as_uri())
    try:
        yield seen
    finally:
        context.close()


def accessibility_violations(page: Page) -> list[str]:
    """Return what axe-core, with all of its rules, finds wrong with a page: rule, elements, and what they lack."""
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(Axe().axe_script)  # half a megabyte: to read it takes as long as to check a page
    found = page.evaluate("axe.run({resultTypes: ['violations']}).then(found => found.violations)")
    return [f"{rule['id']}: {node['html']}: {node['failureSummary']}" for rule in found for node in rule["nodes"]]


def violations_in_each_look(page: Page, looks: Sequence[Look]) -> list[str]:
    """Return the same of a page in each of its looks, which must be a matter of its style sheet: it is loaded once."""
    found = []
    for scheme, width in looks:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(f"matchMedia('(prefers-color-scheme: {scheme}) and (width: {width}px)').matches")
        found += [f"{scheme}, {width} wide: {one}" for one in accessibility_violations(page)]
    return found
