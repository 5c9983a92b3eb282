"""The page as a person uses it, in a real browser: with a mouse, by keyboard, on a phone, at night, without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from browser import Scheme
from service.helpers import wait_until
from service.page.site import DESK, PHONE, Seen, Site

CHANCES = {"red": 0.1, "green": 0.8, "blue": 0.3}
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


@pytest.fixture(scope="module", autouse=True)
def patient() -> Iterator[None]:
    """Wait long enough for a busy machine."""
    expect.set_options(timeout=60_000.0)
    yield
    expect.set_options(timeout=30_000.0)


@pytest.fixture
def seen(site: Site, browser: Browser) -> Iterator[Seen]:
    """Somebody who is logged in. At the end nothing may have gone wrong, nor have come from elsewhere."""
    with site.visit(browser) as visitor:
        site.let_in(visitor, site.admin)
        yield visitor
        assert visitor.complaints == []
        assert [url for url in visitor.requests if not site.is_local(url)] == []


def column(page: Page, number: int) -> list[str]:
    return [text.strip() for text in page.locator(f"table.arms tbody tr > :nth-child({number})").all_inner_texts()]


def tile(page: Page, name: str) -> str:
    return str(page.locator(".tiles div", has=page.locator("dt", has_text=name)).locator("dd").inner_text())


def test_a_wrong_key_then_the_right_one_then_out(site: Site, browser: Browser) -> None:
    with site.visit(browser) as seen:
        page = seen.page
        page.goto("/new")
        expect(page).to_have_url(re.compile(r"/login\?next=%2Fnew$"))
        page.get_by_label("API key").fill("ocucb_no")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("alert")).to_have_text("This key is not known, or was revoked.")
        page.get_by_label("API key").fill(site.admin)
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("heading", name="New experiment")).to_be_visible()
        page.get_by_role("button", name="Log out").click()
        expect(page).to_have_url(re.compile("/login$"))
        page.goto("/")
        expect(page).to_have_url(re.compile("/login$"))
        assert [text for text in seen.complaints if "status of 401" not in text] == []


def test_creating_an_experiment_and_watching_it(site: Site, seen: Seen) -> None:
    page = seen.page
    page.goto("/")
    page.get_by_role("link", name=re.compile("New experiment|first one")).first.click()
    page.get_by_label("Name").fill("button colour")
    page.get_by_label("Arms, one per line").fill("red\ngreen\n\n  blue \n")
    page.get_by_text("Parameters of the policy").click()
    page.get_by_label("eta", exact=True).fill("1.5")
    page.get_by_label("Wait for a reward").fill("2")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="button colour")).to_be_visible()
    expect(page.locator(".facts")).to_contain_text("ocucb-n, eta 1.5, rho 0.5")
    expect(page.locator(".facts")).to_contain_text("awaited for 2 hours, then the decision is forgotten")
    expect(page.locator("figure .empty")).to_have_count(3)
    page.evaluate("window.stayed = true")
    site.stream("button colour", CHANCES, 10)
    expect(page.locator("figure.shares .band")).not_to_have_count(0)
    first = page.locator("figure.shares .band").first.get_attribute("d")
    site.stream("button colour", CHANCES, 20)
    expect(page.locator(".tiles dd").first).to_have_text("600")
    assert page.locator("figure.shares .band").first.get_attribute("d") != first
    assert page.evaluate("window.stayed"), "the page was reloaded"
    assert tile(page, "Leading arm").startswith("green")
    assert column(page, 1)[0] == "green"
    assert sum(int(text.replace(",", "")) for text in column(page, 2)) == 600
    expect(page.locator(".curve.theory").first).to_be_attached()
    page.goto("/")
    row = page.get_by_role("row", name=re.compile("button colour"))
    expect(row).to_contain_text("600")
    expect(row).to_contain_text("green")
    expect(row.locator(".percent")).to_have_text(re.compile(r"^[789]\d(\.\d)? %$|^100 %$"))
    page.evaluate("window.stayed = true")
    site.stream("button colour", CHANCES, 5, seed=2)
    expect(row).to_contain_text("700")
    assert page.evaluate("window.stayed"), "the list was reloaded"


def test_sorting_by_any_column_keeps_place_and_focus(site: Site, seen: Seen) -> None:
    site.create("sorted", ["a2", "a10", "a1"])
    site.stream("sorted", {"a2": 0.2, "a10": 0.9, "a1": 0.5}, 10)
    page = seen.page
    page.goto("/experiments/sorted")
    page.evaluate("window.stayed = true")
    head = page.get_by_role("columnheader", name="Pulls")
    expect(head).to_have_attribute("aria-sort", "descending")
    pulls = [int(text) for text in column(page, 2)]
    assert pulls == sorted(pulls, reverse=True)
    page.get_by_role("link", name="Arm", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("columnheader", name="Arm", exact=True)).to_have_attribute("aria-sort", "ascending")
    assert column(page, 1) == ["a1", "a2", "a10"]
    assert page.evaluate("document.activeElement.textContent") == "Arm"
    page.keyboard.press("Enter")
    expect(page.get_by_role("columnheader", name="Arm", exact=True)).to_have_attribute("aria-sort", "descending")
    assert column(page, 1) == ["a10", "a2", "a1"]
    site.stream("sorted", {"a2": 0.2, "a10": 0.9, "a1": 0.5}, 5, seed=2)
    expect(page.locator(".tiles dd").first).to_have_text("300")
    assert column(page, 1) == ["a10", "a2", "a1"]
    assert page.evaluate("document.activeElement.textContent") == "Arm"
    assert page.evaluate("window.stayed"), "the page was reloaded"
    page.reload()
    assert column(page, 1) == ["a10", "a2", "a1"]


def test_arms_come_and_go(site: Site, seen: Seen) -> None:
    site.create("arms", ["one", "two"])
    page = seen.page
    page.goto("/experiments/arms")
    page.get_by_role("link", name="Retire two").click()
    expect(page.get_by_role("heading", name="Retire two?")).to_be_visible()
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("link", name="Retire two").click()
    page.get_by_role("button", name="Retire").click()
    expect(page.get_by_text("The arm is retired")).to_be_visible()
    page.reload()
    expect(page.get_by_text("The arm is retired")).to_have_count(0)
    expect(page.locator("tr.retired")).to_contain_text("two")
    expect(page.get_by_role("link", name="Retire one")).to_have_count(0)  # the last one stays
    assert {made["arm"] for made in site.decide("arms", 20)} == {"one"}
    page.get_by_label("Label").fill("three")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text("The arm is in play")).to_be_visible()
    page.get_by_role("button", name="Bring back two").click()
    expect(page.locator("tr.retired")).to_have_count(0)
    assert {made["arm"] for made in site.decide("arms", 20)} >= {"two", "three"}
    page.get_by_label("Label").fill("one")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("alert")).to_contain_text("already there")
    expect(page.get_by_label("Label")).to_have_value("one")
    seen.complaints[:] = [text for text in seen.complaints if "status of 422" not in text]


def test_pause_resume_and_archive(site: Site, seen: Seen) -> None:
    site.create("paused", ["a", "b"])
    page = seen.page
    page.goto("/experiments/paused")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".facts .status")).to_have_text("paused")
    path = "/v1/experiments/paused"
    assert site.ask("POST", f"{path}/decisions", site.admin).status_code == 409
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".facts .status")).to_have_text("active")
    assert site.ask("POST", f"{path}/decisions", site.admin).status_code == 200
    site.ask("POST", f"{path}/pause", site.admin)  # by somebody else: this page hears of it
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.get_by_role("link", name="Archive").click()
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_text("Archived: it has ended")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Resume|Pause|Add"))).to_have_count(0)
    assert site.ask("GET", path, site.admin).json()["status"] == "archived"


def test_what_is_wrong_with_a_form_is_said_beside_it(site: Site, seen: Seen) -> None:
    site.create("taken", ["a"])
    page = seen.page
    page.goto("/new")
    page.get_by_label("Name").fill("taken")
    page.get_by_label("Arms, one per line").fill("x\nx")
    page.get_by_label("Policy", exact=True).select_option("moss")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("This must be filled in for moss")).to_be_visible()
    expect(page.get_by_label("horizon")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("horizon").fill("10,000")
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#arms-error")).to_contain_text("'x' twice")
    expect(page.get_by_label("Arms, one per line")).to_have_value("x\nx")
    expect(page.get_by_label("horizon")).to_have_value("10,000")
    page.get_by_label("Arms, one per line").fill("x\ny")
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#name-error")).to_contain_text("already an experiment")
    page.get_by_label("Name").fill("not taken")
    page.get_by_role("button", name="Create").click()
    expect(page.locator(".facts")).to_contain_text("moss, horizon 10000, c 4")
    seen.complaints[:] = [text for text in seen.complaints if not re.search("status of (422|409)", text)]


def test_only_the_parameters_of_the_chosen_policy_are_shown(seen: Seen) -> None:
    page = seen.page
    page.goto("/new")
    page.get_by_text("Parameters of the policy").click()
    expect(page.get_by_label("eta", exact=True)).to_have_attribute("placeholder", "1.1")
    expect(page.get_by_label("alpha")).to_be_hidden()
    page.get_by_label("Policy", exact=True).select_option("ucb")
    expect(page.get_by_label("eta", exact=True)).to_be_hidden()
    expect(page.get_by_label("alpha")).to_have_attribute("placeholder", "2")
    page.get_by_label("Policy", exact=True).select_option("imed")
    expect(page.get_by_text("This policy has no parameters.")).to_be_visible()
    page.get_by_label("Rewards are").select_option("bounded")
    expect(page.get_by_label("high")).to_be_visible()


def test_by_keyboard_alone(site: Site, browser: Browser) -> None:
    site.create("typed", ["a", "b"])
    with site.visit(browser) as seen:
        page = seen.page
        page.goto("/experiments/typed")
        expect(page.get_by_label("API key")).to_be_focused()
        page.keyboard.type(site.admin)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="typed")).to_be_visible()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        page.keyboard.press("Enter")
        for _ in range(2):  # past the way back to the list
            page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Pause"
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(outline) == "solid"
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Resume")).to_be_visible()
        assert seen.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [DESK, 700, PHONE])
def test_every_page_fits(site: Site, browser: Browser, width: int, scheme: Scheme) -> None:
    name = f"a rather long name of an experiment, {width} wide and {scheme}"
    chances = {"a-label-without-any-place-to-break-it-that-goes-on-and-on-and-on": 0.9, "b": 0.2}
    site.create(name, list(chances))
    site.stream(name, chances, 5)
    with site.visit(browser, width, scheme) as seen:
        page = seen.page
        page.goto("/login")
        assert page.evaluate(FITS)
        seen.log_in(site.admin)
        ink, paper = (
            page.evaluate(f"getComputedStyle(document.body).{which}") for which in ("color", "backgroundColor")
        )
        brightness = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (ink, paper)]
        assert (
            brightness[0] < 300 < 600 < brightness[1]
            if scheme == "light"
            else brightness[1] < 300 < 600 < brightness[0]
        )
        for path in ("/", "/new", f"/experiments/{name}", f"/experiments/{name}/archive", "/experiments/nowhere"):
            page.goto(path)
            assert page.evaluate(FITS), path
        assert [text for text in seen.complaints if "status of 404" not in text] == []


def test_an_experiment_of_very_many_arms(site: Site, seen: Seen) -> None:
    site.create("many", list(range(100_000)))
    made = site.decide("many", 30)
    rewards = [{"decision": each["id"], "reward": float(each["arm"] == 7)} for each in made]
    assert site.ask("POST", "/v1/rewards", site.admin, json={"rewards": rewards}).status_code == 200
    page = seen.page
    page.goto("/experiments/many")
    expect(page.locator(".tiles")).to_contain_text("100,000")
    expect(page.locator("table.arms tbody tr")).to_have_count(50)
    page.get_by_role("link", name="Mean").click()
    expect(page.locator("table.arms tbody th").first).to_have_text("7")
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_text("51 to 100 of 100,000")).to_be_visible()
    page.get_by_label("Find arms by label").fill("9999")
    page.keyboard.press("Enter")
    expect(page.get_by_text(re.compile(r"^1 to|No arm"))).to_have_count(0)
    expect(page.locator("table.arms tbody tr")).to_have_count(19)
    page.get_by_label("Label", exact=True).fill("100000")
    page.get_by_role("button", name="Add").click()
    expect(page.locator(".tiles")).to_contain_text("100,001")
    assert site.decide("many", 1)[0]["arm"] == 30  # arms never pulled come in their order
    with site.store.read() as transaction:
        head = transaction.find_experiments(["many"])[0]
        assert 100_000 in [entry.arm for entry in transaction.read_entries(head.id, head.seq - 5, head.seq)]


def test_the_list_has_pages(site: Site, seen: Seen) -> None:
    for number in range(27):
        site.create(f"zz {number:02}", ["a"])
    page = seen.page
    page.goto("/?after=zy")
    expect(page.locator("table.experiments tbody tr")).to_have_count(25)
    page.get_by_role("link", name="Next page").click()
    expect(page.locator("table.experiments tbody tr")).to_have_count(2)
    page.get_by_role("link", name="zz 26").click()
    expect(page.get_by_role("heading", name="zz 26")).to_be_visible()


def test_names_and_labels_are_text_and_never_markup(site: Site, seen: Seen) -> None:
    hostile = """<img src=x onerror=alert(1)>'"&{{ 7 * 7 }}%25?#"""
    site.create(hostile, [hostile, "b", 1, "1"])
    site.stream(hostile, {hostile: 0.9, "b": 0.1, 1: 0.1, "1": 0.1}, 5)
    page = seen.page
    page.goto("/")
    page.get_by_role("link", name=hostile).click()
    expect(page.get_by_role("heading", name=hostile)).to_be_visible()
    assert page.locator("img").count() == 0
    page.locator("tr", has_text=hostile).get_by_role("link", name="Retire").click()
    page.get_by_role("button", name="Retire").click()
    expect(page.locator("tr.retired")).to_contain_text(hostile)
    page.locator("""tr[data-key="1"]""").get_by_role("link", name="Retire").click()
    page.get_by_role("button", name="Retire").click()
    expect(page.locator("""tr[data-key="1"]""")).to_have_class("retired")
    expect(page.locator("""tr[data-key='"1"']""")).not_to_have_class("retired")


