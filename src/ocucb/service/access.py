"""API keys: who may do what, known in memory and never staler than the transaction that relies on it."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ocucb.checks import as_float, one_of
from ocucb.service.errors import DeniedError, RequestError, UnknownKeyError
from ocucb.service.records import SECOND, Clock, utc_now
from ocucb.service.stores import Store, Transaction, api_keys
from ocucb.service.stores.api_keys import ApiKeyRecord
from ocucb.service.stores.audit import Change, add_changes
from ocucb.service.text import clean_name, clean_text

ROLES = ("admin", "decide", "reward", "correct", "read")
MAX_API_KEYS = 10_000
MAX_LIFETIME = 100 * 366 * 86_400.0  # seconds
MAX_EXPERIMENTS_PER_KEY = 1000
_KEY_PATTERN = re.compile(r"ocucb_([a-z0-9]{12})_([A-Za-z0-9_-]{43})")
_ID_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_NO_DIGEST = hashlib.sha256(b"").hexdigest()


class ApiKey(NamedTuple):
    """A key, less its secret. `experiments` is None for all; so it is for an admin, who may do everything."""

    id: str
    name: str
    roles: frozenset[str]
    experiments: frozenset[str] | None
    created: int
    revoked: int | None
    expires: int | None = None

    def may(self, role: str) -> bool:
        """Tell whether the key has a role."""
        return role in self.roles or "admin" in self.roles

    def sees(self, experiment: str) -> bool:
        """Tell whether the key may know of an experiment."""
        return self.experiments is None or experiment in self.experiments


class _KnownKeys(NamedTuple):
    """The valid API keys at a version, by id, each with the digest of its secret. Never changed, only replaced."""

    version: int
    keys: Mapping[str, tuple[ApiKey, str]]


class Access:
    """Makes, revokes and recognises keys. For many threads.

    Recognising needs no database: the keys are in memory. Whether they are still the right ones is one number in the
    database, and `refresh_in` compares it in the transaction of whoever relies on it; a batch of the engine does so,
    and therefore nothing is stored for a key that had been revoked before, on whatever node.
    """

    def __init__(self, store: Store, now: Clock = utc_now) -> None:
        self._store, self._now = store, now
        self._lock = threading.Lock()
        self._known = _KnownKeys(-1, {})
        with store.read() as transaction:
            self.secret = api_keys.read_secret(transaction)
            self.refresh_in(transaction)

    def make_first_key(self) -> str | None:
        """Make an admin key if there has never been any key, and return its text; only one node of many does."""
        with self._store.write() as transaction:
            api_keys.bump_version(transaction)
            if api_keys.count_keys(transaction):
                return None
            text = self._add(transaction, "first", ["admin"], None, None, "")[1]
        self.refresh()
        return text

    def make(
        self,
        name: str,
        roles: Iterable[str],
        experiments: Iterable[str] | None = None,
        lifetime: float | None = None,
        by: str = "",
    ) -> tuple[ApiKey, str]:
        """Make a key and return it with its text, which nobody can find out later.

        It expires after `lifetime` seconds, or never. `by` is the id of the key with which it is made.
        """
        clean_text("the name of a key", name)
        roles = sorted({one_of("role", role, ROLES) for role in roles})
        if not roles:
            raise RequestError(f"a key must have at least one role of {', '.join(ROLES)}")
        names = None if experiments is None else sorted({clean_name(experiment) for experiment in experiments})
        if names is not None and "admin" in roles:
            raise RequestError("an admin key sees all experiments; leave out the list, or the role")
        if names is not None and not 1 <= len(names) <= MAX_EXPERIMENTS_PER_KEY:
            raise RequestError(f"a key must have 1 to {MAX_EXPERIMENTS_PER_KEY} experiments, or none listed for all")
        if lifetime is not None and not 0.0 < as_float(lifetime) <= MAX_LIFETIME:
            raise RequestError(f"the lifetime of a key must be more than 0 and at most {MAX_LIFETIME:.0f} seconds")
        with self._store.write() as transaction:
            api_keys.bump_version(transaction)
            if api_keys.count_keys(transaction, self._now()) >= MAX_API_KEYS:
                raise RequestError(f"there are {MAX_API_KEYS} keys; revoke some first")
            made = self._add(transaction, name, roles, names, lifetime, by)
        self.refresh()
        return made

    def revoke(self, api_key: str, by: str = "") -> ApiKey:
        """Revoke a key, and return it. From now on it is refused on every node."""
        with self._store.write() as transaction:
            api_keys.bump_version(transaction)
            now = self._now()
            record = api_keys.revoke_key(transaction, api_key, now)
            if record is not None and record.revoked == now:
                about = {"key": record.id, "name": record.name}
                add_changes(transaction, [Change(now, by, "key revoked", None, about)])
        if record is None:
            raise UnknownKeyError(api_key)
        self.refresh()
        return _api_key(record)

    def list_keys(self, after: str = "", limit: int = 100) -> list[ApiKey]:
        """Return a page of all keys, also those revoked, in order of id."""
        with self._store.read() as transaction:
            return [_api_key(record) for record in api_keys.list_keys(transaction, after, limit)]

    def identify(self, text: str) -> ApiKey | None:
        """Return the valid key with this text, as far as is known; how long a "no" takes tells no secret."""
        match = _KEY_PATTERN.fullmatch(text)
        key, digest = self._known.keys.get(match[1], (None, _NO_DIGEST)) if match else (None, _NO_DIGEST)
        matches = hmac.compare_digest(_digest(match[2] if match else ""), digest)
        return self._unexpired(key) if matches and match else None

    def find(self, api_key: str) -> ApiKey | None:
        """Return the valid key with this id, as far as is known."""
        return self._unexpired(self._known.keys.get(api_key, (None, ""))[0])

    def _unexpired(self, key: ApiKey | None) -> ApiKey | None:
        return None if key is None or (key.expires is not None and self._now() >= key.expires) else key

    def verify(self, api_key: str) -> None:
        """Raise DeniedError unless the key with this id is valid, as far as is known."""
        if self.find(api_key) is None:
            raise DeniedError

    def refresh(self) -> None:
        """Read what has changed: one small query, unless something has."""
        with self._store.read() as transaction:
            self.refresh_in(transaction)

    def refresh_in(self, transaction: Transaction) -> None:
        """Read what has changed, in a transaction that is open."""
        version = api_keys.read_version(transaction)
        if version != self._known.version:
            keys = {record.id: (_api_key(record), record.digest) for record in api_keys.list_valid_keys(transaction)}
            with self._lock:  # a slow reader must not bring back what a quick one has replaced
                if version > self._known.version:
                    self._known = _KnownKeys(version, keys)

    def _add(
        self,
        transaction: Transaction,
        name: str,
        roles: list[str],
        experiments: list[str] | None,
        lifetime: float | None,
        by: str,
    ) -> tuple[ApiKey, str]:
        key_id, secret = "".join(secrets.choice(_ID_LETTERS) for _ in range(12)), secrets.token_urlsafe(32)
        now = self._now()
        expires = None if lifetime is None else now + round(lifetime * SECOND)
        record = ApiKeyRecord(key_id, name, _digest(secret), roles, experiments, now, None, expires)
        api_keys.add_key(transaction, record)
        about = {"key": key_id, "name": name, "roles": roles, "experiments": experiments}
        add_changes(transaction, [Change(now, by, "key made", None, about)])
        return _api_key(record), f"ocucb_{key_id}_{secret}"


def _api_key(record: ApiKeyRecord) -> ApiKey:
    experiments = None if record.experiments is None else frozenset(record.experiments)
    times = record.created, record.revoked, record.expires
    return ApiKey(record.id, record.name, frozenset(record.roles), experiments, *times)


def _digest(secret: str) -> str:
    """Return a plain hash: a secret of 256 random bits needs no slow one."""
    return hashlib.sha256(secret.encode()).hexdigest()
