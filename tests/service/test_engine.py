"""The engine: batches, callers, limits, and requests that do what none should."""

from __future__ import annotations

import asyncio
import gc
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ocucb.service.batch import target_of
from ocucb.service.callers import LoopCaller, PendingRequest, ThreadCaller
from ocucb.service.definition import Definition
from ocucb.service.engine import Engine, Limits
from ocucb.service.errors import BusyError, UnavailableError, UnknownExperimentError
from ocucb.service.replies import Decision
from ocucb.service.requests import Create, Decide, Inspect, Request, Reward
from ocucb.service.stores import Store
from service.helpers import Node, folded_state, live_state


class Odd(Inspect):
    """A request that no batch knows what to do with."""


class Box:
    """A caller that only collects."""

    told_last = False

    def __init__(self) -> None:
        self.answered: list[PendingRequest] = []

    def deliver(self, answered: list[PendingRequest]) -> None:
        self.answered += answered


def serve_together(node: Node, requests: list[Request]) -> list[PendingRequest]:
    """Serve requests in one batch, by an engine whose thread does not run."""
    engine, box = Engine(node.store), Box()
    engine.submit([PendingRequest(request, box) for request in requests])
    batch, _ = engine._next_batch()
    assert len(batch) == len(requests)
    for target in {target for request in requests if (target := target_of(request)) is not None}:
        engine._take_loaded(engine._loader.load(target))
    engine._serve(batch)
    while engine.loading:
        for target in list(engine._held._loading):
            engine._serve(engine._take_loaded(engine._loader.load(target)))
    return box.answered


def test_a_round_is_one_transaction(node: Node) -> None:
    requests: list[Request] = [
        Create(Definition("x", ("a", "b"))),
        Decide("x", idempotency_key="k"),
        Decide("x", idempotency_key="k"),
    ]
    requests += [Decide("x"), Decide("y"), Create(Definition("x", ("a", "b"))), Inspect("x")]
    requests.append(Reward("1-2-" + "A" * 22, 0.5))
    answered = serve_together(node, requests)
    errors = [type(pending.error).__name__ for pending in answered]
    assert errors == ["NoneType"] * 4 + ["UnknownExperimentError", "NameTakenError", "NoneType", "UnknownDecisionError"]
    first, second = answered[1].answer, answered[2].answer
    assert isinstance(first, tuple)
    assert isinstance(second, tuple)
    assert isinstance(first[0], Decision)
    assert isinstance(second[0], Decision)
    assert first[0].id == second[0].id
    assert node.replay("x").decisions == 2


def test_the_same_reward_twice_in_a_round(node: Node) -> None:
    node.create()
    decision = node.decide()
    answered = serve_together(node, [Reward(decision.id, value) for value in (0.5, 0.5, 0.75)])
    assert [getattr(pending.answer, "outcome", None) for pending in answered] == ["counted", "repeated", None]
    assert node.kinds() == ["created", "decision", "reward"]


def test_units_in_a_round(node: Node) -> None:
    node.create(sticky=1e6)
    answered = serve_together(node, [Decide("colours", unit=unit) for unit in "aabba"])
    ids = [pending.answer[0].id for pending in answered if isinstance(pending.answer, tuple)]  # type: ignore[union-attr]
    assert [ids.index(one) for one in ids] == [0, 0, 2, 2, 0]


def test_one_that_fails_fails_alone(node: Node, caplog: pytest.LogCaptureFixture) -> None:
    node.create()
    answered = serve_together(node, [Decide("colours", count=2), Odd("colours"), Decide("colours"), Odd("colours")])
    assert (
        sorted((type(pending.request).__name__, type(pending.error).__name__) for pending in answered)
        == [("Decide", "NoneType")] * 2 + [("Odd", "ServiceError")] * 2
    )
    assert "Odd failed" in caplog.text
    assert node.kinds() == ["created", "decision", "decision", "decision"]
    assert node.replay().verified
    node.play(2)
    assert live_state(node) == folded_state(node.store)


def test_an_event_loop_asks(node: Node) -> None:
    node.create()

    async def ask() -> list[Any]:
        caller = LoopCaller(node.engine)

        async def one() -> object:
            decision = (await caller.ask(Decide("colours")))[0]
            return (await caller.ask(Reward(decision.id, 0.5))).outcome

        answers = await asyncio.gather(*[one() for _ in range(100)])
        replies = await caller.ask_all([Decide("colours"), Decide("nowhere")])
        with pytest.raises(UnknownExperimentError):
            replies[1].result()
        replies[0].result()
        return answers

    assert asyncio.run(ask()) == ["counted"] * 100
    assert node.replay().decisions == 101


def test_callers_who_leave_do_no_harm(node: Node) -> None:
    node.create()

    async def leave() -> None:
        caller = LoopCaller(node.engine)
        tasks = [asyncio.create_task(caller.ask(Decide("colours", count=100))) for _ in range(20)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(leave())
    assert node.decide().arm
    assert node.replay().verified


def test_a_full_queue(sqlite: str) -> None:
    store = Store(sqlite)
    store.migrate()
    engine = Engine(store, limits=Limits(waiting=3))
    caller = ThreadCaller(engine, timeout=0.01)
    for _ in range(3):
        with pytest.raises(UnavailableError, match=r"within 0\.01 seconds; not stored"):
            caller.ask(Inspect("x"))
    with pytest.raises(BusyError, match="3 requests are waiting"):
        caller.ask(Inspect("x"))

    async def ask() -> list[Exception | None]:
        return [reply.error for reply in await LoopCaller(engine).ask_all([Inspect("x"), Inspect("x")])]

    assert [type(problem) for problem in asyncio.run(ask())] == [BusyError, BusyError]
    engine.start()
    engine.close()
    engine.close()
    with pytest.raises(UnavailableError, match="stopping"):
        caller.ask(Inspect("x"))
    store.close()


def test_those_who_wait_are_served_before_the_end(node: Node) -> None:
    node.create()
    with ThreadPoolExecutor(50) as pool:
        waiting = [pool.submit(node.ask, Decide("colours")) for _ in range(200)]
        while node.engine.waiting == 0 and not waiting[-1].done():
            pass
        node.engine.close()
        done = sum(future.exception() is None for future in waiting)
    assert node.kinds().count("decision") == done
    assert all(isinstance(future.exception(), UnavailableError | None) for future in waiting)


def test_memory_is_flat(sqlite: str) -> None:
    node = Node(sqlite, limits=Limits(sweep=3600.0, snapshot=200))
    node.create(window=3600.0, sticky=3600.0)

    async def play(name: str) -> None:
        caller = LoopCaller(node.engine, timeout=60.0)
        for number in range(4):
            decisions = await caller.ask(Decide("colours", count=250, idempotency_key=f"{name} {number}"))
            await caller.ask_all([Reward(decision.id, 0.5) for decision in decisions[::2]])
            await caller.ask_all([Decide("colours", unit=decision.id) for decision in decisions])

    gc.collect()
    gc.freeze()  # what is there already stays, and need not be searched 160 times
    tracemalloc.start()
    sizes = []
    for number in range(8):
        asyncio.run(play(f"play {number}"))
        looks = []
        for _ in range(20):  # a snapshot in the making is ready in one of them
            gc.collect()
            looks.append(tracemalloc.get_traced_memory()[0])
            time.sleep(0.02)
        sizes.append(min(looks))
    tracemalloc.stop()
    node.close()
    # A past that grows from 120 to 240 spans and falls back is no growth: the least of each half has none of it.
    assert min(sizes[4:]) - min(sizes[:4]) < 100_000, f"12 bytes or more for each of 8000 decisions: {sizes}"
