"""The audit log as rows: who changed what. A row is written in the transaction of the change itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import insert, select

from ocucb.service.stores.store import Transaction
from ocucb.service.stores.tables import api_keys, audit
from ocucb.service.text import decode, encode


class Change(NamedTuple):
    """Something that was changed, before it has a number: by which API key, "" for whoever can open the database."""

    at: int
    api_key: str
    action: str
    experiment: str | None
    details: Mapping[str, Any]


class AuditRecord(NamedTuple):
    """A change, and the name of the API key."""

    id: int
    at: int
    api_key: str
    key_name: str | None
    action: str
    experiment: str | None
    details: Mapping[str, Any]


def add_changes(transaction: Transaction, changes: Sequence[Change]) -> None:
    """Note changes."""
    if changes:
        rows = [{**change._asdict(), "details": encode(dict(change.details))} for change in changes]
        transaction.connection.execute(insert(audit).values(rows))  # one statement, see `delete_rows`


def list_changes(
    transaction: Transaction, before: int | None = None, limit: int = 100, experiment: str | None = None
) -> list[AuditRecord]:
    """Return a page of changes, newest first: those before a number, of all experiments or of one."""
    columns = (audit.c.id, audit.c.at, audit.c.api_key, api_keys.c.name, audit.c.action, audit.c.experiment)
    query = select(*columns, audit.c.details).select_from(audit.outerjoin(api_keys, api_keys.c.id == audit.c.api_key))
    if before is not None:
        query = query.where(audit.c.id < before)
    if experiment is not None:
        query = query.where(audit.c.experiment == experiment)
    rows = transaction.connection.execute(query.order_by(audit.c.id.desc()).limit(limit))
    return [AuditRecord(*row[:-1], decode(row[-1])) for row in rows]
