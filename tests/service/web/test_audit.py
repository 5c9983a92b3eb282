"""Who changed what; and API keys that expire."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ocucb.service.access import Access
from ocucb.service.errors import DeniedError, RequestError
from service.helpers import ManualClock
from service.web.api import TIME, Api, check_error


def test_changes_are_noted_with_the_key_that_made_them(both: Api) -> None:
    key = both.http.post("/v1/keys", json={"name": "second", "roles": ["admin"]}).json()
    second = both.client(key["key"])
    both.create()
    second.post("/v1/experiments/colours/arms", json={"arm": "black", "metadata": {"hex": "#000"}})
    second.post("/v1/experiments/colours/arms", json={"arm": "black"})  # refused, so nothing was changed
    both.http.post("/v1/experiments/colours/import", json={"log": [{"arm": "red", "reward": 1}]})
    decision = both.decide()["id"]
    both.reward(decision, 1.0)
    second.post("/v1/rewards/correct", json={"corrections": [{"decision": decision, "reward": 0.5}]})
    second.post("/v1/experiments/colours/pause")
    second.post("/v1/experiments/colours/pause")  # it is so already
    both.http.delete(f"/v1/keys/{key['id']}")
    both.http.delete(f"/v1/keys/{key['id']}")
    changes = both.http.get("/v1/audit").json()["changes"][::-1]
    assert [(one["action"], one["experiment"], one["key_name"]) for one in changes] == [
        ("key made", None, None),  # by the test itself, without a key
        ("key made", None, "tests"),
        ("created", "colours", "tests"),
        ("arm added", "colours", "second"),
        ("log imported", "colours", "tests"),
        ("corrected", "colours", "second"),
        ("paused", "colours", "second"),
        ("key revoked", None, "tests"),
    ]
    assert changes[3]["details"] == {"entry": 2, "arm": "black", "metadata": {"hex": "#000"}}
    assert changes[4]["details"] == {"entry": 3, "rewards": 1}
    assert changes[5]["details"] == {"entry": 6, "decision": decision, "was": 1.0, "reward": 0.5}
    assert all(TIME.fullmatch(one["at"]) for one in changes)
    assert key["key"] not in str(changes)
    pages = []
    asked: dict[str, Any] = {"limit": 2, "experiment": "colours"}
    while asked.get("before", 1) is not None:
        page = both.http.get("/v1/audit", params=asked).json()
        pages += page["changes"]
        asked["before"] = page["next"]
    assert pages == [one for one in changes if one["experiment"] == "colours"][::-1]


def test_only_admins_read_changes(lasting: Api) -> None:
    check_error(lasting.client(lasting.key("read", "decide", "reward")).get("/v1/audit"), 403)
    check_error(lasting.http.get("/v1/audit?before=0"), 422)


def test_the_page_of_changes(api: Api) -> None:
    api.create("<colours>")
    page = api.client()
    page.post("/login", data={"key": api.admin, "next": "/changes"})
    text = page.get("/changes").text
    assert "&lt;colours&gt;" in text
    assert '<td role="cell" class="what">created</td>' in text
    assert page.get("/changes?before=1").text.count("Nothing was changed yet") == 1
    reader = api.client()
    reader.post("/login", data={"key": api.key("read")})
    assert reader.get("/changes").status_code == 403


def test_a_key_expires(serve: Callable[..., Api], address: str, clock: ManualClock) -> None:
    api = serve(address, now=clock)
    api.create()
    body = {"name": "for an hour", "roles": ["decide"], "lifetime": 3600}
    made = api.http.post("/v1/keys", json=body).json()
    assert TIME.fullmatch(made["expires"])
    caller = api.client(made["key"])
    clock.advance(3599.0)
    assert caller.post("/v1/experiments/colours/decisions").status_code == 200
    clock.advance(1.0)
    check_error(caller.post("/v1/experiments/colours/decisions"), 401, "unauthorized")
    listed = {one["name"]: one["expires"] for one in api.http.get("/v1/keys").json()["keys"]}
    assert listed == {"tests": None, "for an hour": made["expires"]}
    with pytest.raises(DeniedError):
        api.access.verify(made["id"])
    for wrong in (0, -1, 1e12):
        check_error(api.http.post("/v1/keys", json={**body, "lifetime": wrong}), 422)
    with pytest.raises(RequestError):
        Access(api.store).make("x", ["read"], lifetime=float("nan"))
