"""From a path to its route, and what that needs: decided once, from the app's own routes, before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.routing import Mount

from ocucb.service.web.errors import Refusal
from ocucb.service.web.route_table import RoutePolicy

MAX_REMEMBERED_PATHS = 1000


class Route(NamedTuple):
    """A route: its name in the table, its method and template, what it needs, and what it calls."""

    name: str
    method: str
    template: str
    policy: RoutePolicy
    endpoint: Callable[..., Any]


class RouteMatch(NamedTuple):
    """A route that matches a path, with the values of its parameters."""

    route: Route
    parameters: dict[str, str]
    path: str


class _PathNode:
    """What can follow a beginning of a path."""

    def __init__(self) -> None:
        self.words: dict[str, _PathNode] = {}
        self.parameter: tuple[str, _PathNode] | None = None
        self.routes: dict[str, Route] = {}
        self.below: dict[str, Route] = {}


class RouteTree:
    """All routes of an app, as a tree. A path that is not in it does not exist."""

    def __init__(self, app: FastAPI, policies: Mapping[str, RoutePolicy]) -> None:
        self._root = _PathNode()
        self._remembered: dict[tuple[str, str], RouteMatch] = {}
        for method, route, endpoint in routes_of(app):
            name = f"{method} {route}"
            if name not in policies:
                raise ValueError(f"route {name!r} must be in the table ROUTE_POLICIES")
            self._add(Route(name, method, route, policies[name], endpoint))

    def _add(self, route: Route) -> None:
        node = self._root
        words = route.template.split("/")[1:]
        for word in words[:-1] if words[-1] == "*" else words:
            if word.startswith("{"):
                node.parameter = node.parameter or (word[1:-1], _PathNode())
                node = node.parameter[1]
            else:
                node = node.words.setdefault(word, _PathNode())
        (node.below if words[-1] == "*" else node.routes)[route.method] = route

    def find(self, path: str, method: str) -> RouteMatch:
        """Return the route for a path, or refuse. The same few paths come again and again, so some are remembered."""
        found = self._remembered.get((path, method))
        if found is None:
            found = self._find(path, method)
            if len(self._remembered) >= MAX_REMEMBERED_PATHS:
                self._remembered.clear()
            self._remembered[path, method] = found
        return found

    def _find(self, path: str, method: str) -> RouteMatch:
        parameters: dict[str, str] = {}
        routes = _walk(self._root, path.split("/"), 1, parameters) if path.startswith("/") else None
        if routes is None:
            raise Refusal(404, "there is nothing at this path; the paths are listed at /docs")
        route = routes.get("GET" if method == "HEAD" else method)
        if route is None:
            allowed = sorted({*routes, *(["HEAD"] if "GET" in routes else [])})
            raise Refusal(405, f"this path takes {', '.join(allowed)}", {"Allow": ", ".join(allowed)})
        return RouteMatch(route, parameters, path)


def routes_of(app: FastAPI) -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """Yield method, template and endpoint of all routes. What is mounted is one route, and can only be read."""
    for context in iter_route_contexts(app.routes):
        if isinstance(context.route, Mount):
            yield "GET", f"{context.route.path}/*", context.route.app
        elif context.endpoint is not None and context.path_format is not None:
            for method in sorted((context.methods or {"GET"}) - {"HEAD"}):
                yield method, context.path_format, context.endpoint
        else:
            raise ValueError(f"route {context.route!r} is of a kind that the gateway does not know")


def _walk(node: _PathNode, words: list[str], depth: int, parameters: dict[str, str]) -> dict[str, Route] | None:
    if depth == len(words):
        return node.routes or None
    word = words[depth]
    child = node.words.get(word)
    if child is not None and (routes := _walk(child, words, depth + 1, parameters)) is not None:
        return routes
    if node.parameter is not None and word:
        name, child = node.parameter
        parameters[name] = word
        if (routes := _walk(child, words, depth + 1, parameters)) is not None:
            return routes
    return node.below or None
