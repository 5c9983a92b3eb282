"""A real browser for tests: Debian's Chromium, driven by Playwright, with a fresh profile and no network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

import debian

Scheme = Literal["light", "dark"]
NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
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
        browser = playwright.chromium.launch(executable_path=executable(), args=list(QUIET))
        try:
            yield browser
        finally:
            browser.close()


def executable() -> str:
    """The path of Chromium: that of the variable CHROMIUM, or the one installed, or one installed now from Debian."""
    if found := _find():
        return found
    if "CHROMIUM" not in os.environ:
        debian.install("chromium", "fonts-dejavu-core", unless=lambda: _find() is not None)
        if found := _find():
            return found
    raise RuntimeError(
        "tests of pages need Chromium, found none; install it (apt-get install chromium) or name it in CHROMIUM"
    )


def _find() -> str | None:
    named = os.environ.get("CHROMIUM")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)


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
