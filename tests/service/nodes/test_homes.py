"""Nodes that pass requests on to the home of their experiment: a hint, whatever becomes of it."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import socket
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import count, islice
from typing import Any

import pytest

from ocucb.service.connections import chunk
from ocucb.service.housekeeping import Housekeeping
from ocucb.service.node_directory import NodeDirectory
from ocucb.service.replay import replay
from ocucb.service.stores import Store
from ocucb.service.stores.dialects import Timeouts
from ocucb.service.stores.nodes import NodeRecord
from ocucb.service.web import app_state, forwarding
from ocucb.service.web.node_connection import NodeConnection
from ocucb.service.web.node_messages import MAX_REQUEST_BYTES, ForwardedRequest, HttpAnswer, MessageReader, pack_answers
from service.helpers import PATIENT, ManualClock, Node, folded_state, wait_until
from service.web.api import Api, check_error

FAILED = HttpAnswer(0, b"", {})
NAMES = [f"experiment {number}" for number in range(12)]


@contextmanager
def two_nodes(address: str, **settings: Any) -> Iterator[list[Api]]:
    """Start two nodes that know each other."""
    started = [Api(address, advertised=True, **settings) for _ in range(2)]
    try:
        for node in started:
            wait_until(lambda node=node: len(node.directory.live) == 1, "they hear of each other")  # type: ignore[misc]
        yield started
    finally:
        for node in started:
            node.close()


@pytest.fixture
def nodes(postgresql: str) -> Iterator[list[Api]]:
    """Two nodes that know each other."""
    with two_nodes(postgresql) as started:
        yield started


def at_home(node: Api, name: str) -> bool:
    assert node.directory is not None
    return node.directory.home(name) is None


def names_at(node: Api, home: bool, number: int) -> list[str]:
    """Return names of experiments whose home is `node`, or is not; homes depend on the nodes' random names."""
    every = (f"experiment {n}" for n in count())
    return list(islice((name for name in every if at_home(node, name) == home), number))


def forwarded(node: Api, outcome: str) -> float:
    found = re.search(rf'ocucb_forwarded_requests_total{{outcome="{outcome}"}} (\S+)', node.http.get("/metrics").text)
    return 0.0 if found is None else float(found[1])


def test_all_agree_on_the_home(nodes: list[Api]) -> None:
    homes = Counter(tuple(at_home(node, name) for node in nodes) for name in (f"any {n}" for n in range(400)))
    assert set(homes) == {(True, False), (False, True)}
    # 400 fair coins: fewer than 140 or more than 260 of one kind have a chance of 2e-9.
    assert 140 <= homes[True, False] <= 260


def test_every_node_says_which_nodes_serve(nodes: list[Api]) -> None:
    addresses = {node.directory.name: node.url for node in nodes if node.directory is not None}
    for name in NAMES:
        found = [node.http.get("/v1/nodes", params={"experiment": name}).json() for node in nodes]
        for node, answer in zip(nodes, found, strict=True):
            assert {one["name"]: one["address"] for one in answer["nodes"]} == addresses
            assert [one["address"] for one in answer["nodes"] if one["answers"]] == [node.url]
            assert (addresses[answer["home"]] == node.url) == at_home(node, name)
        assert found[0]["home"] == found[1]["home"]
    assert nodes[0].http.get("/v1/nodes").json()["home"] is None
    check_error(nodes[0].http.get("/v1/nodes", params={"experiment": "\x00"}), 422)
    check_error(nodes[0].client(nodes[0].key("read")).get("/v1/nodes"), 403)
    assert [serving(node) for node in nodes] == [2.0, 2.0]
    nodes[1].close()
    wait_until(lambda: serving(nodes[0]) == 1.0, "the other one is gone")


def serving(node: Api) -> float:
    found = re.search(r"^ocucb_nodes (\S+)$", node.http.get("/metrics").text, re.MULTILINE)
    assert found is not None
    return float(found[1])


def test_decisions_and_rewards_are_made_at_home(nodes: list[Api]) -> None:
    for name in NAMES:
        nodes[0].create(name)
    for name in NAMES:
        away = nodes[at_home(nodes[0], name)]
        home = nodes[not at_home(nodes[0], name)]
        before = forwarded(away, "answered")
        made = [away.decide(name, unit="zwölf"), home.decide(name)]
        assert forwarded(away, "answered") == before + 1
        for decision in made:
            assert home.reward(decision["id"], 0.5).json()["outcome"] == "counted"
            assert away.reward(decision["id"], 0.5).json()["outcome"] == "repeated"
        check_error(away.http.post(f"/v1/experiments/{name}/decisions", json={"count": 0}), 422)
        assert folded_state(home.store, name)["bandit"]["pulls"] == [1, 1, 0]
        home.verify(name)


