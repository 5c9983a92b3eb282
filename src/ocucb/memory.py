"""What a bandit remembers, for an environment that drifts: the last rounds, less and less, or all since a change."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias

from ocucb.checks import real, whole
from ocucb.errors import ParameterError, StateError
from ocucb.policies.policy import Rule

LONGEST_WINDOW = 10**8
EVENT_COLUMNS = ("rounds", "arms", "rewards")
_EVENTS = "lists of equal length: rounds, numbers of the arms, and rewards or null"
LEAST_EXPLORATION = 1e-9


@dataclass(frozen=True)
class Window:
    """Remember the last rounds and nothing else. With `UCB` this is SW-UCB.

    A pull is remembered for so many rounds after it, and a reward for so many after the round in which it came.

    Parameters
    ----------
    rounds : how many rounds are remembered.

    A. Garivier and E. Moulines, "On Upper-Confidence Bound Policies for Switching Bandit Problems", 2011.
    """

    name: ClassVar[str] = "window"

    rounds: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", whole("rounds", self.rounds, 1, "1000 is a start", high=LONGEST_WINDOW))

    def limit(self, rule: Rule) -> Rule:
        """Return a rule that sees only what is remembered."""
        return rule._replace(window=self.rounds)

    def to_dict(self) -> dict[str, Any]:
        """Return name and parameters as plain data."""
        return {"name": self.name, "parameters": {"rounds": self.rounds}}


@dataclass(frozen=True)
class Discount:
    """Remember less and less: what is s rounds old counts factor^s times. With `UCB` this is D-UCB.

    A pull ages from its round on, and a reward from the round in which it came.

    Parameters
    ----------
    factor : what is left after each round, between 0 and 1; about 1/(1 - factor) rounds are remembered.

    A. Garivier and E. Moulines, "On Upper-Confidence Bound Policies for Switching Bandit Problems", 2011.
    """

    name: ClassVar[str] = "discount"

    factor: float

    def __post_init__(self) -> None:
        factor = real("factor", self.factor, "use 0.999 to remember about 1,000 rounds")
        if not 0.0 < factor < 1.0:
            raise ParameterError(
                f"factor must be between 0 and 1, and neither, got {factor:g}; use 0.999 to remember about 1,000 rounds"
            )
        object.__setattr__(self, "factor", factor)

    def limit(self, rule: Rule) -> Rule:
        """Return a rule that sees only what is remembered."""
        return rule._replace(factor=self.factor)

    def to_dict(self) -> dict[str, Any]:
        """Return name and parameters as plain data."""
        return {"name": self.name, "parameters": {"factor": self.factor}}


@dataclass(frozen=True)
class Restart:
    """Remember everything until the rewards of an arm show a change, then forget all. With `KLUCB` this is GLR-klUCB.

    A change has happened when of the n rewards of an arm since the last start, for some s,
    s d(mean of the first s, mean) + (n - s) d(mean of the others, mean) ≥ log(3 n^(3/2) / δ), d of the noise family.

    Parameters
    ----------
    delta : how likely an arm that does not change is ever found to, about; between 0 and 1.
    exploration : share of rounds that go to all arms in turn, so that one which the policy has left is seen to change;
        from 0 to 1.

    L. Besson, E. Kaufmann, O.-A. Maillard, J. Seznec, "Efficient Change-Point Detection for Tackling
    Piecewise-Stationary Bandits", 2022.
    """

    name: ClassVar[str] = "restart"

    delta: float = 0.01
    exploration: float = 0.01

    def __post_init__(self) -> None:
        delta = real("delta", self.delta, "use delta=0.01")
        if not 0.0 < delta < 1.0:
            raise ParameterError(f"delta must be between 0 and 1, and neither, got {delta:g}; use delta=0.01")
        exploration = real("exploration", self.exploration, "use exploration=0.01")
        if not 0.0 <= exploration <= 1.0:
            raise ParameterError(
                f"exploration must be between 0 and 1, got {exploration:g}; use exploration=0.01, or 0 for none"
            )
        if 0.0 < exploration < LEAST_EXPLORATION:
            raise ParameterError(
                f"exploration must be 0 or at least {LEAST_EXPLORATION:g}, got {exploration:g}; use exploration=0.01"
            )
        object.__setattr__(self, "delta", delta)
        object.__setattr__(self, "exploration", exploration)

    def limit(self, rule: Rule) -> Rule:
        """Return a rule that sees only what is remembered."""
        return rule._replace(restart=self.delta, exploration=self.exploration)

    def to_dict(self) -> dict[str, Any]:
        """Return name and parameters as plain data."""
        return {"name": self.name, "parameters": {"delta": self.delta, "exploration": self.exploration}}


Memory: TypeAlias = Window | Discount | Restart

MEMORIES: dict[str, type[Memory]] = {kind.name: kind for kind in (Window, Discount, Restart)}
SERVED_MEMORIES = {kind.name: kind for kind in (Window, Discount)}  # what the service has
CALLS = "Window(rounds), Discount(factor) or Restart(delta)"


def memory_from_dict(data: object) -> Memory:
    """Return the memory behind `to_dict`."""
    if not isinstance(data, dict) or data.get("name") not in MEMORIES or not isinstance(data.get("parameters"), dict):
        names = ", ".join(MEMORIES)
        raise StateError(f'a memory must be {{"name": one of {names}, "parameters": ...}}, got {data!r}')
    try:
        return MEMORIES[data["name"]](**data["parameters"])
    except TypeError:
        raise StateError(f"parameters of {data['name']} are wrong: {data['parameters']!r}") from None
    except ParameterError as problem:
        raise StateError(str(problem)) from None


def clean_remembered(data: object, memory: Memory, arms: int) -> dict[str, Any]:
    """Return what a saved bandit remembers, after checking every part of it."""
    if not isinstance(data, dict) or type(data.get("now")) is not int or not 0 <= data["now"] < 2**53:
        raise StateError("the saved bandit is incomplete: remembered is missing or no description of a memory")
    if isinstance(memory, Window):
        return _clean_events(data, memory.rounds, arms)
    if isinstance(memory, Restart):
        return _clean_start(data, arms)
    if not _is_amount(data.get("unit")) or not 0.0 < data["unit"] <= 1.0 or not _is_amount(data.get("rounds")):
        raise StateError("remembered must have a unit between 0 and 1, and rounds")
    _check_columns(data, ("pulls", "weights", "totals", "waiting"), arms, signed=("totals",))
    return data


def _check_columns(data: dict[str, Any], keys: tuple[str, ...], arms: int, signed: tuple[str, ...]) -> None:
    for key in keys:
        _check_column(data, key, arms)
        if key not in signed and min(data[key]) < 0.0:
            raise StateError(f"{key} of remembered has a negative value")


def _clean_start(data: dict[str, Any], arms: int) -> dict[str, Any]:
    """Check what is remembered since the last restart."""
    if type(data.get("restarts")) is not int or data["restarts"] < 0 or not _is_amount(data.get("rounds")):
        raise StateError("remembered must have restarts and rounds")
    _check_columns(data, ("pulls", "totals", "least", "most"), arms, signed=("totals", "least", "most"))
    rewards = data.get("rewards")
    if not isinstance(rewards, list) or len(rewards) != arms or any(type(n) is not int or n < 0 for n in rewards):
        raise StateError(f"rewards of remembered must be a list of {arms} whole numbers")
    if any(least > most for least, most in zip(data["least"], data["most"], strict=True)):
        raise StateError("the saved bandit is inconsistent: a least reward is above the largest")
    for side in ("above", "below"):
        hulls = data.get(side)
        if not isinstance(hulls, list) or len(hulls) != arms:
            raise StateError(f"{side} of remembered must be a list of {arms} hulls")
        for hull, count in zip(hulls, rewards, strict=True):
            _check_hull(hull, count)
    return data


def _check_hull(hull: object, rewards: int) -> None:
    """Refuse what is no list of [number of rewards, their sum] in rising order, up to all rewards."""
    last = 0.0
    for corner in hull if isinstance(hull, list) else [None]:
        if not isinstance(corner, list) or len(corner) != 2 or not all(map(_is_finite, corner)):
            raise StateError("a corner of remembered must be [number of rewards, their sum]")
        if corner[0] <= last or corner[0] % 1.0:
            raise StateError("the saved bandit is inconsistent: corners of remembered are not in order")
        last = corner[0]
    if last != rewards:
        raise StateError("the saved bandit is inconsistent: corners of remembered do not end with all rewards")


def _clean_events(data: dict[str, Any], rounds: int, arms: int) -> dict[str, Any]:
    if "totals" in data or "rests" in data:  # older files have neither
        for key in ("totals", "rests"):
            _check_column(data, key, arms)
    events = _as_columns(data.get("events"))
    whens, slots, rewards = (events[key] for key in EVENT_COLUMNS)
    if not len(whens) == len(slots) == len(rewards) or {*map(type, whens), *map(type, slots)} - {int}:
        raise StateError(f"events of remembered must be {_EVENTS}")
    if not all(reward is None or _is_finite(reward) for reward in rewards):
        raise StateError(f"events of remembered must be {_EVENTS}")
    last, ordered = [max(0, data["now"] - rounds), *whens, data["now"]], [0, *slots, arms - 1]
    if any(one > later for one, later in pairwise(last)) or min(ordered) < 0 or max(ordered) >= arms:
        raise StateError("the saved bandit is inconsistent: an event has no such round or arm")
    return {**data, "events": events}


def _as_columns(events: object) -> dict[str, list[Any]]:
    """Return events by column; older files have them by row."""
    if isinstance(events, list) and all(isinstance(event, list) and len(event) == 3 for event in events):
        return {key: [event[place] for event in events] for place, key in enumerate(EVENT_COLUMNS)}
    if not isinstance(events, dict) or not all(isinstance(events.get(key), list) for key in EVENT_COLUMNS):
        raise StateError(f"events of remembered must be {_EVENTS}")
    return {key: events[key] for key in EVENT_COLUMNS}


def _check_column(data: dict[str, Any], key: str, arms: int) -> None:
    column = data.get(key)
    if not isinstance(column, list) or len(column) != arms or not all(map(_is_finite, column)):
        raise StateError(f"{key} of remembered must be a list of {arms} values of type float")


def _is_finite(value: object) -> bool:
    return type(value) is float and math.isfinite(value)


def _is_amount(value: object) -> bool:
    return type(value) is float and math.isfinite(value) and value >= 0.0
