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

TOKEN_LENGTH = 22  # characters of six bits: 132 bits
TOKENS_AT_ONCE = 256
_ID_PATTERN = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,17})-([A-Za-z0-9_-]{22})")


class DecisionId(NamedTuple):
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
        self._text, self._used = "", 0

    def new(self) -> str:
        """Return 132 random bits as text."""
        if self._used == len(self._text):
            bits = secrets.token_bytes(TOKEN_LENGTH * TOKENS_AT_ONCE * 3 // 4)
            self._text, self._used = base64.urlsafe_b64encode(bits).decode(), 0
        self._used += TOKEN_LENGTH
        return self._text[self._used - TOKEN_LENGTH : self._used]


def make_id(experiment: int, entry: Entry) -> str:
    """Return the id of a decision."""
    return f"{experiment}-{entry.seq}-{entry.token}"


def parse_id(text: object) -> DecisionId | None:
    """Return what an id says, or None if it is none."""
    match = _ID_PATTERN.fullmatch(text) if isinstance(text, str) else None
    return None if match is None else DecisionId(int(match[1]), int(match[2]), match[3])
