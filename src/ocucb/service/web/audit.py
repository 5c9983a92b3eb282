"""The audit log: who changed what, newest first."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from ocucb.service.stores import Store
from ocucb.service.stores.audit import AuditRecord, list_changes
from ocucb.service.text import clean_text
from ocucb.service.web.app_state import Context
from ocucb.service.web.documents import errors
from ocucb.service.web.messages import Time, timestamp

router = APIRouter(tags=["operation"])


class ChangeSeen(BaseModel):
    """Something that was changed, and by whom."""

    id: int
    at: Time
    api_key: Annotated[str, Field(description="The id of the key; empty for whoever can open the database.")]
    key_name: str | None
    action: Annotated[str, Field(examples=["arm added"])]
    experiment: str | None
    details: dict[str, Any]

    @classmethod
    def of(cls, record: AuditRecord) -> ChangeSeen:
        """Return a change as callers see it."""
        return cls.model_validate({**record._asdict(), "at": timestamp(record.at), "details": dict(record.details)})


class ChangeList(BaseModel):
    """A page of changes, newest first."""

    changes: list[ChangeSeen]
    next: Annotated[int | None, Field(description="Ask for the page before this one; null if there is none.")]


@router.get("/v1/audit", summary="Who changed what", responses=errors("GET /v1/audit"))
async def list_audit(
    context: Context,
    before: Annotated[int | None, Query(ge=1, lt=2**31, description="Only changes with a smaller id.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="How many at most.")] = 100,
    experiment: Annotated[str | None, Query(max_length=200, description="Only those of one experiment.")] = None,
) -> ChangeList:
    """Return what was changed, and by whom: experiments, API keys, corrected rewards. Decisions and rewards are not.

    An entry is written in the transaction of its change, so neither is there without the other.
    """
    if experiment is not None:
        clean_text("experiment", experiment)
    store = context.app_state.service.store
    found = await context.app_state.in_thread(read_changes, store, before, limit + 1, experiment)
    more = found[limit - 1].id if len(found) > limit else None
    return ChangeList(changes=[ChangeSeen.of(record) for record in found[:limit]], next=more)


def read_changes(store: Store, before: int | None, limit: int, experiment: str | None = None) -> list[AuditRecord]:
    """Return a page of changes."""
    with store.read() as transaction:
        return list_changes(transaction, before, limit, experiment)
