"""Where a request is served: at the home of its experiment, or here; and the route by which it arrives there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TypeGuard

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json

from ocucb.service.ids import parse_id
from ocucb.service.stores.nodes import NodeRecord
from ocucb.service.web.app_state import Context, RequestContext
from ocucb.service.web.forwarding import MAX_BYTES, MAX_REQUESTS, Answered, Forwarded, HomeRefusal
from ocucb.service.web.messages import read

router = APIRouter()
FORWARDED = "POST /v1/forwarded"


def home_of(context: RequestContext, experiment: str) -> NodeRecord | None:
    """Return the node to which a request for an experiment is passed on; None if it is served here."""
    forwarder = context.forwarder
    return None if forwarder is None else forwarder.home(experiment)


def home_of_decision(context: RequestContext, decision: str) -> NodeRecord | None:
    """Return the node to which a reward is passed on; None if it is taken here."""
    forwarder = context.forwarder
    parts = None if forwarder is None else parse_id(decision)
    return None if forwarder is None or parts is None else forwarder.home_of_id(parts.experiment)


def forwarded_request(context: RequestContext, path: str, body: bytes) -> Forwarded | None:
    """Return a request as it is passed on, with its caller's own key; None if it must be served here."""
    if len(body) > MAX_BYTES:
        return None
    try:
        text = body.decode()
    except UnicodeDecodeError:  # which is refused here as well as there
        return None
    headers = context.headers
    key = headers.get(b"idempotency-key")
    return Forwarded(
        path,
        headers.get(b"authorization", b"").decode("latin-1"),
        None if key is None else key.decode("latin-1"),
        context.id,
        text,
        _traceparent(context),
    )


def is_answer(answer: Answered | None, context: RequestContext, repeatable: bool) -> TypeGuard[Answered]:
    """Tell whether what the home said is the answer; if not, the request is served here.

    So it is if the home did not answer, and if it could not serve a request that it has not begun, or that may be made
    twice.
    """
    metrics = context.app_state.metrics
    if answer is None or (answer.status == 503 and (repeatable or answer.not_stored)):
        metrics.served_here.inc()
        return False
    metrics.answered_by_home.inc()
    return True


async def pass_on(context: RequestContext, home: NodeRecord, path: str, body: bytes, repeatable: bool) -> bytes | None:
    """Return what the home answers to a request; None if it must be served here."""
    forwarder, request = context.forwarder, forwarded_request(context, path, body)
    if forwarder is None or request is None:
        return None
    future: asyncio.Future[Answered | None] = asyncio.get_running_loop().create_future()
    forwarder.pass_on(home, request, lambda answer: None if future.done() else future.set_result(answer))
    answer = await future
    if not is_answer(answer, context, repeatable):
        return None
    if answer.status != 200:
        raise HomeRefusal(answer)
    return answer.body


def _traceparent(context: RequestContext) -> str | None:
    tracing = context.app_state.service.tracing
    given = context.headers.get(b"traceparent")
    if tracing is not None and context.span is not None:
        return tracing.header(context.span)
    return None if given is None else given.decode("latin-1")


class ForwardedRequest(BaseModel):
    """A request that another node passes on."""

    model_config = ConfigDict(strict=True, extra="forbid")
    path: str
    authorization: str
    idempotency_key: str | None
    request_id: str
    body: str
    traceparent: str | None = None


class ForwardedRequests(BaseModel):
    """Many of them."""

    model_config = ConfigDict(strict=True, extra="forbid")
    requests: list[ForwardedRequest] = Field(max_length=MAX_REQUESTS)


@router.post("/v1/forwarded", include_in_schema=False, response_model=None)
async def forwarded(context: Context) -> bytes:
    """Serve requests that another node passes on, each with the key of its own caller."""
    serve = context.app_state.serve_forwarded
    return tell_answers(await asyncio.gather(*map(serve, read_forwarded(context))))


def read_forwarded(context: RequestContext) -> list[Forwarded]:
    """Return the requests that another node passes on."""
    return [Forwarded(**vars(one)) for one in read(ForwardedRequests, context.body).requests]


def tell_answers(answers: Iterable[Answered]) -> bytes:
    """Return answers as the node that passed the requests on reads them."""
    return to_json({"answers": [answer._asdict() for answer in answers]})
