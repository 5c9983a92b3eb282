"""Requests that wait: for the writer, who takes many at a time; and those that it holds for their experiment."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ocucb.service.callers import PendingRequest, deliver, fail
from ocucb.service.errors import BusyError, UnavailableError
from ocucb.service.loader import Loaded, Target
from ocucb.service.requests import Decide, ImportLog, Request

PART_OF_BATCH = 1.0  # of the time that the last batch took: so long after it the next may wait to become larger
MIN_RETURNING = 0.2  # of those who were answered: as many are expected at least to ask again here
FEWER, MORE = 0.85, 1.25  # by which this part changes when too few have come in time, and when enough have

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
    """Requests that the writer holds: their experiment is being loaded, or another node has locked it.

    By the experiment, in the order in which they came. For one thread.
    """

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


class WaitingRequests:
    """What waits for the writer, and what it is told meanwhile. Those that it holds back itself count as waiting, too.

    Most of the time of a batch is a fixed one, a sync of the disk above all. Callers who have just been answered often
    ask again at once: a batch begun without them would leave them to the next, and each would have half of the callers.
    So a batch waits a little, until as many have come as were answered and left waiting by the last one. Where half of
    them ask another node next, as behind round robin, nobody can come whom that one waits for, too: so only a part of
    those who were answered is expected, which falls when too few come, and rises when enough do.
    """

    def __init__(self, most: int, batch: int, held: HeldRequests) -> None:
        self._most, self._batch, self._held = most, batch, held
        self._requests: deque[PendingRequest] = deque()
        self._news: queue.SimpleQueue[Loaded | Literal["wake", "stop"]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = self._stopping = False
        self._expected, self._gather_until = 0, 0.0
        self._returning, self._too_few = 1.0, False

    def __len__(self) -> int:
        return len(self._requests) + len(self._held)

    @property
    def is_over(self) -> bool:
        """Whether no more will come, and none is left."""
        return self._stopping and not len(self)

    @property
    def stopping(self) -> bool:
        """Whether no more will come."""
        return self._stopping

    def submit(self, requests: Sequence[PendingRequest]) -> None:
        """Queue requests; those that cannot wait are answered at once, by an error that says why."""
        with self._lock:
            closed = self._closed
            room = 0 if closed else max(0, self._most - len(self))
            self._requests.extend(requests[:room])
            if 0 < len(self._requests) <= len(requests) or len(self._requests) >= self._expected:
                self._news.put("wake")  # the writer waits for the first, or for as many as it expects
        if len(requests) > room:
            busy = BusyError(f"{self._most} requests are waiting; not stored, try again")
            stopping = UnavailableError("the service is stopping; not stored, try again")
            fail(requests[room:], stopping if closed else busy)
            deliver(requests[room:])

    def tell(self, news: Loaded | Literal["wake"]) -> None:
        """Let the writer know that an experiment was loaded, or that there is something to do."""
        self._news.put(news)

    def close(self) -> bool:
        """Take no more; False if that was said before."""
        with self._lock:
            if self._closed:
                return False
            self._closed = True
            self._news.put("stop")
            return True

    def take(self, wait: float) -> tuple[list[Loaded], list[PendingRequest]]:
        """Wait so long for something to do; return what was loaded, and the requests of the next batch."""
        loaded: list[Loaded] = []
        try:
            waits = wait > 0.0 and not self._requests and not self._stopping
            news = self._news.get(timeout=wait) if waits else self._news.get_nowait()
            while True:
                if news == "stop":
                    self._stopping = True
                elif isinstance(news, Loaded):
                    loaded.append(news)
                news = self._news.get_nowait()
        except queue.Empty:
            pass
        if self._requests and not loaded and not self._stopping:
            self._gather()
            self._too_few = len(self._requests) < self._expected
        return loaded, self._take_batch()

    def _gather(self) -> None:
        """Wait for those who were answered just now and may ask again."""
        while len(self._requests) < self._expected and (left := self._gather_until - time.monotonic()) > 0.0:
            try:
                news = self._news.get(timeout=left)
            except queue.Empty:
                return
            if news != "wake":
                self._news.put(news)
                return

    def _take_batch(self) -> list[PendingRequest]:
        batch: list[PendingRequest] = []
        size = 0
        while self._requests and size < self._batch:
            batch.append(self._requests.popleft())
            size += _size(batch[-1].request)
        return batch

    def note_batch(self, size: int, seconds: float) -> None:
        """Note how many requests a batch had, and how long it took."""
        self._returning = min(1.0, max(MIN_RETURNING, self._returning * (FEWER if self._too_few else MORE)))
        self._expected = round(size * self._returning) + len(self._requests)
        self._gather_until = time.monotonic() + seconds * PART_OF_BATCH


def _size(request: Request) -> int:
    if isinstance(request, Decide):
        return request.count
    return len(request.log) // 100 + 1 if isinstance(request, ImportLog) else 1
