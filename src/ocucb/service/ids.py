"""Decision ids: where the decision stands in the log, and a part that nobody can guess.

An id that names its place needs no index of random numbers, which would touch a page of the disk for every decision.
"""

from __future__ import annotations

import base64
import hmac
import re
import secrets
from typing import NamedTuple

from ocucb.service.records import Entry

SIZE = 16  # bytes of a token
_FORM = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,17})-([A-Za-z0-9_-]{22})")


class Parts(NamedTuple):
    """What a decision id says."""

    experiment: int
    seq: int
    token: str

    def matches(self, entry: Entry) -> bool:
        """Tell whether this is the id of that entry; how long it takes to say no tells nothing."""
        return entry.token is not None and hmac.compare_digest(entry.token.encode(), self.token.encode())


class Tokens:
    """Random tokens, whose bits are fetched from the system for many at once. For one thread and one process."""

    def __init__(self) -> None:
        self._bits, self._used = b"", 0

    def new(self) -> str:
        """Return 128 random bits as text."""
        if self._used == len(self._bits):
            self._bits, self._used = secrets.token_bytes(SIZE * 256), 0
        self._used += SIZE
        return base64.urlsafe_b64encode(self._bits[self._used - SIZE : self._used])[:22].decode()


def make_id(experiment: int, entry: Entry) -> str:
    """Return the id of a decision."""
    return f"{experiment}-{entry.seq}-{entry.token}"


def parse_id(text: object) -> Parts | None:
    """Return what an id says, or None if it is none."""
    match = _FORM.fullmatch(text) if isinstance(text, str) else None
    return None if match is None else Parts(int(match[1]), int(match[2]), match[3])
