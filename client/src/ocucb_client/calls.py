"""What can be asked of the service: each call as data, and how its answer is read. Both clients send these."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from ocucb_client import checks, models
from ocucb_client.checks import Label
from ocucb_client.errors import wrong_value
from ocucb_client.models import (
    ApiKey,
    Arm,
    AuditEntry,
    Decision,
    Experiment,
    ExperimentStatus,
    ExperimentSummary,
    ExportedDecision,
    NewApiKey,
    Page,
    RewardOutcome,
    RewardResult,
    Role,
    Verdict,
)

T = TypeVar("T")

REWARDS_PER_CALL = 1000
ITEMS_PER_PAGE = 1000


class HasToDict(Protocol):
    """A policy, a noise family or a memory of `ocucb`: `to_dict` returns its "name" and its "parameters"."""

    def to_dict(self) -> Mapping[str, Any]: ...


Family: TypeAlias = str | Mapping[str, Any] | HasToDict | None
"""A policy, a noise family or a memory: its name, with parameters or without, or an object of `ocucb`.

None is the default.
"""


Rewarding: TypeAlias = tuple[Decision | str, float] | tuple[Decision | str, float, str | None]
"""A decision and its reward; where partial rewards are summed, also which part it is."""


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request to the service.

    read              makes the answer of the plain data in it
    body              JSON, encoded once, so that a retry sends the same
    idempotency_key   what is asked twice with it is done once
    repeatable        asking twice does no harm; if not, it is only asked again if it surely never arrived
    """

    method: str
    path: str
    read: Callable[[Any], T]
    body: bytes | None = None
    query: Mapping[str, str | int] = field(default_factory=dict)
    idempotency_key: str | None = None
    repeatable: bool = True


def decide(
    experiment: str, unit: str | None, idempotency_key: str | None, among: Iterable[Label] | None
) -> Call[Decision]:
    """Make a decision, among all arms or some."""
    return _decide(experiment, {"unit": unit, **_among(among)}, idempotency_key, models.read_decision)


def decide_many(
    experiment: str,
    unit: str | None,
    count: int,
    idempotency_key: str | None,
    among: Iterable[Label] | None,
    different: bool,
) -> Call[list[Decision]]:
    """Make so many decisions; if `different`, each of another arm."""
    body = {"unit": unit, "count": count, **_among(among), **({"different": True} if different else {})}
    return _decide(experiment, body, idempotency_key, models.read_decisions)


def decide_for_units(
    experiment: str, units: Iterable[str], idempotency_key: str | None, among: Iterable[Label] | None
) -> Call[list[Decision]]:
    """Make a decision for each of many units."""
    return _decide(experiment, {"units": checks.units(units), **_among(among)}, idempotency_key, models.read_decisions)


def _among(arms: Iterable[Label] | None) -> dict[str, Any]:
    return {} if arms is None else {"among": checks.among(arms)}


def _decide(experiment: str, body: dict[str, Any], key: str | None, read: Callable[[Any], T]) -> Call[T]:
    path = _experiment_path(experiment, "decisions")
    return Call("POST", path, read, _encode(body), idempotency_key=checks.idempotency_key(key))


def reward(decision: Decision | str, value: float, part: str | None) -> Call[RewardOutcome]:
    """Give a decision its reward, or a part of it."""
    return Call("POST", "/v1/rewards", models.read_as(RewardOutcome), _encode(_reward(decision, value, part)))


def rewards(items: Iterable[Rewarding]) -> Call[list[RewardResult]]:
    """Give many decisions their rewards, each answered for itself; at most REWARDS_PER_CALL."""
    plain = [_reward(*item) for item in items]
    return Call("POST", "/v1/rewards", models.read_results, _encode({"rewards": plain}))


def _reward(decision: Decision | str, value: float, part: str | None = None) -> dict[str, Any]:
    given = {"decision": decision_id(decision), "reward": checks.reward(value)}
    return given if part is None else {**given, "part": checks.part(part)}


def correct_rewards(items: Iterable[tuple[Decision | str, float | None]]) -> Call[list[RewardResult]]:
    """Correct or void rewards, each answered for itself; at most REWARDS_PER_CALL."""
    plain = [
        {"decision": decision_id(decision), "reward": None if value is None else checks.reward(value)}
        for decision, value in items
    ]
    return Call("POST", "/v1/rewards/correct", models.read_results, _encode({"corrections": plain}))


