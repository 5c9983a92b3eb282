"""Policies and noise families as a line of text, such as "ocucb-n(eta=1.5, rho=0.75)", read and written."""

from __future__ import annotations

import ast
import difflib
import hashlib
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields
from typing import Any, NamedTuple, NoReturn, TypeVar

from ocucb.errors import ParameterError
from ocucb.lab.fleet import Fleet
from ocucb.lab.remembering import Remembering
from ocucb.memory import MEMORIES, Memory
from ocucb.noise import NOISES, Noise
from ocucb.policies import POLICIES, Policy
from ocucb.registry import Registry

Made = TypeVar("Made")

CALL = re.compile(r"\s*([a-z][\w+-]*)\s*(?:\((.*)\))?\s*", re.IGNORECASE | re.DOTALL)
WORD = re.compile(r"[a-z][a-z0-9_-]*", re.IGNORECASE)
CONSTANTS = {"true": True, "false": False}
OWN = "own: "
WITH, ON = " with ", " on "


class Call(NamedTuple):
    """A name and its arguments, as read from text."""

    name: str
    given: list[Any]
    named: list[tuple[str, Any]]


def parse_policy(text: object, horizon: int) -> Policy:
    """Return the policy that a text such as "ocucb-n(eta=1.5)" or "ocucb(3, 2)" names.

    A policy that needs a horizon takes this one, unless the text gives another, always by name. One that forgets is
    written as "ucb(2) with window(1000)" or "ocucb-n with discount(0.999)", and one that several nodes play as
    "ocucb-n on fleet(8, 1000)".
    """
    if isinstance(text, str) and ON in text:
        rule, fleet = text.rsplit(ON, 1)
        return parse_fleet(parse_policy(rule, horizon), fleet)
    if isinstance(text, str) and WITH in text:
        rule, memory = text.split(WITH, 1)
        return Remembering(parse_policy(rule, horizon), parse_memory(memory))
    call = parse_call("a policy", "ocucb-n(eta=1.5, rho=0.75)", text)
    make = find_named("policy", call.name, POLICIES)
    named = values_by_name(call, [field.name for field in fields(make) if field.name != "horizon"], extra=("horizon",))
    if any(field.name == "horizon" and field.default is MISSING for field in fields(make)):
        named.setdefault("horizon", horizon)
    return make_by(text, make, named)


def parse_memory(text: object) -> Memory:
    """Return the memory that a text such as "window(1000)" names."""
    call = parse_call("a memory", "window(1000)", text)
    make: Any = find_named("memory", call.name, MEMORIES)
    made: Memory = make_by(text, make, values_by_name(call, [field.name for field in fields(make)]))
    return made


def parse_fleet(policy: Policy, text: object) -> Fleet:
    """Return the fleet of a policy that a text such as "fleet(8, 1000)" names."""
    call = parse_call("a fleet", "fleet(8, 1000)", text)
    find_named("what a policy is played on", call.name, {"fleet": Fleet})
    return make_by(text, lambda **named: Fleet(policy, **named), values_by_name(call, ["nodes", "every"]))


def parse_noise(text: object) -> Noise:
    """Return the noise family that a text such as "gaussian(scale=0.5)" names."""
    call = parse_call("a noise family", "gaussian(scale=0.5)", text)
    make = find_named("noise", call.name, NOISES)
    return make_by(text, make, values_by_name(call, [field.name for field in fields(make)]))


def format_policy(policy: Policy) -> str:
    """Return the text from which `parse_policy` makes this policy, with every parameter in it."""
    if isinstance(policy, Fleet):
        return f"{format_policy(policy.policy)}{ON}{_format(policy.to_dict()['fleet'])}"
    if isinstance(policy, Remembering):
        return f"{format_policy(policy.policy)}{WITH}{_format(policy.memory.to_dict())}"
    if POLICIES.get(policy.name) is not type(policy):
        raise ParameterError(
            f"policies in a file must be registered, got {policy.name}, a policy of your own; build the experiment in "
            "Python, or register its class with ocucb.register"
        )
    return _format(policy.to_dict())


