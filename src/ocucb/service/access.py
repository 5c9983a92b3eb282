"""API keys: who may do what, known in memory and never staler than the transaction that relies on it."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ocucb.checks import one_of
from ocucb.service.errors import DeniedError, RequestError, UnknownKeyError
from ocucb.service.records import Clock, utc_now
from ocucb.service.stores import Store, Transaction, keyring
from ocucb.service.stores.keyring import KeyRow
from ocucb.service.text import clean_name, clean_text

ROLES = ("admin", "decide", "reward", "read")
MOST_KEYS = 10_000
MOST_EXPERIMENTS = 1000
_FORM = re.compile(r"ocucb_([a-z0-9]{12})_([A-Za-z0-9_-]{43})")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_NOBODY = hashlib.sha256(b"").hexdigest()


class ApiKey(NamedTuple):
    """A key, less its secret. `experiments` is None for all; so it is for an admin, who may do everything."""

    id: str
    name: str
    roles: frozenset[str]
    experiments: frozenset[str] | None
    created: int
    revoked: int | None

    def may(self, role: str) -> bool:
        """Tell whether the key has a role."""
        return role in self.roles or "admin" in self.roles

    def sees(self, experiment: str) -> bool:
        """Tell whether the key may know of an experiment."""
        return self.experiments is None or experiment in self.experiments


class _Ring(NamedTuple):
    """The valid keys at a version, each with the digest of its secret. Never changed, only replaced."""

    version: int
    keys: Mapping[str, tuple[ApiKey, str]]


class Access:
    """Makes, revokes and recognises keys. For many threads.

    Recognising needs no database: the keys are in memory. Whether they are still the right ones is one number in the
    database, and `look` compares it in the transaction of whoever relies on it; a round of the engine does so, and
    therefore nothing is stored for a key that had been revoked before, on whatever node.
    """

    def __init__(self, store: Store, now: Clock = utc_now) -> None:
        self._store, self._now = store, now
        self._lock = threading.Lock()
        self._ring = _Ring(-1, {})
        with store.read() as transaction:
            self.secret = keyring.read_secret(transaction)
            self.look(transaction)

    def first_key(self) -> str | None:
        """Make an admin key if there has never been any key, and return its text; only one node of many does."""
        with self._store.write() as transaction:
            keyring.change(transaction)
            if keyring.count(transaction, revoked=True):
                return None
            text = self._add(transaction, "first", ["admin"], None)[1]
        self.refresh()
        return text

    def make(self, name: str, roles: Iterable[str], experiments: Iterable[str] | None = None) -> tuple[ApiKey, str]:
        """Make a key and return it with its text, which nobody can find out later."""
        clean_text("the name of a key", name)
        roles = sorted({one_of("role", role, ROLES) for role in roles})
        if not roles:
            raise RequestError(f"a key must have at least one role of {', '.join(ROLES)}")
        names = None if experiments is None else sorted({clean_name(experiment) for experiment in experiments})
        if names is not None and "admin" in roles:
            raise RequestError("an admin key sees all experiments; leave out the list, or the role")
        if names is not None and not 1 <= len(names) <= MOST_EXPERIMENTS:
            raise RequestError(f"a key must have 1 to {MOST_EXPERIMENTS} experiments, or none listed for all")
        with self._store.write() as transaction:
            keyring.change(transaction)
            if keyring.count(transaction, revoked=False) >= MOST_KEYS:
                raise RequestError(f"there are {MOST_KEYS} keys; revoke some first")
            made = self._add(transaction, name, roles, names)
        self.refresh()
        return made

    def revoke(self, key: str) -> ApiKey:
        """Revoke a key, and return it. From now on it is refused on every node."""
        with self._store.write() as transaction:
            keyring.change(transaction)
            row = keyring.revoke(transaction, key, self._now())
        if row is None:
            raise UnknownKeyError(key)
        self.refresh()
        return _key(row)

    def page(self, after: str = "", limit: int = 100) -> list[ApiKey]:
        """Return a page of all keys, also those revoked, in order of id."""
        with self._store.read() as transaction:
            return [_key(row) for row in keyring.page(transaction, after, limit)]

    def identify(self, text: str) -> ApiKey | None:
        """Return the valid key with this text, as far as is known; how long a "no" takes tells no secret."""
        match = _FORM.fullmatch(text)
        key, digest = self._ring.keys.get(match[1], (None, _NOBODY)) if match else (None, _NOBODY)
        right = hmac.compare_digest(_digest(match[2] if match else ""), digest)
        return key if right and match else None

    def find(self, key: str) -> ApiKey | None:
        """Return the valid key with this id, as far as is known."""
        return self._ring.keys.get(key, (None, ""))[0]

    def check(self, key: str) -> None:
        """Raise DeniedError unless the key with this id is valid, as far as is known."""
        if key not in self._ring.keys:
            raise DeniedError

    def refresh(self) -> None:
        """Find out what is true now: one small read."""
        with self._store.read() as transaction:
            self.look(transaction)

    def look(self, transaction: Transaction) -> None:
        """Find out what is true in a transaction."""
        version = keyring.read_version(transaction)
        if version != self._ring.version:
            keys = {row.id: (_key(row), row.digest) for row in keyring.valid(transaction)}
            with self._lock:  # a slow reader must not bring back what a quick one has replaced
                if version > self._ring.version:
                    self._ring = _Ring(version, keys)

    def _add(
        self, transaction: Transaction, name: str, roles: list[str], experiments: list[str] | None
    ) -> tuple[ApiKey, str]:
        key, secret = "".join(secrets.choice(_LETTERS) for _ in range(12)), secrets.token_urlsafe(32)
        row = KeyRow(key, name, _digest(secret), roles, experiments, self._now(), None)
        keyring.add(transaction, row)
        return _key(row), f"ocucb_{key}_{secret}"


def _key(row: KeyRow) -> ApiKey:
    experiments = None if row.experiments is None else frozenset(row.experiments)
    return ApiKey(row.id, row.name, frozenset(row.roles), experiments, row.created, row.revoked)


def _digest(secret: str) -> str:
    """Return a plain hash: a secret of 256 random bits needs no slow one."""
    return hashlib.sha256(secret.encode()).hexdigest()
