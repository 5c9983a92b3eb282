"""API keys as rows. Whoever changes them moves the version, under a lock, so that every node notices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Row, func, insert, select, update

from ocucb.service.stores.databases import lock_rows
from ocucb.service.stores.store import Transaction
from ocucb.service.stores.tables import access, api_keys
from ocucb.service.text import decode, encode

ONLY = 1  # the one row of `access`


class KeyRow(NamedTuple):
    """An API key as it is stored: its secret only as a digest."""

    id: str
    name: str
    digest: str
    roles: Sequence[str]
    experiments: Sequence[str] | None
    created: int
    revoked: int | None


_ROW = select(*(api_keys.c[name] for name in KeyRow._fields))


def read_version(transaction: Transaction) -> int:
    """Return how often keys have changed."""
    return int(transaction.connection.execute(_VERSION).scalar_one())


def read_secret(transaction: Transaction) -> bytes:
    """Return the secret that all nodes share."""
    return bytes.fromhex(transaction.connection.execute(select(access.c.secret)).scalar_one())


def change(transaction: Transaction) -> None:
    """Move the version; until the end, nobody else changes keys."""
    query = select(access.c.version).where(access.c.id == ONLY)
    version = transaction.connection.execute(lock_rows(transaction.connection, query)).scalar_one()
    transaction.connection.execute(update(access).where(access.c.id == ONLY).values(version=version + 1))


def count(transaction: Transaction, revoked: bool) -> int:
    """Return how many keys there are, with or without those revoked."""
    query = select(func.count()).select_from(api_keys)
    query = query if revoked else query.where(api_keys.c.revoked.is_(None))
    return int(transaction.connection.execute(query).scalar_one())


def add(transaction: Transaction, key: KeyRow) -> None:
    """Add a key."""
    experiments = None if key.experiments is None else encode(list(key.experiments))
    row = {**key._asdict(), "roles": encode(list(key.roles)), "experiments": experiments}
    transaction.connection.execute(insert(api_keys), [row])


def revoke(transaction: Transaction, key: str, at: int) -> KeyRow | None:
    """Revoke a key, unless it is so already; None if there is none."""
    unless = (api_keys.c.id == key) & api_keys.c.revoked.is_(None)
    transaction.connection.execute(update(api_keys).where(unless).values(revoked=at))
    row = transaction.connection.execute(_ROW.where(api_keys.c.id == key)).first()
    return None if row is None else _key(row)


def valid(transaction: Transaction) -> list[KeyRow]:
    """Return all keys that are not revoked."""
    return [_key(row) for row in transaction.connection.execute(_ROW.where(api_keys.c.revoked.is_(None)))]


def page(transaction: Transaction, after: str, limit: int) -> list[KeyRow]:
    """Return a page of all keys, in order of id."""
    query = _ROW.where(api_keys.c.id > after).order_by(api_keys.c.id).limit(limit)
    return [_key(row) for row in transaction.connection.execute(query)]


def _key(row: Row[tuple[object, ...]]) -> KeyRow:
    key = KeyRow._make(row)
    experiments = None if key.experiments is None else decode(str(key.experiments))
    return key._replace(roles=decode(str(key.roles)), experiments=experiments)


_VERSION = select(access.c.version).where(access.c.id == ONLY)
