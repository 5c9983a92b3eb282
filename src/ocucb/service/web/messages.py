"""What callers send and are sent, as models: they check the one and document both."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from ocucb.service.access import MOST_EXPERIMENTS
from ocucb.service.definition import MOST_ARMS
from ocucb.service.records import SECOND
from ocucb.service.requests import LONGEST_LOG, MOST_DECISIONS
from ocucb.service.text import LARGEST_LABEL, LONGEST
from ocucb.service.web.families import STRICT, NoiseGiven, PolicyGiven, form_of
from ocucb.service.web.problems import invalid_body

MOST_REWARDS = 1000
_EPOCH = datetime(1970, 1, 1)  # all times here are UTC


class Body(BaseModel):
    """Something sent: exactly what is described, of exactly these types."""

    model_config = STRICT


Sent = TypeVar("Sent", bound=BaseModel)


def _examples(*given: dict[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": list(given)})


Text = Annotated[str, Field(min_length=1, max_length=LONGEST)]
Name = Annotated[
    str,
    Field(
        min_length=1,
        max_length=LONGEST,
        description="The name of an experiment: no slashes, no control characters, no spaces at its ends.",
        examples=["checkout button"],
    ),
]
Label = Annotated[str | int, Field(description="The label of an arm: text or an integer.")]
Arm = Annotated[
    Text | Annotated[int, Field(gt=-LARGEST_LABEL, lt=LARGEST_LABEL)],
    Field(description="The label of an arm: text or an integer.", examples=["green"]),
]
Number = Annotated[float, Field(allow_inf_nan=False)]
Seconds = Annotated[float, Field(gt=0)]
DecisionId = Annotated[Text, Field(description="The id that came with the decision.")]
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"}, examples=["2026-01-31T12:00:00.000000Z"])]


class ArmGiven(Body):
    """An arm, with anything about it that the service should keep."""

    label: Arm
    metadata: Any = None


ArmOrMore = Annotated[Annotated[Arm, Tag("a-name")] | Annotated[ArmGiven, Tag("an-object")], Discriminator(form_of)]


class NewExperiment(Body):
    """An experiment to create. Only its name and its arms must be given."""

    name: Name
    arms: Annotated[list[ArmOrMore], Field(min_length=1, max_length=MOST_ARMS, fail_fast=True)]
    policy: PolicyGiven = "ocucb-n"
    noise: NoiseGiven = "gaussian"
    window: Annotated[Seconds | None, Field(description="Seconds until a reward is too late; null for never.")] = None
    on_expiry: Annotated[
        Literal["forget"] | Number,
        Field(description="What happens then: the decision is forgotten, or it gets this reward."),
    ] = "forget"
    late: Annotated[
        Literal["refuse", "accept"],
        Field(description='What a later reward is told: 410, or 200 with the outcome "late". It never counts.'),
    ] = "refuse"
    sticky: Annotated[
        Seconds | None, Field(description="Seconds in which the same unit gets the same decision; null for never.")
    ] = None
    metadata: Annotated[dict[str, Any] | None, Field(description="Anything; the service only keeps it.")] = None
    seed: Annotated[
        int | None, Field(ge=0, lt=2**63, description="For policies that draw at random; null for one of its own.")
    ] = None

    model_config = _examples(
        {"name": "checkout button", "arms": ["red", "green", "blue"]},
        {
            "name": "headlines",
            "arms": [{"label": "plain", "metadata": {"author": "Ada"}}, "loud"],
            "policy": {"name": "ocucb-n", "eta": 1.5},
            "noise": {"name": "bounded", "low": 0, "high": 1},
            "window": 3600,
            "on_expiry": 0,
        },
    )


class DecisionsWanted(Body):
    """What to decide: nothing need be said."""

    unit: Annotated[Text | None, Field(description="For whom: within the sticky window it gets the same arm.")] = None
    count: Annotated[int, Field(ge=1, le=MOST_DECISIONS, description="How many decisions, if for no unit.")] = 1

    model_config = _examples({"unit": "visitor 7"}, {"count": 10})


class RewardGiven(Body):
    """A decision and its reward."""

    decision: DecisionId
    reward: Number

    model_config = _examples({"decision": "1-42-Zs2kq0aXTnqyB3mVvJ7u1A", "reward": 1})


class RewardsGiven(Body):
    """Many rewards, each answered."""

    rewards: Annotated[list[RewardGiven], Field(min_length=1, max_length=MOST_REWARDS, fail_fast=True)]

    model_config = _examples({"rewards": [{"decision": "1-42-Zs2kq0aXTnqyB3mVvJ7u1A", "reward": 1}]})


class Rewards(Body):
    """One reward, or many: either of the two above, in one model that is read in one go."""

    decision: DecisionId | None = None
    reward: Number | None = None
    rewards: Annotated[list[RewardGiven] | None, Field(min_length=1, max_length=MOST_REWARDS, fail_fast=True)] = None

    @model_validator(mode="after")
    def _one_or_many(self) -> Rewards:
        left_out = (self.decision is None) + (self.reward is None)
        if left_out != (0 if self.rewards is None else 2):
            raise PydanticCustomError("one_or_many", "Give decision and reward, or rewards")
        return self


class ArmToRetire(Body):
    """The arm not to choose any more."""

    arm: Arm

    model_config = _examples({"arm": "green"})


class ArmToAdd(ArmToRetire):
    """A new arm, or a retired one that comes back."""

    metadata: Any = None

    model_config = _examples({"arm": "green", "metadata": {"hex": "#080"}})


class PullMade(Body):
    """A pull made elsewhere, and its reward."""

    arm: Arm
    reward: Number


class Log(Body):
    """Pulls made elsewhere."""

    log: Annotated[list[PullMade], Field(min_length=1, max_length=LONGEST_LOG, fail_fast=True)]

    model_config = _examples({"log": [{"arm": "green", "reward": 1}]})


class NewKey(Body):
    """An API key to make."""

    name: Annotated[Text, Field(description="For people: who uses it.", examples=["web shop"])]
    roles: Annotated[list[Literal["admin", "decide", "reward", "read"]], Field(min_length=1, max_length=10)]
    experiments: Annotated[
        list[Name] | None,
        Field(min_length=1, max_length=MOST_EXPERIMENTS, description="Those it sees; null for all. Not for admin."),
    ] = None

    model_config = _examples({"name": "web shop", "roles": ["decide", "reward"], "experiments": ["checkout button"]})


BODIES = (NewExperiment, DecisionsWanted, RewardGiven, RewardsGiven, ArmToAdd, ArmToRetire, Log, NewKey)


def read(model: type[Sent], body: bytes) -> Sent:
    """Return what a body says, or refuse it."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise invalid_body(error) from None


def moment(at: int) -> str:
    """Return microseconds since 1970 as RFC 3339, in UTC."""
    second, rest = divmod(at, SECOND)
    return f"{_second(second)}.{rest:06d}Z"


@lru_cache(1000)
def _second(number: int) -> str:
    try:
        return (_EPOCH + timedelta(seconds=number)).isoformat()
    except OverflowError:  # a clock gone mad must not stop anyone
        return datetime.max.isoformat(timespec="seconds")
