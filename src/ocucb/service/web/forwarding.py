"""Requests that are passed on to the home of their experiment, many together; and served here if it does not answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple, TypeAlias

from pydantic_core import from_json, to_json

from ocucb.service.node_directory import NodeDirectory
from ocucb.service.stores.nodes import NodeRecord
from ocucb.service.web.node_client import NodeClient

FORWARD_SECONDS = 1.0  # for an answer of the home, after which a request is served here
HOME_SECONDS = 0.8  # after which the home serves it no more
PROBE_SECONDS = 1.0  # between two questions whether a home that did not answer is back
SLOW_SECONDS = 0.1  # for an answer of the home, after which what was asked travels apart from all else
APART_SECONDS = 5.0
MAX_LANES = 100  # for what travels apart
MAX_OVERDUE = 16  # batches of a lane
SHARED = ""  # the lane of all else
CONNECTIONS_PER_NODE = 2  # with more, few requests travel together, and each takes more of the processor
MAX_REQUESTS = 256  # that travel together
MAX_BYTES = 200_000
MAX_KNOWN_EXPERIMENTS = 100_000

logger = logging.getLogger(__name__)


class Forwarded(NamedTuple):
    """A request to pass on: where to, as whom, and what."""

    path: str
    authorization: str
    idempotency_key: str | None
    request_id: str
    body: str
    traceparent: str | None = None


class Answered(NamedTuple):
    """What the home answered. If `not_stored`, it has not done what was asked, and will not."""

    status: int
    body: bytes
    headers: dict[str, str]
    not_stored: bool = False


Done: TypeAlias = Callable[[Answered | None], None]
"""Takes what the home answered; None if it did not."""
_Waiting: TypeAlias = tuple[Forwarded, Done]


class HomeRefusal(Exception):  # noqa: N818  # an answer rather than an error: the home's own
    """The home has answered, and not with success: the caller gets its answer."""

    def __init__(self, answer: Answered) -> None:
        super().__init__(f"the home answered {answer.status}")
        self.answer = answer


class Forwarder:
    """Passes requests on. For one event loop."""

    def __init__(self, directory: NodeDirectory) -> None:
        self._directory = directory
        self._nodes: dict[str, _Node] = {}
        self._names: OrderedDict[int, str] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()

    def home(self, experiment: str) -> NodeRecord | None:
        """Return the node that should serve an experiment: None for this one, also while the home does not answer."""
        home = self._directory.home(experiment)
        if home is not None:
            node = self._nodes.get(home.name)
            if node is not None and node.is_silent:
                return None
        return home

    def home_of_id(self, experiment: int) -> NodeRecord | None:
        """Return the home of an experiment by its id; this node, if its name is not known here yet."""
        name = self._names.get(experiment)
        return None if name is None else self.home(name)

    def learn(self, decision: str, experiment: str) -> None:
        """Note which experiment a decision's id belongs to."""
        number = decision.partition("-")[0]
        if number.isdigit() and int(number) not in self._names:
            self._names[int(number)] = experiment
            if len(self._names) > MAX_KNOWN_EXPERIMENTS:
                self._names.popitem(last=False)

    def pass_on(self, home: NodeRecord, request: Forwarded, done: Done) -> None:
        """Ask the home, and have `done` called in the loop with what it answers; with None if it does not."""
        node = self._nodes.get(home.name)
        if node is None or node.address != home.address:
            node = self._add_node(home)
        node.ask(request, done)

    def _add_node(self, home: NodeRecord) -> _Node:
        old = [self._nodes.pop(home.name, None)]
        if len(self._nodes) > 2 * len(self._directory.live) + 8:
            live = {node.name for node in self._directory.live}
            old += [self._nodes.pop(name) for name in list(self._nodes) if name not in live]
        for node in old:
            if node is not None:
                task = asyncio.get_running_loop().create_task(node.close())
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)
        added = self._nodes[home.name] = _Node(home.address)
        return added

    async def close(self) -> None:
        """Close all connections."""
        for node in self._nodes.values():
            await node.close()
        await asyncio.gather(*self._closing)
        await asyncio.sleep(0)  # in which they are


