"""The API as its callers use it: experiments, decisions, rewards, keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

import pytest

from ocucb import Bandit, OCUCBn
from ocucb.noise import NOISES
from ocucb.policies import POLICIES
from service.helpers import ManualClock
from service.web.api import TIME, Api, check_error

PARAMETERS = {"horizon": 1000}


def test_decisions_and_rewards(both: Api) -> None:
    both.create()
    bandit = Bandit(OCUCBn(), ["red", "green", "blue"], seed=1)
    for number in range(20):
        decision = both.decide()
        assert decision["arm"] == bandit.choose()
        answer = both.reward(decision["id"], number / 20)
        assert answer.json() == {"decision": decision["id"], "experiment": "colours", "outcome": "counted"}
        bandit.learn(decision["arm"], number / 20)
    known = decision["statistics"]
    assert known["mean"] is not None
    assert known["index"] > known["mean"]
    assert known["effective_arms"] > 1
    assert TIME.fullmatch(decision["at"])
    assert (decision["deadline"], decision["unit"], decision["repeated"]) == (None, None, False)
    seen = both.http.get("/v1/experiments/colours/arms").json()
    assert [arm["arm"] for arm in seen["arms"]] == ["red", "green", "blue"]
    assert [arm["statistics"]["pulls"] for arm in seen["arms"]] == bandit.pulls.tolist()
    assert [arm["statistics"]["mean"] for arm in seen["arms"]] == bandit.means.tolist()
    both.verify()


def test_a_memory(both: Api) -> None:
    both.create(memory={"name": "window", "rounds": 2})
    path = "/v1/experiments/colours"
    assert both.http.get(path).json()["memory"] == {"name": "window", "rounds": 2}
    for value in (1.0, 0.0, 0.5):
        both.reward(both.decide()["id"], value)
    arms = {one["arm"]: one["statistics"] for one in both.http.get(f"{path}/arms").json()["arms"]}
    assert [known["mean"] for known in arms.values()] == [None, 0.0, 0.5]
    assert [known["pulls"] for known in arms.values()] == [1, 1, 1]
    assert both.decide()["arm"] == "red"  # forgotten, so it is tried again
    check_error(both.http.get(f"{path}/verdict"), 422, "bad-parameter")
    check_error(both.http.post(f"{path}/winner", json={"confidence": 0.9}), 422, "bad-parameter")
    assert 'ocucb_verdicts_total{outcome="bad-parameter"} 1.0' in both.http.get("/metrics").text
    wrong: list[Any] = [
        "window",
        {"name": "window"},
        {"name": "window", "rounds": 0},
        {"name": "discount", "factor": 1},
    ]
    for memory in (*wrong, {"name": "sieve"}, {"name": "window", "rounds": 10**6}, {"name": "window", "rounds": 1.5}):
        body = {"name": "x", "arms": ["a"], "memory": memory}
        check_error(both.http.post("/v1/experiments", json=body), 422)
    both.verify()


def test_some_arms_shares_and_probabilities(both: Api) -> None:
    both.create(shares=[{"arm": "blue", "share": 0.25}])
    path = "/v1/experiments/colours"
    made = both.http.post(f"{path}/decisions", json={"among": ["green", "red"]}).json()["decisions"]
    assert (made[0]["arm"], made[0]["probability"]) == ("red", 1.0)
    made = both.http.post(f"{path}/decisions", json={"count": 3, "different": True}).json()["decisions"]
    assert {one["arm"] for one in made} == {"red", "green", "blue"}
    check_error(both.http.post(f"{path}/decisions", json={"among": ["pink"]}), 422, "bad-arm")
    check_error(both.http.post(f"{path}/decisions", json={"among": []}), 422)
    check_error(both.http.post(f"{path}/decisions", json={"count": 4, "different": True}), 422, "bad-arm")
    assert both.http.get(path).json()["shares"] == [{"arm": "blue", "share": 0.25}]
    changed = both.http.post(f"{path}/shares", json={"shares": [{"arm": "red", "share": 0.5}]})
    assert changed.status_code == 200
    assert both.http.get(path).json()["shares"] == [{"arm": "red", "share": 0.5}]
    wrong = {"shares": [{"arm": "red", "share": 0.5}, {"arm": "blue", "share": 0.5}]}
    check_error(both.http.post(f"{path}/shares", json=wrong), 422)
    for row in both.http.get(f"{path}/export").text.splitlines():
        assert '"probability":' in row
    assert "probability" in both.http.get(f"{path}/export?format=csv").text.splitlines()[0].split(",")
    both.verify()


def test_a_verdict_and_its_winner_over_http(both: Api) -> None:
    both.create(noise="bernoulli")
    path = "/v1/experiments/colours"
    found = both.http.get(f"{path}/verdict").json()
    assert (found["best"], found["confidence"], found["rounds_needed"]) == (None, 0.95, None)
    assert found["contenders"] == ["red", "green", "blue"]
    pulls = [{"arm": arm, "reward": float(arm == "green")} for arm in ("red", "green", "blue")] * 200
    both.http.post(f"{path}/import", json={"log": pulls})
    found = both.http.get(f"{path}/verdict?confidence=0.9").json()
    assert (found["best"], found["ruled_out"], found["rounds_needed"]) == ("green", ["red", "blue"], 0)
    check_error(both.http.get(f"{path}/verdict?confidence=1"), 422)
    assert both.http.post(f"{path}/winner", json={"confidence": 0.95}).status_code == 200
    assert {both.decide()["arm"] for _ in range(5)} == {"green"}
    about = both.http.get(path).json()
    assert (about["winner"], about["winner_confidence"]) == ("green", 0.95)
    assert 'ocucb_verdicts_total{outcome="winner"} 1.0' in both.http.get("/metrics").text
    both.verify()


def test_what_is_not_known_is_null(api: Api) -> None:
    api.create()
    first = api.decide()
    assert [first["statistics"][name] for name in ("pulls", "mean", "index", "effective_arms")] == [0, None, None, None]
    assert api.http.get("/v1/experiments/colours/arms").json()["arms"][1]["statistics"]["index"] is None


def test_an_empty_body_asks_for_one_decision(api: Api) -> None:
    api.create()
    answer = api.http.post("/v1/experiments/colours/decisions")
    assert answer.status_code == 200
    assert len(answer.json()["decisions"]) == 1


def test_many_decisions_at_once_are_all_different(api: Api) -> None:
    api.create()
    made = api.http.post("/v1/experiments/colours/decisions", json={"count": 1000}).json()["decisions"]
    assert len({decision["id"] for decision in made}) == 1000
    check_error(api.http.post("/v1/experiments/colours/decisions", json={"count": 1001}), 422)


def test_a_key_gives_the_same_decision_again(both: Api) -> None:
    both.create()
    path, key = "/v1/experiments/colours/decisions", {"Idempotency-Key": "order 7"}
    first = both.http.post(path, headers=key).json()["decisions"][0]
    again = both.http.post(path, headers=key).json()["decisions"][0]
    assert again == {**first, "repeated": True}
    assert both.http.post(path).json()["decisions"][0]["id"] != first["id"]
    check_error(both.http.post(path, headers=key, json={"count": 2}), 409, "key-reused")


def test_a_key_creates_an_experiment_once(api: Api) -> None:
    body, key = {"name": "once", "arms": ["a", "b"]}, {"Idempotency-Key": "k"}
    assert api.http.post("/v1/experiments", json=body, headers=key).status_code == 201
    assert api.http.post("/v1/experiments", json=body, headers=key).status_code == 201
    check_error(api.http.post("/v1/experiments", json=body), 409, "name-taken")


def test_a_unit_sticks_to_its_arm(api: Api) -> None:
    api.create(sticky=3600.0)
    first = api.decide(unit="visitor 1")
    assert api.decide(unit="visitor 1") == {**first, "repeated": True}
    assert api.decide(unit="visitor 2")["id"] != first["id"]
    check_error(api.http.post("/v1/experiments/colours/decisions", json={"unit": "a", "count": 2}), 422, "bad-request")


def test_a_reward_counts_once(api: Api) -> None:
    api.create()
    decision = api.decide()["id"]
    outcomes = [api.reward(decision, 0.5).json()["outcome"] for _ in range(2)]
    assert outcomes == ["counted", "repeated"]
    error = check_error(api.reward(decision, 0.75), 409, "reward-conflict")
    assert "already has the reward 0.5" in error["message"]
    assert api.http.get("/v1/experiments/colours").json()["counts"] == {"decisions": 1, "rewards": 1, "total": 0.5}


def test_many_rewards_are_answered_one_by_one(both: Api) -> None:
    both.create()
    ids = [both.decide()["id"] for _ in range(3)]
    both.reward(ids[0], 1.0)
    given = [(ids[0], 1.0), (ids[1], 0.0), (ids[1], 5.0), ("1-2-wrong", 1.0), (ids[2], -3.5)]
    body = {"rewards": [{"decision": decision, "reward": reward} for decision, reward in given]}
    results = both.http.post("/v1/rewards", json=body).json()["results"]
    assert [result["decision"] for result in results] == [decision for decision, _ in given]
    said = [result.get("outcome") or result["error"]["code"] for result in results]
    assert said == ["repeated", "counted", "reward-conflict", "unknown-decision", "counted"]
    assert set(results[3]["error"]) == {"code", "message"}
    both.verify()


@pytest.mark.parametrize(("late", "expected"), [("refuse", 410), ("accept", 200)])
def test_a_late_reward_is_told_so(serve: Callable[..., Api], late: str, expected: int) -> None:
    clock = ManualClock()
    api = serve(now=clock)
    api.create(window=60.0, late=late)
    decision = api.decide()
    assert decision["deadline"] == "2023-11-14T22:14:20.000000Z"
    clock.advance(61)
    answer = api.reward(decision["id"], 1.0)
    if expected == 410:
        check_error(answer, 410, "too-late")
    else:
        assert answer.json()["outcome"] == "late"
    api.verify()


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_by_its_name_and_with_parameters(lasting: Api, name: str) -> None:
    known = {field.name: field.default for field in fields(POLICIES[name])}
    needs = {key: value for key, value in PARAMETERS.items() if key in known}
    body: dict[str, Any] = {"name": f"by {name}", "arms": [1, 2], "policy": {"name": name, **needs}}
    if POLICIES[name](**needs).rule().variance_bound is not None:
        body["noise"] = "bernoulli"  # or another whose rewards have a range
    assert lasting.http.post("/v1/experiments", json=body).status_code == 201
    seen = lasting.http.get(f"/v1/experiments/by {name}").json()
    assert seen["policy"]["name"] == name
    assert set(seen["policy"]) == {"name", *known}
    again = lasting.http.post("/v1/experiments", json={**body, "name": f"again {name}", "policy": seen["policy"]})
    assert again.status_code == 201
    plain = lasting.http.post("/v1/experiments", json={**body, "name": f"plain {name}", "policy": name})
    assert plain.status_code == (422 if MISSING in known.values() else 201), plain.text
    lasting.decide(f"by {name}")


@pytest.mark.parametrize("name", NOISES)
def test_every_noise(lasting: Api, name: str) -> None:
    body = {"name": f"noise {name}", "arms": [1, 2], "noise": name}
    assert lasting.http.post("/v1/experiments", json=body).status_code == 201
    seen = lasting.http.get(f"/v1/experiments/noise {name}").json()
    assert seen["noise"]["name"] == name
    body = {"name": f"noise again {name}", "arms": [1, 2], "noise": seen["noise"]}
    assert lasting.http.post("/v1/experiments", json=body).status_code == 201


def test_an_experiment_is_read_as_it_was_created(api: Api) -> None:
    given = {
        "policy": {"name": "ocucb-n", "eta": 1.5, "rho": 0.75, "shrink": "none"},
        "noise": {"name": "bounded", "low": -1.0, "high": 2.0},
        "window": 3600.0,
        "on_expiry": -0.5,
        "late": "accept",
        "sticky": 60.0,
        "seed": 2**63 - 1,
        "metadata": {"owner": "Ada", "unicode": "Ωμέγα 🎲"},
    }
    api.create("headlines", arms=[{"label": "plain", "metadata": [1, {"a": None}]}, "loud", 7], **given)
    seen = api.http.get("/v1/experiments/headlines").json()
    assert {name: seen[name] for name in given} == given
    assert (seen["name"], seen["status"], seen["entries"], seen["rounds"]) == ("headlines", "active", 1, 0)
    arms = api.http.get("/v1/experiments/headlines/arms").json()["arms"]
    assert [(arm["arm"], arm["metadata"]) for arm in arms] == [("plain", [1, {"a": None}]), ("loud", None), (7, None)]


def test_arms_come_and_go(both: Api) -> None:
    both.create()
    changed = both.http.post("/v1/experiments/colours/arms", json={"arm": "black", "metadata": {"hex": "#000"}})
    assert changed.json() == {"experiment": "colours", "entries": 2, "status": "active"}
    assert both.http.post("/v1/experiments/colours/arms/retire", json={"arm": "red"}).status_code == 200
    seen = both.http.get("/v1/experiments/colours/arms").json()["arms"]
    assert [(arm["arm"], arm["retired"]) for arm in seen] == [
        ("red", True),
        ("green", False),
        ("blue", False),
        ("black", False),
    ]
    assert [arm["metadata"] for arm in seen] == [None, None, None, {"hex": "#000"}]
    assert [arm["statistics"]["pulls"] for arm in seen] == [0, 0, 0, 0]
    assert {both.decide()["arm"] for _ in range(30)} == {"green", "blue", "black"}
    check_error(both.http.post("/v1/experiments/colours/arms", json={"arm": "black"}), 422, "bad-arm")
    check_error(both.http.post("/v1/experiments/colours/arms/retire", json={"arm": "pink"}), 422, "bad-arm")
    both.verify()


def test_pages_of_arms(api: Api) -> None:
    api.create(arms=list(range(250)))
    found: list[int] = []
    page: dict[str, Any] = {"next": 0}
    while page["next"] is not None:
        page = api.http.get(f"/v1/experiments/colours/arms?after={page['next']}&limit=99").json()
        found += [arm["arm"] for arm in page["arms"]]
        api.http.post("/v1/experiments/colours/arms/retire", json={"arm": len(found) // 100})
    assert found == list(range(250)), "an arm was skipped because another was retired"
    assert api.http.get("/v1/experiments/colours/arms?after=9007199254740992").json() == {"arms": [], "next": None}


def test_what_was_made_says_where_it_is(api: Api) -> None:
    made = api.http.post("/v1/experiments", json={"name": "a & b?", "arms": ["x"]})
    assert (made.status_code, made.headers["location"]) == (201, "/v1/experiments/a%20%26%20b%3F")
    assert api.http.get(made.headers["location"]).json()["name"] == "a & b?"
    key = api.http.post("/v1/keys", json={"name": "k", "roles": ["read"]})
    assert key.headers["location"] == f"/v1/keys/{key.json()['id']}"


def test_an_idempotency_key_belongs_to_an_api_key(both: Api) -> None:
    """Two callers who choose the same word do not get each other's decisions."""
    both.create()
    callers = [both.client(both.key("decide")) for _ in range(2)]
    path, headers = "/v1/experiments/colours/decisions", {"Idempotency-Key": "1"}
    first, second = (one.post(path, headers=headers).json()["decisions"][0] for one in callers)
    assert first["id"] != second["id"]
    for caller, made in zip(callers, (first, second), strict=True):
        again = caller.post(path, headers=headers).json()["decisions"][0]
        assert (again["id"], again["repeated"]) == (made["id"], True)
    other = callers[1].post(path, headers={"Idempotency-Key": "2"}, json={"unit": "u"})
    assert callers[0].post(path, headers={"Idempotency-Key": "2"}).status_code == other.status_code == 200
    both.verify()


