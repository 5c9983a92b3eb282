"""The API keys with which the requests of a batch were made: whether they are valid, until it is written."""

from __future__ import annotations

from typing import Protocol

from ocucb.service.errors import DeniedError
from ocucb.service.stores import Transaction


class KeyVerifier(Protocol):
    """Knows which API keys are valid, also when one was revoked on another node."""

    def refresh_in(self, transaction: Transaction) -> None:
        """Read what has changed, in this transaction."""

    def verify(self, api_key: str) -> None:
        """Raise DeniedError unless the API key with this id is valid."""


class UsedKeys:
    """Verifies each key of a batch once, and all of them again if keys have changed since. With no verifier, none."""

    def __init__(self, verifier: KeyVerifier | None) -> None:
        self._verifier = verifier
        self._verified: set[str] = set()

    def refresh(self, transaction: Transaction) -> None:
        """Read which keys have changed."""
        if self._verifier is not None:
            self._verifier.refresh_in(transaction)

    def verify(self, api_key: str | None) -> None:
        """Raise DeniedError unless the API key with this id is valid."""
        if self._verifier is not None and api_key is not None and api_key not in self._verified:
            self._verifier.verify(api_key)
            self._verified.add(api_key)

    def are_valid(self, transaction: Transaction) -> bool:
        """Read which keys have changed, and tell whether all that were verified are valid still."""
        self.refresh(transaction)
        verified, self._verified = self._verified, set()
        try:
            for api_key in verified:
                self.verify(api_key)
        except DeniedError:
            return False
        return True
