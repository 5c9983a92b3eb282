"""Where a request is served: at the home of its experiment, or here; and the route by which it arrives there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeAlias, TypeGuard

from ocucb.service.ids import parse_id
from ocucb.service.stores.nodes import NodeRecord
from ocucb.service.web.app_state import RecognisedKey, RequestContext
from ocucb.service.web.forwarding import IDLE_SECONDS, MAX_BODY_BYTES, MAX_OTHER_BYTES, HomeRefusal
from ocucb.service.web.node_messages import MAX_REQUEST_BYTES, ForwardedRequest, HttpAnswer, MessageReader, pack_answers

OTHER_HEADERS = (b"idempotency-key", b"traceparent", b"tracestate")  # that are passed on, if they are given
MAX_QUIET_SECONDS = 2 * IDLE_SECONDS
ServeForwarded: TypeAlias = Callable[
    [ForwardedRequest, Callable[[HttpAnswer], None], RecognisedKey | None], RecognisedKey | None
]
"""Serves a request, given the key of the one before; returns its own."""


def home_of(context: RequestContext, experiment: str) -> NodeRecord | None:
    """Return the node to which a request for an experiment is passed on; None if it is served here."""
    forwarder = context.forwarder
    return None if forwarder is None else forwarder.home(experiment)


def home_of_decision(context: RequestContext, decision: str) -> NodeRecord | None:
    """Return the node to which a reward is passed on; None if it is taken here."""
    forwarder = context.forwarder
    parts = None if forwarder is None else parse_id(decision)
    return None if forwarder is None or parts is None else forwarder.home_of_id(parts.experiment)


def forwarded_request(context: RequestContext, body: bytes) -> ForwardedRequest | None:
    """Return a request as it is passed on, with its caller's own key; None if it must be served here."""
    given, path = context.headers, context.match.path.encode()
    headers = context.recognised.headers if context.recognised is not None else _authorization(given)
    if others := [name for name in OTHER_HEADERS if name in given]:
        headers = headers | {name: given[name] for name in others}
    tracing = context.app_state.service.tracing
    if tracing is not None and context.span is not None:
        headers = headers | tracing.headers(context.span)
    if len(body) > MAX_BODY_BYTES or len(path) + sum(map(len, headers.values())) > MAX_OTHER_BYTES:
        return None
    return ForwardedRequest(path, context.id.encode(), headers, body)


def _authorization(headers: dict[bytes, bytes]) -> dict[bytes, bytes]:
    return {b"authorization": headers[b"authorization"]} if b"authorization" in headers else {}


def is_answer(answer: HttpAnswer | None, context: RequestContext, once: bool) -> TypeGuard[HttpAnswer]:
    """Tell whether what the home said is the answer; if not, the request is served here.

    So it is if the home did not answer, and if it could not serve a request that it has not begun, or that may be made
    twice: if it counts `once`, however often it is made, or has an idempotency key.
    """
    forwarded = context.app_state.metrics.forwarded
    if answer is None or (
        answer.status == 503 and (answer.not_stored or once or b"idempotency-key" in context.headers)
    ):
        forwarded.served_here += 1
        return False
    forwarded.answered += 1
    return True


async def pass_on(context: RequestContext, home: NodeRecord, body: bytes, once: bool) -> bytes | None:
    """Return what the home answers to a request with this body; None if it must be served here.

    `once`: it counts once, however often it is made.
    """
    forwarder, request = context.forwarder, forwarded_request(context, body)
    if forwarder is None or request is None:
        return None
    future: asyncio.Future[HttpAnswer | None] = asyncio.get_running_loop().create_future()
    forwarder.pass_on(home, request, lambda answer: None if future.done() else future.set_result(answer))
    answer = await future
    if not is_answer(answer, context, once):
        return None
    if answer.status != 200:
        raise HomeRefusal(answer)
    return answer.body


class ForwardedRequests:
    """Requests that another node passes on over one connection. They are answered in the order in which they are done.

    Answers that are there in one turn of the loop, as those of a batch of the engine are, go back in one message. A
    message without requests is a question whether anybody is there.
    """

    def __init__(self, serve: ServeForwarded, send: Callable[[bytes], None], close: Callable[[], None]) -> None:
        self._serve, self._send, self._close = serve, send, close
        self._loop, self._reader = asyncio.get_running_loop(), MessageReader(MAX_REQUEST_BYTES)
        self._recognised: RecognisedKey | None = None
        self._unanswered, self._ending = 0, False
        self._answers: list[tuple[int, HttpAnswer]] = []
        self._quiet_since = self._loop.time()

    def take(self, data: bytes) -> None:
        """Serve the requests in what has arrived; ValueError if it is something else."""
        self._quiet_since = self._loop.time()
        for requests in self._reader.read_requests(data):
            self._unanswered += len(requests)
            for number, request in requests:
                self._recognised = self._serve(request, partial(self._answer, number), self._recognised)
            if not requests:
                self._send(pack_answers([]))

    def _answer(self, number: int, answer: HttpAnswer) -> None:
        self._answers.append((number, answer))
        if len(self._answers) == 1:
            self._loop.call_soon(self._send_answers)

    def _send_answers(self) -> None:
        answers, self._answers = self._answers, []
        self._unanswered -= len(answers)
        self._send(pack_answers(answers))
        if self._ending and not self._unanswered:
            self._close()

    def end(self) -> None:
        """Close the connection once all is answered."""
        self._ending = True
        if not self._unanswered:
            self._close()

    @property
    def is_idle(self) -> bool:
        """Whether nothing has come for so long that nobody is there any more."""
        return not self._unanswered and self._loop.time() - self._quiet_since > MAX_QUIET_SECONDS
