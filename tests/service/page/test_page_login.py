"""Who gets in, who does not, and what other sites can do to those who are in: nothing."""

from __future__ import annotations

import logging
import re
from http.cookies import SimpleCookie

import httpx
import pytest

from ocucb.service.errors import StoreError
from ocucb.service.records import utc_now
from ocucb.service.web.errors import error_response
from ocucb.service.web.page.login import local_path
from ocucb.service.web.page.login_limits import LoginLimits
from ocucb.service.web.page.rendering import problem_page
from ocucb.service.web.page.routes import PAGES
from ocucb.service.web.page.session_cookies import SessionCookies
from service.page.site import COOKIE, Site, token_of
from service.server import NO_TLS
from service.web.api import Api

WRONG = "ocucb_aaaaaaaaaaaa_" + "b" * 43


def cookie_of(answer: httpx.Response) -> str:
    return SimpleCookie(answer.headers["set-cookie"])[COOKIE].value


def test_every_page_asks_who_is_there(site: Site) -> None:
    with site.client() as client:
        for method, path, _, _ in PAGES:
            answer = client.request(method, path.replace("{name}", "any"))
            if path.endswith("/live"):
                assert (answer.status_code, answer.text) == (401, "")
            else:
                assert (answer.status_code, answer.text) == (303, "")
                assert answer.headers["location"].startswith("/login")


def test_a_wrong_key_and_then_the_right_one(site: Site) -> None:
    with site.client() as client:
        assert "API key" in client.get("/login").text
        refused = client.post("/login", data={"key": WRONG})
        assert refused.status_code == 401
        assert "not known" in refused.text
        assert WRONG not in refused.text
        assert "set-cookie" not in refused.headers
        entered = client.post("/login", data={"key": f" {site.admin}\n", "next": "/new?x=1"})
        assert (entered.status_code, entered.headers["location"]) == (303, "/new?x=1")
        assert client.get("/").status_code == 200


def test_the_cookie_is_kept_from_scripts_and_other_sites_and_is_not_the_key(site: Site) -> None:
    with site.client() as client:
        answer = client.post("/login", data={"key": site.admin})
    morsel = SimpleCookie(answer.headers["set-cookie"])[COOKIE]
    assert morsel["httponly"]
    assert not morsel["secure"]
    assert (morsel["samesite"].lower(), morsel["path"], morsel["max-age"]) == ("strict", "/", "43200")
    secret = site.admin.split("_", 2)[2]
    assert secret not in answer.headers["set-cookie"]


def test_unknown_and_revoked_keys_are_told_the_same(site: Site) -> None:
    gone = site.make_key("read")
    site.access.revoke(gone.split("_")[1])
    with site.client() as client:
        answers = [client.post("/login", data={"key": key}) for key in (WRONG, gone, "nonsense", "", "ö" * 300)]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.text for answer in answers}) == 1


@pytest.mark.parametrize("roles", [("decide",), ("reward",), ("decide", "reward")])
def test_a_key_that_may_not_read_sees_no_page(site: Site, roles: tuple[str, ...]) -> None:
    with site.client() as client:
        answer = client.post("/login", data={"key": site.make_key(*roles)})
        assert answer.status_code == 403
        assert "neither the role read nor admin" in answer.text
        assert client.get("/").status_code == 303


def test_a_forged_cookie_is_refused(site: Site) -> None:
    with site.client() as client:
        good = cookie_of(client.post("/login", data={"key": site.admin}))
    key, end, nonce, signature = good.split(".")
    other = site.make_key("read").split("_")[1]
    forged = [
        ".".join((other, end, nonce, signature)),
        ".".join((key, str(int(end) + 1), nonce, signature)),
        ".".join((key, end, nonce[:-1] + ("A" if nonce[-1] != "A" else "B"), signature)),
        ".".join((key, end, nonce, signature[:-1])),
        ".".join((key, end, nonce, "")),
        f"{key}.{end}.{nonce}",
        site.admin,
        "...",
        "",
        "\u20ac".encode().decode("latin-1"),
    ]
    for cookie in forged:
        raw = {b"Cookie": f"{COOKIE}={cookie}".encode("latin-1")}
        assert httpx.get(f"{site.url}/", headers=raw, verify=NO_TLS).status_code == 303, cookie
    assert httpx.get(f"{site.url}/", headers={"Cookie": f"{COOKIE}={good}"}, verify=NO_TLS).status_code == 200


