"""What a bandit remembers: everything, the last rounds, or less and less. For a world that drifts."""

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


Memory: TypeAlias = Window | Discount

MEMORIES: dict[str, type[Window] | type[Discount]] = {Window.name: Window, Discount.name: Discount}


def memory_from_dict(data: object) -> Memory:
    """Return the memory behind `to_dict`."""
    if not isinstance(data, dict) or data.get("name") not in MEMORIES or not isinstance(data.get("parameters"), dict):
        raise StateError(f'a memory must be {{"name": "window" or "discount", "parameters": ...}}, got {data!r}')
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
    if not _is_amount(data.get("unit")) or not 0.0 < data["unit"] <= 1.0 or not _is_amount(data.get("rounds")):
        raise StateError("remembered must have a unit between 0 and 1, and rounds")
    for key in ("pulls", "weights", "totals", "waiting"):
        _check_column(data, key, arms)
        if key != "totals" and min(data[key]) < 0.0:
            raise StateError(f"{key} of remembered has a negative value")
    return data


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
