"""Templates, filled in; and errors as pages."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from ocucb.labels import Label
from ocucb.service.text import encode
from ocucb.service.web.errors import ErrorResponse
from ocucb.service.web.page.numbers import percent, whole

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADINGS = {
    401: "Not logged in",
    403: "Not allowed",
    404: "Nothing here",
    405: "Nothing here",
    409: "Not now",
    413: "Too much",
    422: "That cannot be",
    429: "Too many attempts",
    500: "Something went wrong",
    503: "Not available",
}


@cache
def static_url(name: str) -> str:
    """Return the address of a static file, another one for each version of it."""
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?v={digest}"


def path_of(experiment: str, *more: str) -> str:
    """Return the path of an experiment's page, or of one below it."""
    return "/".join(["/experiments", quote(experiment, safe=""), *more])


def arm_value(arm: Label) -> str:
    """Return an arm as a form carries it: "1" and 1 are different arms."""
    return encode(arm)


def sentence(text: str) -> str:
    """Return the message of an error as a sentence."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?')) else '.'}"


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(static_url=static_url, path_of=path_of, arm_value=arm_value, key=None, current_page="")
    environment.filters.update(whole=whole, percent=percent)
    return environment


_TEMPLATES = _environment()


def render(template: str, status: int = 200, **what: Any) -> HTMLResponse:
    """Return a page."""
    text = _TEMPLATES.get_template(template).render(what)
    return HTMLResponse(text, status, {"Content-Security-Policy": CONTENT_SECURITY_POLICY})


def problem_page(problem: ErrorResponse, **what: Any) -> HTMLResponse:
    """Return an error as a page: one clear sentence, and nothing of the inside."""
    heading = HEADINGS.get(problem.status, "That did not work")
    words = sentence(problem.message)
    answer = render("problem.html", problem.status, heading=heading, sentence=words, code=problem.status, **what)
    answer.headers.update({name: value for name, value in problem.headers.items() if name != "WWW-Authenticate"})
    return answer
