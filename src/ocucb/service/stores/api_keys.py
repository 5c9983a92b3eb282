"""API keys as rows. Whoever changes them raises the version, under a lock, so that every node notices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Row, func, insert, select, update

from ocucb.service.stores.dialects import lock_rows, run
from ocucb.service.stores.store import Transaction
from ocucb.service.stores.tables import access, api_keys
from ocucb.service.text import decode, encode

ACCESS_ID = 1  # of the only row of `access`


class ApiKeyRecord(NamedTuple):
    """An API key as it is stored: its secret only as a digest."""

    id: str
    name: str
    digest: str
    roles: Sequence[str]
    experiments: Sequence[str] | None
    created: int
    revoked: int | None
    expires: int | None = None


_SELECT_KEY = select(*(api_keys.c[name] for name in ApiKeyRecord._fields))


def read_version(transaction: Transaction) -> int:
    """Return how often keys have changed."""
    if transaction.key_version is not None:
        return transaction.key_version
    return int(run(transaction.connection, _SELECT_VERSION).fetchone()[0])


def read_secret(transaction: Transaction) -> bytes:
    """Return the secret that all nodes share."""
    return bytes.fromhex(transaction.connection.execute(select(access.c.secret)).scalar_one())


def bump_version(transaction: Transaction) -> None:
    """Raise the version; until the transaction ends, nobody else changes API keys."""
    query = select(access.c.version).where(access.c.id == ACCESS_ID)
    version = transaction.connection.execute(lock_rows(transaction.connection, query)).scalar_one()
    transaction.connection.execute(update(access).where(access.c.id == ACCESS_ID).values(version=version + 1))


def count_keys(transaction: Transaction, valid_at: int | None = None) -> int:
    """Return how many keys there are, or how many of them are valid at a time."""
    query = select(func.count()).select_from(api_keys)
    if valid_at is not None:
        query = query.where(api_keys.c.revoked.is_(None), func.coalesce(api_keys.c.expires, valid_at + 1) > valid_at)
    return int(transaction.connection.execute(query).scalar_one())


def add_key(transaction: Transaction, key: ApiKeyRecord) -> None:
    """Add a key."""
    experiments = None if key.experiments is None else encode(list(key.experiments))
    row = {**key._asdict(), "roles": encode(list(key.roles)), "experiments": experiments}
    transaction.connection.execute(insert(api_keys), [row])


def revoke_key(transaction: Transaction, api_key: str, at: int) -> ApiKeyRecord | None:
    """Revoke a key, unless it is so already; None if there is none."""
    unless = (api_keys.c.id == api_key) & api_keys.c.revoked.is_(None)
    transaction.connection.execute(update(api_keys).where(unless).values(revoked=at))
    row = transaction.connection.execute(_SELECT_KEY.where(api_keys.c.id == api_key)).first()
    return None if row is None else _read_row(row)


def list_valid_keys(transaction: Transaction) -> list[ApiKeyRecord]:
    """Return all keys that are not revoked."""
    return [_read_row(row) for row in transaction.connection.execute(_SELECT_KEY.where(api_keys.c.revoked.is_(None)))]


def list_keys(transaction: Transaction, after: str, limit: int) -> list[ApiKeyRecord]:
    """Return a page of all keys, in order of id."""
    query = _SELECT_KEY.where(api_keys.c.id > after).order_by(api_keys.c.id).limit(limit)
    return [_read_row(row) for row in transaction.connection.execute(query)]


def _read_row(row: Row[tuple[object, ...]]) -> ApiKeyRecord:
    key = ApiKeyRecord._make(row)
    experiments = None if key.experiments is None else decode(str(key.experiments))
    return key._replace(roles=decode(str(key.roles)), experiments=experiments)


_SELECT_VERSION = f"SELECT version FROM access WHERE id = {ACCESS_ID}"  # noqa: S608
