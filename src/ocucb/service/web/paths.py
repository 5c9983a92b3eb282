"""From a path to its route, and what that needs: decided once, from the app's own routes, before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.routing import Mount

from ocucb.service.web.problems import Refusal
from ocucb.service.web.rights import Right

MOST_SEEN = 1000


class Place(NamedTuple):
    """A route: its name in the table, its method and template, what it needs, and what it calls."""

    name: str
    method: str
    route: str
    right: Right
    endpoint: Callable[..., Any]


class Found(NamedTuple):
    """A route that matches a path, with the values of its parameters."""

    place: Place
    parameters: dict[str, str]


class _Node:
    """What can follow a beginning of a path."""

    def __init__(self) -> None:
        self.words: dict[str, _Node] = {}
        self.parameter: tuple[str, _Node] | None = None
        self.places: dict[str, Place] = {}
        self.below: dict[str, Place] = {}


class Paths:
    """All routes of an app, as a tree. A path that is not in it does not exist."""

    def __init__(self, app: FastAPI, rights: Mapping[str, Right]) -> None:
        self.places: list[Place] = []
        self._root = _Node()
        self._seen: dict[tuple[str, str], Found] = {}
        for method, route, endpoint in routes_of(app):
            name = f"{method} {route}"
            if name not in rights:
                raise ValueError(f"route {name!r} must be in the table of rights")
            self._add(Place(name, method, route, rights[name], endpoint))

    def _add(self, place: Place) -> None:
        node = self._root
        words = place.route.split("/")[1:]
        for word in words[:-1] if words[-1] == "*" else words:
            if word.startswith("{"):
                node.parameter = node.parameter or (word[1:-1], _Node())
                node = node.parameter[1]
            else:
                node = node.words.setdefault(word, _Node())
        (node.below if words[-1] == "*" else node.places)[place.method] = place
        self.places.append(place)

    def find(self, path: str, method: str) -> Found:
        """Return the route for a path, or refuse. The same few paths come again and again, so some are remembered."""
        seen = self._seen.get((path, method))
        if seen is None:
            seen = self._find(path, method)
            if len(self._seen) >= MOST_SEEN:
                self._seen.clear()
            self._seen[path, method] = seen
        return seen

    def _find(self, path: str, method: str) -> Found:
        parameters: dict[str, str] = {}
        places = _walk(self._root, path.split("/"), 1, parameters) if path.startswith("/") else None
        if places is None:
            raise Refusal(404, "there is nothing at this path; the paths are listed at /docs")
        place = places.get("GET" if method == "HEAD" else method)
        if place is None:
            allowed = sorted({*places, *(["HEAD"] if "GET" in places else [])})
            raise Refusal(405, f"this path takes {', '.join(allowed)}", {"Allow": ", ".join(allowed)})
        return Found(place, parameters)


def routes_of(app: FastAPI) -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """Yield method, template and endpoint of all routes. What is mounted is one route, and can only be read."""
    for context in iter_route_contexts(app.routes):
        if isinstance(context.route, Mount):
            yield "GET", f"{context.route.path}/*", context.route.app
        elif context.endpoint is not None and context.path_format is not None:
            for method in sorted((context.methods or {"GET"}) - {"HEAD"}):
                yield method, context.path_format, context.endpoint
        else:
            raise ValueError(f"route {context.route!r} is of a kind that the edge does not know")


def _walk(node: _Node, words: list[str], depth: int, parameters: dict[str, str]) -> dict[str, Place] | None:
    if depth == len(words):
        return node.places or None
    word = words[depth]
    child = node.words.get(word)
    if child is not None and (places := _walk(child, words, depth + 1, parameters)) is not None:
        return places
    if node.parameter is not None and word:
        name, child = node.parameter
        parameters[name] = word
        if (places := _walk(child, words, depth + 1, parameters)) is not None:
            return places
    return node.below or None
