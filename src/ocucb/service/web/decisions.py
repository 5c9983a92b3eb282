"""Decisions and their rewards: the two routes that must be fast. The gateway calls them, and sends what they return.

Most requests are one question to the engine. For these there is a pair of plain functions, what to ask and what to
answer, which the gateway calls without a task between them: a task costs as much as the decision.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from fastapi import APIRouter
from pydantic_core import from_json, to_json

from ocucb.service.callers import PendingRequest
from ocucb.service.errors import DeniedError, UnavailableError
from ocucb.service.replies import Decision, Rewarded
from ocucb.service.requests import Decide, Request, Reward
from ocucb.service.stores.nodes import NodeRecord
from ocucb.service.web.answers import DecisionsMade, RewardsTaken, RewardTaken
from ocucb.service.web.app_state import Context, RequestContext
from ocucb.service.web.documents import IDEMPOTENCY_KEY, body_of, errors
from ocucb.service.web.errors import error_response
from ocucb.service.web.homes import home_of, home_of_decision, pass_on
from ocucb.service.web.messages import DecisionsWanted, RewardGiven, Rewards, RewardsGiven, read, timestamp

router = APIRouter(tags=["decisions and rewards"])
_ANY = DecisionsWanted()


@router.post(
    "/v1/experiments/{name}/decisions",
    summary="Decide",
    response_model=None,
    responses={200: {"model": DecisionsMade}, **errors("POST /v1/experiments/{name}/decisions", 404, 409)},
    openapi_extra={"parameters": [IDEMPOTENCY_KEY], **body_of(DecisionsWanted, required=False)},
)
async def decide(name: str, context: Context) -> bytes:
    """Make decisions. The body may be empty. A decision is stored before it is answered."""
    key = context.idempotency_key()
    if (home := home_of(context, name)) is not None:
        passed = await pass_on(context, home, context.body, once=False)
        if passed is not None:
            return passed
    wanted = _decisions_wanted(context)
    if wanted.units is None:
        return _tell_decisions(context, name, await context.caller.ask(_decide(wanted, name, key), context.key.id))
    return _tell_decisions(context, name, await _decide_for_units(context, name, wanted, key))


def _ask_decide(context: RequestContext, name: str) -> Decide | NodeRecord | None:
    if context.app_state.forwarder is not None and (home := home_of(context, name)) is not None:
        return home
    wanted = _decisions_wanted(context)
    return None if wanted.units is not None else _decide(wanted, name, context.idempotency_key())


def _answer_decide(context: RequestContext, asked: PendingRequest, name: str) -> bytes:
    return _tell_decisions(context, name, cast("tuple[Decision, ...]", asked.result()))


def _decisions_wanted(context: RequestContext) -> DecisionsWanted:
    return read(DecisionsWanted, context.body) if context.body else _ANY


def _decide(wanted: DecisionsWanted, name: str, key: str | None) -> Decide:
    among = None if wanted.among is None else tuple(wanted.among)
    return Decide(name, wanted.count, wanted.unit, key, among, wanted.different)


def _tell_decisions(context: RequestContext, name: str, made: tuple[Decision, ...]) -> bytes:
    """Count decisions, and return them as they are answered."""
    app_state = context.app_state
    if app_state.forwarder is not None:
        app_state.forwarder.learn(made[0].id, name)
    app_state.metrics.experiments.decided(name, sum([not decision.repeated for decision in made]))
    return _json({"decisions": [_plain(decision) for decision in made]})


async def _decide_for_units(
    context: RequestContext, name: str, wanted: DecisionsWanted, key: str | None
) -> tuple[Decision, ...]:
    """Make a decision for each unit. If one fails all are refused; a retry with the same key makes none twice."""
    units, among = wanted.units or [], None if wanted.among is None else tuple(wanted.among)
    keys = [
        None if key is None else hashlib.sha256(f"{place} {key}".encode()).hexdigest() for place in range(len(units))
    ]
    asked = [Decide(name, 1, unit, own, among) for unit, own in zip(units, keys, strict=True)]
    replies = await context.caller.ask_all(asked, context.key.id)
    answers = [reply.result() for reply in replies]
    return tuple(answer[0] for answer in answers if isinstance(answer, tuple) and isinstance(answer[0], Decision))


@router.post(
    "/v1/rewards",
    summary="Give rewards",
    response_model=None,
    responses={200: {"model": RewardTaken | RewardsTaken}, **errors("POST /v1/rewards", 404, 409, 410)},
    openapi_extra=body_of(RewardGiven, RewardsGiven),
)
async def reward(context: Context) -> bytes:
    """Give a decision its reward, or many decisions theirs. A reward counts once, however often it is sent.

    One reward is answered by its outcome or its error; many are always answered by a list, with an outcome or an error
    for each.
    """
    given = read(Rewards, context.body)
    if given.rewards is not None:
        return _json({"results": await _reward_many(context, given.rewards)})
    decision = given.decision or ""
    if (home := home_of_decision(context, decision)) is not None:
        passed = await pass_on(context, home, context.body, once=True)
        if passed is not None:
            return passed
    try:
        (asked,) = await context.caller.ask_all([_reward(context, given)], context.key.id)
    except Exception as error:
        context.app_state.metrics.rewards.labels(error_response(error).code).inc()
        raise
    return _answer_reward(context, asked)


def _ask_reward(context: RequestContext) -> Reward | NodeRecord | None:
    given = read(Rewards, context.body)
    if given.rewards is not None:
        return None
    return home_of_decision(context, given.decision or "") or _reward(context, given)


def _reward(context: RequestContext, given: Rewards) -> Reward:
    return Reward(given.decision or "", given.reward or 0.0, context.key.experiments, given.part)


def _answer_reward(context: RequestContext, asked: PendingRequest) -> bytes:
    rewards, one = context.app_state.metrics.rewards, cast("Reward", asked.request)
    try:
        taken = cast("Rewarded", asked.result())
    except Exception as error:
        rewards.labels(error_response(error).code).inc()
        raise
    rewards.labels(taken.outcome).inc()
    _note(context, taken, one.value)
    return _json(taken._asdict())


async def _reward_many(context: RequestContext, given: list[RewardGiven]) -> list[dict[str, Any]]:
    """Give rewards where their experiments are at home: here, and at other nodes at the same time."""
    by_home: defaultdict[NodeRecord | None, list[int]] = defaultdict(list)
    for place, one in enumerate(given):
        by_home[home_of_decision(context, one.decision)].append(place)
    if list(by_home) == [None]:
        return await _reward_here(context, given)
    parts = list(by_home.items())
    answers = await asyncio.gather(*(_reward_at(context, home, [given[i] for i in places]) for home, places in parts))
    results: dict[int, dict[str, Any]] = {}
    for (_, places), answer in zip(parts, answers, strict=True):
        results.update(zip(places, answer, strict=True))
    return [results[place] for place in range(len(given))]


async def _reward_at(
    context: RequestContext, home: NodeRecord | None, given: list[RewardGiven]
) -> list[dict[str, Any]]:
    if home is not None:
        body = to_json({"rewards": [one.model_dump(exclude_none=True) for one in given]})
        passed = await pass_on(context, home, body, once=True)
        if passed is not None:
            results: list[dict[str, Any]] = from_json(passed)["results"]
            return results
    try:
        return await _reward_here(context, given)
    except UnavailableError as error:  # others may have been taken elsewhere, so this is an answer to each
        return [{"decision": one.decision, "error": error_response(error).plain()} for one in given]


async def _reward_here(context: RequestContext, given: list[RewardGiven]) -> list[dict[str, Any]]:
    asked = [Reward(one.decision, one.reward, context.key.experiments, one.part) for one in given]
    replies = await context.caller.ask_all(asked, context.key.id)
    if all(isinstance(reply.error, DeniedError | UnavailableError) for reply in replies):
        replies[0].result()  # nothing was taken, so this is no answer to each but one to all
    results: list[dict[str, Any]] = []
    for one, reply in zip(asked, replies, strict=True):
        if reply.error is None and isinstance(reply.answer, Rewarded):
            outcome: str = reply.answer.outcome
            results.append({"decision": one.decision, "outcome": outcome})
            _note(context, reply.answer, one.value)
        else:
            problem = error_response(reply.error or UnavailableError())
            outcome = problem.code
            results.append({"decision": one.decision, "error": problem.plain()})
        context.app_state.metrics.rewards.labels(outcome).inc()
    return results


def _note(context: RequestContext, taken: Rewarded, value: float) -> None:
    if taken.outcome == "counted":
        context.app_state.metrics.experiments.rewarded(taken.experiment, value)
    if context.app_state.forwarder is not None:
        context.app_state.forwarder.learn(taken.decision, taken.experiment)


def _plain(decision: Decision) -> dict[str, Any]:
    return {
        "id": decision.id,
        "experiment": decision.experiment,
        "arm": decision.arm,
        "unit": decision.unit,
        "at": timestamp(decision.at),
        "deadline": None if decision.deadline is None else timestamp(decision.deadline),
        "statistics": decision.statistics._asdict(),
        "probability": decision.probability,
        "repeated": decision.repeated,
    }


def _json(data: dict[str, Any]) -> bytes:
    return to_json(data, inf_nan_mode="null")


class HotRoute(NamedTuple):
    """How a request is served without a task.

    ask     what it asks of the engine, or to which node it is passed on; None if it takes more than one question
    answer  how it is answered
    once    it counts once, however often it is made
    """

    ask: Callable[..., Request | NodeRecord | None]
    answer: Callable[..., bytes]
    once: bool


HOT_ROUTES = {
    "POST /v1/experiments/{name}/decisions": HotRoute(_ask_decide, _answer_decide, once=False),
    "POST /v1/rewards": HotRoute(_ask_reward, _answer_reward, once=True),
}
