"""Logging in by an API key, and out again."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from ocucb.service.access import ApiKey
from ocucb.service.web.limits import neighbourhood
from ocucb.service.web.page.rendering import render
from ocucb.service.web.page.sessions import COOKIE
from ocucb.service.web.page.visits import Room, Visitor, check_origin, failed, go, read_form
from ocucb.service.web.problems import retry_after

LONGEST_KEY = 200
LONGEST_PATH = 2000
UNKNOWN = "This key is not known, or was revoked."
CANNOT_READ = "This key cannot see the page: it has neither the role read nor admin."

logger = logging.getLogger(__name__)
Endpoint = Callable[[Request], Awaitable[Response]]


def show_login(room: Room) -> Endpoint:
    """Return the route that shows the form."""

    async def endpoint(request: Request) -> Response:
        return render("login.html", next=local_path(request.query_params.get("next", "")), error=None)

    return endpoint


def log_in(room: Room) -> Endpoint:
    """Return the route that takes the form."""

    async def endpoint(request: Request) -> Response:
        try:
            check_origin(request)
            form = read_form(request)
            return await _log_in(room, request, form.get("key", "").strip(), local_path(form.get("next", "")))
        except Exception as error:
            return failed(request, error)

    return endpoint


async def log_out(visitor: Visitor) -> Response:
    """End the session in this browser."""
    answer = go("/login")
    answer.delete_cookie(COOKIE)
    return answer


async def _log_in(room: Room, request: Request, text: str, path: str) -> Response:
    address = neighbourhood(None if request.client is None else (request.client.host, request.client.port))
    wait = room.guesses.begin(address)
    if wait:
        logger.warning("too many wrong logins", extra={"fields": {"address": address}})
        sentence = f"Too many wrong keys came from your address. Try again in {wait} seconds."
        answer = render("login.html", 429, next=path, error=sentence)
        answer.headers.update(retry_after(wait))
        return answer
    key = await _identify(room, text)
    if key is None:
        logger.warning("wrong login", extra={"fields": {"address": address}})
        return render("login.html", 401, next=path, error=UNKNOWN)
    room.guesses.forgive(address)
    if not key.may("read"):
        return render("login.html", 403, next=path, error=CANNOT_READ)
    logger.info("login", extra={"fields": {"key": key.id, "address": address}})
    onwards = go(path)
    onwards.set_cookie(
        COOKIE,
        room.sessions.begin(key),
        max_age=round(room.service.settings.session),
        path="/",
        secure=room.is_secure(request),
        httponly=True,
        samesite="strict",
    )
    return onwards


async def _identify(room: Room, text: str) -> ApiKey | None:
    """Return the key with this text. Both a yes and a no are as of now, not as of the last look."""
    await room.refresh()
    return room.service.access.identify(text) if len(text) <= LONGEST_KEY else None


def local_path(path: str) -> str:
    r"""Return a path of this site: anything that could lead elsewhere becomes the list.

    >>> local_path("/experiments/a?sort=mean"), local_path("//evil.example"), local_path("/\\evil.example")
    ('/experiments/a?sort=mean', '/', '/')
    """
    safe = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if safe and len(path) <= LONGEST_PATH else "/"
