"""Decisions and their rewards: the two routes that must be fast. The edge calls them, and sends what they return."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic_core import to_json
from starlette.requests import Request

from ocucb.service.errors import DeniedError, UnavailableError
from ocucb.service.requests import Decide, Decision, Reward, Rewarded
from ocucb.service.web.answers import DecisionsMade, RewardsTaken, RewardTaken
from ocucb.service.web.documents import IDEMPOTENCY_KEY, body_of, errors
from ocucb.service.web.messages import DecisionsWanted, RewardGiven, Rewards, RewardsGiven, moment, read
from ocucb.service.web.problems import problem_of
from ocucb.service.web.state import Visit, visit_of

router = APIRouter(tags=["decisions and rewards"])
_ANY = DecisionsWanted()
_NAME = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}


@router.post(
    "/v1/experiments/{name}/decisions",
    summary="Decide",
    response_model=None,
    responses={200: {"model": DecisionsMade}, **errors("POST /v1/experiments/{name}/decisions", 404, 409)},
    openapi_extra={"parameters": [_NAME, IDEMPOTENCY_KEY], **body_of(DecisionsWanted, required=False)},
)
async def decide(request: Request) -> bytes:
    """Make decisions. The body may be empty. A decision is stored before it is answered."""
    visit = visit_of(request)
    name = request.path_params["name"]
    wanted = read(DecisionsWanted, visit.body) if visit.body else _ANY
    asked = Decide(name, wanted.count, wanted.unit, visit.idempotency_key())
    made = await visit.desk.door.ask(asked, visit.key.id)
    visit.desk.metrics.decisions.inc(sum(not decision.repeated for decision in made))
    return _json({"decisions": [_plain(decision) for decision in made]})


@router.post(
    "/v1/rewards",
    summary="Give rewards",
    response_model=None,
    responses={200: {"model": RewardTaken | RewardsTaken}, **errors("POST /v1/rewards", 404, 409, 410)},
    openapi_extra=body_of(RewardGiven, RewardsGiven),
)
async def reward(request: Request) -> bytes:
    """Give a decision its reward, or many decisions theirs. A reward counts once, however often it is sent.

    One reward is answered by its outcome or its error; many are always answered by a list, with an outcome or an error
    for each.
    """
    visit = visit_of(request)
    given = read(Rewards, visit.body)
    if given.rewards is not None:
        return _json({"results": await _reward_many(visit, given.rewards)})
    one = Reward(given.decision or "", given.reward or 0.0, visit.key.experiments)
    try:
        taken = await visit.desk.door.ask(one, visit.key.id)
    except Exception as error:
        visit.desk.metrics.rewards.labels(problem_of(error).code).inc()
        raise
    visit.desk.metrics.rewards.labels(taken.outcome).inc()
    return _json(taken._asdict())


async def _reward_many(visit: Visit, given: list[RewardGiven]) -> list[dict[str, Any]]:
    asked = [Reward(one.decision, one.reward, visit.key.experiments) for one in given]
    replies = await visit.desk.door.ask_all(asked, visit.key.id)
    if all(isinstance(reply.error, DeniedError | UnavailableError) for reply in replies):
        replies[0].take()  # nothing was taken, so this is no answer to each but one to all
    results: list[dict[str, Any]] = []
    for one, reply in zip(asked, replies, strict=True):
        if reply.error is None and isinstance(reply.answer, Rewarded):
            outcome: str = reply.answer.outcome
            results.append({"decision": one.decision, "outcome": outcome})
        else:
            problem = problem_of(reply.error or UnavailableError())
            outcome = problem.code
            results.append({"decision": one.decision, "error": problem.plain()})
        visit.desk.metrics.rewards.labels(outcome).inc()
    return results


def _plain(decision: Decision) -> dict[str, Any]:
    return {
        "id": decision.id,
        "experiment": decision.experiment,
        "arm": decision.arm,
        "unit": decision.unit,
        "at": moment(decision.at),
        "deadline": None if decision.deadline is None else moment(decision.deadline),
        "pulls": decision.pulls,
        "mean": decision.mean,
        "index": decision.index,
        "effective_arms": decision.effective_arms,
        "repeated": decision.repeated,
    }


def _json(data: dict[str, Any]) -> bytes:
    return to_json(data, inf_nan_mode="null")
