"""The table of routes: which role each needs, what it takes and gives. The gateway goes by it, and by nothing else."""

from __future__ import annotations

from typing import Literal, NamedTuple

JSON = ("application/json",)
LOGS = (*JSON, "application/x-ndjson", "text/csv")


class RoutePolicy(NamedTuple):
    """What a route needs and does.

    role     of the API key; None for a route that is open to all, or sees to it itself, as the page does
    fresh    it reads past the engine, so it must be looked up whether the key is still valid; "try" if that may fail
    direct   the gateway calls it itself, and it returns bytes: the way through the framework costs more than a decision
    size     how large a body may be: as `max_body_bytes` or `max_import_bytes` in the settings say, or a form, which
             anybody may send; None for no body
    media    what a body may be; empty for anything
    content_policy  which Content-Security-Policy its answers have
    static   its answers may be kept by browsers
    quiet    its successes are logged only in detail
    forwards it may be passed on to the node that is the home of its experiment
    query    the query parameters that it takes; any other is refused. None for a route that takes and ignores any
    """

    role: Literal["admin", "decide", "reward", "correct", "read"] | None
    fresh: Literal["must", "try"] | None = None
    direct: bool = False
    size: Literal["form", "body", "import"] | None = None
    media: tuple[str, ...] = JSON
    content_policy: Literal["api", "docs", "page"] = "api"
    static: bool = False
    quiet: bool = False
    forwards: bool = False
    query: tuple[str, ...] | None = ()


ROUTE_POLICIES: dict[str, RoutePolicy] = {
    "POST /v1/experiments": RoutePolicy("admin", size="import"),
    "GET /v1/experiments": RoutePolicy("read", fresh="must", query=("after", "limit")),
    "GET /v1/experiments/{name}": RoutePolicy("read"),
    "DELETE /v1/experiments/{name}": RoutePolicy("admin"),
    "POST /v1/units/erase": RoutePolicy("admin", fresh="must", size="body"),
    "GET /v1/experiments/{name}/arms": RoutePolicy("read", query=("after", "limit")),
    "POST /v1/experiments/{name}/arms": RoutePolicy("admin", size="body"),
    "POST /v1/experiments/{name}/arms/retire": RoutePolicy("admin", size="body"),
    "POST /v1/experiments/{name}/shares": RoutePolicy("admin", size="body"),
    "GET /v1/experiments/{name}/verdict": RoutePolicy("read", query=("confidence",)),
    "POST /v1/experiments/{name}/winner": RoutePolicy("admin", size="body"),
    "POST /v1/experiments/{name}/pause": RoutePolicy("admin"),
    "POST /v1/experiments/{name}/resume": RoutePolicy("admin"),
    "POST /v1/experiments/{name}/archive": RoutePolicy("admin"),
    "POST /v1/experiments/{name}/decisions": RoutePolicy("decide", direct=True, size="body", quiet=True, forwards=True),
    "POST /v1/rewards": RoutePolicy("reward", direct=True, size="body", quiet=True, forwards=True),
    "POST /v1/rewards/correct": RoutePolicy("correct", size="body"),
    "GET /v1/experiments/{name}/export": RoutePolicy("read", fresh="must", query=("format", "after", "since", "until")),
    "POST /v1/experiments/{name}/import": RoutePolicy("admin", size="import", media=LOGS),
    "POST /v1/keys": RoutePolicy("admin", fresh="must", size="body"),
    "GET /v1/keys": RoutePolicy("admin", fresh="must", query=("after", "limit")),
    "DELETE /v1/keys/{id}": RoutePolicy("admin", fresh="must"),
    "GET /v1/audit": RoutePolicy("admin", fresh="must", query=("before", "limit", "experiment")),
    "GET /v1/nodes": RoutePolicy("admin", fresh="try", query=("experiment",)),
    "GET /metrics": RoutePolicy("read", fresh="try"),
    "GET /healthz": RoutePolicy(None, quiet=True, query=None),
    "GET /readyz": RoutePolicy(None, quiet=True, query=None),
    "GET /openapi.json": RoutePolicy(None, query=None),
    "GET /docs": RoutePolicy(None, content_policy="docs", query=None),
    "GET /docs/start.css": RoutePolicy(None, content_policy="docs", static=True, query=None),
    "GET /docs/start.js": RoutePolicy(None, content_policy="docs", static=True, query=None),
    "GET /docs/static/*": RoutePolicy(None, content_policy="docs", static=True, query=None),
}

PAGE_POLICY = RoutePolicy(None, size="form", media=(), content_policy="page")
"""The page's routes look after themselves: they know who is logged in."""

PAGE_UPDATE_POLICY = PAGE_POLICY._replace(quiet=True)
"""What a page asks again and again."""

PAGE_FILE_POLICY = RoutePolicy(None, content_policy="page", static=True, query=None)
"""What a page loads: scripts, styles, an icon."""
