"""The headers that every answer has."""

from __future__ import annotations

import asyncio

from starlette.types import Message, Send

from ocucb.service.web.limits import Gone
from ocucb.service.web.rights import Right

SLOWEST = 60.0  # seconds for a piece of a stream to be taken
_ALWAYS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
}
_OURS = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
_POLICIES = {
    "api": "default-src 'none'; frame-ancestors 'none'",
    "page": _OURS,
    "docs": f"{_OURS}; img-src 'self' data:",
}
_CACHE = {False: "no-store", True: "public, max-age=3600"}


def _head(look: str, static: bool) -> list[tuple[bytes, bytes]]:
    given = {**_ALWAYS, "content-security-policy": _POLICIES[look], "cache-control": _CACHE[static]}
    return [(name.encode(), value.encode()) for name, value in given.items()]


_HEADS = {(look, static): _head(look, static) for look in _POLICIES for static in _CACHE}
_OPEN = Right(None)


class Reply:
    """Sends an answer on, with the headers that all have. A route may have set some of them itself, and is right."""

    __slots__ = ("_id", "_send", "right", "status")

    def __init__(self, send: Send, request_id: str) -> None:
        self._send, self._id = send, request_id.encode()
        self.right, self.status = _OPEN, 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = message.get("headers", [])
            head = _HEADS[self.right.look, self.right.static and self.status < 400]
            if self.right.look != "api":
                names = {name for name, _ in own}
                head = [pair for pair in head if pair[0] not in names]
            message["headers"] = [*own, *head, (b"x-request-id", self._id)]
        if message.get("more_body"):  # of a stream: whoever does not read it must not keep it
            try:
                async with asyncio.timeout(SLOWEST):
                    await self._send(message)
            except TimeoutError:
                raise Gone from None
        else:
            await self._send(message)
