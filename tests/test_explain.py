"""The moving picture: it plays what the library plays, and can be used with mouse, keys and eyes of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browser import Scheme, accessibility_violations, chromium, visit
from ocucb import MOSS, UCB, Bandit, OCUCBn, Policy, cli
from ocucb.explain import write_page

PATIENCE = 60_000  # milliseconds


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("explain") / "page.html"
    write_page(made)
    return made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def page(browser: Browser, path: Path) -> Iterator[Page]:
    with visit(browser, path) as seen:
        yield seen.page
        assert seen.complaints == []
        assert seen.requests == [path.as_uri()]


def play_to_the_end(page: Page) -> None:
    page.select_option("#speed", "0")
    page.click("#play")
    expect(page.locator("#play")).to_be_disabled(timeout=PATIENCE)


@pytest.mark.filterwarnings("ignore::ocucb.GuaranteeWarning")
@pytest.mark.parametrize(("eta", "rho"), [("1.1", "0.5"), ("2", "1"), ("1.5", "0")])
def test_the_choices_are_those_of_the_library(page: Page, eta: str, rho: str) -> None:
    """On the same rewards; there are no ties, and so no bit that could decide."""
    for name, value in (("eta", eta), ("rho", rho)):
        page.locator(f"#{name}").fill(value)
    page.select_option("#problem", "many near the best")
    play_to_the_end(page)
    found = page.evaluate(
        "() => state.race.runs.map(run => ({means: run.means, choices: run.choices, regret: run.regret[run.t],"
        " noise: run.tapes.map(tape => tape.numbers)}))"
    )
    policies: list[Policy] = [OCUCBn(float(eta), float(rho)), UCB(), MOSS(horizon=1000)]
    for policy, run in zip(policies, found, strict=True):
        means = run["means"]
        bandit = Bandit(policy, arms=len(means))
        pulls = [0] * len(means)
        for chosen in run["choices"]:
            arm = bandit.choose()
            assert arm == chosen
            bandit.learn(arm, means[chosen] + run["noise"][chosen][pulls[chosen]])
            pulls[chosen] += 1
        assert run["regret"] == pytest.approx(
            sum(count * (max(means) - mean) for count, mean in zip(pulls, means, strict=True))
        )


def test_a_mean_is_dragged(page: Page) -> None:
    for _ in range(8):
        page.click("#step")
    grip = page.locator(".panel.ucb .grip").nth(4)
    box = grip.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 60, steps=3)
    page.mouse.up()
    page.mouse.move(x, y + 200)
    means = page.evaluate("() => state.race.means")
    assert means[:4] == [1, 0.8, 0.6, 0.4]
    assert 0.7 < means[4] < 1.8
    assert page.evaluate("() => state.race.t") == 8


def test_keys(page: Page) -> None:
    grip = page.locator(".panel.ocucb .grip").first
    grip.focus()
    for key in ("ArrowUp", "PageUp", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    expect(grip).to_have_attribute("aria-valuenow", "1.18")
    for _ in range(40):
        page.keyboard.press("PageUp")
    expect(grip).to_have_attribute("aria-valuenow", "2.50")
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => state.race.t") == 1
    page.keyboard.press(" ")
    expect(page.locator("#play")).to_have_text("Pause")
    page.keyboard.press(" ")
    expect(page.locator("#play")).to_have_text("Play")


def test_restart_other_rewards_and_fewer_rounds(page: Page) -> None:
    page.select_option("#horizon", "300")
    play_to_the_end(page)
    first = page.evaluate("() => state.race.runs[0].choices")
    assert len(first) == 300
    page.click("#reseed")
    other = page.evaluate("() => state.race.runs[0].choices")
    assert len(other) == 300
    assert other != first
    page.click("#restart")
    assert page.evaluate("() => state.race.t") == 0
    expect(page.locator("#play")).to_be_enabled()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_is_cut_off_or_hard_to_read(browser: Browser, path: Path, width: int, scheme: Scheme) -> None:
    with visit(browser, path, width, scheme) as seen:
        play_to_the_end(seen.page)
        assert accessibility_violations(seen.page) == []
        assert seen.page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.chdir(tmp_path)
    assert cli.exit_code(["explain"]) == 0
    assert capsys.readouterr().out == "ocucb-explain.html\n"
    assert opened == []
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert cli.exit_code(["explain", "other.html"]) == 0
    assert opened == [(tmp_path / "other.html").as_uri()]
    assert (tmp_path / "other.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert cli.exit_code(["explain", str(tmp_path)]) == 2
    assert "Is a directory" in capsys.readouterr().err
