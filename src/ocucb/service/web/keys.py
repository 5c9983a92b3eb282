"""API keys: make, list and revoke them."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Query, Response

from ocucb.service.errors import UnknownKeyError
from ocucb.service.web.answers import Key, KeyList, KeyMade
from ocucb.service.web.app_state import Context
from ocucb.service.web.documents import body_of, errors
from ocucb.service.web.messages import NewKey, read

router = APIRouter(tags=["API keys"])
_ID = re.compile("[a-z0-9]{12}")


@router.post(
    "/v1/keys",
    status_code=201,
    summary="Make an API key",
    responses=errors("POST /v1/keys"),
    openapi_extra=body_of(NewKey),
)
async def make(context: Context, response: Response) -> KeyMade:
    """Make an API key. The key itself is in the answer, and can never be seen again."""
    given = read(NewKey, context.body)
    access = context.app_state.service.access
    key, text = await context.app_state.in_thread(
        access.make, given.name, given.roles, given.experiments, given.lifetime, context.key.id
    )
    response.headers["Location"] = f"/v1/keys/{key.id}"
    return KeyMade.of(key, key=text)


@router.get("/v1/keys", summary="List API keys", responses=errors("GET /v1/keys"))
async def list_keys(
    context: Context,
    after: Annotated[str, Query(pattern="^[a-z0-9]{0,12}$", description="An id.")] = "",
    limit: Annotated[int, Query(ge=1, le=1000, description="How many at most.")] = 100,
) -> KeyList:
    """Return all keys, also those revoked, less their secrets."""
    page = await context.app_state.in_thread(context.app_state.service.access.list_keys, after, limit + 1)
    more = page[limit - 1].id if len(page) > limit else None
    return KeyList(keys=[Key.of(key) for key in page[:limit]], next=more)


@router.delete("/v1/keys/{id}", summary="Revoke an API key", responses=errors("DELETE /v1/keys/{id}", 404))
async def revoke(id: str, context: Context) -> Key:  # noqa: A002  # as the route says
    """Revoke a key: from now on every node refuses it."""
    if not _ID.fullmatch(id):
        raise UnknownKeyError(id)
    return Key.of(await context.app_state.in_thread(context.app_state.service.access.revoke, id, context.key.id))
