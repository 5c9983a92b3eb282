"""The table of routes: which role each needs, and what it takes and gives. The edge goes by it, and by nothing else."""

from __future__ import annotations

from typing import Literal, NamedTuple

JSON = ("application/json",)
LOGS = (*JSON, "application/x-ndjson", "text/csv")


class Right(NamedTuple):
    """What a route needs and does.

    role     of the API key; None for a route that is open to all, or sees to it itself, as the page does
    fresh    it reads past the engine, so it must be looked up whether the key is still valid; "try" if that may fail
    direct   the edge calls it itself, and it returns bytes: the way through the framework costs more than a decision
    size     how large a body may be: as `largest_body` or `largest_import` in the settings say, or a form, which
             anybody may send; None for no body
    media    what a body may be; empty for anything
    look     which Content-Security-Policy its answers have
    static   its answers may be kept by browsers
    quiet    its successes are logged only in detail
    """

    role: Literal["admin", "decide", "reward", "read"] | None
    fresh: Literal["must", "try"] | None = None
    direct: bool = False
    size: Literal["form", "body", "import"] | None = None
    media: tuple[str, ...] = JSON
    look: Literal["api", "docs", "page"] = "api"
    static: bool = False
    quiet: bool = False


RIGHTS: dict[str, Right] = {
    "POST /v1/experiments": Right("admin", size="import"),
    "GET /v1/experiments": Right("read", fresh="must"),
    "GET /v1/experiments/{name}": Right("read"),
    "GET /v1/experiments/{name}/arms": Right("read"),
    "POST /v1/experiments/{name}/arms": Right("admin", size="body"),
    "POST /v1/experiments/{name}/arms/retire": Right("admin", size="body"),
    "POST /v1/experiments/{name}/pause": Right("admin"),
    "POST /v1/experiments/{name}/resume": Right("admin"),
    "POST /v1/experiments/{name}/archive": Right("admin"),
    "POST /v1/experiments/{name}/decisions": Right("decide", direct=True, size="body", quiet=True),
    "POST /v1/rewards": Right("reward", direct=True, size="body", quiet=True),
    "GET /v1/experiments/{name}/export": Right("read", fresh="must"),
    "POST /v1/experiments/{name}/import": Right("admin", size="import", media=LOGS),
    "POST /v1/keys": Right("admin", fresh="must", size="body"),
    "GET /v1/keys": Right("admin", fresh="must"),
    "DELETE /v1/keys/{id}": Right("admin", fresh="must"),
    "GET /metrics": Right("read", fresh="try"),
    "GET /healthz": Right(None, quiet=True),
    "GET /readyz": Right(None, quiet=True),
    "GET /openapi.json": Right(None),
    "GET /docs": Right(None, look="docs"),
    "GET /docs/start.js": Right(None, look="docs", static=True),
    "GET /docs/static/*": Right(None, look="docs", static=True),
}

PAGE = Right(None, size="form", media=(), look="page")
"""The page's routes look after themselves: they know who is logged in."""

PAGE_LIVE = PAGE._replace(quiet=True)
"""What a page asks again and again."""

PAGE_FILES = Right(None, look="page", static=True)
"""What a page loads: scripts, styles, pictures."""
