"""OpenAPI, complete and right, and Swagger UI to read it with: from this server alone, without inline scripts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.staticfiles import StaticFiles
from swagger_ui_bundle import swagger_ui_path  # type: ignore[import-untyped]

from ocucb.service.web.documents import REFERENCE
from ocucb.service.web.messages import BODIES
from ocucb.service.web.route_table import ROUTE_POLICIES

FOLDER = Path(__file__).parent / "swagger"
DESCRIPTION = """Decisions among options, by a policy that learns from their rewards. Everything is stored before it is
answered, and all that is asked with an `Idempotency-Key` can be asked again.

Send an API key with every request: `Authorization: Bearer ocucb_...`. A key has roles, and sees all experiments or
those it lists; any other experiment is to it as if it were not there. Errors have one shape, with a `code` for
programs and a `message` for people. Times are in UTC."""


def add_docs(app: FastAPI) -> None:
    """Add /openapi.json and /docs."""
    describe_once = cache(lambda: describe(app))

    async def openapi(request: Request) -> Response:
        return JSONResponse(describe_once())

    app.add_route("/openapi.json", openapi, include_in_schema=False)
    app.add_route("/docs", _own_file("index.html"), include_in_schema=False)
    for name in ("start.js", "start.css"):
        app.add_route(f"/docs/{name}", _own_file(name), include_in_schema=False)
    app.mount("/docs/static", StaticFiles(directory=swagger_ui_path))


def _own_file(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def send(request: Request) -> Response:
        return FileResponse(FOLDER / name)

    return send


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI of an app: what the framework knows, the bodies that routes read themselves, and the roles."""
    found = get_openapi(title=app.title, version=app.version, description=DESCRIPTION, routes=app.routes)
    _, bodies = models_json_schema([(model, "validation") for model in BODIES], ref_template=REFERENCE)
    found["components"]["schemas"].update(bodies["$defs"])
    found["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer", "description": "An API key."}}
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            role = ROUTE_POLICIES[f"{method.upper()} {path}"].role
            if role is not None:
                operation["security"] = [{"key": []}]
                operation["description"] = f"{operation.get('description', '')}\n\nNeeds the role `{role}`.".strip()
    return found
