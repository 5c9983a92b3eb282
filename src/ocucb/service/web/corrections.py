"""Corrections of rewards: a route of its own, and a role of its own."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from ocucb.service.errors import DeniedError, UnavailableError
from ocucb.service.replies import Corrected
from ocucb.service.requests import Correct
from ocucb.service.web.answers import CorrectionsTaken
from ocucb.service.web.app_state import Context
from ocucb.service.web.documents import body_of, errors
from ocucb.service.web.errors import error_response
from ocucb.service.web.messages import CorrectionsGiven, read

router = APIRouter(tags=["decisions and rewards"])


@router.post(
    "/v1/rewards/correct",
    summary="Correct rewards",
    response_model=CorrectionsTaken,
    responses=errors("POST /v1/rewards/correct"),
    openapi_extra=body_of(CorrectionsGiven),
)
async def correct(context: Context) -> dict[str, Any]:
    """Put other rewards in the place of those that were counted, or void them. Each is answered, in order.

    Nothing is edited: a correction is a new entry of the log. The arm's mean becomes that of the rewards that stand,
    as if the wrong one had never come; the decisions made in between stay as they were.
    """
    given = read(CorrectionsGiven, context.body).corrections
    asked = [Correct(one.decision, one.reward, context.key.experiments) for one in given]
    replies = await context.caller.ask_all(asked, context.key.id)
    if all(isinstance(reply.error, DeniedError | UnavailableError) for reply in replies):
        replies[0].result()  # nothing was done, so this is no answer to each but one to all
    results: list[dict[str, Any]] = []
    for one, reply in zip(asked, replies, strict=True):
        if reply.error is None and isinstance(reply.answer, Corrected):
            outcome: str = reply.answer.outcome
            results.append({"decision": one.decision, "outcome": outcome})
        else:
            problem = error_response(reply.error or UnavailableError())
            outcome = problem.code
            results.append({"decision": one.decision, "error": problem.plain()})
        context.app_state.metrics.corrections.labels(outcome).inc()
    return {"results": results}
