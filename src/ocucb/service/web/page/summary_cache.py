"""Summaries of experiments, shared by all viewers: to inspect many arms keeps the engine from its work for a while."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from ocucb.service.callers import LoopCaller
from ocucb.service.requests import Inspect
from ocucb.service.web.page.summary import ExperimentSummary

MIN_INTERVAL = 1.0
INTERVAL_PER_DURATION = 10.0
MAX_INTERVAL = 10.0
MAX_CACHED_SUMMARIES = 200
MAX_CACHED_ARMS = 500_000


class _Cached(NamedTuple):
    """A summary, or the task that makes it, which also tells for how many seconds it is fresh."""

    task: asyncio.Task[tuple[ExperimentSummary, float]]
    began: float


class SummaryCache:
    """The last summary of each experiment: a new one at most once a second, less often where it takes long.

    Whoever asks must have checked before that the experiment may be seen.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._cached: OrderedDict[tuple[str, bool], _Cached] = OrderedDict()

    async def get(self, caller: LoopCaller, name: str, arms: bool = True) -> ExperimentSummary:
        """Return an experiment as it was a moment ago at most. Without arms: what a list needs."""
        what = name, arms
        cached = self._cached.get(what)
        if cached is None or not self._is_fresh(cached):
            self._cached[what] = cached = _Cached(asyncio.create_task(self._ask(caller, name, arms)), self._now())
        self._cached.move_to_end(what)
        self._trim()
        summary, _ = await asyncio.shield(cached.task)
        return summary

    def forget(self, name: str) -> None:
        """Make a new one next time: somebody here has changed the experiment."""
        for arms in (True, False):
            self._cached.pop((name, arms), None)

    def interval(self, name: str) -> float:
        """Return after how many seconds it is worth asking again."""
        cached = self._cached.get((name, True))
        return MIN_INTERVAL if cached is None or not _has_summary(cached) else cached.task.result()[1]

    async def _ask(self, caller: LoopCaller, name: str, arms: bool) -> tuple[ExperimentSummary, float]:
        began = self._now()
        view = await caller.ask(Inspect(name, arms))
        summary = await asyncio.to_thread(ExperimentSummary, view)
        return summary, min(MAX_INTERVAL, max(MIN_INTERVAL, INTERVAL_PER_DURATION * (self._now() - began)))

    def _is_fresh(self, cached: _Cached) -> bool:
        if not cached.task.done():
            return True
        return _has_summary(cached) and self._now() < cached.began + cached.task.result()[1]

    def _trim(self) -> None:
        """Keep few enough, counted in experiments and in arms; the last is always cached."""
        arms = 0
        for number, (what, cached) in enumerate(reversed(list(self._cached.items()))):
            arms += cached.task.result()[0].size if _has_summary(cached) else 0
            old = cached.task.done() and self._now() > cached.began + 2.0 * MAX_INTERVAL
            if number and (number >= MAX_CACHED_SUMMARIES or arms > MAX_CACHED_ARMS or old):
                del self._cached[what]


def _has_summary(cached: _Cached) -> bool:
    return cached.task.done() and not cached.task.cancelled() and cached.task.exception() is None
