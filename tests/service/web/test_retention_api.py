"""Deleted experiments and erased units over the API."""

from __future__ import annotations

from service.web.api import Api, check_error


def test_an_experiment_is_archived_and_deleted(both: Api) -> None:
    both.create()
    both.create("others")
    both.decide()
    check_error(both.http.delete("/v1/experiments/colours"), 409, "not-archived")
    both.http.post("/v1/experiments/colours/archive")
    assert both.http.delete("/v1/experiments/colours").json() == {"experiment": "colours", "entries": 3}
    check_error(both.http.get("/v1/experiments/colours"), 404, "unknown-experiment")
    check_error(both.http.delete("/v1/experiments/colours"), 404, "unknown-experiment")
    assert [one["name"] for one in both.http.get("/v1/experiments").json()["experiments"]] == ["others"]
    assert both.http.get("/v1/audit").json()["changes"][0]["action"] == "deleted"
    check_error(both.client(both.key("read", "decide")).delete("/v1/experiments/others"), 403)
    both.create()
    both.verify()


def test_a_unit_is_erased(both: Api) -> None:
    both.create()
    both.decide(unit="Ada")
    assert both.http.post("/v1/units/erase", json={"unit": "Ada"}).json() == {"decisions": 1, "archives": []}
    assert "Ada" not in both.http.get("/v1/experiments/colours/export").text
    newest = both.http.get("/v1/audit").json()["changes"][0]
    assert (newest["action"], newest["details"]) == ("unit erased", {"decisions": 1})
    check_error(both.http.post("/v1/units/erase", json={"unit": "Ada", "experiment": "nowhere"}), 404)
    check_error(both.http.post("/v1/units/erase", json={"unit": ""}), 422)
    both.verify()
