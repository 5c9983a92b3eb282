"""The gateway: all that happens to every request, before and after its route, in one place."""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
import secrets
import time
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import unquote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ocucb.service.access import ApiKey
from ocucb.service.callers import PendingRequest
from ocucb.service.errors import DamagedError, StoreError, UnavailableError
from ocucb.service.requests import Request
from ocucb.service.stores.nodes import NodeRecord
from ocucb.service.web.admission import Admission, check_role
from ocucb.service.web.app_state import CONTEXT, AppState, RecognisedKey, RequestContext
from ocucb.service.web.decisions import HOT_ROUTES
from ocucb.service.web.errors import ErrorResponse, Refusal, error_response
from ocucb.service.web.forwarding import HomeRefusal
from ocucb.service.web.headers import ResponseSender, api_head
from ocucb.service.web.homes import ForwardedRequests, forwarded_request, is_answer
from ocucb.service.web.limits import ClientDisconnected, read_body
from ocucb.service.web.node_messages import ForwardedRequest, HttpAnswer
from ocucb.service.web.page.rendering import problem_page
from ocucb.service.web.paths import MAX_REMEMBERED_PATHS, RouteMatch, RouteTree
from ocucb.service.web.query_parameters import check_query
from ocucb.service.web.route_table import PAGE_POLICY, RoutePolicy
from ocucb.service.web.tracing import trace_id

logger = logging.getLogger("ocucb.service.web")

USED_HEADERS = frozenset(
    (
        b"accept",
        b"authorization",
        b"content-length",
        b"content-type",
        b"idempotency-key",
        b"traceparent",
        b"tracestate",
        b"transfer-encoding",
        b"x-request-id",
    )
)
MAX_FORM_BYTES = 100_000
MAX_URL_LENGTH = 8192
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_CLIENT_CLOSED_REQUEST = 499
Respond: TypeAlias = Callable[[int, bytes, bytes], None]
"""Takes an answer: its status, its headers as they are sent, and its body."""
TakeAnswer: TypeAlias = Callable[[HttpAnswer], None]


