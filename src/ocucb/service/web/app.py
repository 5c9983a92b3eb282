"""Builds the ASGI app: the routes of the API, its documentation, the page, and the edge around all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NoReturn

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp

import ocucb
from ocucb.service.web import decisions, experiments, health, keys, transfer
from ocucb.service.web.docs import add_docs
from ocucb.service.web.edge import Edge
from ocucb.service.web.page.routes import add_page
from ocucb.service.web.paths import Paths, routes_of
from ocucb.service.web.rights import PAGE, PAGE_FILES, PAGE_LIVE, RIGHTS
from ocucb.service.web.state import Desk, Service


def build_app(service: Service) -> FastAPI:
    """Return the app of a service, which neither starts nor closes it."""
    desk = Desk(service)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        desk.open()
        yield

    app = FastAPI(
        title="ocucb",
        version=ocucb.__version__,
        lifespan=lifespan,
        openapi_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # the edge sees to that
        exception_handlers={HTTPException: _pass_on, RequestValidationError: _pass_on},
    )
    for part in (decisions, experiments, transfer, keys, health):
        app.include_router(part.router)
    add_docs(app)
    rights = dict(RIGHTS)
    api = {f"{method} {route}" for method, route, _ in routes_of(app)}
    add_page(app, service)
    for method, route, _ in routes_of(app):
        name = f"{method} {route}"
        if name not in api:
            rights[name] = PAGE_FILES if route.endswith("*") else PAGE_LIVE if route.endswith("/live") else PAGE
    app.add_middleware(Edge, desk=desk, paths=Paths(app, rights))
    app.middleware_stack = _from_edge(app.build_middleware_stack())
    return app


def _from_edge(stack: Any) -> ASGIApp:
    """Return the part of a stack that begins with the edge: what the framework puts around it, for errors, is idle."""
    while not isinstance(stack, Edge):
        stack = stack.app
    return stack


async def _pass_on(request: Request, error: Exception) -> NoReturn:
    """Leave an error to the edge, which answers all errors."""
    raise error
