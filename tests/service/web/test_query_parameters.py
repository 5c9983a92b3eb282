"""A query parameter that a route does not take is refused: nobody is given all because of a letter."""

from __future__ import annotations

import re

import httpx
import pytest

from ocucb.service.web.docs import describe
from ocucb.service.web.page.routes import PAGES, QUERY_PARAMETERS
from ocucb.service.web.route_table import ROUTE_POLICIES
from service.web.api import Api, check_error

STRICT = [name for name, policy in ROUTE_POLICIES.items() if policy.query is not None]
LENIENT = [name for name, policy in ROUTE_POLICIES.items() if policy.query is None]
PAGE_ROUTES = [*(f"{method} {path}" for method, path, _, _ in PAGES), "GET /login", "POST /login"]
HTML = {"Accept": "text/html"}


def ask(api: Api, route: str, query: str, **how: str) -> httpx.Response:
    """Ask a route about what is there, with a key that may everything."""
    method, _, path = route.partition(" ")
    return api.http.request(method, f"{path.format(name='colours', id='abcdefghijkl')}?{query}", headers=how)


@pytest.mark.parametrize("route", STRICT)
def test_every_route_refuses_what_it_does_not_take(lasting: Api, route: str) -> None:
    error = check_error(ask(lasting, route, "limt=1"), 422, "bad-request")
    allowed = ROUTE_POLICIES[route].query
    assert allowed is not None
    says = f"this takes {', '.join(allowed)}" if allowed else "this takes none"
    assert error["message"] == f"there is no query parameter 'limt' here; {says}"


@pytest.mark.parametrize("route", STRICT)
def test_every_route_takes_what_is_documented(lasting: Api, route: str) -> None:
    """Once; what comes twice has two meanings."""
    method, _, path = route.partition(" ")
    operation = describe(lasting.app)["paths"].get(path, {}).get(method.lower(), {})
    names = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
    assert tuple(names) == ROUTE_POLICIES[route].query
    for name in names:
        assert "query parameter" not in ask(lasting, route, f"{name}=1").text
        error = check_error(ask(lasting, route, f"{name}=1&{name}=2"), 422)
        assert error["message"] == f"the query parameter '{name}' must come once, and came more often"


@pytest.mark.parametrize("route", LENIENT)
def test_probes_and_files_may_add_what_they_like(lasting: Api, route: str) -> None:
    answer = ask(lasting, route.replace("*", "swagger-ui.css"), "nocache=17")
    assert (answer.status_code, answer.content == b"") == (200, False)


def test_only_what_cannot_mislead_takes_anything() -> None:
    assert {"GET /healthz", "GET /readyz"} == {name for name in LENIENT if not re.search("docs|openapi", name)}


def test_what_is_refused_is_not_done(lasting: Api) -> None:
    key, text = lasting.access.make("to be kept", ["read"])
    check_error(lasting.http.delete(f"/v1/keys/{key.id}?dry_run=1"), 422)
    assert lasting.client(text).get("/v1/experiments").status_code == 200
    rounds = lasting.http.get("/v1/experiments/colours").json()["rounds"]
    check_error(lasting.http.post("/v1/experiments/colours/decisions?unit=u1", json={}), 422)
    assert lasting.http.get("/v1/experiments/colours").json()["rounds"] == rounds


def test_who_has_no_key_is_told_that_first(lasting: Api) -> None:
    check_error(lasting.client().get("/v1/experiments?limt=1"), 401)


@pytest.mark.parametrize("query", ["limit", "limit=", "%6cimit=5", "limit=5&", "&&"])
def test_names_are_read_as_their_values_are(lasting: Api, query: str) -> None:
    assert "query parameter" not in lasting.http.get(f"/v1/experiments?{query}").text


def test_a_long_name_hides_nothing(lasting: Api) -> None:
    error = check_error(lasting.http.get("/v1/experiments?" + "x" * 5000), 422)
    assert error["message"].endswith("this takes after, limit")


@pytest.mark.parametrize("route", PAGE_ROUTES)
def test_every_page_refuses_what_it_does_not_take(lasting: Api, route: str) -> None:
    allowed = QUERY_PARAMETERS.get(route, ())
    says = f"this takes {', '.join(allowed)}" if allowed else "this takes none"
    answer = ask(lasting, route, "srot=mean", **HTML)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "text/html; charset=utf-8")
    assert f"There is no query parameter &#39;srot&#39; here; {says}." in answer.text
    for name in allowed:
        assert "query parameter" not in ask(lasting, route, f"{name}=1", **HTML).text


def test_each_page_that_takes_something_is_there() -> None:
    assert set(QUERY_PARAMETERS) <= set(PAGE_ROUTES)
