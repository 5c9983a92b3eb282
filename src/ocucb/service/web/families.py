"""Policies and noise families as callers write them: a name, or an object with a name and parameters.

The models are made from the library's own tables, so that the documentation knows every parameter and its default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, create_model

from ocucb import noise as noises
from ocucb import policies
from ocucb.noise import NOISES, Noise
from ocucb.policies import POLICIES, Policy

_LITERAL: Any = Literal  # types made from a table are nothing that a type checker could know
_ANNOTATED: Any = Annotated
STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


def _model(name: str, kind: type) -> Any:
    hints = get_type_hints(kind)
    known: dict[str, Any] = {"name": (_LITERAL[name], ...)}
    for field in fields(kind):
        known[field.name] = hints[field.name], ... if field.default is MISSING else field.default
    title, words = f"{kind.__mro__[1].__name__}{kind.__name__}", (kind.__doc__ or "").splitlines()[0]
    return create_model(title, __config__=STRICT, __doc__=words, **known)


def _either(table: Mapping[str, type], words: str) -> Any:
    """Return the type of a name of the table, or of an object with such a name and its parameters."""
    models = [_model(name, kind) for name, kind in table.items()]
    named = _ANNOTATED[_LITERAL[tuple(table)], Tag("a-name")]
    described = _ANNOTATED[reduce(or_, models), Field(discriminator="name"), Tag("an-object")]
    return _ANNOTATED[named | described, Discriminator(form_of), Field(description=words)]


def form_of(given: object) -> str:
    """Tell which form somebody has chosen, so that only what is wrong with that is said."""
    return "an-object" if isinstance(given, Mapping | BaseModel) else "a-name"


PolicyGiven: Any = _either(POLICIES, "A policy: its name, or its name with parameters.")
NoiseGiven: Any = _either(NOISES, "The noise of rewards: its name, or its name with parameters.")


def read_policy(given: str | BaseModel) -> Policy:
    """Return the policy that was asked for."""
    return policies.from_dict(_plain(given))


def read_noise(given: str | BaseModel) -> Noise:
    """Return the noise family that was asked for."""
    return noises.from_dict(_plain(given))


def written(family: Policy | Noise) -> dict[str, Any]:
    """Return a policy or a noise family as callers write it, with every parameter."""
    data = family.to_dict()
    return {"name": data["name"], **data["parameters"]}


def _plain(given: str | BaseModel) -> dict[str, Any]:
    if isinstance(given, str):
        return {"name": given, "parameters": {}}
    parameters = given.model_dump()
    return {"name": parameters.pop("name"), "parameters": parameters}
