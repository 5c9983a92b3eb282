"""Corrections and partial rewards over the API."""

from __future__ import annotations

import json
from typing import Any

from service.web.api import Api, check_error


def test_rewards_are_corrected_and_voided(both: Api) -> None:
    both.create()
    made = [both.decide() for _ in range(4)]
    for one in made[:3]:
        assert both.reward(one["id"], 5.0).status_code == 200
    given = [
        {"decision": made[0]["id"], "reward": 0.5},
        {"decision": made[1]["id"], "reward": None},
        {"decision": made[2]["id"], "reward": 5.0},
        {"decision": made[3]["id"], "reward": 1.0},
        {"decision": "1-1-aaaaaaaaaaaaaaaaaaaaaa", "reward": 1.0},
    ]
    answer = both.client(both.key("correct")).post("/v1/rewards/correct", json={"corrections": given})
    assert answer.status_code == 200
    results = answer.json()["results"]
    assert [one.get("outcome") for one in results] == ["corrected", "corrected", "repeated", None, None]
    assert [one["error"]["code"] for one in results[3:]] == ["no-reward", "unknown-decision"]
    lines = [json.loads(line) for line in both.http.get("/v1/experiments/colours/export").text.splitlines()]
    assert [line["outcome"] for line in lines] == ["corrected", "void", "reward", "pending"]
    assert [line["reward"] for line in lines] == [0.5, None, 5.0, None]
    assert both.http.get("/v1/experiments/colours").json()["counts"] == {"decisions": 4, "rewards": 2, "total": 5.5}
    assert 'ocucb_corrections_total{outcome="corrected"} 2.0' in both.http.get("/metrics").text
    both.verify()


def test_who_may_correct(lasting: Api) -> None:
    decision = lasting.decide()["id"]
    lasting.reward(decision, 1.0)
    body = {"corrections": [{"decision": decision, "reward": 0.0}]}
    for role in ("reward", "decide", "read"):
        check_error(lasting.client(lasting.key(role)).post("/v1/rewards/correct", json=body), 403)
    blind = lasting.client(lasting.key("correct", experiments=["another"]))
    (result,) = blind.post("/v1/rewards/correct", json=body).json()["results"]
    assert result["error"]["code"] == "unknown-decision"
    bodies: list[dict[str, Any]] = [{}, {"corrections": []}, {"corrections": [{"decision": decision}]}]
    for wrong in bodies:
        check_error(lasting.http.post("/v1/rewards/correct", json=wrong), 422)


def test_partial_rewards(both: Api) -> None:
    both.create(window=3600, partial_rewards=True)
    assert both.http.get("/v1/experiments/colours").json()["partial_rewards"] is True
    decision = both.decide()["id"]
    parts = [{"decision": decision, "reward": 0.25, "part": name} for name in ("click", "order", "click")]
    results = both.http.post("/v1/rewards", json={"rewards": parts}).json()["results"]
    assert [one["outcome"] for one in results] == ["counted", "counted", "repeated"]
    check_error(both.reward(decision, 1.0), 422, "bad-request")
    one = {"decision": decision, "reward": 0.5, "part": "later"}
    assert both.http.post("/v1/rewards", json=one).json()["outcome"] == "counted"
    check_error(both.http.post("/v1/experiments", json={"name": "x", "arms": ["a"], "partial_rewards": True}), 422)
    both.verify()
