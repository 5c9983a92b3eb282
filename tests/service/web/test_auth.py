"""Nobody in who does not belong: every route, with every kind of wrong key."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from fastapi.routing import iter_route_contexts
from hypothesis import given
from hypothesis import strategies as st
from starlette.routing import Mount

from ocucb.service.access import Access
from ocucb.service.stores import Store
from ocucb.service.web.docs import describe
from ocucb.service.web.errors import Refusal
from ocucb.service.web.paths import RouteTree, routes_of
from ocucb.service.web.refresh import KeyRefresher
from ocucb.service.web.route_table import PAGE_FILE_POLICY, PAGE_POLICY, ROUTE_POLICIES
from service.web.api import Api, check_error

JSON = {"Content-Type": "application/json"}
OPEN = {"GET /healthz", "GET /readyz"}
BODIES = {
    "POST /v1/experiments": {"name": "new", "arms": ["a"]},
    "POST /v1/experiments/{name}/arms": {"arm": "new"},
    "POST /v1/experiments/{name}/arms/retire": {"arm": "red"},
    "POST /v1/experiments/{name}/shares": {"shares": []},
    "POST /v1/experiments/{name}/winner": {"confidence": 0.95},
    "POST /v1/rewards": {"decision": "1-2-aaaaaaaaaaaaaaaaaaaaaa", "reward": 1},
    "POST /v1/units/erase": {"unit": "visitor 7"},
    "POST /v1/rewards/correct": {"corrections": [{"decision": "1-2-aaaaaaaaaaaaaaaaaaaaaa", "reward": 1}]},
    "POST /v1/experiments/{name}/import": {"log": [{"arm": "red", "reward": 1}]},
    "POST /v1/keys": {"name": "new", "roles": ["read"]},
}


def documented(api: Api) -> list[str]:
    """Return every route of the OpenAPI that needs a key, as the table names it."""
    found = [f"{method.upper()} {path}" for path, all_ in describe(api.app)["paths"].items() for method in all_]
    assert set(found) > OPEN
    return sorted(set(found) - OPEN)


def ask(client: httpx.Client, route: str, name: str = "colours") -> httpx.Response:
    method, _, template = route.partition(" ")
    path = template.replace("{name}", name).replace("{id}", "aaaaaaaaaaaa")
    return client.request(method, path, json=BODIES[route]) if route in BODIES else client.request(method, path)


def test_every_route_has_an_entry_and_every_entry_a_route(lasting: Api) -> None:
    names = {f"{method} {route}" for method, route, _ in routes_of(lasting.app)}
    assert set(ROUTE_POLICIES) <= names
    for name in names - set(ROUTE_POLICIES):
        assert not name.partition(" ")[2].startswith("/v1"), f"{name} needs an entry in the table of policies"
    assert {name for name in ROUTE_POLICIES if ROUTE_POLICIES[name].role is not None} == set(documented(lasting))


def test_a_route_without_an_entry_keeps_the_app_from_being_built(lasting: Api) -> None:
    policies = {name: policy for name, policy in ROUTE_POLICIES.items() if name != "GET /v1/keys"}
    with pytest.raises(ValueError, match="'GET /v1/keys' must be in the table"):
        RouteTree(lasting.app, policies)


def test_every_route_without_a_key(serve: Callable[..., Api]) -> None:
    api = serve()
    api.create()
    nobody = api.client()
    for route in documented(api):
        answer = ask(nobody, route)
        check_error(answer, 401, "unauthorized")
        assert answer.headers["www-authenticate"].startswith("Bearer")
    api.verify()


@pytest.mark.parametrize(
    "words",
    [
        "Bearer ocucb_aaaaaaaaaaaa_" + "x" * 43,
        "Bearer ocucb_ID_" + "x" * 43,
        "Bearer ocucb_",
        "Bearer",
        "Basic dXNlcjpwYXNz",
        "Bearer KEY KEY",
        "Token KEY",
        "KEY",
        "Bearer KEYx",
        "Bearer \xe9\xff",
    ],
)
def test_a_wrong_key(lasting: Api, words: str) -> None:
    header = words.replace("KEY", lasting.admin).replace("ID", lasting.admin.split("_")[1]).encode("latin-1")
    answer = lasting.client().get("/v1/experiments", headers={b"Authorization": header})
    check_error(answer, 401, "unauthorized")


def test_every_route_with_a_wrong_key(serve: Callable[..., Api]) -> None:
    api = serve()
    api.create()
    wrong = api.client(api.admin[:-1] + ("a" if api.admin[-1] != "a" else "b"))
    for route in documented(api):
        check_error(ask(wrong, route), 401, "unauthorized")


def test_every_route_with_a_key_revoked_on_another_node(serve: Callable[..., Api], address: str) -> None:
    api = serve(address)
    api.create()
    elsewhere = Store(address)
    other = Access(elsewhere)
    for route in documented(api):
        key, text = other.make("for one route", ["admin"])
        client = api.client(text)
        assert client.get("/v1/experiments/colours").status_code == 200, "a key made elsewhere is known at once"
        other.revoke(key.id)
        check_error(ask(client, route), 401, "unauthorized")
    elsewhere.close()
    assert api.http.get("/v1/experiments/colours").json()["entries"] == 1, "and nothing was done"


@pytest.mark.parametrize("role", ["decide", "reward", "read"])
def test_every_route_with_a_narrower_role(serve: Callable[..., Api], role: str) -> None:
    api = serve()
    api.create()
    client = api.client(api.key(role))
    for route in documented(api):
        answer = ask(client, route)
        if ROUTE_POLICIES[route].role == role:
            assert answer.status_code in (200, 404), answer.text
        else:
            error = check_error(answer, 403, "forbidden")
            assert str(ROUTE_POLICIES[route].role) in error["message"]
    api.verify()


def test_another_experiment_is_as_if_it_were_not_there(both: Api) -> None:
    both.create("mine")
    both.create("yours")
    decision = both.decide("yours")["id"]
    client = both.client(both.key("decide", "reward", "read", experiments=["mine", "not there"]))
    for route in documented(both):
        if ROUTE_POLICIES[route].role == "admin" or "{name}" not in route:
            continue
        hidden, absent = ask(client, route, "yours"), ask(client, route, "not there")
        nobodys = ask(both.http, route, "nobody's")
        check_error(hidden, 404, "unknown-experiment")
        assert without(hidden, "yours") == without(absent, "not there") == without(nobodys, "nobody's")
        assert ask(client, route, "mine").status_code == 200
    unknown = {"decision": decision[:-1] + ("A" if decision[-1] != "A" else "B"), "reward": 1}
    hidden = client.post("/v1/rewards", json={"decision": decision, "reward": 1})
    absent = client.post("/v1/rewards", json=unknown)
    assert without(hidden, "") == without(absent, "")
    assert hidden.status_code == 404
    assert [one["name"] for one in client.get("/v1/experiments").json()["experiments"]] == ["mine"]


def without(answer: httpx.Response, name: str) -> dict[str, Any]:
    """Return an error without the request's id and without the name."""
    error: dict[str, Any] = answer.json()["error"]
    message = error["message"].replace(repr(name), "NAME")
    return {**error, "request_id": None, "message": message, "status": answer.status_code}


