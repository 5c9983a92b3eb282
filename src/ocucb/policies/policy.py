"""What every policy is: a frozen record of parameters that gives its rule."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from ocucb.compiled import BoundFunction, LevelFunction, Parameters, ScoreFunction

UNKNOWN_HORIZON = "if it is unknown use OCUCBn, which needs none"


class Trend(IntEnum):
    """How a level moves with t while nothing else changes.

    Unless it is NEITHER, a level must never rise with the effective arms, nor grow faster than the pulls. Where its
    sign picks a bound this is said of its size; the sign must not read the effective arms, and t only if it RISES.
    """

    NEITHER = 0
    RISES = 1
    FALLS = 2  # or stands still


class WithArms(IntEnum):
    """How a level moves with the number of arms while nothing else changes.

    If it is UNKNOWN, every bound is made anew when an arm is added or retired. Where its sign picks a bound, FALLS is
    said of its size. The sign may then change once as arms fall, and must change the same way as t rises.
    """

    UNKNOWN = 0
    UNREAD = 1
    FALLS = 2  # or stands still


class Chances(NamedTuple):
    """How likely a score chooses which arm, where that can be told: the coin, one for all arms of a round, decides.

    coin     the score reads of its coin only whether it is below this
    lot      below it, every arm is as likely as the next; otherwise one arm is certain, as it is above
    weights  there is no coin: a score is the logarithm of a weight and a Gumbel variable, -log(-log uniform)
    """

    coin: float
    lot: bool = False
    weights: bool = False


class Rule(NamedTuple):
    """The compiled side of a policy: either a level, which a noise family turns into an index, or a score.

    level       (t, pulls, effective, arms, parameters) -> confidence level, clamped at 0 by the selector
    score       the largest wins; for the few policies that are not a level (Thompson sampling, IMED, ...)
    parameters  the floats that both receive as `parameters`
    rho         exponent of the effective arms the level reads; None if it reads none
    trend       whether the lazy selector may be used, and where a level is largest
    with_arms   how the level moves with the number of arms, so that bounds may outlast a change of it
    shared      the level reads neither pulls nor effective arms, so one level serves all arms of a round
    samples     the score reads its arm's pulls, mean and uniform alone, and falls (or stands still) as that rises
    bound       which bound of the noise family the level is put into
    variance_bound  the policy's own bound instead, (mean, pulls, level, spread) -> index, growing with the level;
                spread[0]² is the variance of the arm's rewards, spread[1] the range of rewards times `range_weight`
    reads_divergence  the score reads the family's divergence, which must then be the same for all arms
    horizon     the last round the rule may be asked for, or None
    window      rounds that are remembered, 0 for all of them
    factor      what is left of a round after the next, 0 if nothing fades
    restart     how likely a change is seen where there is none, 0 if none is looked for
    exploration share of rounds that then go to all arms in turn
    chances     with which probability a score chooses an arm, or None if that has no closed form; a level is certain
    """

    parameters: Parameters = ()
    level: LevelFunction | None = None
    score: ScoreFunction | None = None
    rho: float | None = None
    trend: Trend = Trend.NEITHER
    with_arms: WithArms = WithArms.UNKNOWN
    shared: bool = False
    samples: bool = False
    bound: Literal["divergence", "posterior", "switch"] = "divergence"
    variance_bound: BoundFunction | None = None
    range_weight: float = 1.0
    reads_divergence: bool = False
    horizon: int | None = None
    window: int = 0
    factor: float = 0.0
    restart: float = 0.0
    exploration: float = 0.0
    chances: Chances | None = None

    @property
    def forgets(self) -> bool:
        """Whether something is forgotten."""
        return bool(self.window or self.factor or self.restart)


@dataclass(frozen=True)
class Policy(ABC):
    """A rule for choosing among arms, with its parameters. Immutable, comparable, printable."""

    if TYPE_CHECKING:
        # Read-only to all, so that it may be a class variable here and a field in a user's own policy.
        @property
        def name(self) -> str: ...

    formula: ClassVar[str]
    source: ClassVar[str]

    @abstractmethod
    def rule(self) -> Rule:
        """Return what the compiled selectors need."""

    def to_dict(self) -> dict[str, Any]:
        """Return the name and parameters as plain data."""
        plain = {key: value.item() if isinstance(value, np.generic) else value for key, value in asdict(self).items()}
        return {"name": self.name, "parameters": plain}
