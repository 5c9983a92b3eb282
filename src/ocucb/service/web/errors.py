"""Every error as an answer: one table from the class of an error to a status and a code, and one shape."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from ocucb.errors import ArmError, HorizonError, OcucbError, ParameterError, RewardError, StateError
from ocucb.noise import NOISES
from ocucb.policies import POLICIES
from ocucb.service import errors

MAX_MESSAGE_LENGTH = 1000
MAX_DETAILS = 20
RETRY_AFTER_SECONDS = 1.0
_WORD = re.compile(r"[a-z_]+")
_TYPES = ("str", "int", "float")

STATUSES: dict[type[Exception], tuple[int, str]] = {
    errors.UnknownExperimentError: (404, "unknown-experiment"),
    errors.UnknownDecisionError: (404, "unknown-decision"),
    errors.UnknownKeyError: (404, "unknown-key"),
    errors.NameTakenError: (409, "name-taken"),
    errors.RewardConflictError: (409, "reward-conflict"),
    errors.NoRewardError: (409, "no-reward"),
    errors.NotCorrectableError: (409, "not-correctable"),
    errors.NotArchivedError: (409, "not-archived"),
    errors.KeyReusedError: (409, "key-reused"),
    errors.PausedError: (409, "paused"),
    errors.ArchivedError: (409, "archived"),
    errors.DeniedError: (401, "unauthorized"),
    errors.TooLateError: (410, "too-late"),
    errors.ArchivedDecisionError: (410, "archived-decision"),
    errors.RequestError: (422, "bad-request"),
    errors.BusyError: (503, "busy"),
    errors.StoreError: (503, "unavailable"),
    errors.UnavailableError: (503, "unavailable"),
    errors.DamagedError: (500, "damaged-experiment"),
    HorizonError: (409, "horizon-reached"),
    ArmError: (422, "bad-arm"),
    RewardError: (422, "bad-reward"),
    ParameterError: (422, "bad-parameter"),
    StateError: (422, "bad-parameter"),
}
"""Errors that callers are told of as they are. Any other error is a fault of the service, and only logged."""

CODES = {
    400: "bad-request",
    401: "unauthorized",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    408: "too-slow",
    413: "too-large",
    414: "too-long",
    415: "wrong-media-type",
    422: "bad-request",
    429: "too-many-requests",
    503: "unavailable",
}


class Detail(NamedTuple):
    """What is wrong with one part of a request."""

    where: str
    message: str


class Refusal(Exception):  # noqa: N818  # an answer rather than an error: nothing is wrong with the service
    """A request that is answered before it reaches the service."""

    def __init__(
        self,
        status: int,
        message: str,
        headers: Mapping[str, str] | None = None,
        details: Sequence[Detail] = (),
    ) -> None:
        super().__init__(message)
        self.status, self.headers, self.details = status, dict(headers or {}), tuple(details)


class ErrorResponse(NamedTuple):
    """An error as callers see it."""

    status: int
    code: str
    message: str
    headers: Mapping[str, str]
    details: tuple[Detail, ...] = ()

    def plain(self) -> dict[str, str]:
        """Return code and message, as one item of many is answered."""
        return {"code": self.code, "message": _readable(self.message)}

    def body(self, request_id: str) -> bytes:
        """Return the one shape of all errors."""
        error: dict[str, Any] = {**self.plain(), "request_id": request_id}
        if self.details:
            error["details"] = [{"where": where, "message": _readable(message)} for where, message in self.details]
        return json.dumps({"error": error}).encode()


def error_response(error: Exception) -> ErrorResponse:
    """Return an error as callers see it; of one that is a fault of the service they see nothing."""
    if isinstance(error, Refusal):
        return ErrorResponse(error.status, CODES[error.status], str(error), error.headers, error.details)
    if isinstance(error, RequestValidationError):
        return _invalid(error.errors())
    if isinstance(error, HTTPException):
        code = CODES.get(error.status_code, f"http-{error.status_code}")
        return ErrorResponse(error.status_code, code, str(error.detail), error.headers or {})
    if isinstance(error, OcucbError):
        for kind in type(error).__mro__:
            if kind in STATUSES:
                status, code = STATUSES[kind]
                return ErrorResponse(status, code, str(error), _headers(status))
    return ErrorResponse(
        500, "internal-error", "the service failed at this request; its operator finds out why in the log", {}
    )


def retry_after(seconds: float) -> dict[str, str]:
    """Return the header that says when to try again."""
    return {"Retry-After": str(max(1, math.ceil(seconds)))}


def invalid_body(error: ValidationError) -> Refusal:
    """Return what is wrong with a body, without the values in it: they may be long, or secret."""
    found = error.errors(include_url=False, include_context=False, include_input=False) if _few(error) else []
    problem = _invalid([{**one, "loc": ("body", *one["loc"])} for one in found])
    return Refusal(422, problem.message, details=problem.details)


def _few(error: ValidationError) -> bool:
    """Tell whether all errors may be looked at: somebody who sends a million of them gets no list."""
    return error.error_count() <= 50 * MAX_DETAILS


def _invalid(found: Iterable[Mapping[str, Any]]) -> ErrorResponse:
    merged: dict[str, list[str]] = {}
    for one in found:
        merged.setdefault(_where(one["loc"], one["type"]), []).append(str(one["msg"]))
    details = tuple(Detail(where, "; or: ".join(messages)) for where, messages in merged.items())
    return ErrorResponse(422, CODES[422], "the request is not as it should be; see details", {}, details[:MAX_DETAILS])


def _where(place: Sequence[str | int], kind: str) -> str:
    """Return a place in a request as its sender knows it: without the names of alternatives that were tried."""
    known = [part for part in place if isinstance(part, int) or (_WORD.fullmatch(part) and not _is_tried(part))]
    if kind == "extra_forbidden" and known[-1:] != [place[-1]]:
        known.append(place[-1])
    return ".".join(str(part) for part in known)


def _is_tried(part: str) -> bool:
    """Tell whether this names an alternative: a type, a policy or a noise family."""
    return part in _TYPES or part in POLICIES or part in NOISES


def _headers(status: int) -> dict[str, str]:
    if status == 401:
        return {"WWW-Authenticate": 'Bearer realm="ocucb"'}
    return retry_after(RETRY_AFTER_SECONDS) if status == 503 else {}


def _readable(text: str) -> str:
    """Return text that is not too long, and that can be encoded."""
    short = text if len(text) <= MAX_MESSAGE_LENGTH else f"{text[:MAX_MESSAGE_LENGTH]}..."
    return short.encode(errors="replace").decode()
