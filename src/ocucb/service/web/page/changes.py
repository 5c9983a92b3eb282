"""Forms that change something: create an experiment, add and retire arms, pause, resume, archive."""

from __future__ import annotations

import asyncio
from urllib.parse import urlencode

from starlette.responses import Response

from ocucb.errors import ArmError
from ocucb.labels import Label
from ocucb.service.errors import NameTakenError, RequestError
from ocucb.service.requests import AddArm, Create, Request, RetireArm, SetStatus
from ocucb.service.text import clean_arm, decode
from ocucb.service.web.page.forms import FormError, read_definition
from ocucb.service.web.page.page_session import PageSession, read_form, redirect
from ocucb.service.web.page.rendering import arm_value, path_of, sentence
from ocucb.service.web.page.views import experiment_page, new_page

UNPROCESSABLE = 422
MAX_FORM_KEY_LENGTH = 100


async def create(session: PageSession) -> Response:
    """Create an experiment, or show what is wrong with it. The same form sent twice creates one."""
    form = read_form(session.request)
    key = form.get("idempotency_key", "")[:MAX_FORM_KEY_LENGTH]
    try:
        definition = await asyncio.to_thread(read_definition, form)
        try:
            await _change(session, definition.name, Create(definition, key or None))
        except NameTakenError as problem:
            raise FormError({"name": sentence(str(problem))}, 409) from None
    except FormError as problem:
        return await new_page(session, form, problem.problems, problem.status)
    return _redirect_to(definition.name, "created")


async def set_status(session: PageSession) -> Response:
    """Pause or resume."""
    status = read_form(session.request).get("status", "")
    if status not in ("active", "paused"):
        raise RequestError(f"status must be active or paused, got {status!r}")
    name = session.experiment
    await _change(session, name, SetStatus(name, "active" if status == "active" else "paused"))
    return _redirect_to(name, status)


async def ask_archive(session: PageSession) -> Response:
    """Ask whether to archive."""
    name = session.experiment
    await session.resources.summaries.get(session.caller, name)
    return await session.render(
        "confirm.html",
        heading=f"Archive {name}?",
        sentence="It will neither decide nor take rewards any more, and can only be read. This cannot be undone.",
        action=path_of(name, "archive"),
        hidden={},
        button="Archive",
        back=path_of(name),
    )


async def archive(session: PageSession) -> Response:
    """End an experiment."""
    name = session.experiment
    await _change(session, name, SetStatus(name, "archived"))
    return _redirect_to(name, "archived")


async def add_arm(session: PageSession) -> Response:
    """Add an arm, or bring back a retired one, by its label as typed or as a button carries it."""
    name, form = session.experiment, read_form(session.request)
    typed = form.get("arm", "").strip()
    try:
        arm = _read_label(form["label"]) if "label" in form else await _read_typed_label(session, name, typed)
        await _change(session, name, AddArm(name, arm))
    except (ArmError, RequestError) as problem:
        return await experiment_page(session, UNPROCESSABLE, typed, sentence(str(problem)))
    return _redirect_to(name, "added")


async def ask_retire(session: PageSession) -> Response:
    """Ask whether to retire an arm."""
    name, arm = session.experiment, _read_label(session.request.query_params.get("arm", ""))
    summary = await session.resources.summaries.get(session.caller, name)
    if arm not in summary.arms.labels:
        raise RequestError(f"there is no arm {arm!r} in play; it may be retired already")
    return await session.render(
        "confirm.html",
        heading=f"Retire {arm}?",
        sentence=(
            f"{name} will not choose it any more. Rewards of its past decisions still count, and it can be brought "
            "back with all it has learned."
        ),
        action=path_of(name, "retire"),
        hidden={"label": arm_value(arm)},
        button="Retire",
        back=path_of(name),
    )


async def retire_arm(session: PageSession) -> Response:
    """Stop choosing an arm."""
    name = session.experiment
    await _change(session, name, RetireArm(name, _read_label(read_form(session.request).get("label", ""))))
    return _redirect_to(name, "retired")


async def _change(session: PageSession, name: str, request: Request) -> None:
    """Do it, in the name of the key: it is refused if that was revoked meanwhile."""
    try:
        await session.caller.ask(request, api_key=session.key.id)
    finally:
        session.resources.summaries.forget(name)


def _redirect_to(name: str, done: str) -> Response:
    return redirect(f"{path_of(name)}?{urlencode({'done': done})}")


def _read_label(text: str) -> Label:
    """Return an arm from the text that a form carries."""
    try:
        return clean_arm(decode(text))
    except (ValueError, RecursionError):
        raise RequestError(f"a form must carry the label of an arm, got {text[:100]!r}; reload the page") from None


async def _read_typed_label(session: PageSession, name: str, text: str) -> Label:
    """Return an arm as somebody typed it: where all arms are numbers, a number."""
    summary = await session.resources.summaries.get(session.caller, name)
    numbers = all(isinstance(label, int) for label in summary.arms.labels)
    digits = text.removeprefix("-")
    return int(text) if numbers and digits.isascii() and digits.isdigit() and len(digits) < 19 else clean_arm(text)