def test_an_experiment_pauses_resumes_and_ends(api: Api) -> None:
    api.create()
    decision = api.decide()["id"]
    decide = "/v1/experiments/colours/decisions"
    assert api.http.post("/v1/experiments/colours/pause").json()["status"] == "paused"
    check_error(api.http.post(decide), 409, "paused")
    assert api.reward(decision, 1.0).json()["outcome"] == "counted"
    assert api.http.post("/v1/experiments/colours/resume").json()["status"] == "active"
    api.decide()
    assert api.http.post("/v1/experiments/colours/archive").json()["status"] == "archived"
    assert api.http.post("/v1/experiments/colours/archive").status_code == 200
    check_error(api.http.post(decide), 409, "archived")
    check_error(api.http.post("/v1/experiments/colours/resume"), 409, "archived")
    assert api.http.get("/v1/experiments/colours").json()["status"] == "archived"


def test_a_policy_with_a_horizon_ends(api: Api) -> None:
    api.create(policy={"name": "moss", "horizon": 3})
    for _ in range(3):
        api.decide()
    check_error(api.http.post("/v1/experiments/colours/decisions"), 409, "horizon-reached")


def test_pages_of_experiments(both: Api) -> None:
    names = sorted(f"number {number:02d}" for number in range(25))
    for name in names:
        both.create(name)
    found: list[str] = []
    after: str | None = ""
    while after is not None:
        page = both.http.get("/v1/experiments", params={"after": after, "limit": 7}).json()
        found += [one["name"] for one in page["experiments"]]
        after = page["next"]
    assert found == names
    assert page["experiments"][0]["status"] == "active"
    assert page["experiments"][0]["entries"] == 1
    assert TIME.fullmatch(page["experiments"][0]["created"])
    few = both.client(both.key("read", experiments=["number 03", "number 07", "nowhere"]))
    assert [one["name"] for one in few.get("/v1/experiments?limit=1").json()["experiments"]] == ["number 03"]
    assert few.get("/v1/experiments?limit=1").json()["next"] == "number 03"
    last = few.get("/v1/experiments", params={"after": "number 03"}).json()
    assert ([one["name"] for one in last["experiments"]], last["next"]) == (["number 07"], None)


