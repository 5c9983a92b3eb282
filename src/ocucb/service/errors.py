"""Every error that the service answers with, in one tree under `OcucbError`.

    OcucbError
    └── ServiceError
        ├── NotFoundError
        │   ├── UnknownExperimentError    no experiment has this name
        │   ├── UnknownDecisionError      no decision has this id
        │   └── UnknownKeyError           no API key has this id
        ├── ConflictError
        │   ├── NameTakenError            another experiment has this name
        │   ├── RewardConflictError       the decision already has a different reward
        │   ├── NoRewardError             the decision has no reward that could be corrected
        │   ├── NotCorrectableError       no reward of the experiment can be corrected
        │   ├── KeyReusedError            the idempotency key belongs to a different request
        │   └── NotArchivedError          only an experiment that is archived can be deleted
        ├── ClosedError
        │   ├── PausedError               the experiment is paused and makes no decisions
        │   └── ArchivedError             the experiment has ended
        ├── DeniedError                   the API key is not known, or revoked
        ├── TooLateError                  the reward's window has passed
        ├── ArchivedDecisionError         the decision is in an archive, if there was one of this id
        ├── RequestError (ValueError)     a request that can mean nothing
        ├── UnavailableError              not stored, or not known to be; try again
        │   ├── StoreError                the database did not answer, or refused
        │   └── BusyError                 too many requests are waiting
        ├── SchemaError                   the database was made by a newer ocucb
        └── LogError                      the log is not one that the service wrote
            └── DamagedError              so it is, of the experiment that a request is for

An arm, a reward or a parameter that is wrong is refused by the library's own errors (`ocucb.errors`).
"""

from ocucb.errors import OcucbError


class ServiceError(OcucbError):
    """Base of every error of the service."""


class NotFoundError(ServiceError):
    """What the request names is not there."""


class UnknownExperimentError(NotFoundError):
    """No experiment has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no experiment {name!r}; create it first")


class UnknownDecisionError(NotFoundError):
    """No decision has this id."""

    def __init__(self) -> None:
        super().__init__("no decision has this id; use the id that came with the decision")


class UnknownKeyError(NotFoundError):
    """No API key has this id."""

    def __init__(self, api_key: str) -> None:
        super().__init__(f"no API key has the id {api_key!r}; ids are listed with the keys")


class ConflictError(ServiceError):
    """The request contradicts what is stored."""


class NameTakenError(ConflictError):
    """Another experiment has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is already an experiment {name!r}; choose another name")


class RewardConflictError(ConflictError):
    """The decision already has a different reward."""

    def __init__(self, stored: float, given: float) -> None:
        super().__init__(f"this decision already has the reward {stored!r}, got {given!r}; to change it, correct it")


class NoRewardError(ConflictError):
    """The decision has no reward that could be corrected."""

    def __init__(self) -> None:
        super().__init__("this decision has no reward that was counted, so there is nothing to correct")


class NotCorrectableError(ConflictError):
    """No reward of the experiment can be corrected."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"no reward of experiment {name!r} can be corrected: {reason}")


class KeyReusedError(ConflictError):
    """The idempotency key belongs to a different request."""

    def __init__(self, idempotency_key: str) -> None:
        super().__init__(
            f"the idempotency key {idempotency_key!r} was used for a different request; use a new key for each"
        )


class NotArchivedError(ConflictError):
    """Only an experiment that is archived can be deleted."""

    def __init__(self, name: str) -> None:
        super().__init__(f"experiment {name!r} is not archived; archive it first, and then delete it")


class ClosedError(ServiceError):
    """The experiment does not take this request now."""


class PausedError(ClosedError):
    """The experiment is paused."""

    def __init__(self, name: str) -> None:
        super().__init__(f"experiment {name!r} is paused and makes no decisions; resume it first")


class ArchivedError(ClosedError):
    """The experiment has ended."""

    def __init__(self, name: str) -> None:
        super().__init__(f"experiment {name!r} is archived and can only be read")


class DeniedError(ServiceError):
    """The API key is not known, or revoked."""

    def __init__(self) -> None:
        super().__init__("the API key is missing, wrong, expired or revoked")


class TooLateError(ServiceError):
    """The window for a reward has passed."""

    def __init__(self) -> None:
        super().__init__("the window for this decision's reward has passed; the reward was not counted")


class ArchivedDecisionError(ServiceError):
    """The decision is in an archive, if there was one of this id."""

    def __init__(self, upto: int) -> None:
        super().__init__(
            f"entries up to {upto} of this experiment are archived, and what was decided there is closed; "
            "nothing was counted or changed"
        )


class RequestError(ServiceError, ValueError):
    """A request that can mean nothing."""


class UnavailableError(ServiceError):
    """The service cannot say that the request is stored: try again, with the same idempotency key.

    If `not_stored`, it is certain that it is not, and will not be.
    """

    not_stored = False


class StoreError(UnavailableError):
    """The database did not answer, or refused: `reason` is what it said, for the log and not for callers.

    `locked` if all that is wrong is that somebody else has locked what was wanted.
    """

    def __init__(self, message: str, reason: str = "", locked: bool = False) -> None:
        super().__init__(message)
        self.reason, self.locked = reason, locked


class BusyError(UnavailableError):
    """Too many requests are waiting."""

    not_stored = True


class SchemaError(ServiceError):
    """The database was made by a newer ocucb."""


class LogError(ServiceError):
    """A log that the service cannot have written."""


class DamagedError(LogError):
    """The log of the experiment that a request is for cannot be read: `reason` says why, for the log of the process."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(
            f"experiment {name!r} is damaged: its log cannot be read. Its operator finds out why in the log of the "
            "service, and restores it from a backup or deletes it"
        )
        self.reason = reason