class _Node:
    """Another node: whether it answers, and the lanes by which it is asked.

    Requests travel together, and come back when the last of them is answered. So that one experiment, which is locked
    there, keeps no other waiting, whatever was slow travels for a while by a lane of its own.
    """

    def __init__(self, address: str) -> None:
        self.address, self.is_silent = address, False
        self._lanes = {SHARED: _Lane(self, SHARED, CONNECTIONS_PER_NODE)}
        self._slow_until: dict[str, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def ask(self, request: Forwarded, done: Done) -> None:
        """Ask the node, and have `done` called with what it answers; with None if it does not."""
        name = request.path if self._slow_until and self._is_slow(request.path) else SHARED
        lane = self._lanes.get(name)
        if lane is None:
            lane = self._lanes[name] = _Lane(self, name, 1)
        lane.ask(request, done)

    def set_apart(self, batch: list[_Waiting]) -> None:
        """Let what is like these requests, of which one keeps all others waiting, travel by lanes of its own."""
        until = time.monotonic() + APART_SECONDS
        for path in {request.path for request, _ in batch}:
            if path in self._slow_until or len(self._slow_until) < MAX_LANES:
                self._slow_until[path] = until
        asyncio.get_running_loop().call_later(APART_SECONDS + 0.1, self._drop_lanes)

    def give_up(self, why: Exception) -> None:
        """Note that the node does not answer: it is asked nothing until it does again."""
        if not self.is_silent:
            self.is_silent = True
            logger.warning("a node does not answer", extra={"fields": {"node": self.address, "why": repr(why)}})
            self.start(self._probe())

    def drop_if_over(self, lane: _Lane) -> None:
        """Drop a lane that nobody uses, if it is no longer needed."""
        if lane.name != SHARED and not self._is_slow(lane.name) and lane.is_idle and self._lanes.get(lane.name) is lane:
            self._lanes.pop(lane.name).disconnect()

    def _drop_lanes(self) -> None:
        for lane in list(self._lanes.values()):
            self.drop_if_over(lane)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside all else, until it ends or the node is closed."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Send nothing more."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for lane in self._lanes.values():
            lane.disconnect()

    def _is_slow(self, path: str) -> bool:
        until = self._slow_until.get(path)
        if until is not None and until < time.monotonic():
            del self._slow_until[path]
            return False
        return until is not None

    async def _probe(self) -> None:
        """Ask nothing of the node, again and again, until it answers: then requests are passed on to it once more."""
        client = NodeClient(self.address)
        try:
            while self.is_silent:
                await asyncio.sleep(PROBE_SECONDS)
                with contextlib.suppress(Exception):
                    async with asyncio.timeout(FORWARD_SECONDS):
                        await client.post(b'{"requests":[]}')
                    self.is_silent = False
        finally:
            client.close()
        logger.info("a node answers again", extra={"fields": {"node": self.address}})


class _Lane:
    """A way to a node: what waits for it, and a few connections on each of which one batch is under way.

    A batch is sent once a turn of the loop has brought nothing more: those who were answered together ask together
    again. One that is overdue does not count as one of these, so that others need not wait for it.
    """

    def __init__(self, node: _Node, name: str, connections: int) -> None:
        self.name, self._node, self._connections = name, node, connections
        self._loop = asyncio.get_running_loop()
        self._gathered = 0
        self._waiting: deque[_Waiting] = deque()
        self._idle: list[NodeClient] = []
        self._under_way = self._overdue = 0

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits, and nothing is under way."""
        return not self._waiting and not self._under_way

    def ask(self, request: Forwarded, done: Done) -> None:
        """Ask the node, and have `done` called with what it answers; with None if it does not."""
        self._waiting.append((request, done))
        if len(self._waiting) == 1:
            self._loop.call_soon(self._gather)

    def _gather(self) -> None:
        if self._gathered < len(self._waiting) < MAX_REQUESTS:
            self._gathered = len(self._waiting)
            self._loop.call_soon(self._gather)
            return
        self._gathered = 0
        self._start_sending()

    def disconnect(self) -> None:
        """Close the connections, and tell whoever waits that there is no answer."""
        for client in self._idle:
            client.close()
        self._give_up([])

    def _start_sending(self) -> None:
        if self._waiting and self._under_way - self._overdue < self._connections:
            self._under_way += 1
            self._node.start(self._send(self._idle.pop() if self._idle else NodeClient(self._node.address)))

    async def _send(self, client: NodeClient) -> None:
        """Send what waits, batch after batch, until nothing does."""
        batch: list[_Waiting] = []
        try:
            while self._waiting:
                batch = self._take_batch()
                answers = await self._ask_all(client, batch)
                answered, batch = batch, []
                for (_, done), answer in zip(answered, answers, strict=True):
                    _finish(done, answer)
        except Exception as problem:
            self._give_up(batch)
            batch = []
            self._node.give_up(problem)
        finally:
            self._under_way -= 1
            if len(self._idle) < self._connections:
                self._idle.append(client)
            else:
                client.close()
            if batch:  # it was cancelled
                self._give_up(batch)
            self._node.drop_if_over(self)

    async def _ask_all(self, client: NodeClient, batch: list[_Waiting]) -> list[Answered]:
        body = to_json({"requests": [request._asdict() for request, _ in batch]})
        was_overdue = False

        def overdue() -> None:
            nonlocal was_overdue
            if self._overdue < MAX_OVERDUE:
                was_overdue = True
                self._overdue += 1
            self._node.set_apart(batch)
            self._start_sending()

        timer = self._loop.call_later(SLOW_SECONDS, overdue)
        try:
            async with asyncio.timeout(FORWARD_SECONDS):
                answers = [_answered(**answer) for answer in from_json(await client.post(body))["answers"]]
            if len(answers) != len(batch):
                raise ConnectionError(f"the node answered {len(answers)} of {len(batch)} requests")
            return answers
        finally:
            timer.cancel()
            self._overdue -= was_overdue

    def _take_batch(self) -> list[_Waiting]:
        batch: list[_Waiting] = []
        size = 0
        while self._waiting and len(batch) < MAX_REQUESTS and size < MAX_BYTES:
            batch.append(self._waiting.popleft())
            size += len(batch[-1][0].body)
        return batch

    def _give_up(self, batch: list[_Waiting]) -> None:
        unanswered = [*batch, *self._waiting]
        self._waiting.clear()
        for _, done in unanswered:
            _finish(done, None)


def _answered(status: int, body: str, headers: dict[str, str], not_stored: bool) -> Answered:
    return Answered(status, body.encode(), headers, not_stored)


def _finish(done: Done, answer: Answered | None) -> None:
    try:
        done(answer)
    except Exception:  # whatever it is, the others must be told
        logger.exception("an answer could not be passed on")
