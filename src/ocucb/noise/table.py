"""The table of noise families: every one of the package by its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ocucb.errors import StateError
from ocucb.noise.bernoulli import Bernoulli
from ocucb.noise.bounded import Bounded
from ocucb.noise.exponential import Exponential
from ocucb.noise.gaussian import Gaussian
from ocucb.noise.noise import Noise
from ocucb.noise.poisson import Poisson

NOISES: dict[str, type[Noise]] = {
    Gaussian.name: Gaussian,
    Bernoulli.name: Bernoulli,
    Bounded.name: Bounded,
    Poisson.name: Poisson,
    Exponential.name: Exponential,
}


def from_dict(data: Mapping[str, Any]) -> Noise:
    """Return the noise family that `Noise.to_dict` described.

    Raises StateError for an unknown name or parameter, ParameterError for a value out of range.
    """
    if not isinstance(data, Mapping) or set(data) != {"name", "parameters"}:
        raise StateError(f'a noise family must be {{"name": ..., "parameters": {{...}}}}, got {data!r}')
    name, parameters = data["name"], data["parameters"]
    noise = NOISES.get(name) if isinstance(name, str) else None
    if noise is None:
        raise StateError(
            f"noise must be one of {', '.join(NOISES)}, got {name!r}; build a noise family of your own in code instead"
        )
    known = [field.name for field in fields(noise)]
    if not isinstance(parameters, Mapping) or not set(parameters) <= set(known):
        raise StateError(f"parameters of {name} must be among {known}, got {parameters!r}")
    try:
        return noise(**parameters)
    except TypeError as problem:
        raise StateError(f"parameters of {name} are incomplete: {problem}") from None
