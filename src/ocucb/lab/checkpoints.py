"""Checkpoints: the rounds after which regret is recorded, spaced by a rule, checked, or read from text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

from ocucb.checks import whole
from ocucb.errors import ParameterError
from ocucb.lab.spec import find_named, parse_call

CHECKPOINTS = 50


def log_spaced(horizon: int, count: int) -> tuple[int, ...]:
    """Return `count` rounds from 1 to the horizon, each about the same multiple of the one before."""
    points = [1] if count > 1 else []
    for left in range(min(count, horizon) - 1, 1, -1):
        last = points[-1]
        points.append(max(last + 1, round(last * (horizon / last) ** (1 / left))))
    return (*points, horizon) if horizon > 1 else (1,)


def linearly_spaced(horizon: int, count: int) -> tuple[int, ...]:
    """Return `count` rounds, evenly spaced, the last of which is the horizon."""
    count = min(count, horizon)
    return tuple(horizon * i // count for i in range(1, count + 1))


SPACINGS: dict[str, Callable[[int, int], tuple[int, ...]]] = {"log": log_spaced, "linear": linearly_spaced}


def default_checkpoints(horizon: int) -> tuple[int, ...]:
    """Return the rounds that are recorded if an experiment names none."""
    return log_spaced(horizon, CHECKPOINTS)


def check_checkpoints(given: object, horizon: int) -> tuple[int, ...]:
    """Return rounds that increase up to the horizon; if none are given, the default."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ParameterError(f"checkpoints must be a list of rounds, got {given!r}; leave it out for {CHECKPOINTS}")
    points = tuple(whole("checkpoints", t, 1, "the first round is 1") for t in given)
    if not points:
        return default_checkpoints(horizon)
    for before, after in pairwise(points):
        if after <= before:
            raise ParameterError(f"checkpoints must increase, got {after} after {before}; sort them")
    if points[-1] != horizon:
        raise ParameterError(f"checkpoints must end with the horizon, {horizon}, got {points[-1]}; add {horizon}")
    return points


def read_checkpoints(text: str, horizon: int) -> tuple[int, ...]:
    """Return the rounds that a text such as "linear(100)" names."""
    call = parse_call("checkpoints", "linear(100)", text)
    spacing = find_named("checkpoints", call.name, SPACINGS)
    if len(call.given) != 1 or call.named:
        raise ParameterError(f'checkpoints must say how many, as in "{call.name}(100)", got {text!r}')
    return spacing(horizon, whole("checkpoints", call.given[0], 1, f'use "{call.name}(100)"'))
