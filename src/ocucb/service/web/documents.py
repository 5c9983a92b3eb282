"""How routes are documented: which errors can come, and what a body looks like where a route reads it itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from ocucb.service.web.answers import ErrorAnswer
from ocucb.service.web.route_table import ROUTE_POLICIES

REFERENCE = "#/components/schemas/{model}"
MEANINGS = {
    400: "It is not HTTP that can be read.",
    401: "The key is missing, wrong, expired or revoked.",
    403: "The key has not the role that this needs.",
    404: "It is not there, or not for this key to see.",
    405: "The address takes another method.",
    408: "The body did not come in time.",
    409: "It contradicts what is stored, or the experiment is paused, archived or at its end.",
    410: "The window for this reward has passed.",
    413: "The body is too large.",
    414: "The address is too long.",
    415: "The body is of another kind than this takes.",
    422: "The request can mean nothing: see the message and the details.",
    429: "Too many requests, see Retry-After.",
    503: "Not stored, or not known to be: try again, see Retry-After.",
}


def errors(route: str, *statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the errors of a route: those given, and those that its entry in the table of routes makes possible."""
    policy = ROUTE_POLICIES[route]
    known = {422, *statuses}
    if policy.role is not None:
        known |= {401, 403, 429, 503}
    if policy.size is not None:
        known |= {408, 413, 415}
    return {status: {"model": ErrorAnswer, "description": MEANINGS[status]} for status in sorted(known)}


def body_of(*models: type[BaseModel], others: Mapping[str, str] | None = None, required: bool = True) -> dict[str, Any]:
    """Return the documentation of a body of JSON, as one of these models, or of other media types in words."""
    forms = [{"$ref": REFERENCE.format(model=model.__name__)} for model in models]
    examples = {
        f"{model.__name__} {number}": {"value": value}
        for model in models
        for number, value in enumerate(model.model_json_schema()["examples"], 1)
    }
    schema = forms[0] if len(forms) == 1 else {"oneOf": forms}
    content: dict[str, Any] = {"application/json": {"schema": schema, "examples": examples}}
    for media, words in (others or {}).items():
        content[media] = {"schema": {"type": "string", "description": words}}
    return {"requestBody": {"content": content, "required": required}}


IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "What you call this request. Sent again with the same key, it is done once and answered alike.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[ -~]+$"},
}
