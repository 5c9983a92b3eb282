"""Builds the ASGI app: the routes of the API, its documentation, the page, and the gateway around all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NoReturn

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

import ocucb
from ocucb.registry import load_plugins
from ocucb.service.connections import DIRECT
from ocucb.service.web import audit, corrections, decisions, experiments, health, keys, nodes, retention, transfer
from ocucb.service.web.app_state import AppState, Service
from ocucb.service.web.docs import add_docs, describe
from ocucb.service.web.gateway import Gateway
from ocucb.service.web.page.routes import QUERY_PARAMETERS, add_page
from ocucb.service.web.paths import RouteTree, routes_of
from ocucb.service.web.route_table import PAGE_FILE_POLICY, PAGE_POLICY, PAGE_UPDATE_POLICY, ROUTE_POLICIES


def describe_api() -> dict[str, Any]:
    """Return the OpenAPI of the routes, without a service behind them."""
    app = FastAPI(title="ocucb", version=ocucb.__version__, openapi_url=None)
    _add_routes(app)
    return describe(app)


def _add_routes(app: FastAPI) -> None:
    for part in (decisions, corrections, experiments, transfer, keys, audit, retention, nodes, health):
        app.include_router(part.router)


def build_app(service: Service) -> FastAPI:
    """Return the app of a service, which neither starts nor closes it."""
    load_plugins()
    app_state = AppState(service)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
        app_state.start()
        yield {DIRECT: app.middleware_stack}  # where connections.py finds it
        await app_state.close()

    app = FastAPI(
        title="ocucb",
        version=ocucb.__version__,
        lifespan=lifespan,
        openapi_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # the gateway sees to that
        exception_handlers={HTTPException: _pass_on, RequestValidationError: _pass_on},
    )
    _add_routes(app)
    add_docs(app)
    policies = dict(ROUTE_POLICIES)
    api = {f"{method} {route}" for method, route, _ in routes_of(app)}
    add_page(app, service)
    special = {"*": PAGE_FILE_POLICY, "live": PAGE_UPDATE_POLICY}
    for method, route, _ in routes_of(app):
        name = f"{method} {route}"
        if name not in api:
            policy = special.get(route.rpartition("/")[2], PAGE_POLICY)
            policies[name] = policy if policy.query is None else policy._replace(query=QUERY_PARAMETERS.get(name, ()))
    app.add_middleware(Gateway, app_state=app_state, routes=RouteTree(app, policies))
    app.middleware_stack = _from_gateway(app.build_middleware_stack())
    return app


def _from_gateway(stack: Any) -> Gateway:
    """Return the part of a stack from the gateway on: what the framework puts around it, for errors, is idle."""
    while not isinstance(stack, Gateway):
        stack = stack.app
    return stack


async def _pass_on(request: Request, error: Exception) -> NoReturn:
    """Leave an error to the gateway, which answers all errors."""
    raise error
