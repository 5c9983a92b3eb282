"""The end of Python: whoever still has something to deliver is waited for."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from typing import Protocol


class Finishable(Protocol):
    """What may have something left to do when Python ends."""

    def close(self) -> None:
        """Accept nothing more."""

    def finish(self) -> None:
        """Do what is left, in whatever time it takes."""


class Shutdown:
    """Whom to wait for. Each process has its own list: a child of a fork leaves those of its parent to it."""

    def __init__(self) -> None:
        self._reset()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._unfinished: set[Finishable] = set()
        self._registered = False

    def add(self, one: Finishable) -> None:
        """Wait for this one, too."""
        with self._lock:
            self._unfinished.add(one)
            if not self._registered:
                self._register()
                self._registered = True

    def discard(self, one: Finishable) -> None:
        """No longer wait for this one."""
        with self._lock:
            self._unfinished.discard(one)

    def _register(self) -> None:
        atexit.register(self._finish_all)
        if "multiprocessing" in sys.modules:  # it is slow to import, and a process of its own has it
            import multiprocessing.util  # noqa: PLC0415

            if multiprocessing.parent_process() is not None:  # such a process ends without atexit, but with this
                multiprocessing.util.Finalize(None, self._finish_all, exitpriority=100)

    def _finish_all(self) -> None:
        """First nobody accepts anything more, then all deliver."""
        with self._lock:
            unfinished = list(self._unfinished)
        for one in unfinished:
            one.close()
        for one in unfinished:
            one.finish()


shutdown = Shutdown()
