"""Entries of the log as rows of its table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ocucb.service.errors import LogError
from ocucb.service.records import Entry
from ocucb.service.stores.tables import log
from ocucb.service.text import decode, encode

COLUMNS = [log.c[name] for name in Entry._fields]
Row: TypeAlias = tuple[Any, ...]


def to_row(experiment: int, entry: Entry) -> Row:
    """Return the row of an entry: its experiment, and then the COLUMNS."""
    seq, kind, at, arm, *rest, data = entry
    label = None if arm is None else str(arm) if type(arm) is int else encode(arm)
    return (experiment, seq, kind, at, label, *rest, None if data is None else encode(data))


def to_entry(row: Sequence[Any]) -> Entry:
    """Return the entry of a row with these COLUMNS."""
    seq, kind, at, arm, *rest, data = row
    try:
        label, change = None if arm is None else decode(arm), None if data is None else decode(data)
    except ValueError:
        raise LogError(f"entry {seq} of the log cannot be read") from None
    return Entry._make((seq, kind, at, label, *rest, change))