def test_a_request_counts_where_it_is_served(postgresql: str) -> None:
    """One that is passed on counted at both nodes, so that a key behind round robin had less than its rate at each."""
    with two_nodes(postgresql, rate_limit=20) as (first, _):
        (here,), (elsewhere,) = names_at(first, True, 1), names_at(first, False, 1)
        for name in (here, elsewhere):
            first.create(name)
        hasty = first.client(first.key("decide"))

        def ask(name: str, times: int) -> list[int]:
            return [hasty.post(f"/v1/experiments/{name}/decisions").status_code for _ in range(times)]

        ask(elsewhere, 1)  # its key becomes known there
        passed_on, served = ask(elsewhere, 17), ask(here, 17)
        assert passed_on == served == [200] * 17  # more than 20 together
        assert 429 in ask(elsewhere, 400), "the home counts"
        assert forwarded(first, "answered") > 17
        assert 429 in ask(here, 400)
        assert [
            hasty.post(f"/v1/experiments/{here}/decisions", json={"count": 0}).status_code for _ in range(400)
        ].count(429)


def test_many_rewards_go_to_their_homes(nodes: list[Api]) -> None:
    names = names_at(nodes[0], True, 2) + names_at(nodes[0], False, 2)
    for name in names:
        nodes[0].create(name)
    made = [nodes[0].decide(name) for name in names for _ in range(3)]
    for node in nodes:  # the first time a node learns whose decisions these are
        rewards = [{"decision": one["id"], "reward": 0.25} for one in made] + [{"decision": "none", "reward": 1}]
        for _ in range(2):
            results = node.http.post("/v1/rewards", json={"rewards": rewards}).json()["results"]
            assert [one["decision"] for one in results] == [one["decision"] for one in rewards]
            assert {one["outcome"] for one in results[:-1]} <= {"counted", "repeated"}
            assert results[-1]["error"]["code"] == "unknown-decision"
        assert forwarded(node, "answered") > 0
    for name in names:
        assert folded_state(nodes[0].store, name)["bandit"]["learned"] == [1, 1, 1]


def test_the_callers_own_key_is_used(nodes: list[Api]) -> None:
    (name,) = names_at(nodes[0], False, 1)
    nodes[0].create(name)
    path = f"/v1/experiments/{name}/decisions"
    some = nodes[0].client(nodes[0].key("decide", experiments=[name]))
    assert some.post(path).status_code == 200
    first = some.post(path, headers={"Idempotency-Key": "k"}).json()["decisions"][0]["id"]
    assert some.post(path, headers={"Idempotency-Key": "k"}).json()["decisions"][0]["id"] == first
    assert (
        nodes[1]
        .client(some.headers["authorization"][7:])
        .post(path, headers={"Idempotency-Key": "k"})
        .json()["decisions"][0]["id"]
        == first
    )
    own, place = {b"authorization": some.headers["authorization"].encode()}, path.encode()
    asked = [
        ForwardedRequest(place, b"r", {b"authorization": b"Bearer nonsense"}, b""),
        ForwardedRequest(place, b"r", {}, b""),
        ForwardedRequest(b"/v1/keys", b"r", own, b"{}"),
        ForwardedRequest(b"/\xff", b"r", own, b"{}"),
        ForwardedRequest(place, b"r", own, b"{"),
        ForwardedRequest(place, b"r", own, b""),
    ]
    assert [one.status for one in ask_as_node(nodes[0], asked)] == [401, 401, 404, 404, 422, 200]


def ask_as_node(node: Api, requests: list[ForwardedRequest]) -> list[HttpAnswer]:
    """Pass requests on to a node, as another one does."""

    async def ask() -> list[HttpAnswer]:
        other = forwarding.OtherNode(str(node.http.base_url).rstrip("/"))
        futures: list[asyncio.Future[HttpAnswer | None]] = []
        for request in requests:
            futures.append(asyncio.get_running_loop().create_future())
            other.ask(request, futures[-1].set_result)
        answers = [await future or FAILED for future in futures]
        await other.close()
        return answers

    return asyncio.run(ask())


