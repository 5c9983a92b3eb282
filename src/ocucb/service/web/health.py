"""Whether the service is there, whether it works, and its numbers."""

from __future__ import annotations

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.responses import Response

from ocucb.service.web.answers import Health
from ocucb.service.web.documents import errors
from ocucb.service.web.state import Caller

router = APIRouter(tags=["operation"])


@router.get("/healthz", summary="Is the process there?")
async def healthz() -> Health:
    """Say so: the process is there."""
    return Health()


@router.get("/readyz", summary="Does it work?", responses=errors("GET /readyz", 503))
async def readyz(caller: Caller) -> Health:
    """Say whether requests can be served: not while the database fails."""
    trouble = caller.desk.service.engine.trouble
    if trouble is not None:
        raise trouble.with_traceback(None)
    return Health()


@router.get(
    "/metrics",
    summary="Numbers for Prometheus",
    response_class=Response,
    responses={
        200: {"content": {CONTENT_TYPE_PLAIN_0_0_4: {"schema": {"type": "string"}}}},
        **errors("GET /metrics"),
    },
)
async def metrics(caller: Caller) -> Response:
    """Return the numbers of this node since it started, in Prometheus's text format."""
    return Response(caller.desk.metrics.text(), media_type=CONTENT_TYPE_PLAIN_0_0_4)
