"""Every error of the client, in one tree under `OcucbError`.

    OcucbError
    └── ClientError                       code, message, status, request_id
        ├── DeniedError                   401, 403: the key is unknown, revoked, or may not do this
        ├── NotFoundError                 404: no such experiment or decision, or none that the key sees
        ├── ConflictError                 409: it contradicts what is stored, or the experiment takes none now
        ├── TooLateError                  410: the reward's window has passed
        ├── InvalidError (ValueError)     other 4xx: a request that can mean nothing
        ├── UnavailableError              408, 429, 502, 503, 504, or no answer in time, after all retries
        │   └── UndeliveredError          background rewards that are not delivered yet
        ├── AnswerError                   500, or an answer that is not one of the service
        ├── QueueFullError                too many background rewards wait
        ├── ClosedError                   the client was closed, or belongs to another process
        └── SpoolError                    the spool file cannot be used

A wrong value given to the client itself is refused by the library's own errors (`ocucb.errors`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ocucb.errors import OcucbError


class ClientError(OcucbError):
    """Base of every error of the client.

    code, message    what the service said, or the client's own words
    status           the HTTP status; None if there was no answer
    request_id       by which the service's log knows the request; None if nothing was sent
    """

    def __init__(
        self, message: str, *, code: str = "client", status: int | None = None, request_id: str | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.code, self.status, self.request_id = message, code, status, request_id

    def __str__(self) -> str:
        parts = [str(self.status)] if self.status is not None else []
        parts += [f"request {self.request_id}"] if self.request_id is not None else []
        return f"{self.message} ({self.code}{''.join(f', {part}' for part in parts)})"


class DeniedError(ClientError):
    """The key is unknown, revoked, or may not do this."""


class NotFoundError(ClientError):
    """There is no such experiment or decision, or none that the key sees."""


class ConflictError(ClientError):
    """The request contradicts what is stored, or the experiment does not take it now."""


class TooLateError(ClientError):
    """The reward's window has passed."""


class InvalidError(ClientError, ValueError):
    """The request can mean nothing."""


class UnavailableError(ClientError):
    """The service did not answer, or cannot now. It may have done what was asked, unless `undone` says otherwise."""

    undone = False
    retry_after: float | None = None


class UndeliveredError(UnavailableError):
    """Background rewards are not delivered yet: `rewards` are their decisions and values."""

    def __init__(self, message: str, rewards: tuple[tuple[str, float], ...] = ()) -> None:
        super().__init__(message, code="undelivered")
        self.rewards = rewards


class AnswerError(ClientError):
    """The answer is not one of the service, or says that the service has a bug."""


class QueueFullError(ClientError):
    """Too many background rewards wait; this one was not accepted."""


class ClosedError(ClientError):
    """The client was closed, or was made before a fork by the parent process."""


class SpoolError(ClientError):
    """The spool file cannot be used; nothing was accepted."""


BY_STATUS: Mapping[int, type[ClientError]] = MappingProxyType(
    {
        401: DeniedError,
        403: DeniedError,
        404: NotFoundError,
        408: UnavailableError,
        409: ConflictError,
        410: TooLateError,
        429: UnavailableError,
        500: AnswerError,
        502: UnavailableError,
        503: UnavailableError,
        504: UnavailableError,
    }
)


_STATUS_OF_ITEM: Mapping[str, int] = MappingProxyType(
    {
        "unauthorized": 401,
        "unknown-decision": 404,
        "unknown-experiment": 404,
        "reward-conflict": 409,
        "archived": 409,
        "too-late": 410,
        "internal-error": 500,
        "busy": 503,
        "unavailable": 503,
    }
)


def class_for(status: int) -> type[ClientError]:
    """Return which error an answer of the service stands for."""
    return BY_STATUS.get(status, InvalidError if 400 <= status < 500 else AnswerError)


def error_for(code: str, message: str) -> ClientError:
    """Return the error of one item among many, which comes with a code and no status."""
    status = _STATUS_OF_ITEM.get(code, 422)
    return class_for(status)(message, code=code, status=status)
