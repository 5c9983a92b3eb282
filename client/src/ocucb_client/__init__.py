"""The client of the ocucb decision service: `Client` for threads, `AsyncClient` for an event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ocucb_client.client import Client
from ocucb_client.errors import (
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
from ocucb_client.models import (
    ApiKey,
    Arm,
    ArmStatistics,
    AuditEntry,
    BackgroundCounts,
    Decision,
    Experiment,
    ExperimentStatus,
    ExperimentSummary,
    ExportedDecision,
    NewApiKey,
    RefusedReward,
    RewardOutcome,
    RewardResult,
    Verdict,
)
from ocucb_client.version import __version__

if TYPE_CHECKING:
    from ocucb_client.async_client import AsyncClient
else:

    def __getattr__(name: str) -> object:
        """Import `AsyncClient` when it is first asked for, since asyncio takes as long to import as httpx."""
        if name != "AsyncClient":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from ocucb_client.async_client import AsyncClient  # noqa: PLC0415

        globals()[name] = AsyncClient
        return AsyncClient


__all__ = [
    "AnswerError",
    "ApiKey",
    "Arm",
    "ArmStatistics",
    "AsyncClient",
    "AuditEntry",
    "BackgroundCounts",
    "Client",
    "ClientError",
    "ClosedError",
    "ConflictError",
    "Decision",
    "DeniedError",
    "Experiment",
    "ExperimentStatus",
    "ExperimentSummary",
    "ExportedDecision",
    "InvalidError",
    "NewApiKey",
    "NotFoundError",
    "QueueFullError",
    "RefusedReward",
    "RewardOutcome",
    "RewardResult",
    "SpoolError",
    "TooLateError",
    "UnavailableError",
    "UndeliveredError",
    "Verdict",
    "__version__",
]
