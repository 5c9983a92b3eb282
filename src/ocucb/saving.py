"""A bandit as plain data, and as a JSON file that is whole or not there. No pickle."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats, Integers
from ocucb.errors import OcucbError, ParameterError, StateError
from ocucb.labels import Label
from ocucb.memory import Memory, clean_remembered, memory_from_dict
from ocucb.noise import NOISES, Noise
from ocucb.policies import POLICIES, Policy
from ocucb.selection.moments import COLUMNS, no_moments

FORMAT = "ocucb bandit"
VERSION = 1


class SavedBandit(NamedTuple):
    """All that a bandit is, with one entry per arm ever added."""

    policy: Policy
    noise: Noise
    seed: int
    labels: list[Label]
    pulls: Integers
    learned: Integers
    totals: Floats
    retired: npt.NDArray[np.bool_]
    first: int  # how many of them were there at the start
    shares: list[tuple[Label, float]]
    moments: npt.NDArray[Any] | None = None  # if the noise or the policy reads spreads
    memory: Memory | None = None
    remembered: dict[str, Any] | None = None  # as a selector tells it, if there is a memory


def to_dict(saved: SavedBandit) -> dict[str, Any]:
    """Return a bandit as plain data."""
    return {key: _plain(value) for key, value in to_columns(saved).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return {key: _plain(part) for key, part in value.items()} if isinstance(value, dict) else value


def to_columns(saved: SavedBandit) -> dict[str, Any]:
    """Return a bandit as `to_dict` does, but with arrays in the place of lists of numbers."""
    added: dict[str, Any] = {} if saved.first == len(saved.labels) else {"first_arms": saved.first}
    if saved.shares:
        added["shares"] = [list(pair) for pair in saved.shares]
    if saved.moments is not None:
        known = saved.learned > 0
        added["moments"] = {name: np.where(known, saved.moments[name], 0.0) for name in COLUMNS}
    if saved.memory is not None:
        added["memory"], added["remembered"] = saved.memory.to_dict(), saved.remembered
    return {
        "format": FORMAT,
        "version": VERSION,
        "policy": saved.policy.to_dict(),
        "noise": saved.noise.to_dict(),
        "seed": saved.seed,
        "labels": saved.labels,
        "pulls": saved.pulls,
        "learned": saved.learned,
        "totals": saved.totals,
        "retired": saved.retired,
        **added,
    }


def from_dict(data: object, policy: Policy | None) -> SavedBandit:
    """Return the bandit behind plain data, after checking every part of it."""
    if policy is not None and not isinstance(policy, Policy):
        raise ParameterError(f"policy must be a policy such as OCUCBn(), got {policy!r}")
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise StateError(f'not a saved bandit: the key "format" with the value "{FORMAT}" is missing')
    version = data.get("version")
    if type(version) is not int or version < 1:
        raise StateError(f"version must be a whole number from 1 to {VERSION}, got {version!r}")
    if version > VERSION:
        raise StateError(f"format version {version} is newer than this ocucb reads (up to {VERSION}); upgrade ocucb")
    missing = [key for key in ("policy", "noise", "seed", "labels", *_COLUMNS) if key not in data]
    if missing:
        raise StateError(f"the saved bandit is incomplete: {', '.join(missing)} is missing")
    labels = _labels(data["labels"])
    columns = {key: _column(data, key, len(labels)) for key in _COLUMNS}
    if np.any(columns["learned"] > columns["pulls"]):
        raise StateError("the saved bandit is inconsistent: an arm has more rewards than pulls")
    if columns["retired"].all():
        raise StateError("the saved bandit is inconsistent: every arm is retired")
    if type(data["seed"]) is not int or not 0 <= data["seed"] < 2**63:
        raise StateError(f"seed must be a whole number from 0 to 2^63 - 1, got {data['seed']!r}")
    first = data.get("first_arms", len(labels))
    if type(first) is not int or not 1 <= first <= len(labels):
        raise StateError(f"first_arms must be a whole number from 1 to {len(labels)}, got {first!r}")
    try:
        noise = NOISES.from_dict(data["noise"])
        chosen = POLICIES.from_dict(data["policy"]) if policy is None else policy
    except OcucbError as problem:
        raise StateError(str(problem)) from None
    _check_sums(noise, columns)
    # The order of parameters matters too: a policy of a user's own reads them by place.
    if json.dumps(chosen.to_dict()) != json.dumps(data["policy"]):
        raise StateError(f"the bandit was saved with the policy {data['policy']}, but {chosen} was given")
    shares = _shares(data.get("shares", []), labels)
    memory = None if data.get("memory") is None else memory_from_dict(data["memory"])
    spreads = noise.family().spreads or chosen.rule().variance_bound is not None
    return SavedBandit(
        chosen,
        noise,
        data["seed"],
        labels,
        **columns,
        first=first,
        shares=shares,
        moments=_moments(data, columns) if spreads else None,
        memory=memory,
        remembered=None if memory is None else clean_remembered(data.get("remembered"), memory, len(labels)),
    )


_COLUMNS = {"pulls": int, "learned": int, "totals": float, "retired": bool}


def _labels(labels: object) -> list[Label]:
    if not isinstance(labels, list) or not labels:
        raise StateError("labels must be a list of at least one")
    if any(type(label) not in (str, int) for label in labels) or len(set(labels)) < len(labels):
        raise StateError("labels must be strings or integers, all different")
    return labels


def _shares(shares: object, labels: list[Label]) -> list[tuple[Label, float]]:
    """Return pairs of an arm and its share; files of bandits without shares have none."""
    try:
        pairs = [(label, share) for label, share in shares]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise StateError("shares must be a list of pairs of an arm and its share") from None
    if any(type(label) not in (str, int) or type(share) is not float for label, share in pairs):
        raise StateError("shares must be a list of pairs of an arm and its share")
    known, named = set(labels), [label for label, _ in pairs]
    if not known.issuperset(named) or len(set(named)) < len(named):
        raise StateError("shares must be of different arms of the bandit")
    if min((share for _, share in pairs), default=1.0) <= 0.0 or not sum(share for _, share in pairs) < 1.0:
        raise StateError("shares must be above 0 and sum to less than 1")
    return pairs


def _column(data: dict[str, Any], key: str, length: int) -> npt.NDArray[Any]:
    values, kind = data.get(key), _COLUMNS.get(key, float)
    if not isinstance(values, list) or len(values) != length or any(type(value) is not kind for value in values):
        raise StateError(f"{key} must be a list of {length} values of type {kind.__name__}")
    if kind is not bool and not all(abs(value) < (2**53 if kind is int else np.inf) for value in values):
        raise StateError(f"{key} has a value out of range")
    if kind is int and min(values) < 0:
        raise StateError(f"{key} has a negative value")
    return np.array(values, dtype={int: np.int64, float: np.float64, bool: np.bool_}[kind])


def _moments(data: dict[str, Any], columns: dict[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return what tells the spread of each arm's rewards."""
    given, known = data.get("moments"), columns["learned"] > 0
    if not isinstance(given, dict):
        raise StateError("the saved bandit is incomplete: moments is missing")
    made = no_moments(len(known))
    for name in COLUMNS:
        made[name] = np.where(known, _column(given, name, len(known)), made[name])
    counts, totals = columns["learned"][known].astype(float), columns["totals"][known]
    least, most = made["least"][known], made["most"][known]
    room = 1e-9 * np.maximum(np.abs(least), np.abs(most))
    means, squares = totals / counts, made["squares"][known]
    largest = np.maximum(least**2, most**2) * counts * (1.0 + 1e-9)
    possible = (least <= means + room) & (means <= most + room) & (squares >= 0.0) & (squares <= largest)
    if not possible.all():
        raise StateError("the saved bandit is inconsistent: no rewards have these totals and moments")
    return made


def _check_sums(noise: Noise, columns: dict[str, npt.NDArray[Any]]) -> None:
    """Refuse sums that no rewards of the noise family could have."""
    learned, totals = columns["learned"].astype(float), columns["totals"]
    low, high = noise.support()
    with np.errstate(over="ignore"):
        room = 1e-9 * np.abs(totals)
        possible = (
            (totals >= learned * low - room) & (totals <= learned * high + room) & ((learned > 0) | (totals == 0))
        )
    if noise.whole:
        possible &= totals % 1.0 == 0.0
    if not possible.all():
        raise StateError(f"the saved bandit is inconsistent: no rewards under {noise} have these totals")


def write(path: Path, data: dict[str, Any]) -> None:
    """Write JSON beside `path`, to the disk, and then put it in its place at once."""
    draft = path.with_name(f".{secrets.token_hex(8)}.draft")
    try:
        with draft.open("x", encoding="utf-8") as file:
            json.dump(data, file, allow_nan=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def read(path: Path) -> object:
    """Return what a JSON file holds."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as problem:  # not JSON, not text, or so long or deep that it is no bandit
        raise StateError(f"not a saved bandit, or only part of one: {problem}") from None
