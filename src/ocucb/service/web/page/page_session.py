"""Who visits a page, and whether a form that they send was made by a page of ours."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ocucb.service.access import ApiKey
from ocucb.service.callers import LoopCaller
from ocucb.service.errors import DeniedError, StoreError, UnknownExperimentError
from ocucb.service.web.app_state import Service, context_of
from ocucb.service.web.errors import Refusal, error_response, retry_after
from ocucb.service.web.limits import TokenBuckets
from ocucb.service.web.page.login_limits import LoginLimits
from ocucb.service.web.page.rendering import problem_page, render
from ocucb.service.web.page.session_cookies import COOKIE, SessionCookies
from ocucb.service.web.page.summary_cache import SummaryCache
from ocucb.service.web.refresh import KeyRefresher

MAX_FORM_FIELDS = 100
SEE_OTHER = 303

logger = logging.getLogger(__name__)


class PageResources:
    """What all pages share."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.cookies = SessionCookies(service.access, service.settings.session)
        self.login_limits = LoginLimits(service.settings.logins)
        self.summaries = SummaryCache()
        self.refresh = KeyRefresher(service.access, 0.0)
        self.rates = TokenBuckets(service.settings.rate_limit, service.settings.rate_limit)

    def is_secure(self, request: Request) -> bool:
        """Tell whether the browser speaks TLS."""
        return self.service.settings.behind_tls or request.url.scheme == "https"


@dataclass(frozen=True)
class PageSession:
    """Somebody who is logged in, and what they ask."""

    resources: PageResources
    request: Request
    key: ApiKey
    cookie: str

    @property
    def caller(self) -> LoopCaller:
        """Where the engine is asked."""
        return context_of(self.request).app_state.caller

    @property
    def experiment(self) -> str:
        """The experiment of the path. One that the key does not see is as if it were not there."""
        name = str(self.request.path_params["name"])
        if not self.key.sees(name):
            raise UnknownExperimentError(name)
        return name

    async def render(self, template: str, status: int = 200, **what: Any) -> HTMLResponse:
        """Return a page for this session. A long table takes a while: in a thread, so that decisions need not wait."""
        token = self.resources.cookies.form_token(self.cookie)
        return await asyncio.to_thread(render, template, status, key=self.key, csrf=token, **what)


Handler = Callable[[PageSession], Awaitable[Response]]


def page_route(
    resources: PageResources, handler: Handler, role: str = "read"
) -> Callable[[Request], Awaitable[Response]]:
    """Return a route that is open to those logged in whose key has a role. A form must be one of ours."""

    async def endpoint(request: Request) -> Response:
        session = None
        try:
            session = await _session(resources, request)
            if session is None:
                return _redirect_to_login(request)
            if request.method == "POST":
                check_origin(request)
                if not resources.cookies.is_form_token(session.cookie, read_form(request).get("csrf", "")):
                    raise Refusal(403, "this form was not made by a page of this session; go back and reload it")
            if not session.key.may(role):
                raise Refusal(403, f"the key you logged in with does not have the role {role}")
            return await handler(session)
        except DeniedError:
            return _redirect_to_login(request)
        except Exception as error:
            if session is None:
                return error_page(request, error)
            return error_page(request, error, key=session.key, csrf=resources.cookies.form_token(session.cookie))

    return endpoint


def error_page(request: Request, error: Exception, **what: Any) -> HTMLResponse:
    """Return an error as a page. What is the service's own fault is for the log, and not for visitors."""
    problem = error_response(error)
    if problem.status >= 500:
        reason = error.reason if isinstance(error, StoreError) else ""
        fields = {"fields": {"request_id": context_of(request).id, "reason": reason}}
        logger.error("%s", error, exc_info=error if problem.status == 500 else None, extra=fields)
    return problem_page(problem, **what)


async def _session(resources: PageResources, request: Request) -> PageSession | None:
    """Return who is logged in, if their key is still valid: that is looked up every time."""
    cookie = request.cookies.get(COOKIE, "")
    named = resources.cookies.read(cookie)
    if named is None:
        return None
    if wait := resources.rates.take(named):
        raise Refusal(429, "this key asks for too many pages at once; slow down", retry_after(wait))
    await resources.refresh()
    key = resources.service.access.find(named)
    return None if key is None or not key.may("read") else PageSession(resources, request, key, cookie)


def _redirect_to_login(request: Request) -> Response:
    """Return the way to the login, and for a script that polls, which cannot follow it, a plain no."""
    if request.url.path.endswith("/live"):
        return Response(status_code=401)
    back = request.url.path if request.method == "GET" else "/"
    query = urlencode({"next": f"{back}?{request.url.query}" if request.url.query else back}) if back != "/" else ""
    answer = RedirectResponse(f"/login?{query}" if query else "/login", SEE_OTHER)
    answer.delete_cookie(COOKIE)
    return answer


def redirect(path: str) -> Response:
    """Return the way to another page, after a form."""
    return RedirectResponse(path, SEE_OTHER)


def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Refusal(415, "a form must be application/x-www-form-urlencoded")
    try:
        text = context_of(request).body.decode()
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FORM_FIELDS, errors="strict"))
    except ValueError:
        raise Refusal(422, "a form must be text in UTF-8 with not too many fields") from None


def check_origin(request: Request) -> None:
    """Refuse what another site sent: browsers say where a form comes from."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    foreign = site not in (None, "same-origin", "none")
    if origin == "null":  # a page that hides where it is; ours do not
        foreign = foreign or site != "same-origin"
    elif origin is not None:
        parts = urlsplit(origin)
        ours = request.headers.get("host", "").lower()
        foreign = foreign or parts.scheme not in ("http", "https") or parts.netloc.lower() != ours
    if foreign:
        raise Refusal(403, "this form came from another site; nothing was done")
