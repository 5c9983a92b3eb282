"""The edge: all that happens to every request, before and after its route, in one place."""

from __future__ import annotations

import itertools
import logging
import re
import secrets
import time
from collections.abc import Iterable

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ocucb.service.access import ApiKey
from ocucb.service.errors import DeniedError, StoreError, UnavailableError, UnknownExperimentError
from ocucb.service.web.headers import Reply
from ocucb.service.web.limits import Buckets, Gone, neighbourhood, read_body
from ocucb.service.web.page.rendering import problem_page
from ocucb.service.web.paths import Paths
from ocucb.service.web.problems import Refusal, problem_of, retry_after
from ocucb.service.web.refresh import Refresher
from ocucb.service.web.rights import PAGE, Right
from ocucb.service.web.state import VISIT, Desk, Visit

logger = logging.getLogger("ocucb.service.web")

WANTED = frozenset(
    (
        b"accept",
        b"authorization",
        b"content-length",
        b"content-type",
        b"idempotency-key",
        b"transfer-encoding",
        b"x-request-id",
    )
)
FAILURES = 60  # per minute and address
LARGEST_FORM = 100_000
LONGEST_ADDRESS = 8192
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_GONE = 499


class Edge:
    """Asks of every request: which route, whose key, how often, how large. Lets it in, and notes what came of it."""

    def __init__(self, app: ASGIApp, desk: Desk, paths: Paths) -> None:
        settings = desk.service.settings
        self._app, self._desk, self._paths = app, desk, paths
        self._settings, self._access = settings, desk.service.access
        self._sizes = {
            "form": min(LARGEST_FORM, settings.largest_body),
            "body": settings.largest_body,
            "import": settings.largest_import,
        }
        self._rates = Buckets(settings.rate, settings.rate)
        self._failures = Buckets(FAILURES / 60, FAILURES)
        self._once_more = Refresher(self._access, 0.05)
        self._now = Refresher(self._access, 0.0)
        self._name, self._numbers = secrets.token_hex(6), itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await (_close(receive, send) if scope["type"] == "websocket" else self._app(scope, receive, send))
            return
        began = time.perf_counter()
        headers = {name: value for name, value in scope["headers"] if name in WANTED}
        visit = Visit(self._desk, headers, self._request_id(headers.get(b"x-request-id")))
        reply = Reply(send, visit.id)
        try:
            await self._serve(visit, scope, receive, reply)
        except Gone:
            reply.status = _GONE
        except Exception as error:
            await self._refuse(error, visit, scope, receive, reply)
        finally:
            self._note(visit, scope["method"], reply.status, time.perf_counter() - began)

    def _request_id(self, given: bytes | None) -> str:
        if given is not None and _REQUEST_ID.fullmatch(given):
            return given.decode()
        return f"{self._name}-{next(self._numbers):x}"

    async def _serve(self, visit: Visit, scope: Scope, receive: Receive, reply: Reply) -> None:
        if len(scope["path"]) + len(scope["query_string"]) > LONGEST_ADDRESS:
            raise Refusal(414, f"the address must be {LONGEST_ADDRESS} characters or less")
        place, parameters = self._paths.find(scope["path"], scope["method"])
        visit.place, reply.right = place, place.right
        if place.right.role is not None:
            visit.key = await self._admit(visit, place.right, place.right.role, scope)
            if "name" in parameters and not visit.key.sees(parameters["name"]):
                raise UnknownExperimentError(parameters["name"])
        if place.right.size is not None:
            await self._take_body(visit, place.right, self._sizes[place.right.size], receive)
        scope[VISIT] = visit
        if place.right.direct:
            scope["path_params"] = parameters
            await _answer(reply, 200, await place.endpoint(Request(scope)))
        else:
            method = "GET" if scope["method"] == "HEAD" else scope["method"]
            await self._app({**scope, "method": method}, _again(visit.body, receive), reply)

    async def _admit(self, visit: Visit, right: Right, role: str, scope: Scope) -> ApiKey:
        """Return the caller's key, if it is valid, not used too often, and good for this route."""
        scheme, _, text = visit.headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        text = text.strip() if scheme.lower() == "bearer" else ""
        key = self._access.identify(text) or await self._look_again(text, scope)
        if wait := self._rates.take(key.id):
            rate = self._settings.rate
            raise Refusal(429, f"a key has {rate} requests per second; slow down", retry_after(wait))
        if right.fresh is not None:
            key = await self._refreshed(key, right)
        if not key.may(role):
            raise Refusal(403, f"this needs a key with the role {role}; this key has {', '.join(sorted(key.roles))}")
        return key

    async def _look_again(self, text: str, scope: Scope) -> ApiKey:
        """Return a key that was made on another node just now, or refuse; whoever fails often is not looked up."""
        if wait := self._failures.take(neighbourhood(scope.get("client"))):
            raise Refusal(429, "too many requests without a valid key; try again later", retry_after(wait))
        if text.startswith("ocucb_"):
            await self._desk.patiently(self._once_more())
        key = self._access.identify(text)
        if key is None:
            raise DeniedError
        return key

    async def _refreshed(self, key: ApiKey, right: Right) -> ApiKey:
        try:
            await self._desk.patiently(self._now())
        except UnavailableError:
            if right.fresh == "must":
                raise
        found = self._access.find(key.id)
        if found is None:
            raise DeniedError
        return found

    async def _take_body(self, visit: Visit, right: Right, most: int, receive: Receive) -> None:
        seconds = self._settings.patience * max(1.0, most / self._settings.largest_body)
        visit.body = await read_body(receive, visit.headers, most, seconds)
        if visit.body and right.media and visit.media not in right.media:
            raise Refusal(415, f"the body must be {' or '.join(right.media)}; say so in the header Content-Type")

    async def _refuse(self, error: Exception, visit: Visit, scope: Scope, receive: Receive, reply: Reply) -> None:
        """Answer an error: as JSON, or to a browser that is lost as a page."""
        problem = problem_of(error)
        if isinstance(error, StoreError):
            visit.reason = error.reason
        elif problem.status == 500:
            logger.error("a request failed", exc_info=error, extra={"fields": {"request_id": visit.id}})
        if reply.status:  # too late to say so: the answer breaks off, and the caller sees that it did
            return
        if b"text/html" in visit.headers.get(b"accept", b"") and not scope["path"].startswith("/v1/"):
            reply.right = PAGE
            await problem_page(problem)(scope, receive, reply)
            return
        headers = [(name.lower().encode(), value.encode()) for name, value in problem.headers.items()]
        await _answer(reply, problem.status, problem.body(visit.id), headers)

    def _note(self, visit: Visit, method: str, status: int, seconds: float) -> None:
        place = visit.place
        route = "unmatched" if place is None else place.name
        self._desk.metrics.answered(route, status, seconds)
        quiet = status < 300 and place is not None and place.right.quiet
        level = logging.WARNING if status >= 500 else logging.DEBUG if quiet else logging.INFO
        if logger.isEnabledFor(level):
            fields = {
                "request_id": visit.id,
                "method": method,
                "route": "unmatched" if place is None else place.route,
                "status": status,
                "milliseconds": round(seconds * 1000, 3),
                "key": visit.key.id or None,
            }
            if visit.reason:
                fields["reason"] = visit.reason
            logger.log(level, "%s %s %d", method, fields["route"], status, extra={"fields": fields})


async def _answer(reply: Reply, status: int, body: bytes, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
    """Send a body of JSON."""
    head = [*headers, (b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await reply({"type": "http.response.start", "status": status, "headers": head})
    await reply({"type": "http.response.body", "body": body})


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a receive that gives a body that has been read, and then waits for the end."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def give() -> Message:
        return left.pop() if left else await receive()

    return give


async def _close(receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "websocket.close"})