def split_rewards(items: Iterable[T]) -> Iterator[list[T]]:
    """Split rewards into parts that fit into one call."""
    rest = iter(items)
    while part := list(islice(rest, REWARDS_PER_CALL)):
        yield part


def create(
    name: str,
    arms: Iterable[Label] | Mapping[Label, Any],
    policy: Family,
    noise: Family,
    *,
    window: float | None,
    on_expiry: Literal["forget"] | float | None,
    late: Literal["refuse", "accept"] | None,
    sticky: float | None,
    reward_bounds: tuple[float, float] | None,
    partial_rewards: bool | None,
    metadata: Mapping[str, Any] | None,
    seed: int | None,
    shares: Mapping[Label, float] | None,
    memory: Family,
    idempotency_key: str | None,
) -> Call[ExperimentStatus]:
    """Create an experiment; what is None is left to the service."""
    about: Mapping[Label, Any] = arms if isinstance(arms, Mapping) else {}
    given = {
        "name": name,
        "arms": [
            arm if about.get(arm) is None else {"label": arm, "metadata": about[arm]} for arm in checks.labels(arms)
        ],
        "policy": _family(policy),
        "noise": _family(noise),
        "window": window,
        "on_expiry": on_expiry,
        "late": late,
        "sticky": sticky,
        "reward_bounds": None if reward_bounds is None else list(reward_bounds),
        "partial_rewards": partial_rewards,
        "metadata": None if metadata is None else dict(metadata),
        "seed": seed,
        "shares": None if shares is None else _shares(shares),
        "memory": _family(memory),
    }
    body = _encode({name: value for name, value in given.items() if value is not None})
    key = checks.idempotency_key(idempotency_key)
    return Call("POST", "/v1/experiments", models.read_as(ExperimentStatus), body, idempotency_key=key)


def experiments(after: str | int | None) -> Call[Page[ExperimentSummary]]:
    """List experiments."""
    return _list("/v1/experiments", "experiments", ExperimentSummary, after)


def experiment(name: str) -> Call[Experiment]:
    """Read an experiment."""
    return Call("GET", _experiment_path(name), models.read_experiment)


def arms(name: str, after: str | int | None) -> Call[Page[Arm]]:
    """List the arms of an experiment."""
    return _list(_experiment_path(name, "arms"), "arms", Arm, after)


def change_status(name: str, change: Literal["pause", "resume", "archive"]) -> Call[ExperimentStatus]:
    """Change the status of an experiment."""
    return Call("POST", _experiment_path(name, change), models.read_as(ExperimentStatus))


def delete(name: str) -> Call[None]:
    """Delete an experiment. Not repeatable: it is not there the second time."""
    return Call("DELETE", _experiment_path(name), _nothing, repeatable=False)


def erase_unit(unit: str, experiment: str | None) -> Call[int]:
    """Erase a unit."""
    body = _encode({"unit": unit, "experiment": experiment})
    return Call("POST", "/v1/units/erase", lambda data: int(data["decisions"]), body)


def _nothing(data: Any) -> None:
    """Read nothing from an answer."""


def add_arm(name: str, arm: Label, metadata: Any) -> Call[ExperimentStatus]:
    """Add an arm. Not repeatable: the service refuses an arm that is there."""
    body = _encode({"arm": checks.label(arm), "metadata": metadata})
    return Call("POST", _experiment_path(name, "arms"), models.read_as(ExperimentStatus), body, repeatable=False)


def retire_arm(name: str, arm: Label) -> Call[ExperimentStatus]:
    """Retire an arm."""
    body = _encode({"arm": checks.label(arm)})
    return Call("POST", _experiment_path(name, "arms", "retire"), models.read_as(ExperimentStatus), body)


def set_shares(name: str, shares: Mapping[Label, float]) -> Call[ExperimentStatus]:
    """Give arms their shares."""
    body = _encode({"shares": _shares(shares)})
    return Call("POST", _experiment_path(name, "shares"), models.read_as(ExperimentStatus), body)


