"""Whether the service is there, whether it works, and its numbers."""

from __future__ import annotations

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.responses import Response

from ocucb.service.errors import BusyError, StoreError
from ocucb.service.web.answers import Health, Ready
from ocucb.service.web.app_state import Context
from ocucb.service.web.documents import errors
from ocucb.service.web.errors import Refusal

router = APIRouter(tags=["operation"])


@router.get("/healthz", summary="Is the process there?")
async def healthz() -> Health:
    """Say so: the process is there."""
    return Health()


@router.get("/readyz", summary="Does it work?", responses=errors("GET /readyz", 503))
async def readyz(context: Context) -> Ready:
    """Say whether requests can be served, and how busy the node is.

    It is not ready while the database fails, nor while requests wait so long that they are answered 503.
    """
    engine, request_timeout = context.app_state.service.engine, context.app_state.service.settings.request_timeout
    trouble = engine.store_error
    if trouble is not None:
        raise StoreError("the database fails; the log says why", trouble.reason)
    if engine.lag >= request_timeout:
        raise BusyError(f"requests have waited {engine.lag:.1f} seconds; try again")
    return Ready(
        waiting=engine.waiting,
        loading=engine.loading,
        lag=round(engine.lag, 6),
        damaged_experiments=engine.damaged_experiments,
    )


@router.get(
    "/metrics",
    summary="Numbers for Prometheus",
    response_class=Response,
    responses={
        200: {"content": {CONTENT_TYPE_PLAIN_0_0_4: {"schema": {"type": "string"}}}},
        **errors("GET /metrics"),
    },
)
async def metrics(context: Context) -> Response:
    """Return the numbers of this node since it started, in Prometheus's text format.

    They are of all experiments, so a key that sees only some may not read them.
    """
    if context.key.experiments is not None:
        raise Refusal(403, "these numbers are of all experiments, and this key sees only some; use one that sees all")
    return Response(context.app_state.metrics.text(), media_type=CONTENT_TYPE_PLAIN_0_0_4)
