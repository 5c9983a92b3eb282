"""Pages that show: the list of experiments, an experiment, and the parts of both that a script renews."""

from __future__ import annotations

import asyncio
import secrets
import shlex
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from ocucb.noise import NOISES
from ocucb.policies import POLICIES
from ocucb.service.records import ARCHIVED
from ocucb.service.stores import Store
from ocucb.service.web.page.arms import COLUMNS, Sorting
from ocucb.service.web.page.forms import DEFAULTS, NOISE_PARAMETERS, POLICY_PARAMETERS, SECONDS
from ocucb.service.web.page.glance import Glance
from ocucb.service.web.page.visits import Visitor

PER_PAGE = 25
LONGEST = 200
NO_CONTENT = 204
LEAST_PAUSE = 1500
SAID = {
    "created": "The experiment is there, and decides as soon as it is asked.",
    "active": "Resumed: the experiment decides again.",
    "added": "The arm is in play, and is chosen soon.",
    "retired": "The arm is retired: it is not chosen any more.",
}
NOISE_WORDS = {
    "bernoulli": "0 or 1 (bernoulli)",
    "gaussian": "around a mean, with a known scale (gaussian)",
    "bounded": "numbers in a known range (bounded)",
    "poisson": "counts (poisson)",
    "exponential": "waiting times (exponential)",
}


async def show_list(visitor: Visitor) -> Response:
    """Show a page of the experiments."""
    return await visitor.render("list.html", here="list", **await _list(visitor))


async def renew_list(visitor: Visitor) -> Response:
    """Return the part of the list that changes, or nothing if nothing has."""
    what = await _list(visitor)
    if visitor.request.query_params.get("seen") == what["seen"]:
        return Response(status_code=NO_CONTENT)
    return await visitor.render("list_live.html", **what)


async def _list(visitor: Visitor) -> dict[str, Any]:
    after = visitor.request.query_params.get("after", "")[:LONGEST]
    store = visitor.room.service.store
    names = await asyncio.to_thread(_names, store, visitor.key.experiments, after, PER_PAGE + 1)
    shown = names[:PER_PAGE]
    looks = [visitor.room.looks.look(visitor.door, name, arms=False) for name in shown]
    glances = await asyncio.gather(*looks)
    return {
        "glances": glances,
        "after": after,
        "query": urlencode({"after": after}) if after else "",
        "next": urlencode({"after": shown[-1]}) if len(names) > PER_PAGE else "",
        "seen": ".".join(str(glance.seq) for glance in glances),
    }


def _names(store: Store, visible: frozenset[str] | None, after: str, limit: int) -> list[str]:
    """Return some names of experiments in order, of those that may be seen."""
    with store.read() as transaction:
        if visible is None:
            return [head.name for head in transaction.page(after, limit)]
        return sorted(head.name for head in transaction.find(sorted(visible)) if head.name > after)[:limit]


async def show_experiment(visitor: Visitor) -> Response:
    """Show an experiment."""
    return await experiment_page(visitor)


async def experiment_page(visitor: Visitor, status: int = 200, typed: str = "", arm_error: str = "") -> Response:
    """Return the page of an experiment; after a wrong arm, with what is wrong about it."""
    name = visitor.experiment
    glance = await visitor.room.looks.look(visitor.door, name)
    said = SAID.get(visitor.request.query_params.get("said", ""), "")
    what = {"said": said, "typed": typed, "arm_error": arm_error, "curls": _curls(visitor, name)}
    return await visitor.render("experiment.html", status, **what, **await _live(visitor, glance))


async def renew_experiment(visitor: Visitor) -> Response:
    """Return the part of an experiment's page that changes, or nothing if nothing has."""
    glance = await visitor.room.looks.look(visitor.door, visitor.experiment)
    if visitor.request.query_params.get("seen") == str(glance.seq):
        return Response(status_code=NO_CONTENT)
    return await visitor.render("experiment_live.html", **await _live(visitor, glance))


async def _live(visitor: Visitor, glance: Glance) -> dict[str, Any]:
    sorting = _sorting(visitor.request)
    page = await asyncio.to_thread(glance.arms.page, sorting)
    sorting = sorting._replace(page=page.page)
    return {
        "glance": glance,
        "page": page,
        "sorting": sorting,
        "columns": COLUMNS,
        "links": _links(sorting),
        "query": _query(sorting),
        "seen": glance.seq,
        "pause": max(LEAST_PAUSE, round(1000 * visitor.room.looks.pause(glance.name))),
        "change": visitor.key.may("admin") and glance.status != ARCHIVED,
    }


def _sorting(request: Request) -> Sorting:
    asked = request.query_params
    column = asked.get("sort", "")
    page = asked.get("page", "1")
    if column not in {each.name for each in COLUMNS}:
        column = Sorting().column
    down = asked.get("down", str(int(column != "arm"))) == "1"
    number = int(page) if page.isascii() and page.isdigit() and len(page) < 10 else 1
    return Sorting(column, down, number, asked.get("find", "").strip()[:LONGEST])


def _links(sorting: Sorting) -> dict[str, str]:
    """Return the queries behind the heads of the columns, which turn the one that is sorted by, and the pages."""
    links = {
        column.name: _query(
            sorting._replace(
                column=column.name,
                down=not sorting.down if sorting.column == column.name else column.name != "arm",
                page=1,
            )
        )
        for column in COLUMNS
    }
    pages = {"before": sorting._replace(page=sorting.page - 1), "next": sorting._replace(page=sorting.page + 1)}
    return links | {name: _query(other) for name, other in pages.items()}


def _query(sorting: Sorting) -> str:
    query: dict[str, Any] = {"sort": sorting.column, "down": int(sorting.down)}
    if sorting.page > 1:
        query["page"] = sorting.page
    if sorting.find:
        query["find"] = sorting.find
    return urlencode(query)


def _curls(visitor: Visitor, name: str) -> list[tuple[str, str, str]]:
    """Return commands to try the experiment with; the key is a variable of the shell, never the key itself."""
    scheme = "https" if visitor.room.is_secure(visitor.request) else "http"
    base = f"{scheme}://{visitor.request.headers.get('host', 'localhost')}/v1"
    bearer = '-H "Authorization: Bearer $OCUCB_KEY"'
    decide = shlex.quote(f"{base}/experiments/{quote(name, safe='')}/decisions")
    reward = """-H 'Content-Type: application/json' -d '{"decision": "ID", "reward": 1}'"""
    return [
        ("curl-decide", "Make a decision", f"curl -X POST {decide} {bearer}"),
        ("curl-reward", "Give its reward", f"curl -X POST {shlex.quote(f'{base}/rewards')} {bearer} {reward}"),
    ]


async def show_new(visitor: Visitor) -> Response:
    """Show the form for a new experiment."""
    return await new_page(visitor, dict(DEFAULTS), {}, 200)


async def new_page(visitor: Visitor, form: dict[str, str], problems: dict[str, str], status: int) -> Response:
    """Return the form for a new experiment, with what was typed and what is wrong with it."""
    return await visitor.render(
        "new.html",
        status,
        form={**DEFAULTS, **form},
        problems=problems,
        once=form.get("once") or secrets.token_urlsafe(16),
        policies=list(POLICIES),
        noises={name: NOISE_WORDS.get(name, name) for name in sorted(NOISES, key=list(NOISE_WORDS).index)},
        units=list(SECONDS),
        policy_parameters=POLICY_PARAMETERS,
        noise_parameters=NOISE_PARAMETERS,
        open_parameters=any(field.startswith("policy.") for field in problems),
    )
