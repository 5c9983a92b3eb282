"""A study: an experiment, or one for every value of something that is swept. Data, read from TOML.

A study has the keys of an experiment, a name and a title. In a sweep each value replaces its word in braces:

    title = "Two arms, every gap"
    horizon = 5000
    problems = ["worst_case(2, {gap})"]
    policies = ["ocucb-n", "ucb"]

    [sweep]
    parameter = "gap"
    from = 0.05
    to = 0.5

    [quick]
    count = 10
    runs = 100

    [full]
    count = 100
    runs = 10000

Sweep "horizon", and the rounds of a run change. What stands under quick or full replaces the same key above it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from importlib import resources
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from ocucb.checks import one_of, real, whole
from ocucb.errors import ParameterError
from ocucb.lab.chart import Scale
from ocucb.lab.experiment import Experiment
from ocucb.lab.spec import suggest

Size: TypeAlias = Literal["quick", "full"]
SIZES: tuple[Size, ...] = get_args(Size)
SCALES: tuple[Scale, ...] = get_args(Scale)
HORIZON = "horizon"  # may be swept without braces: the rounds of a run are no text

EXPERIMENT = tuple(key.name for key in fields(Experiment))
KEYS = ("name", "title", *EXPERIMENT, "sweep", *SIZES)
SWEEP = ("parameter", "values", "from", "to", "count", "scale", "label")
BY_SIZE = ("horizon", "runs", "precision", "checkpoints", "max_runs", "values", "from", "to", "count")
CHANGES = ("policy", "until", "then")

WORD = re.compile(r"[a-z]\w*", re.IGNORECASE)
NAME = re.compile(r"[a-z0-9][\w-]*", re.IGNORECASE)
BRACES = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Sweep:
    """What is swept.

    parameter : the word that each value replaces, in braces.
    label : what an axis calls it.
    scale : of an axis, and of the spacing between two ends: "linear" or "log".
    values : for each size.
    """

    parameter: str
    label: str
    scale: Scale
    values: Mapping[Size, tuple[float, ...]]

    @staticmethod
    def text(value: float) -> str:
        """Return a value as it is put into texts: 10 for 10.0, which a number of arms can take."""
        return repr(int(value) if value == int(value) else value)


@dataclass(frozen=True)
class Study:
    """Experiments that belong together.

    name : a word for files.
    title : a line for people.
    sweep : None for a study of one experiment.
    template : for each size the keys of its experiments, with the swept word in braces still.
    """

    name: str
    title: str
    sweep: Sweep | None
    template: Mapping[Size, Mapping[str, Any]] = field(repr=False)

    @classmethod
    def from_toml(cls, text: str, name: str = "study") -> Study:
        """Return the study that a TOML text describes; `name` is used if it gives none."""
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as problem:
            raise ParameterError(f"a study must be TOML, but it breaks off: {problem}") from None
        _known("a study", data, KEYS)
        by_size = {size: _table(size, data.pop(size, {})) for size in SIZES}
        for size in SIZES:
            _known(size, by_size[size], BY_SIZE)
        name = _name(data.pop("name")) if "name" in data else name
        title = _text("title", data.pop("title", name))
        sweep = _sweep(data.pop("sweep"), by_size) if "sweep" in data else None
        if "policies" in data:
            data["policies"] = _labelled(data["policies"])
        _braces(data, sweep)
        template = {size: _sized(data, by_size[size]) for size in SIZES}
        for size in SIZES:
            _complete(size, template[size], sweep)
        return cls(name, title, sweep, template)

    @classmethod
    def read(cls, path: str | Path) -> Study:
        """Return the study in a file."""
        try:
            return cls.from_toml(Path(path).read_text(encoding="utf-8"), Path(path).stem)
        except FileNotFoundError:
            raise ParameterError(
                f"there is no file {path}; give a TOML file, or a name from ocucb run --list"
            ) from None
        except UnicodeDecodeError:
            raise ParameterError(f"{path} must be a TOML file, got something else; give a study") from None
        except ParameterError as problem:
            raise ParameterError(f"{path}: {problem}") from None

    @classmethod
    def built_in(cls) -> dict[str, Study]:
        """Return the studies of the package by name."""
        folder = resources.files("ocucb.lab") / "studies"
        files = sorted(file.name for file in folder.iterdir() if file.name.endswith(".toml"))
        studies = [cls.from_toml((folder / file).read_text(encoding="utf-8"), Path(file).stem) for file in files]
        return {study.name: study for study in studies}

    def experiments(self, size: Size) -> list[tuple[float | None, Experiment]]:
        """Return the experiments of a size, each with its value; None if nothing is swept."""
        template = self.template["full" if one_of("size", size, SIZES) == "full" else "quick"]
        if self.sweep is None:
            return [(None, _experiment(template))]
        return [(value, _at(self.sweep.parameter, value, template)) for value in self.sweep.values[size]]

    def summary(self, size: Size) -> str:
        """Say in a few words how much a size is."""
        keys = self.template[size]
        amount = f"{keys['runs']:,} runs" if "runs" in keys else f"precision {keys['precision']:g}"
        return amount if self.sweep is None else f"{len(self.sweep.values[size])} values, {amount}"


def _at(parameter: str, value: float, template: Mapping[str, Any]) -> Experiment:
    """Return the experiment where the parameter has this value."""
    text = Sweep.text(value)
    data = {key: _replaced(entry, f"{{{parameter}}}", text) for key, entry in template.items()}
    if parameter == HORIZON:
        data[HORIZON] = int(value) if value == int(value) else value
    try:
        return _experiment(data)
    except ParameterError as problem:
        raise ParameterError(f"{parameter} = {text}: {problem}") from None


def _experiment(template: Mapping[str, Any]) -> Experiment:
    """Return an experiment, made by its own constructor, so that its checks are written once."""
    import tomli_w  # noqa: PLC0415 - as in Experiment

    data = dict(template)
    if isinstance(data.get("policies"), dict):
        horizon = data.get(HORIZON)
        data["policies"] = {label: _at_horizon(label, entry, horizon) for label, entry in data["policies"].items()}
    return Experiment.from_toml(tomli_w.dumps(data))


def _at_horizon(label: str, entry: object, horizon: object) -> object:
    """Return a policy's text: of { policy, until, then } the one for this horizon, of anything else itself."""
    if not isinstance(entry, dict):
        return entry
    _known(label, entry, CHANGES)
    for key in CHANGES:
        if key not in entry:
            raise ParameterError(f"{label} must have {', '.join(CHANGES)}, got no {key}; add it, or write one text")
    until = whole(f"until of {label}", entry["until"], 1, "give the last horizon for policy")
    later = isinstance(horizon, int) and horizon > until
    return entry["then" if later else "policy"]