def test_commands_to_copy(site: Site, seen: Seen) -> None:
    site.create("it's copied", ["a"])
    page = seen.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/experiments/it's%20copied")
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    line = page.evaluate("navigator.clipboard.readText()")
    assert line == page.locator("#curl-decide").inner_text()
    assert f"{site.url}/v1/experiments/it%27s%20copied/decisions" in line
    assert "Bearer $OCUCB_KEY" in line
    assert site.admin not in page.content()


def test_it_rests_while_nobody_looks_and_says_when_it_is_cut_off(site: Site, browser: Browser) -> None:
    site.create("cut off", ["a", "b"])
    with site.visit(browser) as seen:
        seen.log_in(site.admin)
        page = seen.page
        page.goto("/experiments/cut off")
        expect(page.locator("#connection")).to_have_text("Live")
        page.context.set_offline(True)
        expect(page.locator("#connection")).to_have_text("Connection lost, trying again")
        page.context.set_offline(False)
        expect(page.locator("#connection")).to_have_text("Live")
        hide = "Object.defineProperty(document, 'hidden', { configurable: true, value: %s });"
        hide += "document.dispatchEvent(new Event('visibilitychange'))"
        page.evaluate(hide % "true")
        page.wait_for_load_state("networkidle")
        seen.requests.clear()
        page.wait_for_timeout(4_000.0)
        assert seen.requests == []
        with page.expect_request(re.compile("/live")):
            page.evaluate(hide % "false")