def test_names_of_every_kind(lasting: Api) -> None:
    for name in ("naïve Ωμέγα 🎲", "a%2Fb", "?x=1#y", "'; DROP TABLE log; --", "a b", "%", "+", "~", "x" * 200):
        lasting.create(name)
        raw = "/v1/experiments/" + "".join(f"%{byte:02X}" for byte in name.encode())
        assert lasting.http.get(raw).json()["name"] == name
        assert lasting.http.post(f"{raw}/decisions").json()["decisions"][0]["experiment"] == name
    listed = lasting.http.get("/v1/experiments?limit=1000").json()["experiments"]
    assert "naïve Ωμέγα 🎲" in [one["name"] for one in listed]


def test_request_ids_are_the_callers_if_they_are_plain(lasting: Api) -> None:
    for given, kept in (("abc-1.2_X", True), ("x" * 64, True), ("x" * 65, False), ("a b", False), ("", False)):
        answer = lasting.http.get("/healthz", headers={"X-Request-Id": given})
        assert (answer.headers["x-request-id"] == given) is kept
    ids = {lasting.http.get("/healthz").headers["x-request-id"] for _ in range(20)}
    assert len(ids) == 20


def test_every_answer_has_the_headers(lasting: Api) -> None:
    for path in ("/healthz", "/v1/experiments", "/nowhere", "/docs", "/openapi.json", "/metrics"):
        headers = lasting.http.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert "'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
    assert lasting.http.get("/v1/rewards").headers["content-security-policy"].startswith("default-src 'none'")
