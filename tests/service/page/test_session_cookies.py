"""Session cookies and forms, without a server: what is ours, until when, and from where."""

from __future__ import annotations

from typing import Any, cast

import pytest
from starlette.requests import Request

from ocucb.service.access import Access, ApiKey
from ocucb.service.records import SECOND
from ocucb.service.web.errors import Refusal
from ocucb.service.web.page.login import local_path
from ocucb.service.web.page.page_session import check_origin
from ocucb.service.web.page.session_cookies import SessionCookies

KEY = ApiKey("abcdefghijkl", "a test", frozenset({"read"}), None, 0, None)


class Secret:
    """As much of `Access` as cookies need."""

    def __init__(self, secret: bytes) -> None:
        self.secret = secret


def cookies(secret: bytes = b"s" * 32, seconds: float = 60.0, now: int = 1000) -> SessionCookies:
    return SessionCookies(cast(Access, cast(Any, Secret(secret))), seconds, lambda: now * SECOND)


def test_a_cookie_is_good_until_its_end_and_no_longer() -> None:
    cookie = cookies(now=1000).make(KEY)
    assert [cookies(now=now).read(cookie) for now in (1000, 1059, 1060)] == [KEY.id, KEY.id, None]


def test_a_cookie_is_good_where_the_secret_is_the_same() -> None:
    cookie = cookies().make(KEY)
    assert cookies(secret=b"t" * 32).read(cookie) is None
    assert cookies().make(KEY) != cookie, "no two are alike"


def test_what_is_signed_for_a_cookie_is_no_token_of_a_form() -> None:
    ours = cookies()
    text, _, signature = ours.make(KEY).rpartition(".")
    assert not ours.is_form_token(text, signature)
    assert ours.is_form_token(text, ours.form_token(text))
    assert ours.read(f"{text}.{ours.form_token(text)}") is None


def sent(**headers: str) -> Request:
    head = {"host": "ours.example:8000", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return Request({"type": "http", "headers": [(name.encode(), value.encode()) for name, value in head.items()]})


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://ours.example:8000.evil.example"},
        {"origin": "http://ours.example"},
        {"origin": "ftp://ours.example:8000"},
        {"origin": "null"},
        {"origin": "null", "sec_fetch_site": "none"},
        {"sec_fetch_site": "same-site"},
        {"origin": "http://ours.example:8000", "sec_fetch_site": "cross-site"},
    ],
)
def test_forms_of_other_sites_are_refused(headers: dict[str, str]) -> None:
    with pytest.raises(Refusal, match="another site"):
        check_origin(sent(**headers))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://ours.example:8000"},
        {"origin": "https://OURS.example:8000", "sec_fetch_site": "same-origin"},
        {"origin": "null", "sec_fetch_site": "same-origin"},
        {"sec_fetch_site": "none"},
    ],
)
def test_forms_of_ours_are_taken(headers: dict[str, str]) -> None:
    check_origin(sent(**headers))


@pytest.mark.parametrize("path", ["//evil.example", "/\\evil.example", "https://evil.example", "/a\n", "/" * 2001])
def test_a_path_that_leads_elsewhere_becomes_the_list(path: str) -> None:
    assert local_path(path) == "/"


def test_a_path_of_ours_stays() -> None:
    assert local_path("/experiments/a?sort=mean") == "/experiments/a?sort=mean"
    assert local_path("/" + "a" * 1999) == "/" + "a" * 1999