def _labelled(given: object) -> object:
    """Return a list of texts as a table, so that a policy keeps its label whatever is swept."""
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        return given
    if len(set(given)) < len(given):
        raise ParameterError(f"policies must all be different, got {given}; drop one, or give each a label")
    return {text.strip(): text for text in given}


def _sized(data: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of an experiment with those of one size in their place; precision takes that of runs."""
    decided = "runs" in ours or "precision" in ours
    above = {key: value for key, value in data.items() if not (decided and key in ("runs", "precision"))}
    return above | {key: value for key, value in ours.items() if key in EXPERIMENT}


def _complete(size: Size, template: Mapping[str, Any], sweep: Sweep | None) -> None:
    """Raise if a key is missing without which there is no experiment."""
    for key in ("problems", "policies", "horizon"):
        if key not in template and not (key == HORIZON and sweep is not None and sweep.parameter == HORIZON):
            raise ParameterError(f"a study must have {key}, got {', '.join(template) or 'nothing'}; add {key}")
    if "runs" not in template and "precision" not in template:
        raise ParameterError(f"a study must have runs or precision, got neither for size {size}; add runs = 100")


def _sweep(given: object, by_size: Mapping[Size, dict[str, Any]]) -> Sweep:
    table = _table("sweep", given)
    _known("a sweep", table, SWEEP)
    parameter = _text("parameter", table.get("parameter"))
    if not WORD.fullmatch(parameter):
        raise ParameterError(f'parameter must be one word, as in parameter = "gap", got {parameter!r}')
    scale: Scale = "log" if one_of("scale", table.get("scale", "linear"), SCALES) == "log" else "linear"
    values = {}
    for size in SIZES:
        keys = by_size[size] if "values" in by_size[size] else table | by_size[size]
        both = [key for key in ("from", "to", "count") if key in keys]
        if "values" in keys and both:
            raise ParameterError(f"a sweep of {parameter} must have values, or from, to and count; got {both[0]} too")
        values[size] = _listed(parameter, keys["values"]) if "values" in keys else _spaced(parameter, scale, keys)
    return Sweep(parameter, _text("label", table.get("label", parameter)), scale, values)


def _listed(parameter: str, given: object) -> tuple[float, ...]:
    if not isinstance(given, list | tuple) or not given:
        raise ParameterError(f"values of {parameter} must be a list of numbers, got {given!r}; use [0.1, 0.2]")
    for value in given:
        real(f"values of {parameter}", value, "use [0.1, 0.2]")
    for value in given:
        if given.count(value) > 1:
            raise ParameterError(f"values of {parameter} must all be different, got {value!r} twice; drop one")
    return tuple(given)


def _spaced(parameter: str, scale: Scale, table: Mapping[str, Any]) -> tuple[float, ...]:
    """Return values from one end to the other; whole numbers if both ends are."""
    for key in ("from", "to", "count"):
        if key not in table:
            raise ParameterError(f"a sweep of {parameter} must have values, or from, to and count; got no {key}")
    first, last = (real(f"{key} of {parameter}", table[key], "give a number") for key in ("from", "to"))
    count = whole(f"count of {parameter}", table["count"], 2, "two ends make a sweep")
    if scale == "log" and not (first > 0.0 and last > 0.0):
        raise ParameterError(f'from and to must be positive for scale = "log", got {first:g} and {last:g}')
    values: list[float] = []
    for i in range(count):
        share = i / (count - 1)
        value = first * (last / first) ** share if scale == "log" else first + (last - first) * share
        exact = all(isinstance(table[key], int) for key in ("from", "to"))
        values.append(round(value) if exact else float(f"{value:.12g}"))  # 0.3, not 0.30000000000000004
    return _listed(parameter, values)


def _braces(data: Mapping[str, Any], sweep: Sweep | None) -> None:
    """Raise if a word in braces is not what is swept, or what is swept is nowhere used."""
    found = {word for text in _texts(data) for word in BRACES.findall(text)}
    swept = None if sweep is None else sweep.parameter
    for word in found - {swept}:
        remedy = "add a table [sweep]" if swept is None else f"use {{{swept}}}"
        raise ParameterError(f"words in braces must be swept, got {{{word}}}; {remedy}")
    if swept == HORIZON and HORIZON in data:
        raise ParameterError("horizon must be given once, got a number and a sweep; remove the number")
    if swept is not None and swept != HORIZON and not found:
        raise ParameterError(f"what is swept must be used, got no {{{swept}}} in problems or policies; put it there")


def _texts(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping | list):
        for entry in data.values() if isinstance(data, Mapping) else data:
            yield from _texts(entry)


def _replaced(data: Any, word: str, value: str) -> Any:
    """Return data with a word replaced in all its texts, but not in keys, which are labels."""
    if isinstance(data, str):
        return data.replace(word, value)
    if isinstance(data, list):
        return [_replaced(entry, word, value) for entry in data]
    if isinstance(data, Mapping):
        return {key: _replaced(entry, word, value) for key, entry in data.items()}
    return data


def _known(kind: str, data: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in data:
        if key not in known:
            raise ParameterError(f"keys of {kind} are {', '.join(known)}, got {key!r}{suggest(key, known)}")


def _table(key: str, given: object) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ParameterError(f"{key} must be a table, got {given!r}; write [{key}] above its keys")
    return given


def _name(given: object) -> str:
    if not isinstance(given, str) or not NAME.fullmatch(given):
        raise ParameterError(f'name must be of letters, digits, "-" and "_", got {given!r}; it names a folder')
    return given


def _text(key: str, given: object) -> str:
    if not isinstance(given, str) or not given.strip():
        raise ParameterError(f"{key} must be a text, got {given!r}; put it in quotes")
    return given.strip()
