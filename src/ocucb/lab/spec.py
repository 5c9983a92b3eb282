"""Policies, problems and noise families as a line of text, such as "ocucb-n(eta=1.5, rho=0.75)", read and written."""

from __future__ import annotations

import ast
import difflib
import hashlib
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, fields, replace
from typing import Any, NamedTuple, NoReturn, TypeVar

from ocucb.errors import ParameterError
from ocucb.lab.problem import NAMED, Problem
from ocucb.noise import NOISES, Noise
from ocucb.policies import POLICIES, Policy

Made = TypeVar("Made")

CALL = re.compile(r"\s*([a-z][\w+-]*)\s*(?:\((.*)\))?\s*", re.IGNORECASE | re.DOTALL)
WORD = re.compile(r"[a-z][a-z0-9_-]*", re.IGNORECASE)
CONSTANTS = {"true": True, "false": False}
OWN = "own: "


class Call(NamedTuple):
    """A name and its arguments, as read from text."""

    name: str
    given: list[Any]
    named: list[tuple[str, Any]]


def parse_policy(text: object, horizon: int) -> Policy:
    """Return the policy that a text such as "ocucb-n(eta=1.5)" or "ocucb(3, 2)" names.

    A policy that needs a horizon takes this one, unless the text gives another, always by name.
    """
    call = parse_call("a policy", "ocucb-n(eta=1.5, rho=0.75)", text)
    make = find("policy", call.name, POLICIES)
    named = _by_name(call, [field.name for field in fields(make) if field.name != "horizon"], extra=("horizon",))
    if any(field.name == "horizon" and field.default is MISSING for field in fields(make)):
        named.setdefault("horizon", horizon)
    return _make(text, make, named)


def parse_noise(text: object) -> Noise:
    """Return the noise family that a text such as "gaussian(scale=0.5)" names."""
    call = parse_call("a noise family", "gaussian(scale=0.5)", text)
    make = find("noise", call.name, NOISES)
    return _make(text, make, _by_name(call, [field.name for field in fields(make)]))


def parse_problem(text: object) -> Problem:
    """Return the named problem that a text such as "worst_case(10, 0.3)" stands for."""
    call = parse_call("a problem", "worst_case(10, 0.3)", text)
    make = find("problem", call.name, NAMED)
    return _make(text, make, _by_name(call, list(inspect.signature(make).parameters)))


def format_policy(policy: Policy) -> str:
    """Return the text from which `parse_policy` makes this policy, with every parameter in it."""
    if POLICIES.get(policy.name) is not type(policy):
        raise ParameterError(
            f"policies in a file must be of the package, got {policy.name}, a policy of your own; "
            "build the experiment in Python instead"
        )
    return _format(policy.to_dict())


def format_noise(noise: Noise) -> str:
    """Return the text from which `parse_noise` makes this noise family."""
    if NOISES.get(noise.name) is not type(noise):
        raise ParameterError(
            f"noise in a file must be of the package, got {noise}, a family of your own; "
            "build the experiment in Python instead"
        )
    return _format(noise.to_dict())


def format_problem(problem: Problem) -> str | None:
    """Return the text from which `parse_problem` makes this problem, or None if it is not a named one."""
    try:
        same = parse_problem(problem.name) == problem
    except ParameterError:
        return None
    return problem.name if same else None


def describe_policy(policy: Policy) -> str:
    """Return `format_policy`, or for a policy of the user's own a text that changes when the policy does."""
    if POLICIES.get(policy.name) is type(policy):
        return format_policy(policy)
    rule = policy.rule()
    traits = f"trend={rule.trend.name.lower()}, rho={rule.rho}, bound={rule.bound}, horizon={rule.horizon}"
    return f"{OWN}{_format(policy.to_dict())}, {traits}\n{_source(rule.level or rule.score)}"


def describe_noise(noise: Noise) -> str:
    """Return `format_noise`, or for a family of the user's own its parameters and code."""
    if NOISES.get(noise.name) is type(noise):
        return format_noise(noise)
    return f"{OWN}{_format(noise.to_dict())}\n{_source(noise.family().quantile)}"


def write_problem(problem: Problem, write_noise: Callable[[Noise], str]) -> dict[str, Any]:
    """Return a problem as a table: a named one by its text, any other by its means and noise."""
    named = format_problem(problem)
    if named is not None:
        return {"problem": named}
    return {"name": problem.name, "means": list(problem.means), "noise": write_noise(problem.noise)}