def test_a_session_ends_in_time(site: Site) -> None:
    key = site.access.identify(site.admin)
    assert key is not None
    over = SessionCookies(site.access, 60.0, lambda: utc_now() - 61_000_000).make(key)
    fresh = SessionCookies(site.access, 60.0).make(key)
    for cookie, status in ((over, 303), (fresh, 200)):
        assert httpx.get(f"{site.url}/", headers={"Cookie": f"{COOKIE}={cookie}"}, verify=NO_TLS).status_code == status


def test_revoking_a_key_ends_its_sessions_at_once(site: Site) -> None:
    key = site.make_key("admin")
    with site.client(key) as client:
        page = client.get("/new")
        assert page.status_code == 200
        site.access.revoke(key.split("_")[1])  # by another process, as on another node
        assert client.get("/live").status_code == 401
        token = token_of(page)
        changed = client.post("/new", data={"csrf": token, "name": "by a ghost", "arms": "a"})
        assert (changed.status_code, changed.headers["location"]) == (303, "/login")
    with site.client(site.admin) as client:
        assert client.get("/experiments/by%20a%20ghost").status_code == 404


def test_a_form_must_be_one_of_ours(site: Site) -> None:
    site.create("guarded", ["a", "b"])
    pause = "/experiments/guarded/status"
    with site.client(site.admin) as client, site.client(site.admin) as other:
        token, foreign = token_of(client.get("/")), token_of(other.get("/"))
        assert token != foreign
        good = {"csrf": token, "status": "paused"}
        for bad in ({"status": "paused"}, {**good, "csrf": ""}, {**good, "csrf": foreign}, {**good, "csrf": "é"}):
            assert client.post(pause, data=bad).status_code == 403
        for origin in ("https://evil.example", "null", "http://127.0.0.1:1", "file://", site.url + ".evil.example"):
            assert client.post(pause, data=good, headers={"Origin": origin}).status_code == 403
            login = client.post("/login", data={"key": site.admin}, headers={"Origin": origin})
            assert login.status_code == 403
        for place in ("cross-site", "same-site"):
            assert client.post(pause, data=good, headers={"Sec-Fetch-Site": place}).status_code == 403
        assert client.post("/logout", data={"sure": "yes"}).status_code == 403
        assert client.post(pause, json=good).status_code == 415
        assert 'class="status active"' in client.get("/experiments/guarded").text
        own = {"Origin": site.url, "Sec-Fetch-Site": "same-origin"}
        assert client.post(pause, data=good, headers=own).status_code == 303
        assert 'class="status paused"' in client.get("/experiments/guarded").text


def test_nothing_changes_by_following_a_link(site: Site) -> None:
    changing = [path.replace("{name}", "any") for method, path, _, _ in PAGES if method == "POST"]
    showing = [path.replace("{name}", "any") for method, path, _, _ in PAGES if method == "GET"]
    with site.client(site.admin) as client:
        for path in set(changing) - set(showing):
            assert client.get(path).status_code == 405


def test_logging_out(site: Site) -> None:
    with site.client(site.admin) as client:
        gone = client.post("/logout", data={"csrf": token_of(client.get("/"))})
        assert (gone.status_code, gone.headers["location"]) == (303, "/login")
        assert client.get("/").status_code == 303


def test_a_narrower_key_sees_its_experiments_and_changes_nothing(site: Site) -> None:
    site.create("mine", ["a", "b"])
    site.create("theirs", ["secret-arm", "b"])
    with site.client(site.make_key("read", experiments=["mine"])) as client:
        listed = client.get("/").text
        assert "mine" in listed
        assert "theirs" not in listed
        assert "New experiment" not in listed
        missing, hidden = client.get("/experiments/nowhere"), client.get("/experiments/theirs")
        assert missing.status_code == hidden.status_code == 404
        assert missing.text.replace("nowhere", "theirs") == hidden.text
        assert client.get("/experiments/theirs/live").status_code == 404
        page = client.get("/experiments/mine")
        assert not re.search("Retire|Pause|Archive|Add an arm", page.text)
        for method, path, _, role in PAGES:
            if role == "admin":
                for name in ("mine", "theirs"):
                    filled = {"csrf": token_of(page), "status": "paused", "label": '"a"', "arm": "c"}
                    sent = filled if method == "POST" else None
                    assert client.request(method, path.replace("{name}", name), data=sent).status_code == 403
        assert client.get("/experiments/mine/live?version=1").status_code == 204


