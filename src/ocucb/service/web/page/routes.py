"""Which page is where."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from ocucb.service.web.app_state import Service
from ocucb.service.web.page import changes, views
from ocucb.service.web.page.login import log_in, log_out, show_login
from ocucb.service.web.page.page_session import Handler, PageResources, page_route
from ocucb.service.web.page.rendering import STATIC

SORTING = ("sort", "down", "page", "find")
PAGES: tuple[tuple[str, str, Handler, str], ...] = (
    ("GET", "/", views.show_list, "read"),
    ("GET", "/live", views.update_list, "read"),
    ("GET", "/new", views.show_new, "admin"),
    ("POST", "/new", changes.create, "admin"),
    ("GET", "/experiments/{name}", views.show_experiment, "read"),
    ("GET", "/experiments/{name}/live", views.update_experiment, "read"),
    ("POST", "/experiments/{name}/status", changes.set_status, "admin"),
    ("GET", "/experiments/{name}/archive", changes.ask_archive, "admin"),
    ("POST", "/experiments/{name}/archive", changes.archive, "admin"),
    ("POST", "/experiments/{name}/arms", changes.add_arm, "admin"),
    ("GET", "/experiments/{name}/retire", changes.ask_retire, "admin"),
    ("POST", "/experiments/{name}/retire", changes.retire_arm, "admin"),
    ("GET", "/changes", views.show_changes, "admin"),
    ("POST", "/logout", log_out, "read"),
)


QUERY_PARAMETERS = {
    "GET /": ("after",),
    "GET /live": ("after", "version"),
    "GET /experiments/{name}": (*SORTING, "done"),
    "GET /experiments/{name}/live": (*SORTING, "version"),
    "GET /experiments/{name}/retire": ("arm",),
    "GET /changes": ("before", "experiment"),
    "GET /login": ("next",),
}
"""What the addresses of pages may have after the question mark; others nothing."""


def add_page(app: FastAPI, service: Service) -> None:
    """Add the page to the app. It has no part in the API's documentation."""
    resources = PageResources(service)
    for method, path, handler, role in PAGES:
        app.add_route(path, page_route(resources, handler, role), [method], include_in_schema=False)
    app.add_route("/login", show_login(resources), ["GET"], include_in_schema=False)
    app.add_route("/login", log_in(resources), ["POST"], include_in_schema=False)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
