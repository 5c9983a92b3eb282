"""Problems as text and as tables of a TOML file, read and written: means, their noise, and all that is not plain."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ocucb.checks import whole
from ocucb.errors import ParameterError
from ocucb.lab import delays, priors
from ocucb.lab.delays import Delay
from ocucb.lab.priors import Prior
from ocucb.lab.problem import NAMED, Problem, from_data
from ocucb.lab.rewards_from_data import RewardsFromData
from ocucb.lab.spec import find_named, make_by, parse_call, parse_noise, suggest, values_by_name
from ocucb.noise import Noise

KEYS = ("problem", "means", "arms", "prior", "data", "digest", "noise", "assumed", "changes", "smooth", "delay", "name")
SOURCES = ("problem", "means", "prior", "data")


def parse_problem(text: object) -> Problem:
    """Return the named problem that a text such as "worst_case(10, 0.3)" stands for."""
    call = parse_call("a problem", "worst_case(10, 0.3)", text)
    make = find_named("problem", call.name, NAMED)
    return make_by(text, make, values_by_name(call, list(inspect.signature(make).parameters)))


def parse_delay(text: object) -> Delay:
    """Return the delay that a text such as "fixed(100, lost=0.1)" stands for."""
    call = parse_call("a delay", "fixed(100)", text)
    kind = find_kind("delay", call.name, delays.QUANTILES, delays.KINDS)
    named = dict(call.named)
    if set(named) - {"lost"}:
        raise ParameterError(f"{call.name} takes rounds, and lost by name, got {', '.join(named)}; use lost=0.1")
    return make_by(text, Delay, {"kind": kind, "parameters": tuple(call.given), **named})


def parse_prior(text: object) -> Prior:
    """Return the prior that a text such as "beta(2, 5)" stands for."""
    call = parse_call("a prior", "uniform(0, 1)", text)
    kind = find_kind("prior", call.name, priors.QUANTILES, 'use "uniform(0, 1)"')
    if call.named:
        raise ParameterError(f"{call.name} takes numbers without names, got {call.named[0][0]}; use {call.name}(0, 1)")
    return make_by(text, Prior, {"kind": kind, "parameters": tuple(call.given)})


def find_kind(what: str, name: str, kinds: Mapping[str, object], remedy: str) -> str:
    """Return the name of a kind, in any case, or say which there are and how one is written."""
    try:
        return find_named(what, name, {kind: kind for kind in kinds})
    except ParameterError as problem:
        raise ParameterError(f"{problem}; {remedy}".replace("?;", "?")) from None


def format_problem(problem: Problem) -> str | None:
    """Return the text from which `parse_problem` makes this problem, or None if it is not a named one."""
    try:
        same = parse_problem(problem.name) == problem
    except ParameterError:
        return None
    return problem.name if same else None


def write_problem(problem: Problem, write_noise: Callable[[Noise], str]) -> dict[str, Any]:
    """Return a problem as a table: a named one by its text, any other by all that it is."""
    named = format_problem(problem)
    if named is not None:
        return {"problem": named}
    table: dict[str, Any] = {"name": problem.name}
    if isinstance(problem.noise, RewardsFromData):
        table |= {"data": problem.noise.path, "digest": problem.noise.digest}
    elif problem.prior is not None:
        numbers = ", ".join(map(repr, problem.prior.parameters))
        table |= {"arms": problem.arms, "prior": f"{problem.prior.kind}({numbers})"}
    else:
        table["means"] = list(problem.means)
    if not isinstance(problem.noise, RewardsFromData):
        table["noise"] = write_noise(problem.noise)
    if problem.assumed is not None:
        table["assumed"] = write_noise(problem.assumed)
    if problem.changes:
        table["changes"] = [{"round": at, "means": list(means)} for at, means in problem.changes]
        table["smooth"] = problem.smooth
    if problem.delay is not None:
        table["delay"] = str(problem.delay)
    return table


def read_problem(entry: object) -> Problem:
    """Return the problem of a text such as "mixed_gaps", or of a table with problem, means, prior or data."""
    if not isinstance(entry, Mapping):
        return parse_problem(entry)
    for key in entry:
        if key not in KEYS:
            raise ParameterError(f"keys of a problem are {', '.join(KEYS)}, got {key!r}{suggest(key, KEYS)}")
    sources = [key for key in SOURCES if key in entry]
    if len(sources) != 1:
        got = " and ".join(sources) or "none of them"
        raise ParameterError(f"a problem must have one of {', '.join(SOURCES)}, got {got}; use means = [0.0, -0.1]")
    if not isinstance(entry.get("means", []), list) or not isinstance(entry.get("name", ""), str):
        raise ParameterError(f"a problem must have a list of means and a word for a name, got {dict(entry)}")
    changes = _settings(entry)
    if "problem" in entry:
        return replace(parse_problem(entry["problem"]), **changes)
    if "data" in entry:
        return _from_data(entry, changes)
    if "prior" in entry:
        arms = whole("arms", entry.get("arms"), 2, "say how many means are drawn")
        prior = parse_prior(entry["prior"])
        changes = {"name": f"random({arms}, {prior})", **changes, "prior": prior}
        return Problem((prior.mean(),) * arms, **changes)
    return Problem(entry["means"], **changes)


def _settings(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an entry says beside its means, by the names of Problem's fields."""
    settings: dict[str, Any] = {"name": entry["name"]} if "name" in entry else {}
    for key in ("noise", "assumed"):
        if key in entry:
            settings[key] = parse_noise(entry[key])
    if "delay" in entry:
        settings["delay"] = parse_delay(entry["delay"])
    if "changes" in entry:
        settings["changes"] = tuple(_change(change) for change in _list("changes", entry["changes"]))
    if "smooth" in entry:
        if not isinstance(entry["smooth"], bool):
            raise ParameterError(f"smooth must be true or false, got {entry['smooth']!r}")
        settings["smooth"] = entry["smooth"]
    return settings


def _list(name: str, given: object) -> Sequence[Any]:
    if not isinstance(given, list):
        raise ParameterError(f"{name} must be a list, got {given!r}; put it in brackets")
    return given


def _change(entry: object) -> tuple[Any, tuple[Any, ...]]:
    if not isinstance(entry, Mapping) or set(entry) != {"round", "means"}:
        raise ParameterError(
            f"a change must have a round and means, got {entry!r}; use {{round = 1001, means = [0.0, 0.1]}}"
        )
    return entry["round"], tuple(_list("means", entry["means"]))


def _from_data(entry: Mapping[str, Any], changes: dict[str, Any]) -> Problem:
    if not isinstance(entry["data"], str):
        raise ParameterError(f"data must name a file, got {entry['data']!r}")
    if "noise" in changes:
        raise ParameterError("rewards from data need no noise, got one; say by assumed what policies shall assume")
    problem = from_data(entry["data"])
    if isinstance(problem.noise, RewardsFromData) and entry.get("digest", problem.noise.digest) != problem.noise.digest:
        raise ParameterError(
            f"{entry['data']} must be the file of digest {entry['digest']}, got {problem.noise.digest}; "
            "it was changed, so leave digest out and start anew"
        )
    return replace(problem, **changes)
