"""The client of the decision service: `Client` for threads, `AsyncClient` for an event loop. Needs httpx."""

from ocucb.client.answers import (
    Arm,
    Changed,
    Counts,
    Decision,
    Experiment,
    Key,
    Listed,
    NewKey,
    Refused,
    Result,
    Rewarded,
    Row,
)
from ocucb.client.errors import (
    AnswerError,
    ClientError,
    ClosedError,
    ConflictError,
    DeniedError,
    InvalidError,
    NotFoundError,
    QueueFullError,
    SpoolError,
    TooLateError,
    UnavailableError,
    UndeliveredError,
)

try:
    from ocucb.client.asynchronous import AsyncClient
    from ocucb.client.sync import Client
except ModuleNotFoundError as problem:
    if problem.name != "httpx":
        raise
    raise ModuleNotFoundError(
        'ocucb.client needs httpx, which is not installed; pip install "ocucb[client]"', name="httpx"
    ) from None

__all__ = [
    "AnswerError",
    "Arm",
    "AsyncClient",
    "Changed",
    "Client",
    "ClientError",
    "ClosedError",
    "ConflictError",
    "Counts",
    "Decision",
    "DeniedError",
    "Experiment",
    "InvalidError",
    "Key",
    "Listed",
    "NewKey",
    "NotFoundError",
    "QueueFullError",
    "Refused",
    "Result",
    "Rewarded",
    "Row",
    "SpoolError",
    "TooLateError",
    "UnavailableError",
    "UndeliveredError",
]