@pytest.mark.parametrize("how", ["silent", "refuses", "no HTTP"])
def test_a_home_that_does_not_answer(postgresql: str, how: str) -> None:
    """It is listed, and its heart beats, but requests are served here; only the first have to wait for that."""
    api = Api(postgresql, advertised=True)
    with socket.create_server(("127.0.0.1", 0)) as dead:
        address = f"http://127.0.0.1:{dead.getsockname()[1]}"
        if how == "refuses":
            dead.close()
        store = Store(postgresql, PATIENT)
        other = NodeDirectory(store, address).start()
        wait_until(lambda: len(api.directory.live) == 1, "it is heard of")  # type: ignore[union-attr]
        (name,) = names_at(api, False, 1)
        api.create(name)
        decision = api.decide(name)
        assert forwarded(api, "served here") == 1.0
        for _ in range(20):
            api.decide(name)
        assert forwarded(api, "served here") == 1.0, "it was asked again"
        assert api.reward(decision["id"], 1.0).json()["outcome"] == "counted"
        api.verify(name)
        other.close()
        store.close()
    api.close()


def locked(address: str, name: str) -> AbstractContextManager[object]:
    """Lock an experiment as another node does that works on it."""
    store = Store(address, Timeouts(idle=60.0))
    with store.read() as transaction:
        (head,) = transaction.find_experiments([name])
    stack = ExitStack()
    stack.callback(store.close)
    stack.enter_context(store.write()).lock_experiments([head.id])
    return stack


