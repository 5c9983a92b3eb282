"""Every error of the client, in one tree.

ClientError                       code, message, status, request_id
├── DeniedError                   401, 403: the API key is unknown, revoked, or may not do this
├── NotFoundError                 404: no such experiment or decision, or none that the API key sees
├── ConflictError                 409: it contradicts what is stored, or the experiment takes none now
├── TooLateError                  410: the reward's window has passed
├── InvalidError (ValueError)     other 4xx, or a wrong value that the client itself refuses to send
├── UnavailableError              408, 429, 502, 503, 504, or no answer in time, after all retries
│   └── UndeliveredError          background rewards that are not delivered yet
├── AnswerError                   500, or an answer that is not one of the service
├── QueueFullError                too many background rewards wait
├── ClosedError                   the client was closed, or belongs to another process
└── SpoolError                    the spool file cannot be used
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


class ClientError(Exception):
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
    """The API key is unknown, revoked, or may not do this."""


class NotFoundError(ClientError):
    """There is no such experiment or decision, or none that the API key sees."""


class ConflictError(ClientError):
    """The request contradicts what is stored, or the experiment does not take it now."""


class TooLateError(ClientError):
    """The reward's window has passed."""


class InvalidError(ClientError, ValueError):
    """A wrong value: refused by the service, or by the client before anything is sent (then `status` is None)."""


class UnavailableError(ClientError):
    """The service did not answer, or cannot now. It may have done what was asked, unless `undone` says otherwise."""

    undone = False
    retry_after: float | None = None


class UndeliveredError(UnavailableError):
    """Background rewards are not delivered yet: `rewards` are their decisions and values.

    Those of them that the service fails at, whatever becomes of the others, are `parked`.
    """

    def __init__(
        self,
        message: str,
        rewards: tuple[tuple[str, float], ...] = (),
        parked: tuple[tuple[str, float], ...] = (),
    ) -> None:
        super().__init__(message, code="undelivered")
        self.rewards, self.parked = rewards, parked


class AnswerError(ClientError):
    """The answer is not one of the service, or says that the service has a bug."""


class QueueFullError(ClientError):
    """Too many background rewards wait; this one was not accepted."""


class ClosedError(ClientError):
    """The client was closed, or was made before a fork by the parent process."""


class SpoolError(ClientError):
    """The spool file cannot be used; nothing was accepted."""


_CLASS_OF_STATUS: Mapping[int, type[ClientError]] = MappingProxyType(
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

_STATUS_OF_CODE: Mapping[str, int] = MappingProxyType(
    {
        "unauthorized": 401,
        "unknown-decision": 404,
        "unknown-experiment": 404,
        "reward-conflict": 409,
        "no-reward": 409,
        "not-correctable": 409,
        "not-archived": 409,
        "archived": 409,
        "too-late": 410,
        "archived-decision": 410,
        "bad-request": 422,
        "bad-arm": 422,
        "bad-reward": 422,
        "bad-parameter": 422,
        "internal-error": 500,
        "damaged-experiment": 500,
        "busy": 503,
        "unavailable": 503,
    }
)


def error_class(status: int) -> type[ClientError]:
    """Return which error an HTTP status of the service stands for."""
    return _CLASS_OF_STATUS.get(status, InvalidError if 400 <= status < 500 else AnswerError)


def error_of_item(code: str, message: str) -> ClientError:
    """Return the error of one reward among many, which comes with a code and no status.

    A code that is not known is one of a newer service: then nothing says that the reward will never be taken.
    """
    status = _STATUS_OF_CODE.get(code, 500)
    return error_class(status)(message, code=code, status=status)


def wrong_value(message: str) -> InvalidError:
    """Return the error for a value that the client refuses to send."""
    return InvalidError(message, code="wrong-value")


def forked() -> ClosedError:
    """Return the error for a client that was made by the parent process."""
    return ClosedError("this client was made by the parent process; make a new one after a fork", code="forked")
