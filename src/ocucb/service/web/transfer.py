"""Decisions out, as a stream; and pulls made elsewhere in, for a warm start."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from ocucb.service.errors import UnknownExperimentError
from ocucb.service.records import Head
from ocucb.service.requests import ImportLog, Look
from ocucb.service.text import clean_text
from ocucb.service.web.answers import Changed
from ocucb.service.web.documents import IDEMPOTENCY_KEY, body_of, errors
from ocucb.service.web.lines import FORMATS, Format, read_csv, read_json, read_lines, which_arms
from ocucb.service.web.messages import Log
from ocucb.service.web.state import Caller, Visit

router = APIRouter(tags=["export and import"])
PAGE = 2000
_LINES = {"schema": {"type": "string", "description": "One line per decision."}}


@router.get(
    "/v1/experiments/{name}/export",
    summary="Export decisions",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"application/x-ndjson": _LINES, "text/csv": _LINES}},
        **errors("GET /v1/experiments/{name}/export", 404),
    },
)
async def export(
    name: str,
    caller: Caller,
    format: Annotated[Literal["ndjson", "csv"], Query(description="What a line looks like.")] = "ndjson",  # noqa: A002
    after: Annotated[int, Query(ge=0, lt=2**63, description="Leave out decisions up to this seq.")] = 0,
) -> StreamingResponse:
    """Return all decisions with what became of them, as they are now: one line for each, as a stream.

    An `outcome` is "pending", "reward", "default" or "forgotten". If the stream breaks off, ask again after the last
    `seq` that came.
    """
    chosen = FORMATS[format]
    head = await caller.desk.in_thread(_head, caller, name)
    first = await caller.desk.in_thread(_page, caller, head, after, chosen)  # what fails here has a status yet
    headers = {"Content-Disposition": f'attachment; filename="decisions.{format}"'}
    return StreamingResponse(_pages(caller, head, chosen, first), headers=headers, media_type=chosen.media)


def _head(caller: Visit, name: str) -> Head:
    with caller.desk.service.store.read() as transaction:
        for head in transaction.find([clean_text("the name of an experiment", name)]):
            return head
    raise UnknownExperimentError(name)


def _page(caller: Visit, head: Head, after: int, chosen: Format) -> tuple[int, bytes]:
    """Return some lines, and the last seq in them, or 0 if there are none left. The key may be revoked any time."""
    service = caller.desk.service
    with service.store.read() as transaction:
        service.access.look(transaction)
        service.access.check(caller.key.id)
        pairs = transaction.past(head.id, after, head.seq, PAGE)
    return pairs[-1][0].seq if pairs else 0, b"".join(chosen.write(head, *pair) for pair in pairs)


async def _pages(caller: Visit, head: Head, chosen: Format, page: tuple[int, bytes]) -> AsyncIterator[bytes]:
    yield chosen.top
    last, lines = page
    while last:
        yield lines
        last, lines = await caller.desk.in_thread(_page, caller, head, last, chosen)


@router.post(
    "/v1/experiments/{name}/import",
    summary="Import a log",
    responses=errors("POST /v1/experiments/{name}/import", 404, 409),
    openapi_extra={
        "parameters": [IDEMPOTENCY_KEY],
        **body_of(
            Log,
            others={
                "application/x-ndjson": 'Lines as {"arm": "green", "reward": 1}; those without a reward are skipped.',
                "text/csv": "Columns arm and reward, among others; lines without a reward are skipped.",
            },
        ),
    },
)
async def import_log(name: str, caller: Caller) -> Changed:
    """Learn from pulls made elsewhere, all or none of them. What was exported can be imported."""
    key = caller.idempotency_key()
    if caller.media == "text/csv":
        view = await caller.desk.door.ask(Look(name), caller.key.id)
        known = which_arms(view.arms + view.retired)
        asked = await caller.desk.in_thread(lambda: ImportLog(name, read_csv(caller.body, known), key))
    else:
        read = read_lines if caller.media == "application/x-ndjson" else read_json
        asked = await caller.desk.in_thread(lambda: ImportLog(name, read(caller.body), key))
    return Changed.of(await caller.desk.door.ask(asked, caller.key.id))
