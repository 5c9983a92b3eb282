"""Entries of the log as rows of its table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ocucb.service.errors import LogError
from ocucb.service.records import Entry
from ocucb.service.stores.tables import log
from ocucb.service.text import decode, encode

COLUMNS = [log.c[name] for name in Entry._fields]


def to_row(experiment: int, entry: Entry) -> dict[str, Any]:
    """Return the row of an entry."""
    arm, data = entry.arm, entry.data
    return {
        "experiment": experiment,
        "seq": entry.seq,
        "kind": entry.kind,
        "at": entry.at,
        "arm": None if arm is None else str(arm) if type(arm) is int else encode(arm),
        "decision": entry.decision,
        "reward": entry.reward,
        "token": entry.token,
        "unit": entry.unit,
        "deadline": entry.deadline,
        "pulls": entry.pulls,
        "mean": entry.mean,
        "index_value": entry.index_value,
        "effective": entry.effective,
        "data": None if data is None else encode(data),
    }


def to_entry(row: Sequence[Any]) -> Entry:
    """Return the entry of a row with these COLUMNS."""
    seq, kind, at, arm, *rest, data = row
    try:
        label, change = None if arm is None else decode(arm), None if data is None else decode(data)
    except ValueError:
        raise LogError(f"entry {seq} of the log cannot be read") from None
    return Entry._make((seq, kind, at, label, *rest, change))
