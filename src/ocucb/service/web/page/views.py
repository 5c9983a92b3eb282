"""Pages that show: the list of experiments, an experiment, and the parts of both that a script renews."""

from __future__ import annotations

import asyncio
import secrets
import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from ocucb.memory import SERVED_MEMORIES
from ocucb.noise import NOISES
from ocucb.policies import POLICIES
from ocucb.service.errors import DamagedError, UnavailableError, UnknownExperimentError
from ocucb.service.records import ARCHIVED
from ocucb.service.stores import Store
from ocucb.service.text import encode
from ocucb.service.web.audit import read_changes
from ocucb.service.web.messages import timestamp
from ocucb.service.web.page.arms import REMEMBERING_COLUMNS, Sorting
from ocucb.service.web.page.forms import DEFAULTS, MEMORIES_IN_WORDS, SECONDS, parameters_of
from ocucb.service.web.page.latest import read_latest
from ocucb.service.web.page.page_session import PageSession
from ocucb.service.web.page.summary import ExperimentSummary

EXPERIMENTS_PER_PAGE = 25
MAX_SECONDS_PER_EXPERIMENT = 2.0  # seconds; one that another node has locked would be waited for much longer
CHANGES_PER_PAGE = 50
MAX_QUERY_LENGTH = 200
NO_CONTENT = 204
MIN_POLL_MILLISECONDS = 1500
MESSAGES_AFTER = {
    "created": "The experiment is there, and decides as soon as it is asked.",
    "active": "Resumed: the experiment decides again.",
    "added": "The arm is in play, and is chosen soon.",
    "retired": "The arm is retired: it is not chosen any more.",
}


class UnreadSummary(NamedTuple):
    """An experiment of which the list can say nothing but its name, and why."""

    name: str
    status: str
    reason: str
    error: UnavailableError | None = None
    seq: str = "unread"


async def show_list(session: PageSession) -> Response:
    """Show a page of the experiments."""
    return await session.render("list.html", current_page="list", **await _list(session))


async def update_list(session: PageSession) -> Response:
    """Return the part of the list that changes, or nothing if nothing has."""
    what = await _list(session)
    if session.request.query_params.get("version") == what["version"]:
        return Response(status_code=NO_CONTENT)
    return await session.render("list_live.html", **what)


async def _list(session: PageSession) -> dict[str, Any]:
    after = session.request.query_params.get("after", "")[:MAX_QUERY_LENGTH]
    store = session.resources.service.store
    names = await asyncio.to_thread(_names, store, session.key.experiments, after, EXPERIMENTS_PER_PAGE + 1)
    shown = names[:EXPERIMENTS_PER_PAGE]
    found = await asyncio.gather(*(_row(session, name) for name in shown))
    summaries = [row for row in found if row is not None]
    errors = [row.error for row in summaries if isinstance(row, UnreadSummary) and row.error is not None]
    if errors and len(errors) == len(summaries):
        raise errors[0]  # it is not about one of them
    return {
        "summaries": summaries,
        "after": after,
        "query": urlencode({"after": after}) if after else "",
        "next": urlencode({"after": shown[-1]}) if len(names) > EXPERIMENTS_PER_PAGE else "",
        "version": ".".join(str(summary.seq) for summary in summaries),
    }


async def _row(session: PageSession, name: str) -> ExperimentSummary | UnreadSummary | None:
    """Return what the list says of an experiment; one that cannot be read keeps no other from being shown."""
    try:
        summary = session.resources.summaries.get(session.caller, name, arms=False)
        return await asyncio.wait_for(summary, MAX_SECONDS_PER_EXPERIMENT)
    except UnknownExperimentError:  # it was deleted just now
        return None
    except DamagedError:
        return UnreadSummary(name, "damaged", "Its log cannot be read; the log of the service says why.")
    except (TimeoutError, UnavailableError) as error:
        unavailable = error if isinstance(error, UnavailableError) else None
        return UnreadSummary(name, "waiting", "It could not be read in time; it is tried again.", unavailable)


def _names(store: Store, visible: frozenset[str] | None, after: str, limit: int) -> list[str]:
    """Return some names of experiments in order, of those that may be seen."""
    with store.read() as transaction:
        if visible is None:
            return [head.name for head in transaction.list_experiments(after, limit)]
        return sorted(head.name for head in transaction.find_experiments(sorted(visible)) if head.name > after)[:limit]


async def show_changes(session: PageSession) -> Response:
    """Show who changed what, newest first."""
    asked = session.request.query_params.get("before", "")
    before = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else None
    experiment = session.request.query_params.get("experiment", "")[:MAX_QUERY_LENGTH]
    store = session.resources.service.store
    found = await asyncio.to_thread(read_changes, store, before, CHANGES_PER_PAGE + 1, experiment or None)
    shown = [
        {**record._asdict(), "at": timestamp(record.at)[:19].replace("T", " "), "details": in_words(record.details)}
        for record in found[:CHANGES_PER_PAGE]
    ]
    there = await asyncio.to_thread(_those_there, store, {record.experiment for record in found if record.experiment})
    more = {"before": found[CHANGES_PER_PAGE - 1].id} if len(found) > CHANGES_PER_PAGE else {}
    next_page = urlencode({**more, **({"experiment": experiment} if experiment else {})}) if more else ""
    what = {"changes": shown, "experiment": experiment, "there": there, "next": next_page}
    return await session.render("audit.html", 200, current_page="changes", **what)


def _those_there(store: Store, names: set[str]) -> set[str]:
    """Return the names that experiments have: others were deleted."""
    with store.read() as transaction:
        return {record.name for record in transaction.find_experiments(sorted(names))} if names else set()


