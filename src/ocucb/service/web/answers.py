"""What callers are told, as models that document it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field

from ocucb.service import requests
from ocucb.service.access import ApiKey
from ocucb.service.records import Head
from ocucb.service.requests import View
from ocucb.service.web.families import written
from ocucb.service.web.keepsakes import kept_of
from ocucb.service.web.messages import Label, Time, moment

Status = Literal["active", "paused", "archived"]


class ErrorDetail(BaseModel):
    """What is wrong with one part of a request."""

    where: Annotated[str, Field(examples=["body.arms.0"])]
    message: str


class ItemError(BaseModel):
    """An error: a code for programs, and a message for people."""

    code: Annotated[str, Field(examples=["reward-conflict"])]
    message: str


class WholeError(ItemError):
    """An error, with the id under which the log knows the request."""

    request_id: str
    details: list[ErrorDetail] | None = None


class ErrorAnswer(BaseModel):
    """Every error has this shape."""

    error: WholeError


class Changed(BaseModel):
    """An experiment after a change: how long its log is, and its status."""

    experiment: str
    entries: int
    status: Status

    @classmethod
    def of(cls, done: requests.Changed) -> Changed:
        """Return what is said of a change."""
        return cls.model_validate({"experiment": done.experiment, "entries": done.seq, "status": done.status})


class Listed(BaseModel):
    """An experiment in the list."""

    name: str
    status: Status
    created: Time
    entries: int

    @classmethod
    def of(cls, head: Head) -> Listed:
        """Return what the list says of an experiment."""
        return cls.model_validate(
            {"name": head.name, "status": head.status, "created": moment(head.created), "entries": head.seq}
        )


class ExperimentList(BaseModel):
    """A page of experiments, in order of name."""

    experiments: list[Listed]
    next: Annotated[str | None, Field(description="Ask for the page after this one; null if there is none.")]


class Counts(BaseModel):
    """What has happened so far, without what was imported."""

    decisions: int
    rewards: Annotated[int, Field(description="Rewards that counted, default ones included.")]
    total: Annotated[float | None, Field(description="The sum of these rewards.")]


class Experiment(BaseModel):
    """An experiment: how it was defined, and how far it is."""

    name: str
    status: Status
    entries: Annotated[int, Field(description="Entries of its log.")]
    rounds: Annotated[int, Field(description="Pulls that its policy knows of, imported ones included.")]
    counts: Counts
    policy: dict[str, Any]
    noise: dict[str, Any]
    seed: int
    window: float | None
    on_expiry: Literal["forget"] | float
    late: Literal["refuse", "accept"]
    sticky: float | None
    metadata: dict[str, Any]

    @classmethod
    def of(cls, view: View) -> Experiment:
        """Return what is said of an experiment."""
        made = view.definition
        past = view.history
        counts = Counts(
            decisions=sum(span.decisions for span in past),
            rewards=sum(span.rewards for span in past),
            total=sum(span.total for span in past),
        )
        return cls(
            name=made.name,
            status=view.status,  # type: ignore[arg-type]  # one of these three
            entries=view.seq,
            rounds=view.rounds,
            counts=counts,
            policy=written(made.policy),
            noise=written(made.noise),
            seed=made.seed,
            window=made.window,
            on_expiry=made.on_expiry,
            late=made.late,
            sticky=made.sticky,
            metadata=kept_of(made).experiment,
        )


class ArmSeen(BaseModel):
    """An arm, and what is known of it. A retired one has no index."""

    arm: Label
    retired: bool
    pulls: int | None = None
    pending: Annotated[int | None, Field(description="Pulls whose reward has not come.")] = None
    mean: float | None = None
    index: Annotated[float | None, Field(description="The largest is chosen; null if it has no finite value.")] = None
    effective_arms: float | None = None
    metadata: Any = None


class ArmList(BaseModel):
    """A page of arms: those in play first, then those retired."""

    arms: list[ArmSeen]
    next: Annotated[int | None, Field(description="Ask for the page after this one; null if there is none.")]


class DecisionMade(BaseModel):
    """An arm to play, and why: what was known of it when it was chosen. Null stands for nothing known yet."""

    id: Annotated[str, Field(description="Send it back with the reward.")]
    experiment: str
    arm: Label
    unit: str | None
    at: Time
    deadline: Annotated[Time | None, Field(description="When a reward is too late.")]
    pulls: int
    mean: float | None
    index: float | None
    effective_arms: float | None
    repeated: Annotated[bool, Field(description="It was made before, for this unit or this Idempotency-Key.")]


class DecisionsMade(BaseModel):
    """As many decisions as were asked for."""

    decisions: list[DecisionMade]


Outcome = Annotated[
    Literal["counted", "repeated", "late"],
    Field(description="It counts; it was known before; or it came too late, and does not count."),
]


class RewardTaken(BaseModel):
    """What became of one reward."""

    decision: str
    experiment: str
    outcome: Outcome


class ItemTaken(BaseModel):
    """What became of a reward among many."""

    decision: str
    outcome: Outcome


class ItemRefused(BaseModel):
    """Why a reward among many was not taken."""

    decision: str
    error: ItemError


class RewardsTaken(BaseModel):
    """What became of many rewards, in order."""

    results: list[ItemTaken | ItemRefused]


class Key(BaseModel):
    """An API key, less its secret."""

    id: str
    name: str
    roles: list[str]
    experiments: list[str] | None
    created: Time
    revoked: Time | None

    @classmethod
    def of(cls, known: ApiKey, **more: str) -> Self:
        """Return a key as callers see it."""
        return cls.model_validate(
            {
                "id": known.id,
                "name": known.name,
                "roles": sorted(known.roles),
                "experiments": None if known.experiments is None else sorted(known.experiments),
                "created": moment(known.created),
                "revoked": None if known.revoked is None else moment(known.revoked),
                **more,
            }
        )


class KeyMade(Key):
    """A new API key."""

    key: Annotated[str, Field(description="The key itself, which is shown only here: keep it.")]


class KeyList(BaseModel):
    """A page of API keys, in order of id."""

    keys: list[Key]
    next: Annotated[str | None, Field(description="Ask for the page after this one; null if there is none.")]


class Health(BaseModel):
    """The service is there."""

    status: Literal["ok"] = "ok"
