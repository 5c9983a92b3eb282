"""Experiments: create, list, look at, and change them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from ocucb.labels import Label
from ocucb.service.definition import Definition
from ocucb.service.records import Head
from ocucb.service.requests import AddArm, Create, Look, RetireArm, SetStatus, View
from ocucb.service.text import clean_text
from ocucb.service.web.answers import ArmList, ArmSeen, Changed, Experiment, ExperimentList, Listed
from ocucb.service.web.documents import IDEMPOTENCY_KEY, body_of, errors
from ocucb.service.web.families import read_noise, read_policy
from ocucb.service.web.keepsakes import keep, kept_of
from ocucb.service.web.messages import ArmGiven, ArmToAdd, ArmToRetire, NewExperiment, read
from ocucb.service.web.state import Caller, Visit

router = APIRouter(tags=["experiments"])
MOST = 1000
Page = Annotated[int, Query(ge=1, le=MOST, description="How many at most.")]


@router.post(
    "/v1/experiments",
    status_code=201,
    summary="Create an experiment",
    responses=errors("POST /v1/experiments", 409),
    openapi_extra={"parameters": [IDEMPOTENCY_KEY], **body_of(NewExperiment)},
)
async def create(caller: Caller) -> Changed:
    """Create an experiment."""
    # In a thread: many arms, or a policy's tables, take long to check.
    definition = await caller.desk.in_thread(lambda: define(read(NewExperiment, caller.body)))
    return await _change(caller, Create(definition, caller.idempotency_key()))


def define(given: NewExperiment) -> Definition:
    """Return the definition of an experiment as a caller gives it."""
    labels: list[Label] = []
    about: dict[Label, Any] = {}
    for arm in given.arms:
        labels.append(arm.label if isinstance(arm, ArmGiven) else arm)
        if isinstance(arm, ArmGiven) and arm.metadata is not None:
            about[arm.label] = arm.metadata
    return Definition(
        given.name,
        tuple(labels),
        policy=read_policy(given.policy),
        noise=read_noise(given.noise),
        window=given.window,
        on_expiry=given.on_expiry,
        late=given.late,
        sticky=given.sticky,
        metadata=keep(given.metadata or {}, about),
        **({} if given.seed is None else {"seed": given.seed}),
    )


@router.get("/v1/experiments", summary="List experiments", responses=errors("GET /v1/experiments"))
async def list_experiments(
    caller: Caller, after: Annotated[str, Query(max_length=200, description="A name.")] = "", limit: Page = 100
) -> ExperimentList:
    """Return those experiments that the key sees, in order of name."""
    if after:
        clean_text("after", after)
    heads = await caller.desk.in_thread(_heads, caller, after, limit + 1)
    more = heads[limit - 1].name if len(heads) > limit else None
    return ExperimentList(experiments=[Listed.of(head) for head in heads[:limit]], next=more)


def _heads(caller: Visit, after: str, limit: int) -> list[Head]:
    names = caller.key.experiments
    with caller.desk.service.store.read() as transaction:
        if names is None:
            return transaction.page(after, limit)
        return sorted(
            (head for head in transaction.find(sorted(names)) if head.name > after), key=lambda head: head.name
        )[:limit]


@router.get(
    "/v1/experiments/{name}", summary="Look at an experiment", responses=errors("GET /v1/experiments/{name}", 404)
)
async def look(name: str, caller: Caller) -> Experiment:
    """Return an experiment: how it was defined, and how far it is. Its arms have pages of their own."""
    return Experiment.of(await _view(caller, name, arms=False))


@router.get(
    "/v1/experiments/{name}/arms", summary="Look at arms", responses=errors("GET /v1/experiments/{name}/arms", 404)
)
async def look_at_arms(
    name: str,
    caller: Caller,
    after: Annotated[int, Query(ge=0, le=2**53, description="How many to leave out.")] = 0,
    limit: Page = 100,
) -> ArmList:
    """Return the arms in play with all that is known of them, then those retired."""
    view = await _view(caller, name, arms=True)
    end = after + limit
    about = {**kept_of(view.definition).arms, **view.added}
    playing = [
        ArmSeen(
            arm=view.arms[i],
            retired=False,
            pulls=view.pulls[i],
            pending=view.pending[i],
            mean=view.means[i],
            index=view.indices[i],
            effective_arms=view.effective_arms[i],
            metadata=about.get(view.arms[i]),
        )
        for i in range(after, min(end, len(view.arms)))
    ]
    start = len(view.arms)
    retired = [
        ArmSeen(
            arm=view.retired[i],
            retired=True,
            pulls=view.retired_pulls[i],
            mean=view.retired_means[i],
            metadata=about.get(view.retired[i]),
        )
        for i in range(max(0, after - start), min(len(view.retired), max(0, end - start)))
    ]
    return ArmList(arms=playing + retired, next=end if end < start + len(view.retired) else None)


@router.post(
    "/v1/experiments/{name}/arms",
    summary="Add an arm",
    responses=errors("POST /v1/experiments/{name}/arms", 404, 409),
    openapi_extra=body_of(ArmToAdd),
)
async def add_arm(name: str, caller: Caller) -> Changed:
    """Add an arm, or bring back a retired one with all that was known of it."""
    given = read(ArmToAdd, caller.body)
    return await _change(caller, AddArm(name, given.arm, given.metadata))


@router.post(
    "/v1/experiments/{name}/arms/retire",
    summary="Retire an arm",
    responses=errors("POST /v1/experiments/{name}/arms/retire", 404, 409),
    openapi_extra=body_of(ArmToRetire),
)
async def retire_arm(name: str, caller: Caller) -> Changed:
    """Choose an arm no more. Rewards of decisions made before still count."""
    return await _change(caller, RetireArm(name, read(ArmToRetire, caller.body).arm))


def _add_status(word: str, status: Literal["active", "paused", "archived"], text: str) -> None:
    path = f"/v1/experiments/{{name}}/{word}"

    async def set_status(name: str, caller: Caller) -> Changed:
        return await _change(caller, SetStatus(name, status))

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


async def _view(caller: Visit, name: str, arms: bool) -> View:
    return await caller.desk.door.ask(Look(name, arms), caller.key.id)


async def _change(caller: Visit, request: Create | SetStatus | AddArm | RetireArm) -> Changed:
    return Changed.of(await caller.desk.door.ask(request, caller.key.id))
