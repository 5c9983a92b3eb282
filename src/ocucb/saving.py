"""A bandit as plain data, and as a JSON file that is whole or not there. No pickle."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ocucb import noise as noises
from ocucb import policies
from ocucb.compiled import Floats, Integers
from ocucb.errors import OcucbError, ParameterError, StateError
from ocucb.labels import Label
from ocucb.noise import Noise
from ocucb.policies import Policy

FORMAT = "ocucb bandit"
VERSION = 1


class Snapshot(NamedTuple):
    """All that a bandit is, with one entry per arm ever added."""

    policy: Policy
    noise: Noise
    seed: int
    labels: list[Label]
    pulls: Integers
    learned: Integers
    totals: Floats
    retired: npt.NDArray[np.bool_]


def to_dict(snapshot: Snapshot) -> dict[str, Any]:
    """Return a snapshot as plain data."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "policy": snapshot.policy.to_dict(),
        "noise": snapshot.noise.to_dict(),
        "seed": snapshot.seed,
        "labels": snapshot.labels,
        "pulls": snapshot.pulls.tolist(),
        "learned": snapshot.learned.tolist(),
        "totals": snapshot.totals.tolist(),
        "retired": snapshot.retired.tolist(),
    }


def from_dict(data: object, policy: Policy | None) -> Snapshot:
    """Return the snapshot behind plain data, after checking every part of it."""
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
    try:
        noise = noises.from_dict(data["noise"])
        chosen = policies.from_dict(data["policy"]) if policy is None else policy
    except OcucbError as problem:
        raise StateError(str(problem)) from None
    _check_sums(noise, columns)
    # The order of parameters matters too: a policy of a user's own reads them by place.
    if json.dumps(chosen.to_dict()) != json.dumps(data["policy"]):
        raise StateError(f"the bandit was saved with the policy {data['policy']}, but {chosen} was given")
    return Snapshot(chosen, noise, data["seed"], labels, **columns)


_COLUMNS = {"pulls": int, "learned": int, "totals": float, "retired": bool}


def _labels(labels: object) -> list[Label]:
    if not isinstance(labels, list) or not labels:
        raise StateError("labels must be a list of at least one")
    if any(type(label) not in (str, int) for label in labels) or len(set(labels)) < len(labels):
        raise StateError("labels must be strings or integers, all different")
    return labels


def _column(data: dict[str, Any], key: str, length: int) -> npt.NDArray[Any]:
    values, kind = data[key], _COLUMNS[key]
    if not isinstance(values, list) or len(values) != length or any(type(value) is not kind for value in values):
        raise StateError(f"{key} must be a list of {length} values of type {kind.__name__}")
    if kind is not bool and not all(abs(value) < (2**53 if kind is int else np.inf) for value in values):
        raise StateError(f"{key} has a value out of range")
    if kind is int and min(values) < 0:
        raise StateError(f"{key} has a negative value")
    return np.array(values, dtype={int: np.int64, float: np.float64, bool: np.bool_}[kind])


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
