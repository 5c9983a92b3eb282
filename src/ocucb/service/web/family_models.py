"""Policies and noise families as callers write them: a name, or an object with a name and parameters.

The models are made from the library's own registries, so that the documentation knows every parameter and its default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Tag,
    TypeAdapter,
    create_model,
)
from pydantic_core.core_schema import CoreSchema, no_info_plain_validator_function

from ocucb.memory import Memory, memory_from_dict
from ocucb.noise import NOISES, Noise
from ocucb.policies import POLICIES, Policy
from ocucb.registry import Registry

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


def form_of(given: object) -> str:
    """Tell which form somebody has chosen, so that only what is wrong with that is said."""
    return "an-object" if isinstance(given, Mapping | BaseModel) else "a-name"


class RegisteredName:
    """The type of a name of a registry, or of an object with such a name and its parameters.

    Its models are made anew when a class has been registered since: a user's own may come after this module.
    """

    def __init__(self, registry: Registry[Any]) -> None:
        self._registry = registry
        self._classes: list[type[Any]] = []
        self._made: TypeAdapter[Any] | None = None

    def _adapter(self) -> TypeAdapter[Any]:
        classes = list(self._registry.values())
        if self._made is None or classes != self._classes:
            models = [_model(name, kind) for name, kind in self._registry.items()]
            named = _ANNOTATED[_LITERAL[tuple(self._registry)], Tag("a-name")]
            described = _ANNOTATED[reduce(or_, models), Field(discriminator="name"), Tag("an-object")]
            self._classes, self._made = classes, TypeAdapter(_ANNOTATED[named | described, Discriminator(form_of)])
        return self._made

    def _validate(self, given: object) -> Any:
        return self._adapter().validate_python(given)

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_plain_validator_function(self._validate)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return handler(self._adapter().core_schema)


PolicyGiven = Annotated[
    Any, RegisteredName(POLICIES), Field(description="A policy: its name, or its name with parameters.")
]
NoiseGiven = Annotated[
    Any, RegisteredName(NOISES), Field(description="The noise of rewards: its name, or its name with parameters.")
]


def read_policy(given: str | BaseModel) -> Policy:
    """Return the policy that was asked for."""
    return POLICIES.from_dict(_plain(given))


def read_noise(given: str | BaseModel) -> Noise:
    """Return the noise family that was asked for."""
    return NOISES.from_dict(_plain(given))


def read_memory(given: BaseModel | None) -> Memory | None:
    """Return the memory that was asked for."""
    return None if given is None else memory_from_dict(_plain(given))


def written(family: Policy | Noise | Memory) -> dict[str, Any]:
    """Return a policy, a noise family or a memory as callers write it, with every parameter."""
    data = family.to_dict()
    return {"name": data["name"], **data["parameters"]}


def _plain(given: str | BaseModel) -> dict[str, Any]:
    if isinstance(given, str):
        return {"name": given, "parameters": {}}
    parameters = given.model_dump()
    return {"name": parameters.pop("name"), "parameters": parameters}
