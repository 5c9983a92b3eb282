"""Keeps the API keys in memory up to date, with as few looks at the database as will do."""

from __future__ import annotations

import asyncio
import time

from ocucb.service.access import Access


class KeyRefresher:
    """Refreshes the keys in a thread: one look at a time, `interval` seconds apart, shared by all who wait for it.

    Nobody shares a look that began before they asked: it may have seen too little.
    """

    def __init__(self, access: Access, interval: float) -> None:
        self._access, self._interval = access, interval
        self._turn = asyncio.Lock()
        self._next: asyncio.Task[None] | None = None
        self._began = -interval

    async def __call__(self) -> None:
        """Return when the keys are as they were when this was called, or later."""
        if self._next is None:
            self._next = asyncio.create_task(self._refresh())
        await asyncio.shield(self._next)

    async def _refresh(self) -> None:
        async with self._turn:
            await asyncio.sleep(max(0.0, self._began + self._interval - time.monotonic()))
            self._next, self._began = None, time.monotonic()
            await asyncio.to_thread(self._access.refresh)