def test_open_routes_are_open(lasting: Api) -> None:
    nobody = lasting.client()
    for path in ("/healthz", "/readyz", "/openapi.json", "/docs", "/docs/static/swagger-ui.css", "/docs/start.js"):
        assert nobody.get(path).status_code == 200
    assert nobody.get("/healthz", headers={"Authorization": "Bearer wrong"}).status_code == 200


def test_no_secret_in_any_log(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        api.create()
        made = api.http.post("/v1/keys", json={"name": "logged", "roles": ["read"]}).json()
        wrong = "ocucb_" + made["id"] + "_" + "w" * 43
        for key in (made["key"], wrong):
            client = api.client(key)
            client.get("/v1/experiments")
            client.post("/v1/rewards", json={"decision": key, "reward": 1})
            client.get(f"/nowhere/{key}")
        api.reward(api.decide()["id"], 1.0)
    said = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records if not ours(record))
    for secret in (api.admin, made["key"], wrong, made["key"].split("_", 2)[2], api.access.secret.hex()):
        assert secret not in said
    fields = [record.__dict__["fields"] for record in caplog.records if record.name == "ocucb.service.web"]
    assert made["id"] in {one["key"] for one in fields}
    assert {"request_id", "method", "route", "status", "milliseconds", "key"} == set(fields[-1])
    assert {one.get("experiment") for one in fields} == {None, "colours"}
    levels = {(one.__dict__["fields"]["route"], one.levelname) for one in caplog.records if "fields" in one.__dict__}
    assert ("/v1/experiments/{name}/decisions", "DEBUG") in levels
    assert ("/v1/experiments", "INFO") in levels


