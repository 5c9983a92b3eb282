"""Decisions out, as a stream; and pulls made elsewhere in, for a warm start."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from ocucb.service.errors import UnknownExperimentError
from ocucb.service.records import ExperimentRecord
from ocucb.service.requests import ImportLog, Inspect
from ocucb.service.text import clean_text
from ocucb.service.web.answers import ExperimentChanged
from ocucb.service.web.app_state import Context, RequestContext
from ocucb.service.web.documents import IDEMPOTENCY_KEY, body_of, errors
from ocucb.service.web.export_formats import FORMATS, Writer, arms_by_text, read_csv, read_json, read_lines
from ocucb.service.web.messages import Log

router = APIRouter(tags=["export and import"])
DECISIONS_PER_READ = 2000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LINES = {"schema": {"type": "string", "description": "One line per decision."}}
_FILE = {"schema": {"type": "string", "format": "binary", "description": "A row per decision."}}
_TIMES = ["2026-01-31T12:00:00Z"]


@router.get(
    "/v1/experiments/{name}/export",
    summary="Export decisions",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"application/x-ndjson": _LINES, "text/csv": _LINES, FORMATS["parquet"].media: _FILE}},
        **errors("GET /v1/experiments/{name}/export", 404),
    },
)
async def export(
    name: str,
    context: Context,
    format: Annotated[  # noqa: A002
        Literal["ndjson", "csv", "parquet"], Query(description="What it looks like. Parquet needs ocucb[parquet].")
    ] = "ndjson",
    after: Annotated[int, Query(ge=0, lt=2**63, description="Leave out decisions up to this seq.")] = 0,
    since: Annotated[datetime | None, Query(examples=_TIMES, description="Only those made then or later.")] = None,
    until: Annotated[datetime | None, Query(examples=_TIMES, description="Only those made before.")] = None,
) -> StreamingResponse:
    """Return decisions with what became of them, as they are now: one line or row for each, as a stream.

    With `since` or `until`, only those made then or later, or before; times without an offset are in UTC.

    An `outcome` is "pending", "reward", "default", "forgotten", "corrected" or "void". If the stream breaks off, ask
    again after the last `seq` that came.
    """
    chosen = FORMATS[format]
    wanted = _Wanted(_microseconds(since, -(2**63)), _microseconds(until, 2**63))
    writer = await context.app_state.in_thread(chosen.open)
    head = await context.app_state.in_thread(_find_experiment, context, name)
    # what fails here has a status yet
    first = await context.app_state.in_thread(_read_page, context, head, after, wanted, writer)
    headers = {"Content-Disposition": f'attachment; filename="decisions.{chosen.suffix}"'}
    return StreamingResponse(_stream(context, head, wanted, writer, first), headers=headers, media_type=chosen.media)


class _Wanted(NamedTuple):
    """Which decisions are exported: those made at `since` or later, and before `until`, in microseconds UTC."""

    since: int
    until: int


def _microseconds(at: datetime | None, default: int) -> int:
    if at is None:
        return default
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - _EPOCH) // timedelta(microseconds=1)


def _find_experiment(context: RequestContext, name: str) -> ExperimentRecord:
    with context.app_state.service.store.read() as transaction:
        for head in transaction.find_experiments([clean_text("the name of an experiment", name)]):
            return head
    raise UnknownExperimentError(name)


def _read_page(
    context: RequestContext, head: ExperimentRecord, after: int, wanted: _Wanted, writer: Writer
) -> tuple[int, bytes]:
    """Return some decisions, and the last seq looked at, or 0 if none are left. The key may be revoked any time."""
    service = context.app_state.service
    with service.store.read() as transaction:
        service.access.refresh_in(transaction)
        service.access.verify(context.key.id)
        pairs = transaction.list_decisions(head.id, after, head.seq, DECISIONS_PER_READ)
    chosen = [pair for pair in pairs if wanted.since <= pair[0].at < wanted.until]
    return pairs[-1][0].seq if pairs else 0, writer.write(head, chosen)


async def _stream(
    context: RequestContext, head: ExperimentRecord, wanted: _Wanted, writer: Writer, page: tuple[int, bytes]
) -> AsyncIterator[bytes]:
    yield writer.top
    last, text = page
    while last:
        if text:
            yield text
        last, text = await context.app_state.in_thread(_read_page, context, head, last, wanted, writer)
    yield writer.end()


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
async def import_log(name: str, context: Context) -> ExperimentChanged:
    """Learn from pulls made elsewhere, all or none of them. What was exported can be imported."""
    key = context.idempotency_key()
    if context.media == "text/csv":
        view = await context.app_state.caller.ask(Inspect(name), context.key.id)
        known = arms_by_text(view.arms + view.retired)
        asked = await context.app_state.in_thread(lambda: ImportLog(name, read_csv(context.body, known), key))
    else:
        read = read_lines if context.media == "application/x-ndjson" else read_json
        asked = await context.app_state.in_thread(lambda: ImportLog(name, read(context.body), key))
    return ExperimentChanged.of(await context.app_state.caller.ask(asked, context.key.id))
