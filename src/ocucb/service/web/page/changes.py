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
from ocucb.service.web.page.rendering import arm_value, path_of, sentence
from ocucb.service.web.page.views import experiment_page, new_page
from ocucb.service.web.page.visits import Visitor, go, read_form

UNPROCESSABLE = 422
LONGEST_ONCE = 100


async def create(visitor: Visitor) -> Response:
    """Create an experiment, or show what is wrong with it. The same form sent twice creates one."""
    form = read_form(visitor.request)
    once = form.get("once", "")[:LONGEST_ONCE]
    try:
        definition = await asyncio.to_thread(read_definition, form)
        try:
            await _change(visitor, definition.name, Create(definition, once or None))
        except NameTakenError as problem:
            raise FormError({"name": sentence(str(problem))}, 409) from None
    except FormError as problem:
        return await new_page(visitor, form, problem.problems, problem.status)
    return _back(definition.name, "created")


async def set_status(visitor: Visitor) -> Response:
    """Pause or resume."""
    status = read_form(visitor.request).get("status", "")
    if status not in ("active", "paused"):
        raise RequestError(f"status must be active or paused, got {status!r}")
    name = visitor.experiment
    await _change(visitor, name, SetStatus(name, "active" if status == "active" else "paused"))
    return _back(name, status)


async def ask_archive(visitor: Visitor) -> Response:
    """Ask whether to archive."""
    name = visitor.experiment
    await visitor.room.looks.look(visitor.door, name)
    return await visitor.render(
        "confirm.html",
        heading=f"Archive {name}?",
        sentence="It will neither decide nor take rewards any more, and can only be read. This cannot be undone.",
        action=path_of(name, "archive"),
        hidden={},
        button="Archive",
        back=path_of(name),
    )


async def archive(visitor: Visitor) -> Response:
    """End an experiment."""
    name = visitor.experiment
    await _change(visitor, name, SetStatus(name, "archived"))
    return _back(name, "archived")


async def add_arm(visitor: Visitor) -> Response:
    """Add an arm, or bring back a retired one, by its label as typed or as a button carries it."""
    name, form = visitor.experiment, read_form(visitor.request)
    typed = form.get("arm", "").strip()
    try:
        arm = _label(form["label"]) if "label" in form else await _typed(visitor, name, typed)
        await _change(visitor, name, AddArm(name, arm))
    except (ArmError, RequestError) as problem:
        return await experiment_page(visitor, UNPROCESSABLE, typed, sentence(str(problem)))
    return _back(name, "added")


async def ask_retire(visitor: Visitor) -> Response:
    """Ask whether to retire an arm."""
    name, arm = visitor.experiment, _label(visitor.request.query_params.get("arm", ""))
    glance = await visitor.room.looks.look(visitor.door, name)
    if arm not in glance.arms.labels:
        raise RequestError(f"there is no arm {arm!r} in play; it may be retired already")
    return await visitor.render(
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


async def retire_arm(visitor: Visitor) -> Response:
    """Stop choosing an arm."""
    name = visitor.experiment
    await _change(visitor, name, RetireArm(name, _label(read_form(visitor.request).get("label", ""))))
    return _back(name, "retired")


async def _change(visitor: Visitor, name: str, request: Request) -> None:
    """Do it, in the name of the key: it is refused if that was revoked meanwhile."""
    try:
        await visitor.door.ask(request, key=visitor.key.id)
    finally:
        visitor.room.looks.forget(name)


def _back(name: str, said: str) -> Response:
    return go(f"{path_of(name)}?{urlencode({'said': said})}")


def _label(text: str) -> Label:
    """Return an arm from the text that a form carries."""
    try:
        return clean_arm(decode(text))
    except (ValueError, RecursionError):
        raise RequestError(f"a form must carry the label of an arm, got {text[:100]!r}; reload the page") from None


async def _typed(visitor: Visitor, name: str, text: str) -> Label:
    """Return an arm as somebody typed it: where all arms are numbers, a number."""
    glance = await visitor.room.looks.look(visitor.door, name)
    numbers = all(isinstance(label, int) for label in glance.arms.labels)
    digits = text.removeprefix("-")
    return int(text) if numbers and digits.isascii() and digits.isdigit() and len(digits) < 19 else clean_arm(text)
