"""The queue of background rewards: bounded, in order, and with a way to wait for it that suits threads and loops."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future
from typing import NamedTuple

_LONG = 3600.0  # seconds


class QueuedReward(NamedTuple):
    """A reward on its way; `spool_number` is its number in the spool, `failures` how often the service failed at it."""

    number: int
    decision: str
    value: float
    spool_number: int | None
    failures: int = 0
    part: str | None = None


class Outbox:
    """Rewards that wait, and those of them that are being sent. Whoever must wait is given a future.

    A place is reserved first and filled later, so that a reward can be written to the disk in between.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._change = threading.Condition()
        self._queue: deque[QueuedReward] = deque()
        self._sending: list[QueuedReward] = []
        self._parked: list[QueuedReward] = []
        self._unpark_at = math.inf
        self._reserved: set[object] = set()
        self._last_number = 0
        self._flush_waiters: list[tuple[int, Future[None]]] = []
        self._room_waiters: list[Future[None]] = []
        self._wanted = math.inf
        self.closed = self.abandoned = False

    def __len__(self) -> int:
        return len(self._queue) + len(self._sending) + len(self._parked)

    def reserve(self, token: object) -> bool:
        """Reserve a place for the holder of a token, if there is one."""
        with self._change:
            if self.closed or not self._has_room():
                return False
            self._reserved.add(token)
            return True

    def release(self, token: object) -> None:
        """Give a place back, if it was not filled."""
        with self._change:
            if token in self._reserved:
                self._reserved.remove(token)
                self._wake()

    def put(
        self, token: object, decision: str, value: float, spool_number: int | None, part: str | None = None
    ) -> None:
        """Fill a place; without a reservation it is made."""
        with self._change:
            self._reserved.discard(token)
            self._last_number += 1
            self._queue.append(QueuedReward(self._last_number, decision, value, spool_number, part=part))
            if len(self._queue) >= self._wanted:
                self._change.notify_all()

    def when_room(self) -> Future[None]:
        """Return a future that ends when there is room, or when there will never be."""
        with self._change:
            future: Future[None] = Future()
            self._room_waiters.append(future)
            self._wake()
            return future

    def when_flushed(self) -> Future[None]:
        """Return a future that ends when all that was put so far is settled."""
        with self._change:
            future: Future[None] = Future()
            self._flush_waiters.append((self._last_number, future))
            self._wake()
            return future

    def close(self, abandon: bool = False) -> None:
        """Take no more in; if abandoned, give no more out either."""
        with self._change:
            self.closed = True
            self.abandoned = self.abandoned or abandon
            self._wake()

    def take_batch(self, most: int, gather: float) -> list[QueuedReward]:
        """Wait for rewards, for `gather` seconds longer while there are fewer than `most`, and return them.

        Nothing comes back if there are none and will be none. What is taken must be settled or put back.
        """
        with self._change:
            self._unpark()
            self._wait_for(1, None)
            self._wait_for(most, time.monotonic() + gather)
            if not self.abandoned:
                self._sending = [self._queue.popleft() for _ in range(min(most, len(self._queue)))]
            return list(self._sending)

    def settle(
        self,
        settled: Iterable[QueuedReward],
        postponed: Iterable[QueuedReward] = (),
        parked: Iterable[QueuedReward] = (),
        seconds: float = 0.0,
    ) -> None:
        """Drop rewards that were taken; the others that were go back to the front, or if postponed to the end.

        Those parked are left alone for so many seconds. Then they go to the end, too; whoever flushed before has not
        waited for them.
        """
        with self._change:
            later, aside = list(postponed), list(parked)
            gone = {item.number for item in (*settled, *later, *aside)}
            self._queue.extendleft(item for item in reversed(self._sending) if item.number not in gone)
            self._queue.extend(later)
            if aside:
                self._parked += aside
                self._unpark_at = time.monotonic() + seconds
            self._sending = []
            self._wake()

    def _unpark(self) -> None:
        """Put those that were parked long enough at the end of the queue."""
        if self._unpark_at <= time.monotonic():
            for item in self._parked:
                self._last_number += 1
                self._queue.append(item._replace(number=self._last_number))
            self._parked, self._unpark_at = [], math.inf

    def parked(self) -> tuple[QueuedReward, ...]:
        """Return those that are parked."""
        with self._change:
            return tuple(self._parked)

    def pause(self, seconds: float) -> None:
        """Wait so long, unless all is abandoned meanwhile."""
        with self._change:
            self._change.wait_for(lambda: self.abandoned, seconds)

    def unsettled(self) -> tuple[QueuedReward, ...]:
        """Return all that is not settled."""
        with self._change:
            return (*self._sending, *self._queue, *self._parked)

    def _wait_for(self, number: int, end: float | None) -> None:
        """Wait until there are so many, or nothing is gained by waiting."""
        while len(self._queue) < number and not self.abandoned:
            hurry = self.closed and not self._reserved if end is None else self.closed or self._flush_waiters
            left = None if end is None else end - time.monotonic()
            if hurry or (left is not None and left <= 0.0):
                return
            self._wanted = number
            self._change.wait(min(math.inf if left is None else left, self._unpark_at - time.monotonic(), _LONG))
            self._wanted = math.inf
            self._unpark()

    def _has_room(self) -> bool:
        return len(self) + len(self._reserved) < self._capacity

    def _wake(self) -> None:
        """Wake the sender, and those who wait for what has come true."""
        self._change.notify_all()
        oldest = math.inf
        if self._flush_waiters:
            oldest = min((item.number for item in (*self._sending, *self._queue)), default=math.inf)
        ready = [future for goal, future in self._flush_waiters if oldest > goal or self.abandoned]
        self._flush_waiters = [
            (goal, future) for goal, future in self._flush_waiters if not (future in ready or future.done())
        ]
        self._room_waiters = [future for future in self._room_waiters if not future.done()]  # some have given up
        if self.closed or self._has_room():
            ready += self._room_waiters
            self._room_waiters = []
        for future in ready:
            if future.set_running_or_notify_cancel():
                future.set_result(None)
