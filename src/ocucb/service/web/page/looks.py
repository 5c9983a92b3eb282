"""Looks at experiments, shared by all who watch: a look at many arms keeps the engine from its work for a while."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from ocucb.service.doors import LoopDoor
from ocucb.service.requests import Look
from ocucb.service.web.page.glance import Glance

PAUSE = 1.0
RATIO = 10.0
LONGEST_PAUSE = 10.0
MOST_KEPT = 200
MOST_ARMS = 500_000


class _Kept(NamedTuple):
    """A look: when it ends to be fresh is known when it is there."""

    task: asyncio.Task[tuple[Glance, float]]
    began: float


class Looks:
    """The last look at each experiment: at most one a second, and less often where looking takes long.

    Whoever asks must have checked before that the experiment may be seen.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._kept: OrderedDict[tuple[str, bool], _Kept] = OrderedDict()

    async def look(self, door: LoopDoor, name: str, arms: bool = True) -> Glance:
        """Return an experiment as it was a moment ago at most. Without arms: what a list needs."""
        what = name, arms
        kept = self._kept.get(what)
        if kept is None or not self._is_fresh(kept):
            self._kept[what] = kept = _Kept(asyncio.create_task(self._ask(door, name, arms)), self._now())
        self._kept.move_to_end(what)
        self._trim()
        glance, _ = await asyncio.shield(kept.task)
        return glance

    def forget(self, name: str) -> None:
        """Look again next time: somebody here has changed the experiment."""
        for arms in (True, False):
            self._kept.pop((name, arms), None)

    def pause(self, name: str) -> float:
        """Return after how many seconds it is worth asking again."""
        kept = self._kept.get((name, True))
        return PAUSE if kept is None or not _is_good(kept) else kept.task.result()[1]

    async def _ask(self, door: LoopDoor, name: str, arms: bool) -> tuple[Glance, float]:
        began = self._now()
        view = await door.ask(Look(name, arms))
        glance = await asyncio.to_thread(Glance, view)
        return glance, min(LONGEST_PAUSE, max(PAUSE, RATIO * (self._now() - began)))

    def _is_fresh(self, kept: _Kept) -> bool:
        if not kept.task.done():
            return True
        return _is_good(kept) and self._now() < kept.began + kept.task.result()[1]

    def _trim(self) -> None:
        """Keep few enough, counted in experiments and in arms; the last is always kept."""
        arms = 0
        for number, (what, kept) in enumerate(reversed(list(self._kept.items()))):
            arms += kept.task.result()[0].size if _is_good(kept) else 0
            old = kept.task.done() and self._now() > kept.began + 2.0 * LONGEST_PAUSE
            if number and (number >= MOST_KEPT or arms > MOST_ARMS or old):
                del self._kept[what]


def _is_good(kept: _Kept) -> bool:
    return kept.task.done() and not kept.task.cancelled() and kept.task.exception() is None
