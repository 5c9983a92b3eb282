"""Snapshots in the making: a thread of its own writes them out, and the writer of the log stores them.

To write out many arms takes long, so the writer does not do it. To store takes the database's only lock, for which the
thread would have to compete with a busy writer, so the thread does not do that.
"""

from __future__ import annotations

import logging
import queue
import threading
from typing import Any, NamedTuple

from ocucb.service.errors import StoreError
from ocucb.service.fold import Live
from ocucb.service.lives import draw
from ocucb.service.stores import Store

logger = logging.getLogger(__name__)


class Picture(NamedTuple):
    """A state as text."""

    experiment: int
    seq: int
    digest: str
    text: str


class Pictures:
    """Takes states from the writer and gives them back as text; at most one of them is on its way."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._states: queue.Queue[tuple[int, dict[str, Any]] | None] = queue.Queue(1)
        self._drawn: queue.SimpleQueue[Picture] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="ocucb snapshots", daemon=True)

    def start(self) -> None:
        """Begin to draw."""
        self._thread.start()

    def offer(self, live: Live, least: int) -> None:
        """Take a state that has moved by so many entries, or by as many as it has arms; unless one is on its way."""
        if live.seq - live.saved >= max(least, len(live.known)) and self._states.empty() and self._drawn.empty():
            live.saved = live.seq
            self._states.put_nowait((live.id, live.to_dict()))

    def keep(self) -> None:
        """Store what is drawn. Only a cache: the service goes on without. Called by the writer."""
        while not self._drawn.empty():
            try:
                with self._store.write() as transaction:
                    transaction.add_snapshot(*self._drawn.get())
            except StoreError as problem:
                logger.warning("a snapshot was not kept: %s", problem.reason)

    def close(self) -> None:
        """Draw what was taken, and store it."""
        self._states.put(None)
        self._thread.join()
        self.keep()

    def _work(self) -> None:
        while (state := self._states.get()) is not None:
            try:
                self._drawn.put(Picture(state[0], *draw(state[1])))
            except Exception:
                logger.exception("a snapshot was not drawn")
