"""Sending calls from an event loop: `Transport`, awaited. Apart from it, as asyncio is as slow to import as httpx."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, TypeVar

import httpx

from ocucb_client.calls import Call
from ocucb_client.codec import (
    LineSplitter,
    check_status,
    decode_answer,
    decode_line,
    encode_request,
    error_without_answer,
)
from ocucb_client.config import Config
from ocucb_client.errors import ClientError
from ocucb_client.retries import RetryState
from ocucb_client.transport import RemainingTime, check_usable, new_request_id, timeout_per_step

T = TypeVar("T")

_GRACE = 0.1  # what a step of httpx has to notice by itself that its time is over


class AsyncTransport:
    """Connections to the service, used by the tasks of one event loop."""

    def __init__(self, config: Config) -> None:
        self._config, self._http, self._process = config, httpx.AsyncClient(**config.httpx_options()), os.getpid()

    async def send(self, call: Call[T]) -> T:
        """Return the answer, after as many attempts as are allowed and of use."""
        retries, request_id = RetryState(self._config, call.repeatable), new_request_id()
        while True:
            try:
                return await self._send_once(call, retries.attempt_deadline(), request_id)
            except ClientError as problem:
                await asyncio.sleep(retries.delay_or_raise(problem))

    async def stream(self, call: Call[T]) -> AsyncGenerator[T, None]:
        """Read an answer that is a stream, line by line, in one attempt."""
        lines = LineSplitter()
        async with self._open_response(call, timeout_per_step(self._config), new_request_id()) as response:
            if not response.is_success:
                check_status(response, await response.aread())
            async for chunk in response.aiter_bytes():
                for line in lines.feed(chunk):
                    yield decode_line(call, line, response)
            for line in lines.rest():
                yield decode_line(call, line, response)

    async def close(self) -> None:
        """Close all connections; those of a parent process are left to it."""
        if self._process == os.getpid():
            await self._http.aclose()

    async def _send_once(self, call: Call[T], deadline: float, request_id: str) -> T:
        async with self._open_response(call, RemainingTime(deadline), request_id) as response:
            try:
                async with asyncio.timeout(deadline - time.monotonic() + _GRACE):
                    body = await response.aread()
            except TimeoutError:
                raise httpx.ReadTimeout("the answer takes too long") from None
        return decode_answer(call, response, body)

    @contextlib.asynccontextmanager
    async def _open_response(
        self, call: Call[T], timeouts: dict[str, Any], request_id: str
    ) -> AsyncIterator[httpx.Response]:
        """Send a request, and yield its response before the body is read."""
        check_usable(self._http.is_closed, self._process)
        request = self._http.build_request(**encode_request(call, request_id), extensions={"timeout": timeouts})
        try:
            response = await self._http.send(request, stream=True)
            async with contextlib.aclosing(response):
                yield response
        except httpx.HTTPError as problem:
            raise error_without_answer(problem, self._config.url, request_id) from problem
