"""An AsyncClient called like a Client, so that every test is a test of both."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Iterator
from types import TracebackType
from typing import Any

from ocucb_client import AsyncClient


class Blocking:
    """An AsyncClient in a loop of its own, called like a Client."""

    def __init__(self, url: str, key: str, **options: Any) -> None:
        self.twin = AsyncClient(url, key, **options)
        self._loop = asyncio.new_event_loop()

    def __repr__(self) -> str:
        return repr(self.twin)

    def __getattr__(self, name: str) -> Any:
        if name == "twin":  # it could not be made
            raise AttributeError(name)
        found = getattr(self.twin, name)
        return self._wrap(found) if callable(found) else found

    def __enter__(self) -> Blocking:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self, timeout: float | None = None) -> None:
        if self._loop.is_closed():
            return
        try:
            self._run(self.twin.close(timeout))
        finally:
            self._run(self._loop.shutdown_asyncgens())
            self._run(self._loop.shutdown_default_executor())
            self._loop.close()

    def _run(self, awaitable: Any) -> Any:
        return self._loop.run_until_complete(awaitable)

    def _wrap(self, function: Any) -> Any:
        def call(*values: Any, **named: Any) -> Any:
            found = function(*values, **named)
            if inspect.isawaitable(found):
                return self._run(found)
            return self._each(found) if hasattr(found, "__anext__") else found

        return call

    def _each(self, items: AsyncGenerator[Any, None]) -> Iterator[Any]:
        try:
            while True:
                try:
                    yield self._run(items.__anext__())
                except StopAsyncIteration:
                    return
        finally:
            self._run(items.aclose())
