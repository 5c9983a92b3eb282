"""Requests that are passed on to the home of their experiment, many together; and served here if it does not answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any, TypeAlias

from ocucb.service.node_directory import NodeDirectory
from ocucb.service.stores.nodes import NodeRecord
from ocucb.service.web.node_connection import NodeConnection
from ocucb.service.web.node_messages import MAX_REQUEST_BYTES, ForwardedRequest, HttpAnswer, pack_requests

FORWARD_SECONDS = 1.0  # for an answer of the home, after which a request is served here
HOME_SECONDS = 0.8  # after which the home serves it no more
PROBE_SECONDS = 1.0  # between two questions whether a home that did not answer is back
IDLE_SECONDS = 30.0  # after which a connection that nobody needs is closed
MAX_REQUESTS = 256  # of a message
MAX_BODY_BYTES = 200_000  # of a request
MAX_OTHER_BYTES = 4000  # of its path and what its headers say
MAX_KNOWN_EXPERIMENTS = 100_000

logger = logging.getLogger(__name__)
Done: TypeAlias = Callable[[HttpAnswer | None], None]
"""Takes what the home answered; None if it did not."""


class HomeRefusal(Exception):  # noqa: N818  # an answer rather than an error: the home's own
    """The home has answered, and not with success: the caller gets its answer."""

    def __init__(self, answer: HttpAnswer) -> None:
        super().__init__(f"the home answered {answer.status}")
        self.answer = answer


class Forwarder:
    """Passes requests on. For one event loop."""

    def __init__(self, directory: NodeDirectory) -> None:
        self._directory = directory
        self._nodes: dict[str, OtherNode] = {}
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

    def pass_on(self, home: NodeRecord, request: ForwardedRequest, done: Done) -> None:
        """Ask the home, and have `done` called in the loop with what it answers; with None if it does not."""
        node = self._nodes.get(home.name)
        if node is None or node.address != home.address:
            node = self._add_node(home)
        node.ask(request, done)

    def _add_node(self, home: NodeRecord) -> OtherNode:
        old = [self._nodes.pop(home.name, None)]
        if len(self._nodes) > 2 * len(self._directory.live) + 8:
            live = {node.name for node in self._directory.live}
            old += [self._nodes.pop(name) for name in list(self._nodes) if name not in live]
        for node in old:
            if node is not None:
                task = asyncio.get_running_loop().create_task(node.close())
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)
        added = self._nodes[home.name] = OtherNode(home.address)
        return added

    async def close(self) -> None:
        """Close all connections."""
        for node in self._nodes.values():
            await node.close()
        await asyncio.gather(*self._closing)
        await asyncio.sleep(0)  # in which they are


class OtherNode:
    """Another node: a connection to it, what it has been asked, and whether it answers.

    What is asked is sent once a turn of the loop has brought nothing more, as one message: those who were answered
    together ask together again, and a message costs more than ten requests in it. Nothing waits for the answers to
    other requests, and these come in any order: so an experiment that is locked there keeps no other waiting. One timer
    serves all, since all wait equally long.
    """

    def __init__(self, address: str) -> None:
        self.address, self.is_silent = address, False
        self._loop = asyncio.get_running_loop()
        self._connection: NodeConnection | None = None
        self._numbers = count(1)
        self._asked: dict[int, tuple[float, Done]] = {}  # until when it may be answered, and who waits; oldest first
        self._unsent: list[tuple[int, ForwardedRequest]] = []
        self._gathered = 0
        self._timer: asyncio.TimerHandle | None = None
        self._last_asked = 0.0
        self._tasks: set[asyncio.Task[None]] = set()

    def ask(self, request: ForwardedRequest, done: Done) -> None:
        """Ask the node, and have `done` called with what it answers; with None if it does not."""
        if self.is_silent:
            self._loop.call_soon(_finish, done, None)
            return
        number = next(self._numbers)
        self._last_asked = now = self._loop.time()
        self._asked[number] = now + FORWARD_SECONDS, done
        self._unsent.append((number, request))
        if self._timer is None:
            self._timer = self._loop.call_later(FORWARD_SECONDS, self._check_time)
        if len(self._unsent) == 1:
            self._loop.call_soon(self._gather)

    def _gather(self) -> None:
        if self._gathered < len(self._unsent):
            self._gathered = len(self._unsent)
            self._loop.call_soon(self._gather)
            return
        self._gathered = 0
        if self._connection is not None:
            self._send(self._connection)
        elif self._unsent:  # more that comes before the connection is made is sent with these
            self._start(self._connect())

    def _send(self, connection: NodeConnection) -> None:
        """Send what has not been sent, in messages that the home can take."""
        unsent, self._unsent = self._unsent, []
        message: list[tuple[int, ForwardedRequest]] = []
        size = 0
        for number, request in unsent:
            added = len(request.body) + 2 * MAX_OTHER_BYTES  # with the names of its headers, and its own
            if len(message) == MAX_REQUESTS or size + added > MAX_REQUEST_BYTES:
                connection.send(pack_requests(message))
                message, size = [], 0
            message.append((number, request))
            size += added
        if message:
            connection.send(pack_requests(message))

    async def _connect(self) -> None:
        try:
            async with asyncio.timeout(FORWARD_SECONDS):
                self._connection = await NodeConnection.open(self.address, self._take_answers, self._lose_connection)
            self._send(self._connection)
        except Exception as problem:
            self._give_up(problem)

    def _take_answers(self, answers: list[tuple[int, HttpAnswer]]) -> None:
        for number, answer in answers:
            _, done = self._asked.pop(number, (0.0, None))
            if done is not None:
                _finish(done, answer)

    def _lose_connection(self, problem: Exception) -> None:
        self._connection = None
        if self._asked:
            self._give_up(problem)

    def _give_up(self, problem: Exception) -> None:
        """Tell those who wait that there is no answer, and ask nothing of the node until it answers a question."""
        self._disconnect()
        unanswered, self._asked, self._unsent = self._asked, {}, []
        if not self.is_silent:
            self.is_silent = True
            logger.warning("a node does not answer", extra={"fields": {"node": self.address, "why": repr(problem)}})
            self._start(self._probe())
        for _, done in unanswered.values():
            _finish(done, None)

    def _check_time(self) -> None:
        """Give up if the node has not answered in time; close the connection if nobody has asked for long."""
        now = self._loop.time()
        due = next((deadline for deadline, _ in self._asked.values()), None)
        if due is not None and due <= now:
            self._give_up(TimeoutError(f"no answer within {FORWARD_SECONDS:g} seconds"))
        elif due is None and now - self._last_asked > IDLE_SECONDS:
            self._disconnect()
        wait = FORWARD_SECONDS if not self._asked or due is None else due - now
        waits = self._asked or self._connection is not None
        self._timer = self._loop.call_later(wait, self._check_time) if waits else None

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    async def _probe(self) -> None:
        """Ask nothing of the node, again and again, until it answers: then requests are passed on to it once more."""
        while self.is_silent:
            await asyncio.sleep(PROBE_SECONDS)
            with contextlib.suppress(Exception):
                async with asyncio.timeout(FORWARD_SECONDS):
                    await _ask_nothing(self.address)
                self.is_silent = False
        logger.info("a node answers again", extra={"fields": {"node": self.address}})

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside all else, until it ends or the node is closed."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Ask nothing more; those who wait get no answer."""
        self.is_silent = True  # so that nothing is begun
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._give_up(ConnectionAbortedError("this node stops"))
        if self._timer is not None:
            self._timer.cancel()


async def _ask_nothing(address: str) -> None:
    """Wait until a node answers a message without requests."""
    answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    connection = await NodeConnection.open(address, lambda _: answered.set_result(None), answered.set_exception)
    try:
        connection.send(pack_requests([]))
        await answered
    finally:
        connection.close()


def _finish(done: Done, answer: HttpAnswer | None) -> None:
    try:
        done(answer)
    except Exception:  # whatever it is, the others must be told
        logger.exception("an answer could not be passed on")
