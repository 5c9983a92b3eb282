"""What callers say of an experiment and its arms, and the service only keeps: where in a definition it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ocucb.labels import Label
from ocucb.service.definition import Definition

_KEYS = {"experiment", "arms"}
MAX_REMEMBERED = 100


class Metadata(NamedTuple):
    """What is kept of an experiment, and of its arms."""

    experiment: dict[str, Any]
    arms: dict[Label, Any]


def to_stored(experiment: Mapping[str, Any], arms: Mapping[Label, Any]) -> dict[str, Any]:
    """Return the metadata of a definition. Arms are pairs: as names of JSON, 7 and "7" would be one."""
    return {"experiment": dict(experiment), "arms": [list(pair) for pair in arms.items()]} if experiment or arms else {}


def metadata_of(definition: Definition) -> Metadata:
    """Return what is kept; metadata of another form, made by other programs, is all of the experiment.

    With many arms it takes long to find, and pages of arms need it again and again, so some is remembered.
    """
    found = _remembered.get(id(definition))
    if found is None or found[0] is not definition:
        if len(_remembered) >= MAX_REMEMBERED:
            _remembered.clear()
        found = _remembered[id(definition)] = definition, _read(definition)
    return found[1]


def _read(definition: Definition) -> Metadata:
    known = dict(definition.metadata)
    try:
        if set(known) == _KEYS:
            return Metadata(dict(known["experiment"]), dict(known["arms"]))
    except (TypeError, ValueError):
        pass
    return Metadata(known, {})


_remembered: dict[int, tuple[Definition, Metadata]] = {}