def test_a_locked_experiment_keeps_no_other_of_its_home_waiting(
    postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests for both travel by one connection, and those for the locked one are not answered."""
    monkeypatch.setattr(app_state, "HOME_SECONDS", 40.0)
    monkeypatch.setattr(forwarding, "FORWARD_SECONDS", 50.0)
    with two_nodes(postgresql) as nodes, ThreadPoolExecutor(8) as pool:
        bad, good = names_at(nodes[0], False, 2)
        for name in (bad, good):
            nodes[0].create(name)
            nodes[0].decide(name)
        with locked(postgresql, bad):
            waiting = []
            for _ in range(2):
                waiting.append(pool.submit(nodes[0].decide, bad))
                wait_until(lambda: nodes[1].engine._held.locked_experiments == 1, "it is at its home, and waits there")
                time.sleep(0.2)
            for _ in range(5):
                nodes[0].decide(good)
                waiting.append(pool.submit(nodes[0].decide, bad))
            assert not any(one.done() for one in waiting)
        assert len({one.result()["id"] for one in waiting}) == 7
        assert forwarded(nodes[0], "served here") == 0.0
        nodes[0].verify(bad)


def test_what_the_home_has_no_time_for_is_served_here(postgresql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also without an idempotency key, as it was certainly not stored there: it waits its turn, as it would at home."""
    monkeypatch.setattr(app_state, "HOME_SECONDS", 0.1)
    monkeypatch.setattr(forwarding, "FORWARD_SECONDS", 50.0)
    with two_nodes(postgresql) as nodes, ThreadPoolExecutor(1) as pool:
        (name,) = names_at(nodes[0], False, 1)
        nodes[0].create(name)
        with locked(postgresql, name):
            waiting = pool.submit(nodes[0].decide, name)
            wait_until(lambda: forwarded(nodes[0], "served here") == 1.0, "the home has no time for it")
            assert not waiting.done()
        assert waiting.result()["id"]
        assert folded_state(nodes[0].store, name)["bandit"]["pulls"] == [1, 0, 0]
        nodes[0].verify(name)


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_a_node_that_is_lost_answers_again_when_it_is_back(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """All that were asked of it are told that there is no answer, and nothing more is, until it answers a question."""
    monkeypatch.setattr(forwarding, "FORWARD_SECONDS", 0.3)
    monkeypatch.setattr(forwarding, "PROBE_SECONDS", 0.05)
    request = ForwardedRequest(b"/", b"r", {}, b"")

    async def ask() -> None:
        home = FakeHome()
        await home.listen()
        node = forwarding.OtherNode(home.address)
        answers: asyncio.Queue[HttpAnswer | None] = asyncio.Queue()
        node.ask(request, answers.put_nowait)
        assert await answers.get() == HttpAnswer(200, b"{}", {})
        home.answers = False
        for _ in range(3):
            node.ask(request, answers.put_nowait)
        if how == "killed":
            await asyncio.sleep(0.05)
            home.hang_up()
        assert [await answers.get() for _ in range(3)] == [None] * 3
        assert node.is_silent
        asked = home.asked
        node.ask(request, answers.put_nowait)
        assert await answers.get() is None
        await asyncio.sleep(0.2)
        assert node.is_silent, "it answered no question yet"
        home.answers = True
        await until_it_answers(node)
        assert home.asked == asked
        node.ask(request, answers.put_nowait)
        assert await answers.get() == HttpAnswer(200, b"{}", {})
        await node.close()
        await home.close()

    asyncio.run(asyncio.wait_for(ask(), 30.0))


async def until_it_answers(node: forwarding.OtherNode) -> None:
    while node.is_silent:
        await asyncio.sleep(0.02)


def test_more_than_a_message_takes_goes_in_several() -> None:
    request = ForwardedRequest(b"/", b"r", {}, b"x" * forwarding.MAX_BODY_BYTES)

    async def ask() -> None:
        home = FakeHome()
        await home.listen()
        node = forwarding.OtherNode(home.address)
        answers: asyncio.Queue[HttpAnswer | None] = asyncio.Queue()
        for _ in range(25):
            node.ask(request, answers.put_nowait)
        assert [await answers.get() for _ in range(25)] == [HttpAnswer(200, b"{}", {})] * 25
        assert (home.connections, home.asked) == (1, 25)
        await node.close()
        await home.close()

    asyncio.run(asyncio.wait_for(ask(), 30.0))


def test_what_is_asked_while_the_connection_is_made_goes_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    request, connect = ForwardedRequest(b"/", b"r", {}, b""), NodeConnection.open

    async def ask() -> None:
        home, may_connect, begun = FakeHome(), asyncio.Event(), 0
        await home.listen()

        async def connect_late(*given: Any) -> NodeConnection:
            nonlocal begun
            begun += 1
            await may_connect.wait()
            return await connect(*given)

        monkeypatch.setattr(NodeConnection, "open", connect_late)
        node = forwarding.OtherNode(home.address)
        answers: asyncio.Queue[HttpAnswer | None] = asyncio.Queue()
        for _ in range(2):
            node.ask(request, answers.put_nowait)
            for _ in range(5):  # turns of the loop, in which nothing more comes
                await asyncio.sleep(0)
        may_connect.set()
        assert [await answers.get() for _ in range(2)] == [HttpAnswer(200, b"{}", {})] * 2
        assert (begun, home.messages) == (1, [2])
        await node.close()
        await home.close()

    asyncio.run(asyncio.wait_for(ask(), 30.0))


def test_what_is_asked_together_goes_in_one_message() -> None:
    """So does what comes a turn of the loop later."""
    request = ForwardedRequest(b"/", b"r", {}, b"")

    async def ask() -> None:
        home = FakeHome()
        await home.listen()
        node = forwarding.OtherNode(home.address)
        answers: asyncio.Queue[HttpAnswer | None] = asyncio.Queue()
        for first, later in ((1, 0), (20, 0), (20, 5)):
            for number in (first, later):
                for _ in range(number):
                    node.ask(request, answers.put_nowait)
                await asyncio.sleep(0)
            for _ in range(first + later):
                assert await answers.get() == HttpAnswer(200, b"{}", {})
        assert home.messages == [1, 20, 25]
        await node.close()
        await home.close()

    asyncio.run(asyncio.wait_for(ask(), 30.0))


def test_what_does_not_fit_into_a_message_is_served_here(nodes: list[Api]) -> None:
    (name,) = names_at(nodes[0], False, 1)
    nodes[0].create(name)
    path, long = f"/v1/experiments/{name}/decisions", "x" * forwarding.MAX_OTHER_BYTES
    assert nodes[0].http.post(path, headers={"tracestate": long}).status_code == 200
    assert (forwarded(nodes[0], "answered"), forwarded(nodes[1], "answered")) == (0.0, 0.0)
    assert nodes[0].http.post(path, headers={"tracestate": long[: len(long) // 2]}).status_code == 200
    assert forwarded(nodes[0], "answered") == 1.0
    nodes[0].verify(name)


def test_a_connection_that_nobody_needs_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "FORWARD_SECONDS", 0.1)
    monkeypatch.setattr(forwarding, "IDLE_SECONDS", 0.3)
    request = ForwardedRequest(b"/", b"r", {}, b"")

    async def ask() -> None:
        home = FakeHome()
        await home.listen()
        node = forwarding.OtherNode(home.address)
        answers: asyncio.Queue[HttpAnswer | None] = asyncio.Queue()
        for connections in (1, 2):
            for _ in range(5):
                node.ask(request, answers.put_nowait)
                assert await answers.get() == HttpAnswer(200, b"{}", {})
            assert (home.connections, len(home.transports)) == (connections, 1)
            while home.transports:
                await asyncio.sleep(0.02)
        assert not node.is_silent
        await node.close()
        await home.close()

    asyncio.run(asyncio.wait_for(ask(), 30.0))


class FakeHome:
    """A home that answers all requests alike, or none."""

    def __init__(self) -> None:
        self.answers, self.connections = True, 0
        self.messages: list[int] = []  # how many requests each had
        self.transports: set[asyncio.StreamWriter] = set()

    @property
    def asked(self) -> int:
        return sum(self.messages)

    async def listen(self) -> None:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.address = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    def hang_up(self) -> None:
        for transport in list(self.transports):
            transport.close()

    async def close(self) -> None:
        self.server.close()
        self.hang_up()
        while self.transports:
            await asyncio.sleep(0.01)
        await self.server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.transports.add(writer)
        messages = MessageReader(MAX_REQUEST_BYTES)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while size := int(await reader.readuntil(b"\r\n"), 16):
                data = (await reader.readexactly(size + 2))[:-2]
                for requests in messages.read_requests(data):
                    self.messages.append(len(requests))
                    if self.answers:
                        writer.write(
                            chunk(pack_answers((number, HttpAnswer(200, b"{}", {})) for number, _ in requests))
                        )
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        self.transports.discard(writer)


def test_windows_are_closed_at_home(postgresql: str, clock: ManualClock) -> None:
    """And by others only if their home does not do so for long: it may be lost."""
    store = Store(postgresql, PATIENT)
    store.migrate()
    node = Node(postgresql, now=clock)
    for name in ("here", "elsewhere"):
        node.create(name, window=60.0)
        node.decide(name)
    housekeeping = Housekeeping(store, clock, 1.0, 3600.0)
    housekeeping.is_home = lambda name: name == "here"
    clock.advance(60.5)
    assert housekeeping.find_due([], writing=False) == [1]
    clock.advance(9.0)
    assert housekeeping.find_due([], writing=False) == [], "it is under way, or at home elsewhere"
    clock.advance(1.0)
    assert housekeeping.find_due([], writing=False) == [2]
    node.close()
    store.close()


def test_a_node_whose_heartbeat_stops_is_no_home(postgresql: str) -> None:
    store = Store(postgresql, PATIENT)
    store.migrate()
    one, other = NodeDirectory(store, "http://127.0.0.1:1"), NodeDirectory(store, "http://127.0.0.1:2")
    for node in (one, other, one):
        node.refresh()
    assert [node.address for node in one.live] == ["http://127.0.0.1:2"]
    homes = {name: one.home(name) for name in NAMES}
    seen = one._seen[other.name]
    seen.at -= 2.5  # as if so many seconds had passed
    one.refresh()
    assert one.live == ()
    assert all(one.home(name) is None for name in NAMES)
    other.refresh()
    one.refresh()
    assert {name: _name(one.home(name)) for name in NAMES} == {name: _name(home) for name, home in homes.items()}
    one._seen[other.name].at -= 100.0
    one.refresh()
    one.refresh()
    assert other.name not in one._seen
    store.close()


def _name(node: NodeRecord | None) -> str | None:
    return None if node is None else node.name


def test_three_nodes_and_a_clock_that_jumps(postgresql: str, clock: ManualClock) -> None:
    """Whichever node is asked, and whatever the time: one order, and all have the same state."""
    nodes = [Api(postgresql, now=clock, advertised=True) for _ in range(3)]
    wait_until(lambda: all(len(node.directory.live) == 2 for node in nodes), "they hear of each other")  # type: ignore[union-attr]
    for name in NAMES[:3]:
        nodes[0].create(name, window=600.0, late="accept")
    draw, made = random.Random(3), []
    for _ in range(60):
        made.append(draw.choice(nodes).decide(draw.choice(NAMES[:3]))["id"])
        clock.advance(draw.choice([-5e5, -300.0, 0.0, 1.0, 700.0, 5e5]))
        assert draw.choice(nodes).reward(draw.choice(made), 0.5).json()["outcome"] in ("counted", "repeated", "late")
    for name in NAMES[:3]:
        seen = [node.http.get(f"/v1/experiments/{name}/arms").json()["arms"] for node in nodes]
        assert seen[0] == seen[1] == seen[2]
        replayed = replay(nodes[0].store, name)
        assert replayed.verified, replayed.problem
    for node in nodes:
        node.close()
