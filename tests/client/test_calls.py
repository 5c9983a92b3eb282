"""Every call against the real service, by both clients."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from client.proxy import Proxy
from ocucb import UCB, Discount, Gaussian
from ocucb_client import (
    Client,
    ClientError,
    ConflictError,
    Decision,
    DeniedError,
    InvalidError,
    NotFoundError,
    TooLateError,
    calls,
)

NOWHERE = "1-1-aaaaaaaaaaaaaaaaaaaaaa"


def test_a_decision_says_what_to_play_and_why(client: Any, admin: Client, name: str) -> None:
    before = datetime.now(UTC)
    first = client.decide(name)
    assert isinstance(first, Decision)
    assert (first.experiment, first.arm, first.unit) == (name, "red", None)
    known = first.statistics
    assert (known.pulls, known.mean, known.index, known.effective_arms) == (0, None, None, None)
    assert (first.deadline, first.repeated) == (None, False)
    assert before - timedelta(seconds=5) < first.at < datetime.now(UTC) + timedelta(seconds=5)
    client.reward(first, 0.25)
    for decision in client.decide(name, count=2):
        client.reward(decision, 0.0)
    fourth = client.decide(name)
    known = fourth.statistics
    assert (fourth.arm, known.pulls, known.mean) == ("red", 1, 0.25)
    assert known.index > 0.25
    assert 1.0 <= known.effective_arms <= 3.0
    assert admin.experiment(name).decisions == 4


def test_some_arms_different_ones_shares_and_probabilities(client: Any, admin: Client, name: str) -> None:
    assert client.decide(name, among=["blue", "green"]).arm == "green"
    assert [one.arm for one in client.decide(name, count=2, different=True)] == ["red", "blue"]
    admin.create(f"{name} shared", ["control", 7], shares={"control": 0.25, 7: 0.1})
    admin.set_shares(f"{name} shared", {7: 0.5})
    assert admin.experiment(f"{name} shared").shares == {7: 0.5}
    made = client.decide(f"{name} shared")
    assert made.probability in (0.5, 1.0)
    assert next(iter(admin.export(f"{name} shared"))).probability == made.probability
    with pytest.raises(InvalidError):
        admin.set_shares(f"{name} shared", {7: 0.6, "control": 0.4})


@pytest.mark.parametrize("wrong", ["red", 3, [], [0.5], [True]])
def test_arms_that_are_no_list_of_labels_are_refused_before_they_are_sent(client: Any, name: str, wrong: Any) -> None:
    with pytest.raises(InvalidError, match=r"among must|a label must be a string or an integer"):
        client.decide(name, among=wrong)


def test_units_that_are_no_list_are_refused_before_they_are_sent(client: Any, name: str) -> None:
    for wrong in ("visitor", 3, [], [7]):
        with pytest.raises(InvalidError, match="units must be a list of"):
            client.decide_for_units(name, wrong)


def test_a_memory(client: Any, admin: Client, name: str) -> None:
    given: dict[str, Any] = {"w": {"name": "window", "rounds": 2}, "d": Discount(0.75)}
    for which, memory in given.items():
        admin.create(f"{name} {which}", ["red", "green"], memory=memory)
    made = [admin.experiment(f"{name} {which}").memory for which in given]
    assert made == [{"name": "window", "rounds": 2}, {"name": "discount", "factor": 0.75}]
    assert admin.experiment(name).memory is None
    for value in (1.0, 0.0, 0.5):
        client.reward(client.decide(f"{name} w"), value)
    assert [arm.statistics.mean for arm in admin.arms(f"{name} w")] == [0.5, 0.0]
    with pytest.raises(InvalidError, match="there are no verdicts and no intervals: what drifts"):
        admin.verdict(f"{name} w")
    decision = client.decide(f"{name} d")
    client.reward(decision, 1.0)
    (refused,) = admin.correct_rewards([(decision, None)])
    assert isinstance(refused.error, ConflictError)
    assert "can be corrected: with Discount(factor=0.75)" in str(refused.error)


def test_a_verdict_and_its_winner(client: Any, admin: Client, name: str) -> None:
    admin.import_log(name, [("red", 0.0), ("green", 1.0), ("blue", 0.0)] * 300)
    verdict = admin.verdict(name, confidence=0.99)
    assert (verdict.best, verdict.contenders, verdict.ruled_out) == ("green", ("green",), ("red", "blue"))
    assert (verdict.experiment, verdict.confidence, verdict.rounds_needed) == (name, 0.99, 0)
    admin.play_winner(name, 0.99)
    assert {decision.arm for decision in client.decide(name, count=20)} == {"green"}
    assert (admin.experiment(name).winner, admin.experiment(name).winner_confidence) == ("green", 0.99)
    admin.play_winner(name, None)
    assert admin.experiment(name).winner is None


def test_a_window_is_a_deadline(client: Any, admin: Client, name: str) -> None:
    admin.create(f"{name} short", ["a"], window=3600.0)
    decision = client.decide(f"{name} short")
    assert decision.deadline == decision.at + timedelta(hours=1)


def test_many_decisions_at_once(client: Any, admin: Client, name: str) -> None:
    decisions = client.decide(name, count=7)
    assert [decision.arm for decision in decisions[:3]] == ["red", "green", "blue"]
    assert len({decision.id for decision in decisions}) == 7
    assert len(client.decide(name, count=1)) == 1
    assert admin.experiment(name).decisions == 8


def test_the_same_unit_and_the_same_key_get_the_same_decision(client: Any, admin: Client, name: str) -> None:
    admin.create(f"{name} sticky", ["a", "b"], sticky=3600.0)
    one, two = (client.decide(f"{name} sticky", "Ada") for _ in range(2))
    assert (one.id, one.unit, one.repeated, two.repeated) == (two.id, "Ada", False, True)
    one, two = (client.decide(name, idempotency_key="order 17") for _ in range(2))
    assert (one.id, two.repeated) == (two.id, True)
    assert (
        client.decide(name, count=2, idempotency_key="x")[1].id
        == client.decide(name, count=2, idempotency_key="x")[1].id
    )
    with pytest.raises(ConflictError, match="idempotency key") as caught:
        client.decide(name, "somebody", idempotency_key="order 17")
    assert caught.value.code == "key-reused"


def test_a_reward_counts_once(client: Any, admin: Client, name: str) -> None:
    decision = client.decide(name)
    told = client.reward(decision, 1)
    assert (told.decision, told.experiment, told.outcome) == (decision.id, name, "counted")
    assert client.reward(decision.id, np.float64(1.0)).outcome == "repeated"
    with pytest.raises(ConflictError) as caught:
        client.reward(decision, 0.5)
    error = caught.value
    assert (error.code, error.status) == ("reward-conflict", 409)
    assert "already has the reward 1.0" in error.message
    assert re.fullmatch("[0-9a-f]{16}", error.request_id or "")
    assert f"request {error.request_id}" in str(error)
    assert (admin.experiment(name).rewards, admin.experiment(name).total) == (1, 1.0)


def test_many_rewards_are_each_answered(client: Any, proxy: Proxy, admin: Client, name: str) -> None:
    decisions = [decision for _ in range(3) for decision in client.decide(name, count=800)]
    items: list[tuple[Any, float]] = [(decision, number % 2) for number, decision in enumerate(decisions)]
    items[700] = (NOWHERE, 1.0)
    items[1500] = (decisions[1499].id, 0.25)
    results = client.rewards(items)
    assert [result.decision for result in results] == [getattr(item, "id", item) for item, _ in items]
    wrong = {number: result.error for number, result in enumerate(results) if result.error is not None}
    assert {number: type(error) for number, error in wrong.items()} == {700: NotFoundError, 1500: ConflictError}
    assert {result.outcome for result in results} == {"counted", None}
    sizes = [len(json.loads(seen.body)["rewards"]) for seen in proxy.seen if seen.path == "/v1/rewards"]
    assert sizes == [1000, 1000, 400]
    assert admin.experiment(name).rewards == 2398
    assert client.rewards([]) == []


def test_a_reward_after_its_window(client: Any, admin: Client, name: str) -> None:
    admin.create(f"{name} refuses", ["a"], window=0.001)
    admin.create(f"{name} accepts", ["a"], window=0.001, late="accept", on_expiry=0.5)
    with pytest.raises(TooLateError) as caught:
        _late(client, f"{name} refuses")
    assert (caught.value.status, caught.value.code) == (410, "too-late")
    assert _late(client, f"{name} accepts").outcome == "late"


def _late(client: Any, name: str) -> Any:
    decision = client.decide(name)
    while datetime.now(UTC) <= decision.deadline:
        pass
    return client.reward(decision, 1.0)


def test_an_experiment_as_it_was_created(client: Any, name: str) -> None:
    odd = f"{name}: 100 % größer? #1 & <b>; a=b+c"
    changed = client.create(
        odd,
        {"plain": {"author": "Ada"}, 7: None, "%2F": None},
        UCB(2.5),
        Gaussian(0.5),
        window=60,
        on_expiry=0.125,
        late="accept",
        sticky=30,
        metadata={"team": "checkout"},
        seed=5,
    )
    assert (changed.experiment, changed.entries, changed.status) == (odd, 1, "active")
    assert client.decide(odd).experiment == odd
    found = client.experiment(odd)
    assert (found.name, found.status, found.entries, found.rounds) == (odd, "active", 2, 1)
    assert (found.decisions, found.rewards, found.total) == (1, 0, 0.0)
    assert found.policy == {"name": "ucb", **UCB(2.5).to_dict()["parameters"]}
    assert found.noise == {"name": "gaussian", "scale": 0.5}
    assert (found.window, found.on_expiry, found.late, found.sticky) == (60.0, 0.125, "accept", 30.0)
    assert (found.metadata, found.seed) == ({"team": "checkout"}, 5)
    arms = list(client.arms(odd))
    assert [arm.arm for arm in arms] == ["plain", 7, "%2F"]
    assert arms[0].metadata == {"author": "Ada"}


def test_policies_as_the_service_writes_them(client: Any, name: str) -> None:
    client.create(f"{name} by name", ["a"], "thompson-sampling", {"name": "bounded", "low": 0, "high": 5})
    found = client.experiment(f"{name} by name")
    assert (found.policy["name"], found.noise) == ("thompson-sampling", {"name": "bounded", "low": 0.0, "high": 5.0})


def test_pages_are_followed(client: Any, admin: Client, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "ITEMS_PER_PAGE", 2)
    admin.create(f"{name} wide", range(7))
    admin.retire_arm(f"{name} wide", 3)
    arms = list(client.arms(f"{name} wide"))
    assert [arm.arm for arm in arms] == [0, 1, 2, 3, 4, 5, 6]
    assert [arm.retired for arm in arms] == [False] * 3 + [True] + [False] * 3
    first, last = arms[0].statistics, arms[3].statistics
    assert (first.pulls, first.pending, first.mean) == (0, 0, None)
    assert (last.pulls, last.mean, last.index) == (0, None, None)
    found = {one.name: one for one in client.experiments()}
    assert list(found) == sorted(found)
    assert {name, f"{name} wide"} <= set(found)
    assert (found[name].status, found[name].entries) == ("active", 1)
    assert found[name].created.tzinfo is not None
    for number in range(3):
        admin.create_api_key(f"{name} {number}", ["read"])
    assert {f"{name} {number}" for number in range(3)} <= {key.name for key in client.api_keys()}


def test_a_life_of_changes(client: Any, name: str) -> None:
    assert client.pause(name).status == "paused"
    with pytest.raises(ConflictError, match="paused"):
        client.decide(name)
    assert client.resume(name).status == "active"
    client.add_arm(name, "yellow", {"hex": "#ff0"})
    assert [decision.arm for decision in client.decide(name, count=4)][-1] == "yellow"
    client.retire_arm(name, "red")
    assert [arm.arm for arm in client.arms(name) if arm.retired] == ["red"]
    with pytest.raises(InvalidError) as caught:
        client.add_arm(name, "yellow")
    assert (caught.value.status, caught.value.code) == (422, "bad-arm")
    assert client.archive(name).status == "archived"
    with pytest.raises(ConflictError) as ended:
        client.decide(name)
    assert ended.value.code == "archived"


def test_what_is_exported_can_be_imported(client: Any, name: str) -> None:
    decisions = client.decide(name, count=5)
    client.rewards([(decision, 0.5) for decision in decisions[:3]])
    rows = list(client.export(name))
    assert [row.decision for row in rows] == [decision.id for decision in decisions]
    assert [row.outcome for row in rows] == ["reward"] * 3 + ["pending"] * 2
    assert [row.reward for row in rows] == [0.5] * 3 + [None] * 2
    assert (rows[0].arm, rows[0].at, rows[0].outcome_at > rows[0].at) == ("red", decisions[0].at, True)
    assert (rows[4].outcome_at, rows[4].deadline) == (None, None)
    assert list(client.export(name, after=rows[2].seq)) == rows[3:]
    client.create(f"{name} again", ["red", "green", "blue"])
    client.import_log(f"{name} again", ((row.arm, row.reward) for row in rows if row.reward is not None))
    assert [(arm.statistics.pulls, arm.statistics.mean) for arm in client.arms(f"{name} again")] == [(1, 0.5)] * 3
    assert list(client.export(f"{name} again")) == []


def test_keys_are_made_used_and_revoked(client: Any, make: Callable[..., Any], name: str) -> None:
    made = client.create_api_key("shop", ["decide", "reward"], [name])
    assert (made.name, made.roles, made.experiments, made.revoked) == (
        "shop",
        frozenset(("decide", "reward")),
        frozenset((name,)),
        None,
    )
    assert made.text.startswith(f"ocucb_{made.id}_")
    assert made.text not in repr(made)
    narrow = make(api_key=made.text)
    narrow.reward(narrow.decide(name), 1.0)
    with pytest.raises(DeniedError) as caught:
        narrow.experiment(name)
    assert (caught.value.status, caught.value.code) == (403, "forbidden")
    with pytest.raises(NotFoundError):
        narrow.decide("no such thing")
    assert client.revoke_api_key(made.id).revoked is not None
    with pytest.raises(DeniedError) as revoked:
        narrow.decide(name)
    assert (revoked.value.status, revoked.value.code) == (401, "unauthorized")
    with pytest.raises(NotFoundError):
        client.revoke_api_key("a" * 12)


def test_what_the_service_refuses(client: Any, name: str) -> None:
    with pytest.raises(NotFoundError, match="no experiment 'nothing'") as caught:
        client.decide("nothing")
    assert (caught.value.status, caught.value.code) == (404, "unknown-experiment")
    with pytest.raises(NotFoundError, match="no decision"):
        client.reward(NOWHERE, 1.0)
    with pytest.raises(ConflictError, match="already an experiment"):
        client.create(name, ["a"])
    with pytest.raises(InvalidError, match=r"body\.count") as invalid:
        client.decide(name, count=0)
    assert isinstance(invalid.value, ValueError)
    assert issubclass(InvalidError, ClientError)
    with pytest.raises(InvalidError):
        client.create(f"{name} wrong", ["a"], {"name": "ucb", "no such parameter": 1})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "1", None, [1.0]])
def test_a_reward_must_be_a_number(client: Any, proxy: Proxy, value: Any) -> None:
    for give in (client.reward, client.reward_later, lambda decision, value: client.rewards([(decision, value)])):
        with pytest.raises(InvalidError, match="a reward must be a finite number"):
            give(NOWHERE, value)
    assert proxy.seen == []


@pytest.mark.parametrize("what", ["", ".", "..", None, "\ud800"])
def test_a_name_must_lead_where_it_says(client: Any, proxy: Proxy, what: Any) -> None:
    with pytest.raises(InvalidError, match="the name of an experiment"):
        client.experiment(what)
    assert proxy.seen == []


def test_what_cannot_be_sent_is_not_sent(client: Any, proxy: Proxy, name: str) -> None:
    proxy.seen.clear()
    with pytest.raises(InvalidError, match="a decision must be"):
        client.reward(17, 1.0)
    with pytest.raises(InvalidError, match="idempotency key"):
        client.decide(name, idempotency_key="grün")
    with pytest.raises(InvalidError, match="plain data"):
        client.add_arm(name, "x", {"set": {1}})
    with pytest.raises(InvalidError, match="twice"):
        client.create("x", ["a", "a"])
    assert proxy.seen == []


def test_rewards_are_corrected(client: Any, admin: Client, name: str) -> None:
    first, second, third = client.decide(name, count=3)
    client.rewards([(first, 1.0), (second.id, 1.0)])
    results = admin.correct_rewards([(first, 0.5), (second.id, None), (third, 1.0)])
    assert [result.outcome for result in results] == ["corrected", "corrected", None]
    assert isinstance(results[2].error, ConflictError)
    exported = {one.decision: (one.outcome, one.reward) for one in admin.export(name)}
    assert exported[first.id] == ("corrected", 0.5)
    assert exported[second.id] == ("void", None)


def test_rewards_in_parts(client: Any, admin: Client, name: str) -> None:
    admin.create(f"{name} in parts", ["a", "b"], window=3600.0, partial_rewards=True)
    assert admin.experiment(f"{name} in parts").partial_rewards
    decision = client.decide(f"{name} in parts")
    assert client.reward(decision, 0.5, "click").outcome == "counted"
    assert [one.outcome for one in client.rewards([(decision, 0.5, "click"), (decision, 1, "order")])] == [
        "repeated",
        "counted",
    ]
    client.reward_later(decision, 0.25, part="refund")
    client.flush()
    assert client.reward(decision, 0.25, "refund").outcome == "repeated"
    with pytest.raises(InvalidError):
        client.reward(decision, 1.0)
    with pytest.raises(InvalidError, match="a part"):
        client.reward(decision, 1.0, "")


def test_changes_are_listed(client: Any, admin: Client, name: str) -> None:
    client.add_arm(name, "black")
    newest = next(iter(admin.audit(name)))
    assert (newest.action, newest.experiment, newest.details["arm"]) == ("arm added", name, "black")
    assert [one.action for one in client.audit(name)] == ["arm added", "created"]
    made = client.create_api_key("short", ["read"], lifetime=60.0)
    assert made.expires - made.created == timedelta(seconds=60)


def test_many_units_and_a_span_of_time(client: Any, admin: Client, name: str) -> None:
    before = datetime.now(UTC)
    made = client.decide_for_units(name, ["a", "b"], among=["red"])
    assert [(one.unit, one.arm) for one in made] == [("a", "red"), ("b", "red")]
    assert len(list(client.export(name, since=before - timedelta(days=1)))) == 2
    assert list(client.export(name, until=before - timedelta(days=1))) == []
    with pytest.raises(InvalidError, match="time zone"):
        list(client.export(name, since=datetime(2026, 1, 1)))


def test_deleting_and_erasing(client: Any, admin: Client, name: str) -> None:
    client.decide(name, f"unit of {name}")
    assert client.erase_unit(f"unit of {name}") == 1
    assert client.erase_unit(f"unit of {name}", name) == 0
    with pytest.raises(ConflictError):
        client.delete(name)
    client.archive(name)
    client.delete(name)
    with pytest.raises(NotFoundError):
        admin.experiment(name)
