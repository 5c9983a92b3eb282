"""The end of Python: whoever still has something to deliver is waited for."""

from __future__ import annotations

import atexit
import multiprocessing
import multiprocessing.util
import os
import threading
from typing import Protocol


class Busy(Protocol):
    """What may have something left to do when Python ends."""

    def close(self) -> None:
        """Accept nothing more."""

    def finish(self) -> None:
        """Do what is left, in whatever time it takes."""


class Exits:
    """Those to wait for. Each process has its own: a child of a fork leaves those of its parent to it."""

    def __init__(self) -> None:
        self._begin()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._busy: set[Busy] = set()
        self._registered = False

    def add(self, busy: Busy) -> None:
        """Wait for this one, too."""
        with self._lock:
            self._busy.add(busy)
            if not self._registered:
                self._register()
                self._registered = True

    def discard(self, busy: Busy) -> None:
        """No longer wait for this one."""
        with self._lock:
            self._busy.discard(busy)

    def _register(self) -> None:
        atexit.register(self._finish)
        if multiprocessing.parent_process() is not None:  # such a process ends without atexit, but with this
            multiprocessing.util.Finalize(None, self._finish, exitpriority=100)

    def _finish(self) -> None:
        """First nobody accepts anything more, then all deliver."""
        with self._lock:
            busy = list(self._busy)
        for one in busy:
            one.close()
        for one in busy:
            one.finish()


exits = Exits()
