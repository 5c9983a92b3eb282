"""What is kept no longer: experiments that are deleted, and the names of units."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from ocucb.service.erasure import erase_unit
from ocucb.service.requests import Delete
from ocucb.service.web.app_state import Context
from ocucb.service.web.documents import body_of, errors
from ocucb.service.web.messages import UnitToErase, read

router = APIRouter(tags=["retention"])


class Deleted(BaseModel):
    """An experiment that is there no more."""

    experiment: str
    entries: Annotated[int, Field(description="How many entries its log had.")]


class UnitErased(BaseModel):
    """How many decisions had the unit's name, and in which files of archives it may still be."""

    decisions: int
    archives: Annotated[list[str], Field(description="Take it out of them with `ocucb erase --file`.")]


@router.delete(
    "/v1/experiments/{name}",
    summary="Delete an experiment",
    responses=errors("DELETE /v1/experiments/{name}", 404, 409),
)
async def delete(name: str, context: Context) -> Deleted:
    """Delete an experiment that is archived, or damaged, and its log, for ever.

    It is gone at once; its rows go soon after. A damaged one is one whose log cannot be read.
    """
    done = await context.app_state.caller.ask(Delete(name), context.key.id)
    return Deleted(experiment=done.experiment, entries=done.seq)


@router.post(
    "/v1/units/erase",
    summary="Erase a unit",
    responses=errors("POST /v1/units/erase", 404),
    openapi_extra=body_of(UnitToErase),
)
async def erase(context: Context) -> UnitErased:
    """Take the name of a unit out of the logs. What was decided for it, and what it earned, stays, for nobody.

    Files of archives are not changed, and named in the answer: `ocucb erase --file` changes them. Nor are backups.
    """
    given, service = read(UnitToErase, context.body), context.app_state.service
    done = await context.app_state.in_thread(erase_unit, service.store, given.unit, given.experiment, context.key.id)
    return UnitErased(decisions=done.decisions, archives=done.archives)