def format_noise(noise: Noise) -> str:
    """Return the text from which `parse_noise` makes this noise family."""
    if NOISES.get(noise.name) is not type(noise):
        raise ParameterError(
            f"noise in a file must be registered, got {noise}, a family of your own; build the experiment in "
            "Python, or register its class with ocucb.register"
        )
    return _format(noise.to_dict())


def describe_policy(policy: Policy) -> str:
    """Return `format_policy`, or for a policy of the user's own a text that changes when the policy does."""
    if isinstance(policy, Fleet):
        return f"{describe_policy(policy.policy)}{ON}{_format(policy.to_dict()['fleet'])}"
    if isinstance(policy, Remembering):
        return f"{describe_policy(policy.policy)}{WITH}{_format(policy.memory.to_dict())}"
    if _is_ours(policy, POLICIES):
        return _format(policy.to_dict())
    rule = policy.rule()
    traits = f"trend={rule.trend.name.lower()}, rho={rule.rho}, bound={rule.bound}, horizon={rule.horizon}"
    return f"{OWN}{_format(policy.to_dict())}, {traits}\n{_source(rule.level or rule.score)}"


def describe_noise(noise: Noise) -> str:
    """Return `format_noise`, or for a family of the user's own its parameters and code."""
    if _is_ours(noise, NOISES):
        return _format(noise.to_dict())
    return "\n".join([f"{OWN}{_format(noise.to_dict())}", *map(_source, noise.family()[:5])])


def _is_ours(given: Policy | Noise, registry: Registry[Any]) -> bool:
    """Tell whether the package itself says what this is; of a user's own, registered or not, the code may change."""
    return registry.get(given.name) is type(given) and type(given).__module__.startswith("ocucb.")


def read_policies(given: object, horizon: int) -> list[tuple[str, Policy]]:
    """Return labels and policies of a table from label to text, or of a list of texts, which are then the labels."""
    if isinstance(given, list):
        return [(str(text).strip(), parse_policy(text, horizon)) for text in given]
    if not isinstance(given, Mapping):
        raise ParameterError(f'policies must be a list or table of texts as "ucb(2)", got {given!r}; use ["ocucb-n"]')
    return [(label, parse_policy(text, horizon)) for label, text in given.items()]


def find_named(kind: str, name: str, table: Mapping[str, Made]) -> Made:
    """Return the entry of a name, in any case, or say which names there are and which is closest."""
    found = table.get(name)  # which may have to look for it first
    if found is not None:
        return found
    known = {key.lower(): key for key in table}
    if name.lower() in known:
        return table[known[name.lower()]]
    raise ParameterError(f"{kind} must be one of {', '.join(table)}, got {name!r}{suggest(name, table)}")


def suggest(name: str, known: Collection[str]) -> str:
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
    inner = re.fullmatch(r"(\w+)\((.*)\)", text)
    remedy = f"write {inner[1]}, {inner[2]}" if inner and inner[2] else "write a fraction as a decimal"
    raise ParameterError(f"arguments of {name} must be numbers or words, got {text}; {remedy}")


def values_by_name(call: Call, order: list[str], extra: tuple[str, ...] = ()) -> dict[str, Any]:
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
                f"parameters of {call.name} are {', '.join(order) or 'none'}, got {name!r}{suggest(name, order)}"
            )
        if name in by_name:
            raise ParameterError(f"{name} of {call.name} must be given once, got {by_name[name]!r} and {value!r}")
        by_name[name] = value
    return by_name


def make_by(text: object, make: Callable[..., Made], named: Mapping[str, Any]) -> Made:
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
    code = getattr(python, "__code__", None)
    if code is None or code.co_filename != "<string>":  # whose source would be that of `python -c`
        with suppress(OSError, TypeError):
            return inspect.getsource(python)
    parts = (code.co_code, code.co_consts, code.co_names) if code is not None else (repr(type(python)),)
    return hashlib.sha256(repr(parts).encode()).hexdigest()