def test_guessing_is_limited_by_address(sqlite: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    api = Api(sqlite, logins=3, behind_tls=True)
    try:
        client = api.client()
        assert client.post("/login", data={"key": api.admin}).headers["set-cookie"].count("Secure") == 1
        tries = [client.post("/login", data={"key": WRONG}) for _ in range(5)]
        assert [answer.status_code for answer in tries] == [401, 401, 401, 429, 429]
        assert 1 <= int(tries[-1].headers["retry-after"]) <= 60
        assert re.search(r"Try again in \d+ seconds", tries[-1].text)
        assert client.post("/login", data={"key": api.admin}).status_code == 429
        elsewhere = {"X-Forwarded-For": "203.0.113.9"}
        assert client.post("/login", data={"key": api.admin}, headers=elsewhere).status_code == 303
    finally:
        api.close()
    logged = [f"{record.getMessage()} {vars(record)}" for record in caplog.records]
    assert any("wrong login" in line for line in logged)
    for secret in (api.admin, WRONG, api.admin.split("_", 2)[2]):
        assert not [line for line in logged if secret in line]


def test_guesses_are_counted_over_the_last_minute() -> None:
    time = [0.0]
    guesses = LoginLimits(2, 60.0, addresses=2, now=lambda: time[0])
    assert (guesses.begin("a"), guesses.begin("a")) == (0, 0)
    time[0] = 20.0
    assert guesses.begin("a") == 40
    time[0] = 59.5
    assert guesses.begin("a") == 1
    assert guesses.begin("b") == 0
    time[0] = 60.0
    assert guesses.begin("a") == 0
    guesses.forgive("a")
    assert (guesses.begin("a"), guesses.begin("a")) == (0, 0)
    assert guesses.begin("a") > 0
    assert (guesses.begin("c"), guesses.begin("d")) == (0, 0)
    assert len(guesses._tries) == 2


def test_of_several_tries_the_last_is_forgiven() -> None:
    time = [0.0]
    limits = LoginLimits(2, 60.0, now=lambda: time[0])
    limits.begin("a")
    time[0] = 20.0
    limits.begin("a")
    limits.forgive("a")
    limits.begin("a")
    assert limits.begin("a") == 40  # until the first is a minute ago


@pytest.mark.parametrize(
    "path",
    ["//evil.example", "/\\evil.example", "https://evil.example", "evil", "", "/\t/evil.example", "/a\n", "/" * 3000],
)
def test_a_login_leads_nowhere_else(site: Site, path: str) -> None:
    assert local_path(path) == "/"
    with site.client() as client:
        assert client.post("/login", data={"key": site.admin, "next": path}).headers["location"] == "/"


def test_answers_carry_their_guards(site: Site) -> None:
    site.create("with guards", ["a", "b"])
    with site.client(site.make_key("read", experiments=["with guards"])) as client:
        pages = [client.get("/"), client.get("/experiments/nowhere"), httpx.get(f"{site.url}/login", verify=NO_TLS)]
        for answer in pages:
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["x-frame-options"] == "DENY"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert not re.search(r"<script(?![^>]* src=)|<style| style=| on\w+=", answer.text)
        script = re.search(r'src="(/static/page\.js[^"]*)"', pages[0].text)
        assert script is not None
        assert "max-age" in client.get(script[1]).headers["cache-control"]
        assert client.get("/static/../routes.py").status_code == 404
        assert client.get("/static/%2e%2e/routes.py").status_code == 404


@pytest.mark.parametrize("error", [StoreError("try again", "password=innermost"), ZeroDivisionError("innermost")])
def test_errors_show_nothing_of_the_inside(error: Exception) -> None:
    answer = problem_page(error_response(error))
    text = bytes(answer.body).decode()
    assert answer.status_code in (500, 503)
    assert "innermost" not in text
    assert "Traceback" not in text
    assert ("retry-after" in answer.headers) == (answer.status_code == 503)
    assert "To the experiments" in text