def test_a_revoked_key_is_shown_the_way_out(site: Site, browser: Browser) -> None:
    site.create("revoked", ["a", "b"])
    key = site.make_key("admin")
    with site.visit(browser) as seen:
        seen.log_in(key)
        seen.page.goto("/experiments/revoked")
        site.access.revoke(key.split("_")[1])
        expect(seen.page).to_have_url(re.compile("/login"))


def test_without_scripts(site: Site, browser: Browser) -> None:
    with site.visit(browser, java_script_enabled=False) as seen:
        seen.log_in(site.admin)
        page = seen.page
        page.goto("/new")
        page.get_by_label("Name").fill("no scripts")
        page.get_by_label("Arms, one per line").fill("a\nb")
        page.get_by_role("button", name="Create").click()
        expect(page.get_by_role("heading", name="no scripts")).to_be_visible()
        site.stream("no scripts", {"a": 0.9, "b": 0.1}, 3)
        page.goto("/experiments/no scripts")

        def shown() -> bool:
            page.reload()
            return page.locator("figure.shares .band").count() > 0

        wait_until(shown, "the first decisions")
        expect(page.get_by_role("button", name="Copy")).to_have_count(0)
        page.get_by_role("link", name="Arm", exact=True).click()
        expect(page.get_by_role("columnheader", name="Arm", exact=True)).to_have_attribute("aria-sort", "ascending")
        assert [text.split()[0] for text in column(page, 1)] == ["a", "b"]  # one may be ruled out
        page.get_by_role("link", name="Retire a").click()
        page.get_by_role("button", name="Retire").click()
        expect(page.locator("tr.retired")).to_contain_text("a")
