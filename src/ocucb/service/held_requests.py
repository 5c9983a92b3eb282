"""Requests that must wait: for an experiment that is being loaded, or for one that another node has locked."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from ocucb.service.callers import PendingRequest
from ocucb.service.loader import Target

RETRY_SECONDS = 0.005  # between two attempts to lock an experiment
STARVED_SECONDS = 0.1  # after which the lock is waited for, and not only tried


@dataclass
class _Locked:
    """An experiment that another node has locked: since when, when it is tried again, and who waits for it."""

    since: float
    retry_at: float
    retrying: bool = False
    requests: list[PendingRequest] = field(default_factory=list)


class HeldRequests:
    """Requests by the experiment that they wait for, in the order in which they came. For one thread."""

    def __init__(self) -> None:
        self._loading: dict[Target, list[PendingRequest]] = {}
        self._locked: dict[int, _Locked] = {}
        self.loading = self.locked = 0  # requests: counted, since every request that comes asks how many there are

    def __len__(self) -> int:
        return self.loading + self.locked

    @property
    def locked_experiments(self) -> int:
        """How many experiments are locked by other nodes."""
        return len(self._locked)

    def wait_for_load(self, target: Target, pending: PendingRequest) -> bool:
        """Hold a request until its experiment is loaded; tell whether it is the first, so that a load must begin."""
        self.loading += 1
        waiting = self._loading.get(target)
        if waiting is None:
            self._loading[target] = [pending]
            return True
        waiting.append(pending)
        return False

    def take_loaded(self, target: Target) -> list[PendingRequest]:
        """Return those who waited for an experiment to be loaded, less those who have left."""
        waiting = self._loading.pop(target, [])
        self.loading -= len(waiting)
        return [pending for pending in waiting if not pending.cancelled]

    def is_locked(self, experiment: int) -> bool:
        """Tell whether an experiment is locked by another node, as far as is known, and is not tried again just now."""
        locked = self._locked.get(experiment)
        return locked is not None and not locked.retrying

    def wait_for_lock(self, experiment: int, requests: Iterable[PendingRequest]) -> None:
        """Hold requests until their experiment can be locked."""
        now = time.monotonic()
        locked = self._locked.setdefault(experiment, _Locked(now, now))
        before = len(locked.requests)
        locked.requests += requests
        self.locked += len(locked.requests) - before
        locked.retry_at, locked.retrying = now + RETRY_SECONDS, False

    def take_to_retry(self) -> tuple[list[PendingRequest], int | None]:
        """Return those whose experiment is to be tried again, and the one that has been locked for too long already."""
        if not self._locked:
            return [], None
        now = time.monotonic()
        taken: list[PendingRequest] = []
        starved: tuple[float, int] | None = None
        for experiment, locked in list(self._locked.items()):
            if locked.retry_at <= now:
                self.locked -= len(locked.requests)
                requests = [pending for pending in locked.requests if not pending.cancelled]
                locked.requests, locked.retrying = [], True
                taken += requests
                if not requests:
                    del self._locked[experiment]
                elif now - locked.since > STARVED_SECONDS:
                    starved = min(starved or (locked.since, experiment), (locked.since, experiment))
        return taken, starved and starved[1]

    def unlock(self, experiments: Iterable[int]) -> None:
        """Note that experiments could be locked."""
        if self._locked:
            for experiment in experiments:
                self._locked.pop(experiment, None)