def _shares(shares: Mapping[Label, float]) -> list[dict[str, Any]]:
    return [{"arm": checks.label(arm), "share": share} for arm, share in shares.items()]


def verdict(name: str, confidence: float) -> Call[Verdict]:
    """Ask which arm is best."""
    query: dict[str, str | int] = {"confidence": str(confidence)}
    return Call("GET", _experiment_path(name, "verdict"), models.read_as(Verdict), query=query)


def play_winner(name: str, confidence: float | None) -> Call[ExperimentStatus]:
    """Play only the winner once there is one, or no more so."""
    body = _encode({"confidence": confidence})
    return Call("POST", _experiment_path(name, "winner"), models.read_as(ExperimentStatus), body)


def export(name: str, after: int, since: datetime | None, until: datetime | None) -> Call[ExportedDecision]:
    """Read decisions as a stream; each line is one of them."""
    query: dict[str, str | int] = {"format": "ndjson", "after": after}
    for which, at in (("since", since), ("until", until)):
        if at is not None:
            query[which] = checks.moment(which, at)
    return Call("GET", _experiment_path(name, "export"), models.read_as(ExportedDecision), query=query)


def import_log(name: str, log: Iterable[tuple[Label, float]], idempotency_key: str | None) -> Call[ExperimentStatus]:
    """Learn from pulls made elsewhere."""
    body = _encode({"log": [{"arm": checks.label(arm), "reward": checks.reward(reward)} for arm, reward in log]})
    path, key = _experiment_path(name, "import"), checks.idempotency_key(idempotency_key)
    return Call("POST", path, models.read_as(ExperimentStatus), body, idempotency_key=key)


def audit(experiment: str | None, before: str | int | None) -> Call[Page[AuditEntry]]:
    """List changes, newest first."""
    asked = {"limit": ITEMS_PER_PAGE, "before": before, "experiment": experiment}
    query = {name: value for name, value in asked.items() if value is not None}
    return Call("GET", "/v1/audit", models.read_page("changes", AuditEntry), query=query)


def create_api_key(
    name: str, roles: Iterable[Role], experiments: Iterable[str] | None, lifetime: float | None
) -> Call[NewApiKey]:
    """Create an API key. Not repeatable: each time creates another."""
    listed = None if experiments is None else list(experiments)
    body = _encode({"name": name, "roles": list(roles), "experiments": listed, "lifetime": lifetime})
    return Call("POST", "/v1/keys", models.read_new_api_key, body, repeatable=False)


def api_keys(after: str | int | None) -> Call[Page[ApiKey]]:
    """List API keys."""
    return _list("/v1/keys", "keys", ApiKey, after)


def revoke_api_key(key_id: str) -> Call[ApiKey]:
    """Revoke an API key."""
    segment = checks.path_segment("the id of an API key", key_id)
    return Call("DELETE", f"/v1/keys/{segment}", models.read_as(ApiKey))


def decision_id(decision: Decision | str) -> str:
    """Return the id of a decision."""
    found = decision.id if isinstance(decision, Decision) else decision
    if not isinstance(found, str) or not found:
        raise wrong_value(f"a decision must be a Decision or its id, got {decision!r}")
    return found


def _list(path: str, name: str, kind: type[T], after: str | int | None) -> Call[Page[T]]:
    query: dict[str, str | int] = {"limit": ITEMS_PER_PAGE}
    if after is not None:
        query["after"] = after
    return Call("GET", path, models.read_page(name, kind), query=query)


def _experiment_path(name: str, *more: str) -> str:
    return "/".join(("/v1/experiments", checks.path_segment("the name of an experiment", name), *more))


def _family(given: Family) -> Any:
    """Return a policy, a noise family or a memory as the service writes it."""
    if given is None or isinstance(given, str | Mapping):
        return given
    try:
        data = given.to_dict()
        return {"name": data["name"], **data["parameters"]}
    except (AttributeError, KeyError, TypeError):
        raise wrong_value(
            "expected a policy, noise or memory: its name, a mapping with its name and parameters, "
            f"or an object of ocucb; got {given!r}"
        ) from None


def _encode(data: Any) -> bytes:
    try:
        return json.dumps(data, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as problem:
        raise wrong_value(f"expected plain data for JSON, with finite numbers: {problem}") from None
