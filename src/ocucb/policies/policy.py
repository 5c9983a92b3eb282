"""What every policy is: a frozen record of parameters that gives its rule."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from ocucb.compiled import LevelFunction, Parameters, ScoreFunction

UNKNOWN_HORIZON = "if it is unknown use OCUCBn, which needs none"


class Trend(IntEnum):
    """How a level moves with t while nothing else changes.

    Unless it is NEITHER, a level must never rise with the effective arms, nor grow faster than the pulls.
    """

    NEITHER = 0
    RISES = 1
    FALLS = 2  # or stands still


class Rule(NamedTuple):
    """The compiled side of a policy: either a level, which a noise family turns into an index, or a score.

    level       (t, pulls, effective, arms, parameters) -> confidence level, clamped at 0 by the selector
    score       the largest wins; for the few policies that are not a level (Thompson sampling, IMED, ...)
    parameters  the floats that both receive as `parameters`
    rho         exponent of the effective arms the level reads; None if it reads none
    trend       whether the lazy selector may be used, and where a level is largest
    shared      the level reads neither pulls nor effective arms, so one level serves all arms of a round
    bound       which bound of the noise family the level is put into
    horizon     the last round the rule may be asked for, or None
    """

    parameters: Parameters = ()
    level: LevelFunction | None = None
    score: ScoreFunction | None = None
    rho: float | None = None
    trend: Trend = Trend.NEITHER
    shared: bool = False
    bound: Literal["divergence", "posterior", "switch"] = "divergence"
    horizon: int | None = None


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