def ours(record: logging.LogRecord) -> bool:
    """Tell whether a record is of the test's HTTP client, or of a log that is switched off and only pytest hears."""
    return record.name.startswith(("httpx", "httpcore", "uvicorn.access"))


def test_a_request_that_is_not_logged_makes_no_record(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    api.create()
    with caplog.at_level(logging.INFO):
        caplog.clear()
        api.decide()
        assert [record for record in caplog.records if record.name == "ocucb.service.web"] == []
        api.http.post("/v1/experiments/nowhere/decisions")
        assert [record.levelname for record in caplog.records if record.name == "ocucb.service.web"] == ["INFO"]


words = st.sampled_from(
    [
        "",
        "v1",
        "experiments",
        "rewards",
        "keys",
        "docs",
        "static",
        "x",
        "..",
        "arms",
        "retire",
        "decisions",
        "a\n",
        "live",
    ]
)


@given(
    path=st.lists(words, max_size=6).map(lambda parts: "/" + "/".join(parts)), method=st.sampled_from(["GET", "POST"])
)
def test_the_gateway_and_the_router_agree_on_every_path(lasting: Api, path: str, method: str) -> None:
    """The gateway decides who may in, the router what runs: it must be the same route. It may know fewer paths."""
    pages = {f"{verb} {route}" for verb, route, _ in routes_of(lasting.app)} - set(ROUTE_POLICIES)
    paths = RouteTree(
        lasting.app,
        {**ROUTE_POLICIES, **{name: PAGE_FILE_POLICY if name.endswith("*") else PAGE_POLICY for name in pages}},
    )
    try:
        endpoint = paths.find(path, method).route.endpoint
    except Refusal:
        return
    for context in iter_route_contexts(lasting.app.routes):
        if context.path_regex.match(path) and method in (getattr(context, "methods", None) or {"GET"}):
            assert (context.route.app if isinstance(context.route, Mount) else context.endpoint) is endpoint
            break


def test_looks_at_the_database_are_shared(sqlite: str) -> None:
    looks: list[float] = []

    class Slow(Access):
        def refresh(self) -> None:
            looks.append(time.monotonic())
            gate.wait(30)
            super().refresh()

    gate = threading.Event()
    store = Store(sqlite)
    store.migrate()

    async def many() -> None:
        refresh = KeyRefresher(Slow(store), 0.05)
        early = [asyncio.create_task(refresh()) for _ in range(50)]
        while not looks:
            await asyncio.sleep(0.01)
        late = [asyncio.create_task(refresh()) for _ in range(50)]
        await asyncio.sleep(0.1)
        assert len(looks) == 1
        gate.set()
        await asyncio.gather(*early, *late)

    asyncio.run(many())
    store.close()
    assert len(looks) == 2, "those who came during a look share the next"
    assert looks[1] - looks[0] >= 0.049
