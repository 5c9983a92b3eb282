"""The queue of background rewards: bounded, in order, and with a way to wait for it that suits threads and loops."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future
from typing import NamedTuple


class Item(NamedTuple):
    """A reward on its way; `line` is its number in the spool."""

    number: int
    decision: str
    value: float
    line: int | None


class Outbox:
    """Rewards that wait, and those of them that are being sent. Whoever must wait is given a future.

    A place is reserved first and filled later, so that a reward can be written to the disk in between.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._change = threading.Condition()
        self._queue: deque[Item] = deque()
        self._sending: list[Item] = []
        self._reserved: set[object] = set()
        self._last = 0
        self._flushing: list[tuple[int, Future[None]]] = []
        self._full: list[Future[None]] = []
        self._wanted = math.inf
        self.closed = self.abandoned = False

    def __len__(self) -> int:
        return len(self._queue) + len(self._sending)

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

    def put(self, token: object, decision: str, value: float, line: int | None) -> None:
        """Fill a place; without a reservation it is made."""
        with self._change:
            self._reserved.discard(token)
            self._last += 1
            self._queue.append(Item(self._last, decision, value, line))
            if len(self._queue) >= self._wanted:
                self._change.notify_all()

    def room(self) -> Future[None]:
        """Return a future that ends when there is room, or when there will never be."""
        with self._change:
            future: Future[None] = Future()
            self._full.append(future)
            self._wake()
            return future

    def flushed(self) -> Future[None]:
        """Return a future that ends when all that was put so far is settled."""
        with self._change:
            future: Future[None] = Future()
            self._flushing.append((self._last, future))
            self._wake()
            return future

    def close(self, abandon: bool = False) -> None:
        """Take no more in; if abandoned, give no more out either."""
        with self._change:
            self.closed = True
            self.abandoned = self.abandoned or abandon
            self._wake()

    def take(self, most: int, gather: float) -> list[Item]:
        """Wait for rewards, for `gather` seconds longer while there are fewer than `most`, and return them.

        Nothing comes back if there are none and will be none. What is taken must be settled or put back.
        """
        with self._change:
            self._wait_for(1, None)
            self._wait_for(most, time.monotonic() + gather)
            if not self.abandoned:
                self._sending = [self._queue.popleft() for _ in range(min(most, len(self._queue)))]
            return list(self._sending)

    def settle(self, items: Iterable[Item]) -> None:
        """Forget rewards that were taken; the others that were go back to the front."""
        with self._change:
            gone = {item.number for item in items}
            self._queue.extendleft(item for item in reversed(self._sending) if item.number not in gone)
            self._sending = []
            self._wake()

    def rest(self, seconds: float) -> None:
        """Wait so long, unless all is abandoned meanwhile."""
        with self._change:
            self._change.wait_for(lambda: self.abandoned, seconds)

    def left(self) -> tuple[Item, ...]:
        """Return all that is not settled."""
        with self._change:
            return (*self._sending, *self._queue)

    def _wait_for(self, number: int, end: float | None) -> None:
        """Wait until there are so many, or nothing is gained by waiting."""
        while len(self._queue) < number and not self.abandoned:
            hurry = self.closed and not self._reserved if end is None else self.closed or self._flushing
            left = None if end is None else end - time.monotonic()
            if hurry or (left is not None and left <= 0.0):
                return
            self._wanted = number
            self._change.wait(left)
            self._wanted = math.inf

    def _has_room(self) -> bool:
        return len(self) + len(self._reserved) < self._most

    def _wake(self) -> None:
        """Wake the sender, and those who wait for what has come true."""
        self._change.notify_all()
        first = self._sending or self._queue
        oldest = first[0].number if first else self._last + 1
        ready = [future for goal, future in self._flushing if oldest > goal or self.abandoned]
        self._flushing = [(goal, future) for goal, future in self._flushing if not (future in ready or future.done())]
        self._full = [future for future in self._full if not future.done()]  # some have lost patience
        if self.closed or self._has_room():
            ready += self._full
            self._full = []
        for future in ready:
            if future.set_running_or_notify_cancel():
                future.set_result(None)
