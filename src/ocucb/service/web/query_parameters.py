"""Which query parameters a request may have: those of its route, each once.

One that is misspelt would be ignored otherwise, and an export of one day would be one of everything.
"""

from __future__ import annotations

from urllib.parse import parse_qsl

from ocucb.service.web.errors import Refusal
from ocucb.service.web.route_table import RoutePolicy

MAX_SHOWN = 100


def check_query(policy: RoutePolicy, query: bytes) -> None:
    """Refuse a query parameter that the route does not take, or that comes twice."""
    if not query or policy.query is None:
        return
    seen: set[str] = set()
    for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name not in policy.query:
            raise Refusal(422, f"there is no query parameter {name[:MAX_SHOWN]!r} here; {_allowed(policy.query)}")
        if name in seen:
            raise Refusal(422, f"the query parameter {name!r} must come once, and came more often")
        seen.add(name)


def _allowed(names: tuple[str, ...]) -> str:
    return f"this takes {', '.join(names)}" if names else "this takes none"