def read_problem(entry: object) -> Problem:
    """Return the problem of a text such as "mixed_gaps", or of a table with problem or means, and noise and a name."""
    if not isinstance(entry, Mapping):
        return parse_problem(entry)
    known = ("problem", "means", "noise", "name")
    for key in entry:
        if key not in known:
            raise ParameterError(f"keys of a problem are {', '.join(known)}, got {key!r}{closest(key, known)}")
    changes: dict[str, Any] = {key: entry[key] for key in ("means", "name") if key in entry}
    if "noise" in entry:
        changes["noise"] = parse_noise(entry["noise"])
    if ("problem" in entry) == ("means" in entry):
        got = "both" if "problem" in entry else "neither"
        raise ParameterError(f"a problem must have one of problem and means, got {got}; use means = [0.0, -0.1]")
    if not isinstance(changes.get("means", []), list) or not isinstance(changes.get("name", ""), str):
        raise ParameterError(f"a problem must have a list of means and a word for a name, got {dict(entry)}")
    return replace(parse_problem(entry["problem"]), **changes) if "problem" in entry else Problem(**changes)


def read_policies(given: object, horizon: int) -> list[tuple[str, Policy]]:
    """Return labels and policies of a table from label to text, or of a list of texts, which are then the labels."""
    if isinstance(given, list):
        return [(str(text).strip(), parse_policy(text, horizon)) for text in given]
    if not isinstance(given, Mapping):
        raise ParameterError(f'policies must be a list or table of texts as "ucb(2)", got {given!r}; use ["ocucb-n"]')
    return [(label, parse_policy(text, horizon)) for label, text in given.items()]


def find(kind: str, name: str, table: Mapping[str, Made]) -> Made:
    """Return the entry of a name, in any case, or say which names there are and which is closest."""
    known = {key.lower(): key for key in table}
    if name.lower() in known:
        return table[known[name.lower()]]
    raise ParameterError(f"{kind} must be one of {', '.join(table)}, got {name!r}{closest(name, table)}")


def closest(name: str, known: Collection[str]) -> str:
    """Return "; did you mean ...?", or nothing if no known name is near."""
    near = difflib.get_close_matches(name.lower().replace("_", "-"), [key.replace("_", "-") for key in known], 1)
    named = {key.replace("_", "-"): key for key in known}
    return f"; did you mean {named[near[0]]!r}?" if near else ""


def parse_call(kind: str, example: str, text: object) -> Call:
    """Return the parts of "name" or "name(1, key=2)". Arguments are literals or bare words; nothing is evaluated."""

    def refuse() -> NoReturn:
        raise ParameterError(f'{kind} must be a name, or a name with arguments as in "{example}", got {text!r}')

    match = CALL.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        refuse()
    name, arguments = match.groups()
    source = f"call({arguments or ''})"
    try:
        tree = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        refuse()
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        refuse()
    values = [_value(name, ast.get_source_segment(source, node)) for node in tree.args]
    named = [(key.arg or "**", _value(name, ast.get_source_segment(source, key.value))) for key in tree.keywords]
    return Call(name, values, named)


def _value(name: str, text: str | None) -> Any:
    """Return a literal, or a bare word as a string, so that no quotes are needed within quotes."""
    text = text or ""
    if text in CONSTANTS:
        return CONSTANTS[text]
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        if WORD.fullmatch(text):
            return text
    raise ParameterError(f"arguments of {name} must be numbers or words, got {text}; write a fraction as a decimal")


def _by_name(call: Call, order: list[str], extra: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return all arguments by name, those given without one in the order of the parameters."""
    if len(call.given) > len(order):
        raise ParameterError(
            f"{call.name} takes {len(order)} arguments without a name, got {len(call.given)}; "
            f"they are, in order: {', '.join(order) or 'none'}"
        )
    by_name = dict(zip(order, call.given, strict=False))
    for name, value in call.named:
        if name not in (*order, *extra):
            raise ParameterError(
                f"parameters of {call.name} are {', '.join(order) or 'none'}, got {name!r}{closest(name, order)}"
            )
        if name in by_name:
            raise ParameterError(f"{name} of {call.name} must be given once, got {by_name[name]!r} and {value!r}")
        by_name[name] = value
    return by_name


def _make(text: object, make: Callable[..., Made], named: Mapping[str, Any]) -> Made:
    try:
        return make(**named)
    except ParameterError as problem:
        raise ParameterError(f"{str(text).strip()}: {problem}") from None
    except TypeError as problem:
        raise ParameterError(f"{str(text).strip()}: arguments of a wrong name or kind: {problem}") from None


def _format(data: Mapping[str, Any]) -> str:
    return f"{data['name']}({', '.join(f'{key}={_literal(value)}' for key, value in data['parameters'].items())})"


def _literal(value: object) -> str:
    """Return one spelling for equal values: 2.0 and 2 make equal policies, so they must make equal texts."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, str) and WORD.fullmatch(value) and value not in CONSTANTS and value != "None":
        return value
    return repr(value)


def _source(function: object) -> str:
    """Return the source of a function, or where it has no file, a digest of its code."""
    python: Any = getattr(function, "py_func", function)
    try:
        return inspect.getsource(python)
    except (OSError, TypeError):
        code = getattr(python, "__code__", None)
        parts = (code.co_code, code.co_consts, code.co_names) if code is not None else (repr(type(python)),)
        return hashlib.sha256(repr(parts).encode()).hexdigest()