class Gateway:
    """Asks of every request: which route, whose key, how often, how large. Lets it in, and notes what came of it."""

    def __init__(self, app: ASGIApp, app_state: AppState, routes: RouteTree) -> None:
        settings = app_state.service.settings
        self._app, self._app_state, self._routes = app, app_state, routes
        self._settings, self._admission = settings, Admission(app_state)
        self._tracing = app_state.service.tracing
        self._max_body_bytes = {
            "form": min(MAX_FORM_BYTES, settings.max_body_bytes),
            "body": settings.max_body_bytes,
            "import": settings.max_import_bytes,
        }
        self._direct_routes: dict[bytes, RouteMatch] = {}  # by the URL, as it was sent
        self._forwarded_routes: dict[bytes, RouteMatch] = {}  # by the path
        self._tasks: set[asyncio.Future[None]] = set()
        self._node_name, self._request_numbers = secrets.token_hex(6), itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await (_close_websocket(receive, send) if scope["type"] == "websocket" else self._app(scope, receive, send))
            return
        headers = {name: value for name, value in scope["headers"] if name in USED_HEADERS}
        context = RequestContext(self._app_state, headers, self._request_id(headers.get(b"x-request-id")))
        context.began = time.perf_counter()
        response = ResponseSender(send, context.id)
        if self._tracing is not None:
            context.span = self._tracing.start(scope["method"], headers)
        try:
            await self._serve(context, scope, receive, response)
        except ClientDisconnected:
            response.status = _CLIENT_CLOSED_REQUEST
        except Exception as error:
            await self._answer_error(error, context, scope, receive, response)
        finally:
            self._record_answer(context, scope["method"], response.status)

    def _request_id(self, given: bytes | None) -> str:
        if given is not None and _REQUEST_ID.fullmatch(given):
            return given.decode()
        return f"{self._node_name}-{next(self._request_numbers):x}"

    async def _serve(self, context: RequestContext, scope: Scope, receive: Receive, response: ResponseSender) -> None:
        if len(scope["path"]) + len(scope["query_string"]) > MAX_URL_LENGTH:
            raise Refusal(414, f"the address must be {MAX_URL_LENGTH} characters or less")
        match = self._routes.find(scope["path"], scope["method"])
        route, parameters, _ = match
        context.match, context.route, response.policy = match, route, route.policy
        await self._admission.admit(context, match, scope.get("client"))
        check_query(route.policy, scope["query_string"])
        if route.policy.size is not None:
            await self._read_body(context, route.policy, self._max_body_bytes[route.policy.size], receive)
        if route.policy.direct:
            await _send_json(response, 200, await route.endpoint(context=context, **parameters))
        else:
            scope[CONTEXT] = context
            method = "GET" if scope["method"] == "HEAD" else scope["method"]
            await self._app({**scope, "method": method}, _replay_body(context.body, receive), response)

    def begin_direct(
        self, url: bytes, headers: list[tuple[bytes, bytes]], recognised: RecognisedKey | None
    ) -> RequestContext | None:
        """Return a POST of which only the body is missing, if it can be served without ASGI.

        So it can if its route is direct, its key is known, and its body is of a size that can be taken. `recognised` is
        the key of the last such request of the same connection, which mostly had the same.
        """
        match = self._direct_routes.get(url) or self._find_direct(url)
        if match is None:
            return None
        known = dict(headers)
        length = known.get(b"content-length", b"0")
        if b"transfer-encoding" in known or b"expect" in known or not length.isdigit() or len(length) > 18:
            return None
        key = self._admission.identify(known, recognised)
        if key is None or int(length) > self._max_body_bytes[match.route.policy.size or "body"]:
            return None
        context = RequestContext(self._app_state, known, self._request_id(known.get(b"x-request-id")))
        context.match, context.route, context.key = match, match.route, key
        context.recognised = _recognise(known, key, recognised)
        return context

    def _find_direct(self, url: bytes) -> RouteMatch | None:
        if len(url) > MAX_URL_LENGTH or b"?" in url or b"#" in url or not url.startswith(b"/"):
            return None
        try:
            match = self._routes.find(unquote(url.decode("ascii")), "POST")
        except (UnicodeDecodeError, Refusal):
            return None
        if match.route.name not in HOT_ROUTES:
            return None
        _remember(self._direct_routes, url, match)
        return match

    def serve_direct(self, context: RequestContext, respond: Respond) -> None:
        """Serve what `begin_direct` began, once its body is there, and give the answer to `respond`, now or later."""
        context.began = time.perf_counter()
        if self._tracing is not None:
            context.span = self._tracing.start("POST", context.headers)
        match, answer = context.match, partial(self._respond, context, respond)
        try:
            _check_media(context, match.route.policy)
        except Exception as error:
            answer(self._refuse(error, context))
            return
        self._ask(context, answer)

    def _ask(self, context: RequestContext, answer: TakeAnswer) -> None:
        """Ask the engine what a request asks, or the home of its experiment, and have the answer given to `answer`.

        It counts where it is served: of one that is passed on, the home says whether its key may ask so, and so often.
        """
        match = context.match
        asked: Request | NodeRecord | Exception | None
        try:
            asked = HOT_ROUTES[match.route.name].ask(context, **match.parameters)
        except Exception as error:  # which counts, too
            asked = error
        if isinstance(asked, NodeRecord):
            self._pass_on(context, asked, answer)
            return
        try:
            self._admission.take_turn(context.key)
            check_role(context.key, match)
            if isinstance(asked, Exception):
                raise asked
        except Exception as error:
            answer(self._refuse(error, context))
            return
        if asked is None:
            self._start_task(self._answer_in_task(context, answer))
        else:
            context.caller.submit(asked, context.key.id, partial(self._finish, context, answer))

    def _finish(self, context: RequestContext, answer: TakeAnswer, done: PendingRequest) -> None:
        match = context.match
        try:
            made = HttpAnswer(200, HOT_ROUTES[match.route.name].answer(context, done, **match.parameters), {})
        except Exception as error:
            made = self._refuse(error, context)
        answer(made)

    def _pass_on(self, context: RequestContext, home: NodeRecord, answer: TakeAnswer) -> None:
        forwarder = context.forwarder
        request = forwarded_request(context, context.body)
        if forwarder is None or request is None:
            context.stays = True
            self._ask(context, answer)
        else:
            forwarder.pass_on(home, request, partial(self._take_from_home, context, answer))

    def _take_from_home(self, context: RequestContext, answer: TakeAnswer, given: HttpAnswer | None) -> None:
        if is_answer(given, context, HOT_ROUTES[context.match.route.name].once):
            answer(given)
        else:
            context.stays = True
            self._ask(context, answer)

    def _start_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer_in_task(self, context: RequestContext, answer: TakeAnswer) -> None:
        """Serve a request that has to wait for more than one answer of the engine."""
        answer(await self._answer(context, context.match))

    def _respond(self, context: RequestContext, respond: Respond, answer: HttpAnswer) -> None:
        self._record_answer(context, "POST", answer.status)
        respond(answer.status, api_head(len(answer.body), context.id, answer.headers), answer.body)

    def open_forwarded(self, send: Callable[[bytes], None], close: Callable[[], None]) -> ForwardedRequests:
        """Return what serves the requests that another node passes on over one connection."""
        return ForwardedRequests(self._serve_forwarded, send, close)

    def _serve_forwarded(
        self, request: ForwardedRequest, answer: TakeAnswer, recognised: RecognisedKey | None
    ) -> RecognisedKey | None:
        """Serve a request that another node has passed on, as if its caller had come here; it stays here.

        `recognised` is the key of the one before, which mostly has the same; that of this one is returned.
        """
        headers = request.headers
        context = RequestContext(self._app_state, headers, self._request_id(request.request_id), forwarded=True)
        context.body = request.body
        context.began = time.perf_counter()
        if self._tracing is not None:
            context.span = self._tracing.start("POST", headers)
        take = partial(self._take_forwarded, context, answer)
        try:
            self._find_forwarded(context, request.path)
            known = self._admission.identify(headers, recognised)
            if known is None:
                self._start_task(self._serve_with_new_key(context, take))
                return recognised
            context.key = known
        except Exception as error:
            take(self._refuse(error, context))
            return recognised
        self._ask(context, take)
        if recognised is not None and headers is recognised.headers:
            return recognised
        return RecognisedKey(headers[b"authorization"], known.id, headers)

    def _take_forwarded(self, context: RequestContext, answer: TakeAnswer, given: HttpAnswer) -> None:
        self._record_answer(context, "POST", given.status)
        answer(given)

    async def _serve_with_new_key(self, context: RequestContext, answer: TakeAnswer) -> None:
        """Serve a request whose key may have been made on another node just now."""
        try:
            context.key = await self._admission.find_new_key(context.headers, None)
        except Exception as error:
            answer(self._refuse(error, context))
            return
        self._ask(context, answer)

    async def _answer(self, context: RequestContext, match: RouteMatch) -> HttpAnswer:
        """Call the endpoint of a direct route."""
        try:
            return HttpAnswer(200, await match.route.endpoint(context=context, **match.parameters), {})
        except Exception as error:
            return self._refuse(error, context)

    def _refuse(self, error: Exception, context: RequestContext) -> HttpAnswer:
        """Return an error as an answer of JSON."""
        if isinstance(error, HomeRefusal):
            return error.answer
        problem = self._note_problem(error, context)
        not_stored = isinstance(error, UnavailableError) and error.not_stored
        return HttpAnswer(problem.status, problem.body(context.id), dict(problem.headers), not_stored)

    def _find_forwarded(self, context: RequestContext, path: bytes) -> None:
        match = self._forwarded_routes.get(path)
        if match is None:
            match = self._routes.find(path.decode(errors="replace"), "POST")
            if not match.route.policy.forwards:
                raise Refusal(404, "requests for this path are not passed on")
            _remember(self._forwarded_routes, path, match)
        context.match, context.route = match, match.route
        if len(context.body) > self._max_body_bytes[match.route.policy.size or "body"]:
            raise Refusal(413, "the body is too large; send it in parts")

    async def _read_body(self, context: RequestContext, policy: RoutePolicy, most: int, receive: Receive) -> None:
        seconds = self._settings.request_timeout * max(1.0, most / self._settings.max_body_bytes)
        context.body = await read_body(receive, context.headers, most, seconds)
        _check_media(context, policy)

    async def _answer_error(
        self, error: Exception, context: RequestContext, scope: Scope, receive: Receive, response: ResponseSender
    ) -> None:
        """Answer an error: as JSON, or to a browser that is lost as a page."""
        if isinstance(error, HomeRefusal) and not response.status:
            theirs = [(name.lower().encode(), value.encode()) for name, value in error.answer.headers.items()]
            await _send_json(response, error.answer.status, error.answer.body, theirs)
            return
        problem = self._note_problem(error, context)
        if response.status:  # too late to say so: the answer breaks off, and the caller sees that it did
            return
        if b"text/html" in context.headers.get(b"accept", b"") and not scope["path"].startswith("/v1/"):
            response.policy = PAGE_POLICY
            await problem_page(problem)(scope, receive, response)
            return
        headers = [(name.lower().encode(), value.encode()) for name, value in problem.headers.items()]
        await _send_json(response, problem.status, problem.body(context.id), headers)

    def _note_problem(self, error: Exception, context: RequestContext) -> ErrorResponse:
        """Return an error as callers see it, and log what they do not see."""
        problem = error_response(error)
        if isinstance(error, StoreError | DamagedError):
            context.reason = error.reason
        elif problem.status == 500:
            logger.error("a request failed", exc_info=error, extra={"fields": {"request_id": context.id}})
        return problem

    def _record_answer(self, context: RequestContext, method: str, status: int) -> None:
        route, seconds = context.route, time.perf_counter() - context.began
        if self._tracing is not None and context.span is not None:
            template = "unmatched" if route is None else route.template
            self._tracing.end(context.span, method, template, status, context.id, context.key.id, context.experiment)
        self._app_state.metrics.answers.count("unmatched" if route is None else route.name, status, seconds)
        quiet = status < 300 and route is not None and route.policy.quiet
        level = logging.WARNING if status >= 500 else logging.DEBUG if quiet else logging.INFO
        if logger.isEnabledFor(level):
            fields = {
                "request_id": context.id,
                "method": method,
                "route": "unmatched" if route is None else route.template,
                "status": status,
                "milliseconds": round(seconds * 1000, 3),
                "key": context.key.id or None,
            }
            if context.experiment is not None:
                fields["experiment"] = context.experiment
            if context.span is not None:
                fields["trace_id"] = trace_id(context.span)
            if context.reason:
                fields["reason"] = context.reason
            logger.log(level, "%s %s %d", method, fields["route"], status, extra={"fields": fields})


def _recognise(headers: dict[bytes, bytes], key: ApiKey, before: RecognisedKey | None) -> RecognisedKey:
    if before is not None and before.id == key.id:
        return before
    authorization = headers[b"authorization"]
    return RecognisedKey(authorization, key.id, {b"authorization": authorization})


def _remember(routes: dict[bytes, RouteMatch], place: bytes, match: RouteMatch) -> None:
    if len(routes) >= MAX_REMEMBERED_PATHS:
        routes.clear()
    routes[place] = match


def _check_media(context: RequestContext, policy: RoutePolicy) -> None:
    if context.body and policy.media and context.media not in policy.media:
        raise Refusal(415, f"the body must be {' or '.join(policy.media)}; say so in the header Content-Type")


async def _send_json(
    response: ResponseSender, status: int, body: bytes, headers: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    """Send a body of JSON."""
    head = [*headers, (b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await response({"type": "http.response.start", "status": status, "headers": head})
    await response({"type": "http.response.body", "body": body})


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a receive that gives a body that has been read, and then waits for the end."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def give() -> Message:
        return left.pop() if left else await receive()

    return give


async def _close_websocket(receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "websocket.close"})
