"""The headers that every answer has."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.types import Message, Send

from ocucb.service.web.limits import ClientDisconnected
from ocucb.service.web.route_table import RoutePolicy

MAX_SEND_SECONDS = 60.0  # for a piece of a stream to be taken
_ALWAYS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
}
_OURS = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
_CONTENT_POLICIES = {
    "api": "default-src 'none'; frame-ancestors 'none'",
    "page": _OURS,
    "docs": f"{_OURS}; img-src 'self' data:",
}
_CACHE = {False: "no-store", True: "public, max-age=3600"}


def _headers_of(content_policy: str, static: bool) -> list[tuple[bytes, bytes]]:
    given = {**_ALWAYS, "content-security-policy": _CONTENT_POLICIES[content_policy], "cache-control": _CACHE[static]}
    return [(name.encode(), value.encode()) for name, value in given.items()]


_HEADERS = {
    (content_policy, static): _headers_of(content_policy, static)
    for content_policy in _CONTENT_POLICIES
    for static in _CACHE
}
_NO_ROUTE = RoutePolicy(None)
_API_LINES = b"".join(b"%s: %s\r\n" % pair for pair in _HEADERS["api", False]).decode()


def api_head(length: int, request_id: str, own: Mapping[str, str]) -> bytes:
    """Return the headers of an answer of JSON as they are sent, less its status: what `ResponseSender` adds as well."""
    more = "".join([f"{name.lower()}: {value}\r\n" for name, value in own.items()]) if own else ""
    begin = f"{more}content-type: application/json\r\ncontent-length: {length}"
    return f"{begin}\r\n{_API_LINES}x-request-id: {request_id}\r\n".encode()


class ResponseSender:
    """Sends an answer on, with the headers that all have. A route may have set some of them itself, and is right."""

    __slots__ = ("_id", "_send", "policy", "status")

    def __init__(self, send: Send, request_id: str) -> None:
        self._send, self._id = send, request_id.encode()
        self.policy, self.status = _NO_ROUTE, 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = message.get("headers", [])
            ours = _HEADERS[self.policy.content_policy, self.policy.static and self.status < 400]
            if self.policy.content_policy != "api":
                names = {name for name, _ in own}
                ours = [pair for pair in ours if pair[0] not in names]
            message["headers"] = [*own, *ours, (b"x-request-id", self._id)]
        if message.get("more_body"):  # of a stream: whoever does not read it must not keep it
            try:
                async with asyncio.timeout(MAX_SEND_SECONDS):
                    await self._send(message)
            except TimeoutError:
                raise ClientDisconnected from None
        else:
            await self._send(message)
