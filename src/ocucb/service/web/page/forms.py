"""The form that creates an experiment: fields from the tables of policies and noise, and what is wrong with them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, NamedTuple

from ocucb.errors import OcucbError
from ocucb.memory import SERVED_MEMORIES, Memory, memory_from_dict
from ocucb.noise import NOISES
from ocucb.policies import POLICIES
from ocucb.registry import Registry
from ocucb.service.definition import Definition
from ocucb.service.text import clean_name
from ocucb.service.web.page.numbers import UNITS
from ocucb.service.web.page.rendering import sentence

MAX_NUMBER_LENGTH = 40
SECONDS = {f"{unit}s": size for size, unit in reversed(UNITS)}
DEFAULTS = {
    "name": "",
    "arms": "",
    "policy": "ocucb-n",
    "noise": "bernoulli",
    "window": "",
    "window_unit": "hours",
    "on_expiry": "forget",
    "default": "0",
    "late": "refuse",
    "sticky": "",
    "sticky_unit": "days",
    "partial_rewards": "",
    "shares": "",
    "memory": "everything",
}
MEMORIES_IN_WORDS = {
    "everything": "everything: each arm has one mean",
    "window": "the last decisions and their rewards (window)",
    "discount": "less and less of what is old (discount)",
}
PARAMETER_HELP = {
    "horizon": "Decisions in all; the experiment ends with them",
    "eta": "Width of the confidence interval; more than 1, or the word annealed",
    "rho": "Exponent of the effective arms, 1/2 to 1",
    "shrink": "Logarithms to drop: none, t, log-plus or all",
    "alpha": "Width of the confidence interval; for ucb also the word asymptotic",
    "zeta": "Width of the confidence interval; more than 1",
    "psi": "Stretches the horizon; 2 or more",
    "c": "Weight of the confidence interval, or of its second logarithm",
    "beta": "Share of decisions for the arm of the largest mean, between 0 and 1",
    "delta": "Probability of error that the confidence bounds are made for, between 0 and 1",
    "epsilon": "Share of random decisions, 0 to 1",
    "approximate": "yes for a closed formula; the exact index is for 10,000 decisions at most",
    "subtracted": "Pulls taken off the exponent, 0 or 1",
    "scale": "Standard deviation of a reward, or half its range",
    "low": "The smallest possible reward",
    "high": "The largest possible reward",
    "rounds": "How many decisions are remembered",
    "factor": "What is left after each decision, between 0 and 1: 0.999 remembers about 1,000",
}


class FormError(Exception):
    """What is wrong with a form: a sentence by the name of its field, or by "" for all of it."""

    def __init__(self, problems: Mapping[str, str], status: int = 422) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems, self.status = dict(problems), status


class Parameter(NamedTuple):
    """A field of the form: a parameter, and the default of each policy or noise family that has it."""

    name: str
    words: str
    defaults: dict[str, str]


def parameters_of(table: Mapping[str, type[Any]]) -> list[Parameter]:
    """Return the parameters that occur in a table, each once."""
    found: dict[str, dict[str, str]] = {}
    for name, kind in table.items():
        for field in fields(kind):
            needed = field.default is MISSING
            default = "" if needed or field.default is None else _text(field.default)
            found.setdefault(field.name, {})[name] = "needed" if needed else default
    return [
        Parameter(name, PARAMETER_HELP.get(name) or _describe_parameter(name, table), defaults)
        for name, defaults in found.items()
    ]


def _describe_parameter(parameter: str, table: Mapping[str, type[Any]]) -> str:
    """Return what the docstring of a class says of its parameter, on the line that begins "parameter : "."""
    docstrings = (inspect.getdoc(kind) or "" for kind in table.values())
    lines = (line for text in docstrings for line in text.splitlines())
    return next((line.split(" : ", 1)[1] for line in lines if line.startswith(f"{parameter} : ")), "")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def read_definition(form: Mapping[str, str]) -> Definition:
    """Return the experiment that a form describes, or raise a FormError with all that is wrong."""
    problems: dict[str, str] = {}
    arms = [line.strip() for line in form.get("arms", "").splitlines() if line.strip()]
    if not arms:
        problems["arms"] = "An experiment needs at least one arm."
    what: dict[str, Any] = {"arms": tuple(arms), "late": form.get("late")}
    what["partial_rewards"] = form.get("partial_rewards") == "yes"
    for field, read in _READERS.items():
        try:
            what[field] = read(form)
        except FormError as problem:
            problems.update(problem.problems)
    if problems:
        raise FormError(problems)
    try:
        return Definition(**what)
    except OcucbError as problem:
        raise FormError({_field_of(str(problem)): sentence(str(problem))}) from None


def _name(form: Mapping[str, str]) -> str:
    name = form.get("name", "").strip()
    if not name:
        raise FormError({"name": "An experiment needs a name."})
    try:
        return clean_name(name)
    except OcucbError as problem:
        raise FormError({"name": sentence(str(problem))}) from None


def _policy(form: Mapping[str, str]) -> Any:
    return _read_registered(form, POLICIES)


def _noise(form: Mapping[str, str]) -> Any:
    return _read_registered(form, NOISES)


def _memory(form: Mapping[str, str]) -> Memory | None:
    if form.get("memory", "everything") == "everything":
        given = next(
            (f"memory.{each.name}" for each in parameters_of(SERVED_MEMORIES) if form.get(f"memory.{each.name}")), None
        )
        if given is not None:
            raise FormError({given: "Everything is remembered; leave it empty, or choose what is remembered."})
        return None
    found: Memory = _read_named(form, "memory", SERVED_MEMORIES, memory_from_dict)
    return found


def _shares(form: Mapping[str, str]) -> tuple[tuple[str, float], ...]:
    """Return shares from lines as "control 10 %" or "control: 0.1"."""
    found = []
    for line in filter(None, map(str.strip, form.get("shares", "").splitlines())):
        read = re.fullmatch(r"(.+?)\s*[\s:=]\s*([0-9]{1,3}(?:\.[0-9]+)?|\.[0-9]+)\s*(%?)", line)
        share = 1.0 if read is None else float(read[2]) / (100.0 if read[3] else 1.0)
        if read is None or not 0.0 < share < 1.0:
            raise FormError(
                {"shares": f"A line must be an arm and its share, as in “control 10 %”, got “{line[:100]}”."}
            )
        found.append((read[1], share))
    if len({arm for arm, _ in found}) < len(found):
        raise FormError({"shares": "Each arm has one share; name it once."})
    return tuple(found)


def _read_registered(form: Mapping[str, str], registry: Registry[Any]) -> Any:
    return _read_named(form, registry.parameter, registry, registry.from_dict)


def _read_named(
    form: Mapping[str, str], what: str, registry: Mapping[str, type[Any]], from_dict: Callable[[dict[str, Any]], Any]
) -> Any:
    """Return a policy, a noise family or a memory, from its name and the parameters that were filled in."""
    known = parameters_of(registry)
    name = form.get(what, "")
    if name not in registry:
        raise FormError({what: f"Choose one of {', '.join(registry)}."})
    given = {each.name: text for each in known if (text := form.get(f"{what}.{each.name}", "").strip())}
    for each in known:
        if each.name in given and name not in each.defaults:
            raise FormError({f"{what}.{each.name}": f"{name} has no {each.name}; leave it empty."})
        if each.name not in given and each.defaults.get(name) == "needed":
            raise FormError({f"{what}.{each.name}": f"This must be filled in for {name}."})
    try:
        return from_dict({"name": name, "parameters": {each: _value(text) for each, text in given.items()}})
    except OcucbError as problem:
        first = str(problem).split()[0]
        raise FormError({f"{what}.{first}" if first in given else what: sentence(str(problem))}) from None


def _window(form: Mapping[str, str]) -> float | None:
    return _seconds(form, "window")


def _sticky(form: Mapping[str, str]) -> float | None:
    return _seconds(form, "sticky")


def _seconds(form: Mapping[str, str], field: str) -> float | None:
    text = form.get(field, "").strip()
    if not text:
        return None
    value, unit = _value(text), form.get(f"{field}_unit", "")
    if isinstance(value, str | bool) or value <= 0 or unit not in SECONDS:
        raise FormError({field: "This must be a number greater than 0, or empty."})
    return float(value * SECONDS[unit])


def _on_expiry(form: Mapping[str, str]) -> str | float:
    if form.get("on_expiry") != "default":
        return "forget"
    value = _value(form.get("default", "").strip())
    if isinstance(value, str | bool):
        raise FormError({"default": "This must be a number: the reward that a decision gets then."})
    return float(value)


_READERS = {
    "name": _name,
    "policy": _policy,
    "noise": _noise,
    "window": _window,
    "sticky": _sticky,
    "on_expiry": _on_expiry,
    "shares": _shares,
    "memory": _memory,
}
_FIELDS = {
    "window": "window",
    "sticky": "sticky",
    "late": "late",
    "partial rewards": "partial_rewards",
    "shares": "shares",
    "no arm": "shares",
    "a window of": "memory.rounds",
}
_SUITABILITY = {  # of a policy, noise and memory that do not go together
    "looks for a verdict": "memory",
    "never forgotten": "memory",
    "cannot forget": "memory",
    "reads a divergence": "noise",
    "needs rewards in a known range": "noise",
}


def _field_of(message: str) -> str:
    """Return the field that a message of the library is about; arms if it names none, for they are what is left."""
    for words, field in _FIELDS.items():
        if message.startswith(words):
            return field
    for words, field in _SUITABILITY.items():
        if words in message:
            return field
    return "default" if message.startswith("a reward") or "reward must" in message else "arms"


def _value(text: str) -> int | float | bool | str:
    """Return what somebody typed: a number, yes or no, or a word."""
    plain = text.replace(",", "").replace("_", "").replace(" ", "").replace("−", "-")[:MAX_NUMBER_LENGTH]
    if text.casefold() in ("yes", "true", "no", "false"):
        return text.casefold() in ("yes", "true")
    if re.fullmatch(r"-?[0-9]{1,18}", plain):
        return int(plain)
    if re.fullmatch(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]{1,3})?", plain, re.IGNORECASE):
        number = float(plain)
        return int(number) if "." not in plain and number.is_integer() and abs(number) < 2.0**53 else number
    return text.casefold()
