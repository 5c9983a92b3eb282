"""Decisions and rewards: exactly once, whatever is asked twice, and in whatever company."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ocucb import Bandit, Bernoulli, OCUCBn
from ocucb.errors import ArmError, HorizonError, OcucbError, ParameterError, RewardError
from ocucb.policies import MOSS, UCB, Policy
from ocucb.service.callers import LoopCaller, PendingRequest
from ocucb.service.definition import Definition
from ocucb.service.engine import Limits
from ocucb.service.errors import (
    ArchivedError,
    KeyReusedError,
    NameTakenError,
    PausedError,
    RequestError,
    RewardConflictError,
    UnknownDecisionError,
    UnknownExperimentError,
)
from ocucb.service.experiment_cache import catch_up
from ocucb.service.records import SECOND
from ocucb.service.requests import AddArm, Create, Decide, ImportLog, Inspect, Request, RetireArm, Reward, SetStatus
from service.helpers import PATIENCE, ManualClock, Node, folded_state, live_state, wait_until


def test_a_decision_is_the_policys_choice_and_says_why(node: Node) -> None:
    node.create()
    bandit = Bandit(OCUCBn(), ["red", "green", "blue"], seed=1)
    for number in range(50):
        why = bandit.explain(bandit.peek())
        decision = node.decide()
        assert decision.arm == bandit.choose()
        assert decision.statistics == why == node.log()[-1].statistics
        node.ask(Reward(decision.id, number / 50))
        bandit.learn(decision.arm, number / 50)
    assert live_state(node)["bandit"] == bandit.to_dict()
    assert node.replay().decisions == 50


def test_a_reward_counts_once(node: Node) -> None:
    node.create()
    decision = node.decide()
    assert node.ask(Reward(decision.id, 0.5)).outcome == "counted"
    assert node.ask(Reward(decision.id, 0.5)).outcome == "repeated"
    with pytest.raises(RewardConflictError, match=r"already has the reward 0\.5, got 0\.75"):
        node.ask(Reward(decision.id, 0.75))
    assert node.kinds() == ["created", "decision", "reward"]
    assert node.ask(Inspect("colours")).pending == (0, 0, 0)


def test_a_key_gives_the_same_decisions_again(node: Node) -> None:
    node.create()
    first = node.ask(Decide("colours", count=5, idempotency_key="k"))
    again = node.ask(Decide("colours", count=5, idempotency_key="k"))
    assert [decision.id for decision in first] == [decision.id for decision in again]
    assert [decision.statistics for decision in first] == [decision.statistics for decision in again]
    assert not any(decision.repeated for decision in first)
    assert all(decision.repeated for decision in again)
    with pytest.raises(KeyReusedError):
        node.ask(Decide("colours", count=4, idempotency_key="k"))
    node.ask(SetStatus("colours", "paused"))
    assert node.ask(Decide("colours", count=5, idempotency_key="k"))[0].id == first[0].id
    assert node.kinds().count("decision") == 5


def test_a_key_belongs_to_its_experiment(start: Callable[..., Node]) -> None:
    """The same key in two experiments: asked one by one, in one batch, and again on a node that has just started."""
    node = start()
    for name in ("colours", "others"):
        node.create(name)
        node.play(2, name)
    first = {name: node.decide(name, idempotency_key="k") for name in ("colours", "others")}
    assert first["colours"].id != first["others"].id
    fresh = start()

    async def ask_together() -> list[PendingRequest]:
        requests = [Decide(name, idempotency_key=key) for key in ("k", "new") for name in first]
        return await LoopCaller(fresh.engine, PATIENCE).ask_all(requests)

    replies: list[Any] = asyncio.run(ask_together())
    again = [reply.answer[0] for reply in replies]
    assert [(one.id, one.experiment, one.repeated) for one in again[:2]] == [
        (first[name].id, name, True) for name in first
    ]
    assert [(one.experiment, one.repeated) for one in again[2:]] == [(name, False) for name in first]
    for name, decision in first.items():
        assert node.decide(name, idempotency_key="k").id == decision.id
        assert node.kinds(name).count("decision") == 4


def test_requests_that_come_together(node: Node) -> None:
    """Many callers at once, some wrong, some asking the same: each gets what it would have got alone."""
    node.create()
    open_decision = node.decide()
    requests: list[Request] = []
    for number in range(40):
        requests += [
            Decide("colours", idempotency_key=f"key {number % 20}"),
            Reward(open_decision.id, 0.5),
            Reward(open_decision.id, math.nan) if number % 2 else Reward(open_decision.id[:-1] + "!", 0.5),
            Decide("nowhere"),
            Decide("colours", count=3),
        ]

    def ask(request: Request) -> object:
        try:
            return node.ask(request)
        except OcucbError as problem:
            return problem

    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(ask, requests))
    kinds = [type(answer) for answer in answers]
    assert kinds.count(UnknownExperimentError) == 40
    assert kinds.count(UnknownDecisionError) == 20
    assert kinds.count(RewardError) + kinds.count(RewardConflictError) == 20
    assert node.kinds().count("decision") == 1 + 20 + 120
    assert node.kinds().count("reward") == 1
    assert node.replay().verified
    assert live_state(node) == folded_state(node.store)


def test_ids_that_are_none(node: Node) -> None:
    node.create()
    node.create("others")
    decision = node.decide()
    place, token = decision.id.rsplit("-", 1)[0], "A" * 22
    for wrong in ("", "x", decision.id + "x", f"{place}-{token}", f"9{decision.id}", f"1-1-{token}", "0-0-" + token):
        with pytest.raises(UnknownDecisionError):
            node.ask(Reward(wrong, 0.5))
    with pytest.raises(UnknownDecisionError):
        node.ask(Reward(decision.id, 0.5, visible=frozenset({"others"})))
    assert node.ask(Reward(decision.id, 0.5, visible=frozenset({"colours"}))).outcome == "counted"


def test_rewards_that_are_none(node: Node) -> None:
    node.create(noise=Bernoulli())
    decision = node.decide()
    for wrong in (math.nan, math.inf, 0.5, -1, "1", None, 10**400):
        with pytest.raises(RewardError):
            node.ask(Reward(decision.id, wrong))  # type: ignore[arg-type]
    assert node.ask(Reward(decision.id, 1)).outcome == "counted"
    assert node.kinds() == ["created", "decision", "reward"]


def test_names_are_taken_once(node: Node) -> None:
    what = {"arms": ("a", "b"), "metadata": {"owner": "me"}}
    first = node.ask(Create(Definition("x", **what), idempotency_key="k"))  # type: ignore[arg-type]
    assert node.ask(Create(Definition("x", **what), idempotency_key="k")) == first  # type: ignore[arg-type]
    with pytest.raises(KeyReusedError):
        node.ask(Create(Definition("x", ("a", "c")), idempotency_key="k"))
    with pytest.raises(NameTakenError):
        node.ask(Create(Definition("x", ("a", "b"))))


@pytest.mark.parametrize("name", ["ünïcode ☃", "'; DROP TABLE log; --", "..etc", "?a#b", "a" * 200, "%s", ":x"])
def test_odd_names_are_names(node: Node, name: str) -> None:
    node.create(name, arms=(name, 5, -3, ""[:0] + "ok"))
    decision = node.decide(name, unit=name, idempotency_key=name)
    assert node.decide(name, unit=name, idempotency_key=name).id == decision.id
    assert node.decide(name, count=1).arm == 5
    assert node.replay(name).verified


def test_what_cannot_be_asked() -> None:
    for name in ("", "a" * 201, "nul\0", "\ud800", 5, None):
        for make in (
            lambda name=name: Decide(name),
            lambda name=name: Definition(name, ("a",)),
            lambda name=name: Decide("x", idempotency_key=name if name is not None else ""),
        ):
            with pytest.raises(RequestError):
                make()
    for count in (0, -1, 1001, 1.5, True, "2"):
        with pytest.raises((RequestError, ParameterError)):
            Decide("x", count=count)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="one decision at a time"):
        Decide("x", count=2, unit="u")
    with pytest.raises(RequestError, match="1 to 100000"):
        ImportLog("x", ())
    with pytest.raises(RequestError):
        AddArm("x", "a", metadata=math.nan)


@pytest.mark.parametrize("name", ["a/b", "..", ".", "a\\b", " a", "a ", "line\nbreak", "\u202eleft"])
def test_names_that_are_no_part_of_a_url(name: str) -> None:
    with pytest.raises(RequestError, match="no slashes"):
        Definition(name, ("a",))


def test_definitions_that_are_none() -> None:
    for wrong in (
        {"arms": ()},
        {"arms": ("a", "a")},
        {"arms": ("a\0",)},
        {"arms": (2**70,)},
        {"window": 0.0},
        {"window": math.inf},
        {"window": 1e12},
        {"sticky": -1.0},
        {"late": "maybe"},
        {"on_expiry": "perhaps"},
        {"on_expiry": math.nan},
        {"noise": Bernoulli(), "on_expiry": 0.5},
        {"seed": -1},
        {"metadata": {"x": math.nan}},
        {"metadata": {"x": "y" * 20_000}},
    ):
        with pytest.raises(OcucbError):
            Definition(**{"name": "x", "arms": ("a", "b"), **wrong})  # type: ignore[arg-type]


def test_pause_resume_archive(node: Node) -> None:
    node.create()
    decisions = node.ask(Decide("colours", count=3))
    node.ask(SetStatus("colours", "paused"))
    node.ask(SetStatus("colours", "paused"))
    with pytest.raises(PausedError):
        node.decide()
    assert node.ask(Reward(decisions[0].id, 1.0)).outcome == "counted"
    node.ask(SetStatus("colours", "active"))
    node.decide()
    node.ask(SetStatus("colours", "archived"))
    for request in (
        Decide("colours"),
        SetStatus("colours", "active"),
        AddArm("colours", "x"),
        Reward(decisions[1].id, 1.0),
    ):
        with pytest.raises(ArchivedError):
            node.ask(request)
    assert node.ask(Reward(decisions[0].id, 1.0)).outcome == "repeated"
    assert node.ask(Inspect("colours")).status == "archived"
    assert [kind for kind in node.kinds() if kind not in ("decision", "reward")] == [
        "created",
        "paused",
        "resumed",
        "archived",
    ]
    assert node.replay().verified


def test_arms_come_and_go(node: Node, start: Callable[..., Node]) -> None:
    node.create()
    node.play(9)
    pending = node.ask(Decide("colours", count=6))
    gone = pending[0].arm
    node.ask(RetireArm("colours", gone))
    node.ask(RetireArm("colours", gone))
    node.ask(AddArm("colours", "violet", metadata={"hex": "#808"}))
    assert node.decide().arm == "violet"
    for number, decision in enumerate(pending):
        assert node.ask(Reward(decision.id, number / 8)).outcome == "counted"
    assert gone not in node.ask(Inspect("colours")).arms
    assert node.ask(Inspect("colours")).retired == (gone,)
    node.play(20)
    assert gone not in [entry.arm for entry in node.log()[-40:] if entry.kind == "decision"]
    node.ask(AddArm("colours", gone))
    view = node.ask(Inspect("colours"))
    assert sum(view.pending) == 1
    assert sum(view.pulls) == view.rounds == 9 + 6 + 1 + 20
    for wrong in (AddArm("colours", gone), RetireArm("colours", "unknown")):
        with pytest.raises(ArmError):
            node.ask(wrong)
    assert node.replay().verified
    assert live_state(node) == folded_state(node.store) == live_state(start())
    with node.store.read() as transaction:
        assert len(catch_up(transaction, 1, None, view.seq).labels) == 4


def test_a_log_is_imported_once(node: Node, start: Callable[..., Node]) -> None:
    node.create()
    pending = node.ask(Decide("colours", count=4))
    log = tuple((arm, number / 30) for number in range(30) for arm in ("red", "green"))
    node.ask(ImportLog("colours", log, idempotency_key="k"))
    node.ask(ImportLog("colours", log, idempotency_key="k"))
    view = node.ask(Inspect("colours"))
    assert (sum(view.pulls), sum(view.pending)) == (64, 4)
    with pytest.raises(ArmError):
        node.ask(ImportLog("colours", (("red", 1.0), ("unknown", 1.0))))
    with pytest.raises(RewardError):
        node.ask(ImportLog("colours", (("red", 1.0), ("green", math.nan))))
    for decision in pending:
        node.ask(Reward(decision.id, 0.25))
    node.play(10)
    assert node.kinds().count("log imported") == 1
    assert node.replay().verified
    assert live_state(node) == folded_state(node.store) == live_state(start())


def test_a_horizon_ends(node: Node) -> None:
    node.create(policy=MOSS(horizon=5))
    node.ask(Decide("colours", count=3))
    with pytest.raises(HorizonError, match="3 are over"):
        node.ask(Decide("colours", count=3))
    node.ask(Decide("colours", count=2))
    with pytest.raises(HorizonError):
        node.decide()
    assert node.replay().decisions == 5


def test_idempotency_keys_are_forgotten_when_old(start: Callable[..., Node], clock: ManualClock) -> None:
    node = start(limits=Limits(sweep=0.01, keep_idempotency_keys=100.0))
    node.create()
    first = node.decide(idempotency_key="k")
    clock.advance(99.0)
    assert node.decide(idempotency_key="k").id == first.id
    clock.advance(2.0)
    node.engine._housekeeping.prune_at = 0.0

    def keys() -> int:
        with node.store.read() as transaction:
            return int(transaction.has_old_idempotency_keys(clock() + 1))

    wait_until(lambda: keys() == 0, "the old key is forgotten")
    assert node.decide(idempotency_key="k").id != first.id


def test_an_old_key_is_forgotten_in_its_experiment_only(node: Node, clock: ManualClock) -> None:
    for name in ("colours", "others"):
        node.create(name)
        node.decide(name, idempotency_key="k")
        clock.advance(1.0)
    with node.store.write() as transaction:
        assert transaction.delete_old_idempotency_keys(clock.time - SECOND, 10) == 1
        assert list(transaction.find_idempotency_keys([(1, "k"), (2, "k")])) == [(2, "", "k")]
        assert transaction.delete_old_idempotency_keys(clock.time, 10) == 1


@pytest.mark.parametrize("policy", [UCB(), OCUCBn()])
def test_effective_arms_explain_only_a_policy_that_has_them(node: Node, policy: Policy) -> None:
    node.create(policy=policy)
    node.play(4)
    assert (node.decide().statistics.effective_arms is None) == (policy == UCB())
    assert node.replay().verified
