"""A long random walk through everything that can be asked, on two nodes: the log explains all of it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest

from ocucb import UCB, Bounded, Discount, OCUCBn, Policy, ThompsonSampling, Window
from ocucb.errors import OcucbError
from ocucb.memory import Memory
from ocucb.service.callers import LoopCaller, PendingRequest
from ocucb.service.engine import Limits
from ocucb.service.errors import UnavailableError
from ocucb.service.replies import Decision
from ocucb.service.requests import AddArm, Decide, Expire, ImportLog, Inspect, Request, RetireArm, Reward, SetStatus
from service.helpers import ManualClock, Node, folded_state, live_state

BATCHES, SIZE = 30, 25
ARMS = ("red", "green", "blue", 4, "4")


class Walker:
    """Asks at random, and remembers which decisions it was given."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.decisions: list[str] = ["1-1-" + "x" * 22]
        self.counted: dict[str, float] = {}

    def request(self) -> Request:
        draw = self.draw
        kinds = ["decide"] * 10 + ["reward"] * 10 + ["expire", "add", "retire", "import", "pause", "resume", "look"]
        kind = draw.choice(kinds)
        if kind == "decide":
            key = f"k{draw.randrange(60)}" if draw.random() < 0.4 else None
            if draw.random() < 0.4:
                return Decide("colours", unit=f"u{draw.randrange(20)}", idempotency_key=key)
            return Decide("colours", count=draw.randrange(1, 5), idempotency_key=key)
        if kind == "reward":
            return Reward(draw.choice(self.decisions[-200:]), draw.choice((0.0, 0.25, 1.0, 2.0)))
        arm = draw.choice(ARMS)
        others: dict[str, Request] = {
            "expire": Expire(1),
            "add": AddArm("colours", arm),
            "retire": RetireArm("colours", arm),
            "import": ImportLog("colours", ((arm, 0.5), ("red", 1.0)), idempotency_key=f"i{draw.randrange(9)}"),
            "pause": SetStatus("colours", "paused"),
            "resume": SetStatus("colours", "active"),
            "look": Inspect("colours"),
        }
        return others[kind]

    def hear(self, request: Request, reply: PendingRequest) -> None:
        assert reply.error is None or isinstance(reply.error, OcucbError)
        assert not isinstance(reply.error, UnavailableError)
        if isinstance(reply.answer, tuple):
            self.decisions += [one.id for one in reply.answer if isinstance(one, Decision) and not one.repeated]
        if isinstance(request, Reward) and getattr(reply.answer, "outcome", "") == "counted":
            assert request.decision not in self.counted
            self.counted[request.decision] = request.value


@pytest.mark.parametrize(
    ("policy", "memory"),
    [(OCUCBn(), None), (ThompsonSampling(), None), (UCB(), Window(60)), (OCUCBn(), Discount(0.7))],
    ids=str,
)
def test_a_long_walk(start: Callable[..., Node], clock: ManualClock, policy: Policy, memory: Memory | None) -> None:
    nodes = [start(limits=Limits(sweep=3600.0, snapshot=100)) for _ in range(2)]
    nodes[0].create(policy=policy, noise=Bounded(0.0, 1.0), window=30.0, sticky=20.0, late="accept", memory=memory)
    walker = Walker(seed=3)

    async def walk() -> None:
        callers = [LoopCaller(node.engine, timeout=60.0) for node in nodes]
        for _ in range(BATCHES):
            requests = [walker.request() for _ in range(SIZE)]
            cut = walker.draw.randrange(SIZE)
            asked = callers[0].ask_all(requests[:cut]), callers[1].ask_all(requests[cut:])
            first, second = await asyncio.gather(*asked)
            for request, reply in zip(requests, first + second, strict=True):
                walker.hear(request, reply)
            clock.advance(walker.draw.choice((0.0, 0.5, 1.0, 10.0, 40.0, -25.0)))

    asyncio.run(walk())
    views = [node.ask(Inspect("colours", arms=False)) for node in nodes]
    assert views[0] == views[1]
    log = nodes[0].log()
    assert {"decision", "reward", "forgotten", "arm added", "arm retired", "log imported", "paused", "resumed"} <= {
        entry.kind for entry in log
    }
    assert sum(entry.kind == "decision" for entry in log) == len(walker.decisions) - 1
    assert sum(entry.kind == "reward" for entry in log) == len(walker.counted)
    assert nodes[0].replay().problem is None
    states = [live_state(node) for node in nodes]
    assert states[0] == states[1] == folded_state(nodes[0].store) == folded_state(nodes[0].store, snapshots=True)
    assert views[0].rounds == sum(states[0]["bandit"]["pulls"])
