"""What callers say of an experiment and its arms, and the service only keeps: where in a definition it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ocucb.labels import Label
from ocucb.service.definition import Definition

_OURS = {"experiment", "arms"}


class Kept(NamedTuple):
    """What is kept of an experiment, and of its arms."""

    experiment: dict[str, Any]
    arms: dict[Label, Any]


def keep(experiment: Mapping[str, Any], arms: Mapping[Label, Any]) -> dict[str, Any]:
    """Return the metadata of a definition. Arms are pairs: as names of JSON, 7 and "7" would be one."""
    return {"experiment": dict(experiment), "arms": [list(pair) for pair in arms.items()]} if experiment or arms else {}


def kept_of(definition: Definition) -> Kept:
    """Return what is kept; metadata of another form, made by other programs, is all of the experiment."""
    known = dict(definition.metadata)
    try:
        if set(known) == _OURS:
            return Kept(dict(known["experiment"]), dict(known["arms"]))
    except (TypeError, ValueError):
        pass
    return Kept(known, {})