def in_words(details: Mapping[str, Any]) -> str:
    """Return the details of a change as a person reads them.

    >>> in_words({"entry": 12, "was": 0.0, "reward": None})
    'entry 12; was 0; void'
    >>> in_words({"roles": ["read", "decide"], "experiments": None, "damaged": True})
    'roles read, decide; damaged'
    >>> in_words({"entries": [1, 40212], "file": "experiment-1-from-1.parquet"})
    'entries 1 to 40212; file experiment-1-from-1.parquet'
    """
    text = "; ".join(said for name, value in details.items() if (said := _detail(name, value, details)))
    return text if len(text) <= MAX_QUERY_LENGTH else f"{text[:MAX_QUERY_LENGTH]}…"


def _detail(name: str, value: Any, details: Mapping[str, Any]) -> str:
    if name == "reward" and value is None and "was" in details:
        return "void"
    if value is None or value is False or value in ([], {}):
        return ""
    if value is True:
        return name
    if name == "entries" and isinstance(value, list):
        return f"entries {value[0]} to {value[-1]}"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return f"{name} {', '.join(value)}"
    if isinstance(value, float):
        return f"{name} {value:g}"
    return f"{name} {value if isinstance(value, str) else encode(value)}"


async def show_experiment(session: PageSession) -> Response:
    """Show an experiment."""
    return await experiment_page(session)


async def experiment_page(session: PageSession, status: int = 200, typed: str = "", arm_error: str = "") -> Response:
    """Return the page of an experiment; after a wrong arm, with what is wrong about it."""
    name = session.experiment
    summary = await session.resources.summaries.get(session.caller, name)
    message = MESSAGES_AFTER.get(session.request.query_params.get("done", ""), "")
    what = {"message": message, "typed": typed, "arm_error": arm_error, "curls": _curls(session, name)}
    what["changes_query"] = urlencode({"experiment": name})
    return await session.render("experiment.html", status, **what, **await _live(session, summary))


async def update_experiment(session: PageSession) -> Response:
    """Return the part of an experiment's page that changes, or nothing if nothing has."""
    summary = await session.resources.summaries.get(session.caller, session.experiment)
    if session.request.query_params.get("version") == str(summary.seq):
        return Response(status_code=NO_CONTENT)
    return await session.render("experiment_live.html", **await _live(session, summary))


async def _live(session: PageSession, summary: ExperimentSummary) -> dict[str, Any]:
    sorting = _sorting(session.request)
    page = await asyncio.to_thread(summary.arms.page, sorting)
    sorting = sorting._replace(page=page.page)
    if summary.latest is None:
        store = session.resources.service.store
        summary.latest = await asyncio.to_thread(read_latest, store, summary.name, summary.seq)
    return {
        "summary": summary,
        "page": page,
        "sorting": sorting,
        "columns": summary.arms.titles,
        "links": _links(sorting),
        "query": _query(sorting),
        "version": summary.seq,
        "interval": max(MIN_POLL_MILLISECONDS, round(1000 * session.resources.summaries.interval(summary.name))),
        "change": session.key.may("admin") and summary.status != ARCHIVED,
    }


def _sorting(request: Request) -> Sorting:
    asked = request.query_params
    column = asked.get("sort", "")
    page = asked.get("page", "1")
    if column not in {each.name for each in REMEMBERING_COLUMNS}:
        column = Sorting().column
    down = asked.get("down", str(int(column != "arm"))) == "1"
    number = int(page) if page.isascii() and page.isdigit() and len(page) < 10 else 1
    return Sorting(column, down, number, asked.get("find", "").strip()[:MAX_QUERY_LENGTH])


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
        for column in REMEMBERING_COLUMNS
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


def _curls(session: PageSession, name: str) -> list[tuple[str, str, str]]:
    """Return commands to try the experiment with; the key is a variable of the shell, never the key itself."""
    scheme = "https" if session.resources.is_secure(session.request) else "http"
    base = f"{scheme}://{session.request.headers.get('host', 'localhost')}/v1"
    bearer = '-H "Authorization: Bearer $OCUCB_KEY"'
    decide = shlex.quote(f"{base}/experiments/{quote(name, safe='')}/decisions")
    reward = """-H 'Content-Type: application/json' -d '{"decision": "ID", "reward": 1}'"""
    return [
        ("curl-decide", "Make a decision", f"curl -X POST {decide} {bearer}"),
        ("curl-reward", "Give its reward", f"curl -X POST {shlex.quote(f'{base}/rewards')} {bearer} {reward}"),
    ]


async def show_new(session: PageSession) -> Response:
    """Show the form for a new experiment."""
    return await new_page(session, dict(DEFAULTS), {}, 200)


async def new_page(session: PageSession, form: dict[str, str], problems: dict[str, str], status: int) -> Response:
    """Return the form for a new experiment, with what was typed and what is wrong with it."""
    return await session.render(
        "new.html",
        status,
        form={**DEFAULTS, **form},
        problems=problems,
        idempotency_key=form.get("idempotency_key") or secrets.token_urlsafe(16),
        policies=list(POLICIES),
        noises=describe_noises(),
        units=list(SECONDS),
        policy_parameters=parameters_of(POLICIES),
        noise_parameters=parameters_of(NOISES),
        memory_parameters=parameters_of(SERVED_MEMORIES),
        memories=MEMORIES_IN_WORDS,
        open_parameters=any(field.startswith("policy.") for field in problems),
    )


def describe_noises() -> dict[str, str]:
    """Return the words for each noise family by its name, that of the form's default first."""
    names = sorted(NOISES, key=lambda name: name != DEFAULTS["noise"])
    return {name: f"{NOISES[name].summary} ({name})" for name in names}
