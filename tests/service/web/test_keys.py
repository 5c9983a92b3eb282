"""API keys over the API."""

from __future__ import annotations

from service.web.api import TIME, Api, check_error


def test_keys_are_made_listed_and_revoked(both: Api) -> None:
    both.create()
    body = {"name": "web shop", "roles": ["decide", "reward"], "experiments": ["colours"]}
    made = both.http.post("/v1/keys", json=body)
    assert made.status_code == 201
    key = made.json()
    assert {name: key[name] for name in body} == body
    caller = both.client(key["key"])
    assert caller.post("/v1/experiments/colours/decisions").status_code == 200
    page = both.http.get("/v1/keys?limit=1").json()
    rest = both.http.get("/v1/keys", params={"after": page["next"]}).json()
    listed = page["keys"] + rest["keys"]
    assert rest["next"] is None
    assert {one["name"] for one in listed} == {"tests", "web shop"}
    assert all("key" not in one and key["key"] not in str(one) for one in listed)
    revoked = both.http.delete(f"/v1/keys/{key['id']}").json()
    assert TIME.fullmatch(revoked["revoked"])
    check_error(caller.post("/v1/experiments/colours/decisions"), 401)
    assert both.http.delete(f"/v1/keys/{key['id']}").json() == revoked
    check_error(both.http.delete("/v1/keys/aaaaaaaaaaaa"), 404, "unknown-key")
    check_error(both.http.delete("/v1/keys/a%00b"), 404, "unknown-key")


def test_wrong_keys_are_not_made(lasting: Api) -> None:
    for body in (
        {"name": "", "roles": ["read"]},
        {"name": "x", "roles": []},
        {"name": "x", "roles": ["root"]},
        {"name": "x", "roles": ["admin"], "experiments": ["colours"]},
        {"name": "x", "roles": ["read"], "experiments": []},
        {"name": "x\0", "roles": ["read"]},
        {"name": "x", "roles": ["read"], "experiments": ["a/b"]},
        {"name": "x"},
    ):
        check_error(lasting.http.post("/v1/keys", json=body), 422)
