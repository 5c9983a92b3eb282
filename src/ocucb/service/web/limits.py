"""How often, how many, how much: all that keeps one caller from taking what belongs to others."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import Mapping
from itertools import islice

from starlette.types import Receive

from ocucb.service.web.errors import Refusal

MAX_TOKEN_BUCKETS = 20_000
ROUNDING_SECONDS = 1e-7  # by which sums of times may be off


class TokenBuckets:
    """Buckets of tokens by name: each holds `most`, is filled at `rate` per second, and a request takes one.

    Of a bucket only the time is kept at which it will be full again. Buckets not used for longest are forgotten when
    there are too many, and are then full.
    """

    def __init__(self, rate: float, most: float) -> None:
        self._seconds = 1.0 / rate  # in which a token comes
        self._longest = most / rate  # in which an empty bucket is full
        self._full_at: dict[str, float] = {}  # used last at the end

    def take(self, name: str) -> float:
        """Take a token and return 0; or if there is none, return the seconds until there is one."""
        now = time.monotonic()
        full_at = self._full_at.pop(name, now)
        taken = max(full_at, now) + self._seconds
        wait = taken - now - self._longest
        if wait > ROUNDING_SECONDS:
            self._full_at[name] = full_at
            return wait
        self._full_at[name] = taken
        if len(self._full_at) > MAX_TOKEN_BUCKETS:
            self._full_at = dict(islice(self._full_at.items(), MAX_TOKEN_BUCKETS // 10, None))
        return 0.0


def network_of(client: tuple[str, int] | None) -> str:
    """Return what one caller has for an address: of version 6 usually a whole network of 64 bits."""
    host = "" if client is None else client[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host[:100]
    if isinstance(address, ipaddress.IPv6Address):
        plain = address.ipv4_mapped  # how a socket for both versions sees one of version 4
        return str(plain) if plain is not None else str(ipaddress.ip_network((address, 64), strict=False))
    return host


async def read_body(receive: Receive, headers: Mapping[bytes, bytes], most: int, seconds: float) -> bytes:
    """Return the whole body, if it is small enough and comes soon enough."""
    length = headers.get(b"content-length")
    if length == b"0" or (length is None and b"transfer-encoding" not in headers):
        return b""
    if length is not None and (not length.isdigit() or len(length) > 18 or int(length) > most):
        raise _too_large(most)
    try:
        async with asyncio.timeout(seconds):
            return await _read(receive, most)
    except TimeoutError:
        raise Refusal(408, f"the body did not come within {seconds:g} seconds; not stored, try again") from None


async def _read(receive: Receive, most: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientDisconnected
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        if size > most:
            raise _too_large(most)
        if not message.get("more_body"):
            return b"".join(pieces)


class ClientDisconnected(Exception):  # noqa: N818  # nobody is told
    """The caller has gone before all was said, or does not listen."""


def _too_large(most: int) -> Refusal:
    return Refusal(413, f"the body must be {most} bytes or less; send it in parts")
