"""What can be asked of the service: each call as data, and how its answer is read. Both twins send these."""

from __future__ import annotations

import json
import math
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, Literal, TypeAlias, TypeVar
from urllib.parse import quote

from ocucb.checks import as_float
from ocucb.client import answers
from ocucb.client.answers import (
    Arm,
    Changed,
    Decision,
    Experiment,
    Key,
    Listed,
    NewKey,
    Page,
    Result,
    Rewarded,
    Role,
    Row,
)
from ocucb.errors import ParameterError, RewardError
from ocucb.labels import Label, clean_label, clean_labels
from ocucb.noise import Noise
from ocucb.policies import Policy

T = TypeVar("T")

MOST_REWARDS = 1000
PAGE = 1000

Family: TypeAlias = str | Mapping[str, Any] | None
"""A policy or a noise family as the service writes it: its name, or its name and parameters. None for the default."""

_KEY = re.compile(r"[\x20-\x7e]{1,200}")


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request to the service.

    read         makes the answer of the plain data in it
    body         JSON, encoded once, so that a retry sends the same
    key          idempotency key: what is asked twice with it is done once
    repeatable   asking twice does no harm; if not, it is only asked again if it surely never arrived
    """

    method: str
    path: str
    read: Callable[[Any], T]
    body: bytes | None = None
    query: Mapping[str, str | int] = field(default_factory=dict)
    key: str | None = None
    repeatable: bool = True


def decide(experiment: str, unit: str | None, key: str | None) -> Call[Decision]:
    """Make a decision."""

    def read(data: Mapping[str, Any]) -> Decision:
        (one,) = data["decisions"]
        return answers.decision(one)

    return _decide(experiment, {"unit": unit}, key, read)


def decide_many(experiment: str, unit: str | None, count: int, key: str | None) -> Call[list[Decision]]:
    """Make so many decisions."""

    def read(data: Mapping[str, Any]) -> list[Decision]:
        return [answers.decision(one) for one in data["decisions"]]

    return _decide(experiment, {"unit": unit, "count": count}, key, read)


def _decide(experiment: str, body: dict[str, Any], key: str | None, read: Callable[[Any], T]) -> Call[T]:
    return Call("POST", _path(experiment, "decisions"), read, _encode(body), key=_clean_key(key))


def reward(decision: Decision | str, value: float) -> Call[Rewarded]:
    """Give a decision its reward."""
    return Call(
        "POST", "/v1/rewards", answers.rewarded, _encode({"decision": decision_id(decision), "reward": number(value)})
    )


def rewards(items: Iterable[tuple[Decision | str, float]]) -> Call[list[Result]]:
    """Give many decisions their rewards, each answered for itself; at most MOST_REWARDS."""
    plain = [{"decision": decision_id(decision), "reward": number(value)} for decision, value in items]
    return Call("POST", "/v1/rewards", answers.results, _encode({"rewards": plain}))


def in_parts(items: Iterable[T]) -> Iterator[list[T]]:
    """Cut rewards into parts that fit into one call."""
    rest = iter(items)
    while part := list(islice(rest, MOST_REWARDS)):
        yield part


def create(
    name: str,
    arms: Iterable[Label] | Mapping[Label, Any],
    policy: Policy | Family,
    noise: Noise | Family,
    *,
    window: float | None,
    on_expiry: Literal["forget"] | float | None,
    late: Literal["refuse", "accept"] | None,
    sticky: float | None,
    metadata: Mapping[str, Any] | None,
    seed: int | None,
    key: str | None,
) -> Call[Changed]:
    """Create an experiment; what is None is left to the service."""
    about: Mapping[Label, Any] = arms if isinstance(arms, Mapping) else {}
    given = {
        "name": name,
        "arms": [
            arm if about.get(arm) is None else {"label": arm, "metadata": about[arm]} for arm in clean_labels(arms)
        ],
        "policy": _family(policy),
        "noise": _family(noise),
        "window": window,
        "on_expiry": on_expiry,
        "late": late,
        "sticky": sticky,
        "metadata": None if metadata is None else dict(metadata),
        "seed": seed,
    }
    body = _encode({name: value for name, value in given.items() if value is not None})
    return Call("POST", "/v1/experiments", answers.changed, body, key=_clean_key(key))


def experiments(after: str | int | None) -> Call[Page[Listed]]:
    """List experiments."""
    return _page("/v1/experiments", "experiments", answers.listed, after)


def experiment(name: str) -> Call[Experiment]:
    """Look at an experiment."""
    return Call("GET", _path(name), answers.experiment)


def arms(name: str, after: str | int | None) -> Call[Page[Arm]]:
    """List the arms of an experiment."""
    return _page(_path(name, "arms"), "arms", answers.arm, after)


def change(name: str, what: Literal["pause", "resume", "archive"]) -> Call[Changed]:
    """Change the status of an experiment."""
    return Call("POST", _path(name, what), answers.changed)


def add_arm(name: str, arm: Label, metadata: Any) -> Call[Changed]:
    """Add an arm. Not repeatable: the service refuses an arm that is there."""
    body = _encode({"arm": clean_label(arm), "metadata": metadata})
    return Call("POST", _path(name, "arms"), answers.changed, body, repeatable=False)


def retire_arm(name: str, arm: Label) -> Call[Changed]:
    """Retire an arm."""
    return Call("POST", _path(name, "arms", "retire"), answers.changed, _encode({"arm": clean_label(arm)}))


def export(name: str, after: int) -> Call[Row]:
    """Read decisions as a stream; each line is one row."""
    return Call("GET", _path(name, "export"), answers.row, query={"format": "ndjson", "after": after})


def import_log(name: str, log: Iterable[tuple[Label, float]], key: str | None) -> Call[Changed]:
    """Learn from pulls made elsewhere."""
    plain = [{"arm": clean_label(arm), "reward": number(reward)} for arm, reward in log]
    return Call("POST", _path(name, "import"), answers.changed, _encode({"log": plain}), key=_clean_key(key))


def make_key(name: str, roles: Iterable[Role], experiments: Iterable[str] | None) -> Call[NewKey]:
    """Make an API key. Not repeatable: each time makes another."""
    listed = None if experiments is None else list(experiments)
    body = _encode({"name": name, "roles": list(roles), "experiments": listed})
    return Call("POST", "/v1/keys", answers.new_key, body, repeatable=False)


def keys(after: str | int | None) -> Call[Page[Key]]:
    """List API keys."""
    return _page("/v1/keys", "keys", answers.key, after)


def revoke_key(key_id: str) -> Call[Key]:
    """Revoke an API key."""
    return Call("DELETE", f"/v1/keys/{_segment('the id of a key', key_id)}", answers.key)


def decision_id(decision: Decision | str) -> str:
    """Return the id of a decision."""
    found = decision.id if isinstance(decision, Decision) else decision
    if not isinstance(found, str) or not found:
        raise ParameterError(f"a decision must be a Decision or its id, got {decision!r}")
    return found


def number(value: float) -> float:
    """Return a reward as a finite float."""
    found = as_float(value)
    if not math.isfinite(found):
        raise RewardError(f"a reward must be a finite number, got {value!r}")
    return found


def _page(path: str, name: str, read: Callable[[Mapping[str, Any]], T], after: str | int | None) -> Call[Page[T]]:
    query: dict[str, str | int] = {"limit": PAGE}
    if after is not None:
        query["after"] = after
    return Call("GET", path, answers.page(name, read), query=query)


def _path(experiment: str, *more: str) -> str:
    return "/".join(("/v1/experiments", _segment("the name of an experiment", experiment), *more))


def _segment(what: str, text: str) -> str:
    """Return text as one segment of a path; one that could lead elsewhere is refused."""
    try:
        if isinstance(text, str) and text not in ("", ".", ".."):
            return quote(text, safe="")
    except UnicodeEncodeError:
        pass
    raise ParameterError(f"{what} must be text, and neither '.' nor '..', got {text!r}")


def _family(given: Family | Policy | Noise) -> Any:
    if not isinstance(given, Policy | Noise):
        return given
    data = given.to_dict()
    return {"name": data["name"], **data["parameters"]}


def _encode(data: Any) -> bytes:
    try:
        return json.dumps(data, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as problem:
        raise ParameterError(f"expected plain data for JSON, with finite numbers: {problem}") from None


def _clean_key(key: str | None) -> str:
    """Return the idempotency key given, or a new one."""
    if key is None:
        return secrets.token_hex(16)
    if not isinstance(key, str) or not _KEY.fullmatch(key) or key != key.strip():
        raise ParameterError(f"an idempotency key must be 1 to 200 printable ASCII characters, got {key!r}")
    return key
