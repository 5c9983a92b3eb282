"""Logging in by an API key, and out again."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from ocucb.service.access import ApiKey
from ocucb.service.web.errors import retry_after
from ocucb.service.web.limits import network_of
from ocucb.service.web.page.page_session import (
    PageResources,
    PageSession,
    check_origin,
    error_page,
    read_form,
    redirect,
)
from ocucb.service.web.page.rendering import render
from ocucb.service.web.page.session_cookies import COOKIE

MAX_API_KEY_LENGTH = 200
MAX_PATH_LENGTH = 2000
UNKNOWN = "This key is not known, or was revoked."
CANNOT_READ = "This key cannot see the page: it has neither the role read nor admin."

logger = logging.getLogger(__name__)
Endpoint = Callable[[Request], Awaitable[Response]]


def show_login(resources: PageResources) -> Endpoint:
    """Return the route that shows the form."""

    async def endpoint(request: Request) -> Response:
        return render("login.html", next=local_path(request.query_params.get("next", "")), error=None)

    return endpoint


def log_in(resources: PageResources) -> Endpoint:
    """Return the route that takes the form."""

    async def endpoint(request: Request) -> Response:
        try:
            check_origin(request)
            form = read_form(request)
            return await _log_in(resources, request, form.get("key", "").strip(), local_path(form.get("next", "")))
        except Exception as error:
            return error_page(request, error)

    return endpoint


async def log_out(session: PageSession) -> Response:
    """End the session in this browser."""
    answer = redirect("/login")
    answer.delete_cookie(COOKIE)
    return answer


async def _log_in(resources: PageResources, request: Request, text: str, path: str) -> Response:
    address = network_of(None if request.client is None else (request.client.host, request.client.port))
    wait = resources.login_limits.begin(address)
    if wait:
        logger.warning("too many wrong logins", extra={"fields": {"address": address}})
        sentence = f"Too many wrong keys came from your address. Try again in {wait} seconds."
        answer = render("login.html", 429, next=path, error=sentence)
        answer.headers.update(retry_after(wait))
        return answer
    key = await _identify(resources, text)
    if key is None:
        logger.warning("wrong login", extra={"fields": {"address": address}})
        return render("login.html", 401, next=path, error=UNKNOWN)
    resources.login_limits.forgive(address)
    if not key.may("read"):
        return render("login.html", 403, next=path, error=CANNOT_READ)
    logger.info("login", extra={"fields": {"key": key.id, "address": address}})
    entered = redirect(path)
    entered.set_cookie(
        COOKIE,
        resources.cookies.make(key),
        max_age=round(resources.service.settings.session),
        path="/",
        secure=resources.is_secure(request),
        httponly=True,
        samesite="strict",
    )
    return entered


async def _identify(resources: PageResources, text: str) -> ApiKey | None:
    """Return the key with this text. Both a yes and a no are as of now, not as of the last look."""
    await resources.refresh()
    return resources.service.access.identify(text) if len(text) <= MAX_API_KEY_LENGTH else None


def local_path(path: str) -> str:
    r"""Return a path of this site: anything that could lead elsewhere becomes the list.

    >>> local_path("/experiments/a?sort=mean"), local_path("//evil.example"), local_path("/\\evil.example")
    ('/experiments/a?sort=mean', '/', '/')
    """
    safe = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if safe and len(path) <= MAX_PATH_LENGTH else "/"
