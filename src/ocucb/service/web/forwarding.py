"""Requests that are passed on to the home of their experiment, many together; and served here if it does not answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import OrderedDict, deque
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from ocucb.service.node_directory import NodeDirectory
from ocucb.service.stores.nodes import NodeRecord
from ocucb.service.web.node_client import NodeClient

FORWARD_SECONDS = 1.0  # for an answer of the home, after which a request is served here
HOME_SECONDS = 0.8  # after which the home serves it no more
PROBE_SECONDS = 1.0  # between two questions whether a home that did not answer is back
CONNECTIONS_PER_NODE = 2
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
    """What the home answered."""

    status: int
    body: bytes
    headers: dict[str, str]


class HomeRefusal(Exception):  # noqa: N818  # an answer rather than an error: the home's own
    """The home has answered, and not with success: the caller gets its answer."""

    def __init__(self, answer: Answered) -> None:
        super().__init__(f"the home answered {answer.status}")
        self.answer = answer


class Forwarder:
    """Passes requests on. For one event loop."""

    def __init__(self, directory: NodeDirectory) -> None:
        self._directory = directory
        self._lanes: dict[str, _Lane] = {}
        self._names: OrderedDict[int, str] = OrderedDict()

    def home(self, experiment: str) -> NodeRecord | None:
        """Return the node that should serve an experiment: None for this one, also while the home does not answer."""
        home = self._directory.home(experiment)
        if home is not None:
            lane = self._lanes.get(home.name)
            if lane is not None and lane.is_silent:
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

    async def pass_on(self, home: NodeRecord, request: Forwarded) -> Answered | None:
        """Return what the home answers; None if it does not."""
        lane = self._lanes.get(home.name)
        if lane is None or lane.address != home.address:
            if lane is not None:
                await lane.close()
            lane = self._lanes[home.name] = _Lane(home.address)
        await self._drop_old_lanes()
        return await lane.ask(request)

    async def _drop_old_lanes(self) -> None:
        if len(self._lanes) > 2 * len(self._directory.live) + 8:
            live = {node.name for node in self._directory.live}
            for name in [name for name in self._lanes if name not in live]:
                await self._lanes.pop(name).close()

    async def close(self) -> None:
        """Close all connections."""
        for lane in self._lanes.values():
            await lane.close()
        await asyncio.sleep(0)  # in which they are


class _Lane:
    """The way to one node: what waits for it, and a few connections on each of which one batch is under way."""

    def __init__(self, address: str) -> None:
        self.address, self.is_silent = address, False
        self._waiting: deque[tuple[Forwarded, asyncio.Future[Answered | None]]] = deque()
        self._idle = [NodeClient(address) for _ in range(CONNECTIONS_PER_NODE)]
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, request: Forwarded) -> Answered | None:
        """Return what the node answers; None if it does not."""
        future: asyncio.Future[Answered | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._idle:
            self._start(self._send(self._idle.pop()))
        return await future

    async def close(self) -> None:
        """Send nothing more."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for client in self._idle:
            client.close()
        self._give_up()

    def _start(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, client: NodeClient) -> None:
        """Send what waits, batch after batch, until nothing does."""
        batch: list[tuple[Forwarded, asyncio.Future[Answered | None]]] = []
        try:
            while self._waiting:
                batch = self._take_batch()
                body = to_json({"requests": [request._asdict() for request, _ in batch]})
                async with asyncio.timeout(FORWARD_SECONDS):
                    answers = from_json(await client.post(body))["answers"]
                for (_, future), answer in zip(batch, answers, strict=True):
                    if not future.done():
                        future.set_result(Answered(answer["status"], answer["body"].encode(), answer["headers"]))
        except Exception as problem:
            self._give_up(batch)
            if not self.is_silent:
                self.is_silent = True
                logger.warning("a node does not answer", extra={"fields": {"node": self.address, "why": repr(problem)}})
                self._start(self._probe())
        finally:
            self._idle.append(client)
            if batch and not batch[-1][1].done():
                self._give_up(batch)

    def _take_batch(self) -> list[tuple[Forwarded, asyncio.Future[Answered | None]]]:
        batch: list[tuple[Forwarded, asyncio.Future[Answered | None]]] = []
        size = 0
        while self._waiting and len(batch) < MAX_REQUESTS and size < MAX_BYTES:
            batch.append(self._waiting.popleft())
            size += len(batch[-1][0].body)
        return batch

    def _give_up(self, batch: list[tuple[Forwarded, asyncio.Future[Answered | None]]] | None = None) -> None:
        for _, future in (*(batch or ()), *self._waiting):
            if not future.done():
                future.set_result(None)
        self._waiting.clear()

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
