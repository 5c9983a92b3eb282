"""What callers are told, as models that document it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field

from ocucb.service import replies
from ocucb.service.access import ApiKey
from ocucb.service.records import ExperimentRecord
from ocucb.service.replies import View
from ocucb.service.web.family_models import written
from ocucb.service.web.messages import Label, Time, timestamp
from ocucb.service.web.metadata import metadata_of
from ocucb.verdict import Verdict

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


class ExperimentChanged(BaseModel):
    """An experiment after a change: how long its log is, and its status."""

    experiment: str
    entries: int
    status: Status

    @classmethod
    def of(cls, done: replies.Changed) -> ExperimentChanged:
        """Return what is said of a change."""
        return cls.model_validate({"experiment": done.experiment, "entries": done.seq, "status": done.status})


class Listed(BaseModel):
    """An experiment in the list."""

    name: str
    status: Status
    created: Time
    entries: int

    @classmethod
    def of(cls, head: ExperimentRecord) -> Listed:
        """Return what the list says of an experiment."""
        return cls.model_validate(
            {"name": head.name, "status": head.status, "created": timestamp(head.created), "entries": head.seq}
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


class Share(BaseModel):
    """An arm, and the part of all decisions that it gets whatever the policy chooses."""

    arm: Label
    share: float


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
    reward_bounds: Annotated[list[float], Field(description="The smallest and the largest reward that is accepted.")]
    partial_rewards: Annotated[bool, Field(description="The rewards of a decision are summed within its window.")]
    shares: Annotated[list[Share], Field(description="Arms that get a part of all decisions.")]
    memory: Annotated[
        dict[str, Any] | None,
        Field(description="What the policy remembers; null for everything. Under a memory there are no verdicts."),
    ]
    winner_confidence: Annotated[
        float | None, Field(description="At which a winner is looked for, to be the only arm played; null for not.")
    ]
    winner: Annotated[Label | None, Field(description="The only arm that is played, if there is one.")]
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
            reward_bounds=list(made.reward_bounds),
            partial_rewards=made.partial_rewards,
            shares=[Share(arm=arm, share=share) for arm, share in view.shares],
            memory=None if made.memory is None else written(made.memory),
            winner_confidence=view.winner_confidence,
            winner=view.winner,
            metadata=metadata_of(made).experiment,
        )


class ArmStatistics(BaseModel):
    """What was known of an arm. Null stands for nothing known yet; a retired arm has no index."""

    pulls: int
    pending: Annotated[int | None, Field(description="Pulls whose reward has not come.")] = None
    mean: Annotated[float | None, Field(description="Of its rewards, or of those that are remembered.")]
    index: Annotated[float | None, Field(description="The largest is chosen; null if it has no finite value.")]
    effective_arms: float | None


class ArmSeen(BaseModel):
    """An arm, and what is known of it."""

    arm: Label
    retired: bool
    statistics: ArmStatistics
    metadata: Any = None


class ArmList(BaseModel):
    """A page of arms, in the order in which they were added; those retired are among them."""

    arms: list[ArmSeen]
    next: Annotated[int | None, Field(description="Ask for the page after this one; null if there is none.")]


class DecisionMade(BaseModel):
    """An arm to play, and why."""

    id: Annotated[str, Field(description="Send it back with the reward.")]
    experiment: str
    arm: Label
    unit: str | None
    at: Time
    deadline: Annotated[Time | None, Field(description="When a reward is too late.")]
    statistics: Annotated[ArmStatistics, Field(description="What was known of the arm when it was chosen.")]
    probability: Annotated[
        float | None, Field(description="With which the arm was chosen; null where that has no closed form.")
    ]
    repeated: Annotated[bool, Field(description="It was made before, for this unit or this Idempotency-Key.")]


class DecisionsMade(BaseModel):
    """As many decisions as were asked for."""

    decisions: list[DecisionMade]


class VerdictGiven(BaseModel):
    """Which arm is best, if that is certain."""

    experiment: str
    confidence: float
    best: Annotated[Label | None, Field(description="The best arm; null while more than one may be.")]
    contenders: Annotated[list[Label], Field(description="The arms that may be the best, by falling mean.")]
    ruled_out: Annotated[list[Label], Field(description="The arms that are certainly not.")]
    rounds_needed: Annotated[
        int | None, Field(description="About how many more rounds until there is a best arm; null if nobody can tell.")
    ]

    @classmethod
    def of(cls, experiment: str, found: Verdict) -> VerdictGiven:
        """Return what is said of a verdict."""
        return cls(
            experiment=experiment,
            confidence=found.confidence,
            best=found.best,
            contenders=list(found.contenders),
            ruled_out=list(found.ruled_out),
            rounds_needed=found.rounds_needed,
        )


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


class CorrectionTaken(BaseModel):
    """What became of a correction: it was made, or the reward was already so."""

    decision: str
    outcome: Literal["corrected", "repeated"]


class CorrectionsTaken(BaseModel):
    """What became of corrections, in order."""

    results: list[CorrectionTaken | ItemRefused]


class Key(BaseModel):
    """An API key, less its secret."""

    id: str
    name: str
    roles: list[str]
    experiments: list[str] | None
    created: Time
    revoked: Time | None
    expires: Time | None

    @classmethod
    def of(cls, known: ApiKey, **more: str) -> Self:
        """Return a key as callers see it."""
        return cls.model_validate(
            {
                "id": known.id,
                "name": known.name,
                "roles": sorted(known.roles),
                "experiments": None if known.experiments is None else sorted(known.experiments),
                "created": timestamp(known.created),
                "revoked": None if known.revoked is None else timestamp(known.revoked),
                "expires": None if known.expires is None else timestamp(known.expires),
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


class Ready(Health):
    """The service works, and how busy it is. A damaged experiment, whose log cannot be read, stops no other."""

    waiting: Annotated[int, Field(description="Requests that wait for a transaction, or for their experiment.")]
    loading: Annotated[int, Field(description="Those of them whose experiment is being read into memory.")]
    lag: Annotated[float, Field(description="Seconds that the request waited which was served last.")]
    damaged_experiments: int
