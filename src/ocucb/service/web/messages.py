"""What callers send and are sent, as models: they check the one and document both."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from ocucb.service.access import MAX_EXPERIMENTS_PER_KEY
from ocucb.service.definition import MAX_ARMS_PER_EXPERIMENT, MAX_REMEMBERED_ROUNDS
from ocucb.service.records import SECOND
from ocucb.service.requests import MAX_ARMS_NAMED, MAX_DECISIONS_PER_REQUEST, MAX_IMPORTED_REWARDS
from ocucb.service.text import INTEGER_LABEL_BOUND, MAX_TEXT_LENGTH
from ocucb.service.web.errors import invalid_body
from ocucb.service.web.family_models import STRICT, NoiseGiven, PolicyGiven, form_of

MAX_REWARDS_PER_REQUEST = 1000
MAX_SHARES = 1000
_EPOCH = datetime(1970, 1, 1)  # all times here are UTC


class Body(BaseModel):
    """Something sent: exactly what is described, of exactly these types."""

    model_config = STRICT


Sent = TypeVar("Sent", bound=BaseModel)


def _examples(*given: dict[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": list(given)})


Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT_LENGTH)]
Name = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_TEXT_LENGTH,
        description="The name of an experiment: no slashes, no control characters, no spaces at its ends.",
        examples=["checkout button"],
    ),
]
Label = Annotated[str | int, Field(description="The label of an arm: text or an integer.")]
Arm = Annotated[
    Text | Annotated[int, Field(gt=-INTEGER_LABEL_BOUND, lt=INTEGER_LABEL_BOUND)],
    Field(description="The label of an arm: text or an integer.", examples=["green"]),
]
Number = Annotated[float, Field(allow_inf_nan=False)]
Seconds = Annotated[float, Field(gt=0)]
DecisionId = Annotated[Text, Field(description="The id that came with the decision.")]
Part = Annotated[
    Text | None,
    Field(description="Which part of the reward, where partial rewards are summed: the same part counts once."),
]
Earned = Annotated[Number, Field(description="What the decision earned.")]
_MANY_REWARDS = "Many at once: a decision and its reward, each."
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"}, examples=["2026-01-31T12:00:00.000000Z"])]


class ArmGiven(Body):
    """An arm, with anything about it that the service should keep."""

    label: Arm
    metadata: Any = None


ArmOrMore = Annotated[Annotated[Arm, Tag("a-name")] | Annotated[ArmGiven, Tag("an-object")], Discriminator(form_of)]


class ShareGiven(Body):
    """An arm, and the part of all decisions that it gets whatever the policy chooses."""

    arm: Arm
    share: Annotated[float, Field(ge=0, lt=1)]


Shares = Annotated[
    list[ShareGiven],
    Field(max_length=MAX_SHARES, description="Arms that get a part of all decisions, as a control; below 1 in all."),
]


class WindowGiven(Body):
    """The policy sees the last so many rounds; a round is a decision."""

    name: Literal["window"]
    rounds: Annotated[int, Field(ge=1, le=MAX_REMEMBERED_ROUNDS)]


class DiscountGiven(Body):
    """The policy sees everything, but what is s rounds old counts factor^s times."""

    name: Literal["discount"]
    factor: Annotated[float, Field(gt=0, lt=1)]


MemoryGiven = Annotated[
    Annotated[WindowGiven | DiscountGiven, Field(discriminator="name")] | None,
    Field(description="What the policy remembers, for an environment that drifts; null for everything."),
]


class NewExperiment(Body):
    """An experiment to create. Only its name and its arms must be given."""

    name: Name
    arms: Annotated[
        list[ArmOrMore],
        Field(
            min_length=1,
            max_length=MAX_ARMS_PER_EXPERIMENT,
            fail_fast=True,
            description="Their labels, or objects with a label and metadata.",
        ),
    ]
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
    reward_bounds: Annotated[
        list[Number] | None,
        Field(
            min_length=2,
            max_length=2,
            description="The smallest and the largest reward that is accepted; null for -1e100 and 1e100.",
        ),
    ] = None
    partial_rewards: Annotated[
        bool,
        Field(description="A decision may have several rewards; their sum counts when its window has passed."),
    ] = False
    shares: Shares = []
    memory: MemoryGiven = None
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
            "shares": [{"arm": "plain", "share": 0.1}],
        },
        {"name": "news", "arms": ["a", "b"], "noise": "bernoulli", "memory": {"name": "window", "rounds": 5000}},
    )


class DecisionsWanted(Body):
    """What to decide: nothing need be said."""

    unit: Annotated[Text | None, Field(description="For whom: within the sticky window it gets the same arm.")] = None
    count: Annotated[
        int, Field(ge=1, le=MAX_DECISIONS_PER_REQUEST, description="How many decisions, if for no unit.")
    ] = 1
    units: Annotated[
        list[Text] | None,
        Field(
            min_length=1,
            max_length=MAX_DECISIONS_PER_REQUEST,
            fail_fast=True,
            description="For whom, if for many: a decision for each, in order, as if each had been asked for alone.",
        ),
    ] = None
    among: Annotated[
        list[Arm] | None,
        Field(min_length=1, max_length=MAX_ARMS_NAMED, fail_fast=True, description="Choose only among these arms."),
    ] = None
    different: Annotated[bool, Field(description="Each decision has another arm, by falling index.")] = False

    model_config = _examples(
        {"unit": "visitor 7"}, {"count": 10}, {"units": ["visitor 7", "visitor 8"]}, {"among": ["red", "green"]}
    )

    @model_validator(mode="after")
    def _units_alone(self) -> DecisionsWanted:
        if self.units is not None and (self.unit is not None or self.count != 1 or self.different):
            raise PydanticCustomError("units_alone", "Give units, or one unit, a count or different ones")
        return self


class RewardGiven(Body):
    """A decision and its reward."""

    decision: DecisionId
    reward: Earned
    part: Part = None

    model_config = _examples({"decision": "1-42-Zs2kq0aXTnqyB3mVvJ7u1A", "reward": 1})


class RewardsGiven(Body):
    """Many rewards, each answered."""

    rewards: Annotated[
        list[RewardGiven],
        Field(min_length=1, max_length=MAX_REWARDS_PER_REQUEST, fail_fast=True, description=_MANY_REWARDS),
    ]

    model_config = _examples({"rewards": [{"decision": "1-42-Zs2kq0aXTnqyB3mVvJ7u1A", "reward": 1}]})


class Rewards(Body):
    """One reward, or many: either of the two above, in one model that is read in one go."""

    decision: DecisionId | None = None
    reward: Earned | None = None
    part: Part = None
    rewards: Annotated[
        list[RewardGiven] | None,
        Field(min_length=1, max_length=MAX_REWARDS_PER_REQUEST, fail_fast=True, description=_MANY_REWARDS),
    ] = None

    @model_validator(mode="after")
    def _one_or_many(self) -> Rewards:
        left_out = (self.decision is None) + (self.reward is None)
        if left_out != (0 if self.rewards is None else 2):
            raise PydanticCustomError("one_or_many", "Give decision and reward, or rewards")
        return self


class CorrectionGiven(Body):
    """A decision, and the reward that it should have had."""

    decision: DecisionId
    reward: Annotated[Number | None, Field(description="Null to void it: the decision counts as if never made.")]


class CorrectionsGiven(Body):
    """Corrections of rewards, each answered."""

    corrections: Annotated[
        list[CorrectionGiven],
        Field(
            min_length=1,
            max_length=MAX_REWARDS_PER_REQUEST,
            fail_fast=True,
            description="A decision and the reward that it should have had, each.",
        ),
    ]

    model_config = _examples({"corrections": [{"decision": "1-42-Zs2kq0aXTnqyB3mVvJ7u1A", "reward": 0.5}]})


class ArmToRetire(Body):
    """The arm not to choose any more."""

    arm: Arm

    model_config = _examples({"arm": "green"})


class ArmToAdd(ArmToRetire):
    """A new arm, or a retired one that comes back."""

    metadata: Annotated[Any, Field(description="Anything; the service only keeps it.")] = None

    model_config = _examples({"arm": "green", "metadata": {"hex": "#080"}})


class SharesGiven(Body):
    """Which arms get which part of all decisions from now on; those not named have none."""

    shares: Shares

    model_config = _examples({"shares": [{"arm": "green", "share": 0.1}]})


class WinnerRuleGiven(Body):
    """Whether to play only the winner once there is one."""

    confidence: Annotated[
        float | None, Field(gt=0, lt=1, description="At which a winner is looked for; null for not at all.")
    ]

    model_config = _examples({"confidence": 0.95})


class UnitToErase(Body):
    """A unit whose name is to be taken out of all logs, or of one."""

    unit: Annotated[Text, Field(description="Whose name is taken out.")]
    experiment: Annotated[Name | None, Field(description="Only in this experiment; null for all.")] = None

    model_config = _examples({"unit": "visitor 7"})


class PullMade(Body):
    """A pull made elsewhere, and its reward."""

    arm: Arm
    reward: Number


class Log(Body):
    """Pulls made elsewhere."""

    log: Annotated[
        list[PullMade],
        Field(
            min_length=1,
            max_length=MAX_IMPORTED_REWARDS,
            fail_fast=True,
            description="An arm and its reward, each, in the order in which they were made.",
        ),
    ]

    model_config = _examples({"log": [{"arm": "green", "reward": 1}]})


class NewKey(Body):
    """An API key to make."""

    name: Annotated[Text, Field(description="For people: who uses it.", examples=["web shop"])]
    roles: Annotated[
        list[Literal["admin", "decide", "reward", "correct", "read"]],
        Field(min_length=1, max_length=10, description="What it may do."),
    ]
    experiments: Annotated[
        list[Name] | None,
        Field(
            min_length=1, max_length=MAX_EXPERIMENTS_PER_KEY, description="Those it sees; null for all. Not for admin."
        ),
    ] = None

    lifetime: Annotated[Seconds | None, Field(description="Seconds until it expires; null for never.")] = None

    model_config = _examples({"name": "web shop", "roles": ["decide", "reward"], "experiments": ["checkout button"]})


BODIES = (
    NewExperiment,
    DecisionsWanted,
    RewardGiven,
    RewardsGiven,
    CorrectionsGiven,
    ArmToAdd,
    ArmToRetire,
    SharesGiven,
    WinnerRuleGiven,
    UnitToErase,
    Log,
    NewKey,
)


def read(model: type[Sent], body: bytes) -> Sent:
    """Return what a body says, or refuse it."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise invalid_body(error) from None


@lru_cache(1000)  # the decisions of a batch are made at one time
def timestamp(at: int) -> str:
    """Return microseconds since 1970 as RFC 3339, in UTC."""
    second, rest = divmod(at, SECOND)
    try:
        return f"{(_EPOCH + timedelta(seconds=second)).isoformat()}.{rest:06d}Z"
    except OverflowError:  # a clock gone mad must not stop anyone
        return f"{datetime.max.isoformat(timespec='seconds')}.{rest:06d}Z"
