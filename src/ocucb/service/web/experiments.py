"""Experiments: create, list, look at, and change them."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Response
from pydantic_core import to_json

from ocucb.labels import Label
from ocucb.service.callers import Change
from ocucb.service.definition import Definition
from ocucb.service.records import ExperimentRecord
from ocucb.service.replies import ArmPage, View
from ocucb.service.requests import (
    AddArm,
    AskVerdict,
    Create,
    Inspect,
    InspectArms,
    RetireArm,
    SetShares,
    SetStatus,
    SetWinnerRule,
)
from ocucb.service.text import clean_text
from ocucb.service.web.answers import (
    ArmList,
    Experiment,
    ExperimentChanged,
    ExperimentList,
    Listed,
    VerdictGiven,
)
from ocucb.service.web.app_state import Context, RequestContext
from ocucb.service.web.documents import IDEMPOTENCY_KEY, body_of, errors
from ocucb.service.web.errors import error_response
from ocucb.service.web.family_models import read_memory, read_noise, read_policy
from ocucb.service.web.messages import (
    ArmGiven,
    ArmToAdd,
    ArmToRetire,
    NewExperiment,
    SharesGiven,
    WinnerRuleGiven,
    read,
)
from ocucb.service.web.metadata import metadata_of, to_stored

router = APIRouter(tags=["experiments"])
MAX_PER_PAGE = 1000
Limit = Annotated[int, Query(ge=1, le=MAX_PER_PAGE, description="How many at most.")]


@router.post(
    "/v1/experiments",
    status_code=201,
    summary="Create an experiment",
    responses=errors("POST /v1/experiments", 409),
    openapi_extra={"parameters": [IDEMPOTENCY_KEY], **body_of(NewExperiment)},
)
async def create(context: Context, response: Response) -> ExperimentChanged:
    """Create an experiment."""
    # In a thread: many arms, or a policy's tables, take long to check.
    definition = await context.app_state.in_thread(lambda: define(read(NewExperiment, context.body)))
    changed = await _change(context, Create(definition, context.idempotency_key()))
    response.headers["Location"] = f"/v1/experiments/{quote(definition.name, safe='')}"
    return changed


def define(given: NewExperiment) -> Definition:
    """Return the definition of an experiment as a caller gives it."""
    labels: list[Label] = []
    about: dict[Label, Any] = {}
    for arm in given.arms:
        labels.append(arm.label if isinstance(arm, ArmGiven) else arm)
        if isinstance(arm, ArmGiven) and arm.metadata is not None:
            about[arm.label] = arm.metadata
    definition = Definition(
        given.name,
        tuple(labels),
        policy=read_policy(given.policy),
        noise=read_noise(given.noise),
        window=given.window,
        on_expiry=given.on_expiry,
        late=given.late,
        sticky=given.sticky,
        partial_rewards=given.partial_rewards,
        shares=tuple((one.arm, one.share) for one in given.shares),
        memory=read_memory(given.memory),
        metadata=to_stored(given.metadata or {}, about),
        **_given_only(seed=given.seed, reward_bounds=given.reward_bounds and tuple(given.reward_bounds)),
    )
    definition.warm_up()
    return definition


def _given_only(**what: Any) -> dict[str, Any]:
    """Return what was given; the definition knows the defaults."""
    return {name: value for name, value in what.items() if value is not None}


@router.get("/v1/experiments", summary="List experiments", responses=errors("GET /v1/experiments"))
async def list_experiments(
    context: Context, after: Annotated[str, Query(max_length=200, description="A name.")] = "", limit: Limit = 100
) -> ExperimentList:
    """Return those experiments that the key sees, in order of name."""
    if after:
        clean_text("after", after)
    heads = await context.app_state.in_thread(_heads, context, after, limit + 1)
    more = heads[limit - 1].name if len(heads) > limit else None
    return ExperimentList(experiments=[Listed.of(head) for head in heads[:limit]], next=more)


def _heads(context: RequestContext, after: str, limit: int) -> list[ExperimentRecord]:
    names = context.key.experiments
    with context.app_state.service.store.read() as transaction:
        if names is None:
            return transaction.list_experiments(after, limit)
        return sorted(
            (head for head in transaction.find_experiments(sorted(names)) if head.name > after),
            key=lambda head: head.name,
        )[:limit]


@router.get(
    "/v1/experiments/{name}", summary="Look at an experiment", responses=errors("GET /v1/experiments/{name}", 404)
)
async def show(name: str, context: Context) -> Experiment:
    """Return an experiment: how it was defined, and how far it is. Its arms have pages of their own."""
    return Experiment.of(await _view(context, name))


@router.get(
    "/v1/experiments/{name}/arms",
    summary="Look at arms",
    response_model=ArmList,
    responses=errors("GET /v1/experiments/{name}/arms", 404),
)
async def list_arms(
    name: str,
    context: Context,
    after: Annotated[int, Query(ge=0, le=2**53, description="Leave out the first so many.")] = 0,
    limit: Limit = 100,
) -> Response:
    """Return the arms with all that is known of them, in the order in which they were added, retired ones among them.

    An arm keeps its place for ever, so pages that are asked for one after the other leave out none.
    """
    page = await context.app_state.caller.ask(InspectArms(name, after, limit), context.key.id)
    return Response(_arm_list(page), media_type="application/json")


def _arm_list(page: ArmPage) -> bytes:
    """Return an `ArmList` as JSON. A thousand models would take five times as long, and all others would wait."""
    about, added, known = metadata_of(page.definition).arms, page.added, page.known
    columns = known.retired, known.pulls, known.pending, known.means, known.indices, known.effective_arms
    rows = zip(known.arms, *(column.tolist() for column in columns), strict=True)
    arms = [
        {
            "arm": arm,
            "retired": retired,
            "statistics": {
                "pulls": pulls,
                "pending": pending,
                "mean": mean,
                "index": index,
                "effective_arms": effective,
            },
            "metadata": added.get(arm, about.get(arm)),
        }
        for arm, retired, pulls, pending, mean, index, effective in rows
    ]
    return to_json({"arms": arms, "next": page.next}, inf_nan_mode="null")


@router.post(
    "/v1/experiments/{name}/arms",
    summary="Add an arm",
    responses=errors("POST /v1/experiments/{name}/arms", 404, 409),
    openapi_extra=body_of(ArmToAdd),
)
async def add_arm(name: str, context: Context) -> ExperimentChanged:
    """Add an arm, or bring back a retired one with all that was known of it."""
    given = read(ArmToAdd, context.body)
    return await _change(context, AddArm(name, given.arm, given.metadata))


@router.post(
    "/v1/experiments/{name}/arms/retire",
    summary="Retire an arm",
    responses=errors("POST /v1/experiments/{name}/arms/retire", 404, 409),
    openapi_extra=body_of(ArmToRetire),
)
async def retire_arm(name: str, context: Context) -> ExperimentChanged:
    """Choose an arm no more. Rewards of decisions made before still count."""
    return await _change(context, RetireArm(name, read(ArmToRetire, context.body).arm))


@router.post(
    "/v1/experiments/{name}/shares",
    summary="Set shares",
    responses=errors("POST /v1/experiments/{name}/shares", 404, 409),
    openapi_extra=body_of(SharesGiven),
)
async def set_shares(name: str, context: Context) -> ExperimentChanged:
    """Give some arms a part of all decisions from now on, whatever the policy chooses: a control, a minimum."""
    shares = read(SharesGiven, context.body).shares
    return await _change(context, SetShares(name, tuple((one.arm, one.share) for one in shares)))


@router.get(
    "/v1/experiments/{name}/verdict",
    summary="Ask for the verdict",
    responses=errors("GET /v1/experiments/{name}/verdict", 404),
)
async def verdict(
    name: str,
    context: Context,
    confidence: Annotated[float, Query(gt=0, lt=1, description="That no verdict, at any time, is wrong.")] = 0.95,
) -> VerdictGiven:
    """Return which arm is best, if that is certain. It may be asked for as often as one likes."""
    verdicts = context.app_state.metrics.verdicts
    try:
        found = await context.app_state.caller.ask(AskVerdict(name, confidence), context.key.id)
    except Exception as error:
        verdicts.labels(error_response(error).code).inc()
        raise
    verdicts.labels("open" if found.best is None else "winner").inc()
    return VerdictGiven.of(name, found)


@router.post(
    "/v1/experiments/{name}/winner",
    summary="Play only the winner",
    responses=errors("POST /v1/experiments/{name}/winner", 404, 409),
    openapi_extra=body_of(WinnerRuleGiven),
)
async def set_winner_rule(name: str, context: Context) -> ExperimentChanged:
    """Play only the winner once there is one at this confidence; with null, no more so."""
    return await _change(context, SetWinnerRule(name, read(WinnerRuleGiven, context.body).confidence))


def _add_status(word: str, status: Literal["active", "paused", "archived"], text: str) -> None:
    path = f"/v1/experiments/{{name}}/{word}"

    async def set_status(name: str, context: Context) -> ExperimentChanged:
        return await _change(context, SetStatus(name, status))

    router.add_api_route(
        path,
        set_status,
        methods=["POST"],
        name=word,
        summary=f"{word.capitalize()} an experiment",
        description=text,
        responses=errors(f"POST {path}", 404, 409),
    )


_add_status("pause", "paused", "Make no decisions until it is resumed. Rewards still count.")
_add_status("resume", "active", "Make decisions again.")
_add_status("archive", "archived", "End it for ever: it can only be read.")


async def _view(context: RequestContext, name: str) -> View:
    return await context.app_state.caller.ask(Inspect(name, arms=False), context.key.id)


async def _change(context: RequestContext, request: Change) -> ExperimentChanged:
    return ExperimentChanged.of(await context.app_state.caller.ask(request, context.key.id))
