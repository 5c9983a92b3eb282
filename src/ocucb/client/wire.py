"""Sending calls: once, or until they are answered. The twins differ in how they wait, and in nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from typing import Any, TypeVar

import httpx

from ocucb.client.attempts import Attempts
from ocucb.client.calls import Call
from ocucb.client.errors import ClientError, ClosedError
from ocucb.client.exchange import (
    Lines,
    Remaining,
    Setup,
    check_status,
    in_time,
    no_answer,
    read_answer,
    read_line,
    request_for,
)

T = TypeVar("T")

_GRACE = 0.1  # what a step of httpx has to notice by itself that its time is over


class Wire:
    """Connections to the service, shared by all threads of a process."""

    def __init__(self, setup: Setup) -> None:
        self._setup, self._http, self._process = setup, httpx.Client(**setup.options()), os.getpid()

    def send(self, call: Call[T]) -> T:
        """Return the answer, after as many attempts as are allowed and of use."""
        attempts, request_id = Attempts(self._setup, call.repeatable), _new_id()
        while True:
            try:
                return self._attempt(call, attempts.end, request_id)
            except ClientError as problem:
                time.sleep(attempts.pause(problem))

    def attempt(self, call: Call[T]) -> T:
        """Return the answer to one attempt."""
        return self._attempt(call, time.monotonic() + self._setup.patience, _new_id())

    def lines(self, call: Call[T]) -> Generator[T, None, None]:
        """Read an answer that is a stream, line by line, in one attempt."""
        lines = Lines()
        with self._exchange(call, httpx.Timeout(self._setup.patience).as_dict(), _new_id()) as response:
            if not response.is_success:
                check_status(response, response.read())
            for chunk in response.iter_bytes():
                for line in lines.feed(chunk):
                    yield read_line(call, line, response)
            for line in lines.end():
                yield read_line(call, line, response)

    def close(self) -> None:
        """Let go of all connections; those of a parent process are left to it."""
        if self._process == os.getpid():
            self._http.close()

    def _attempt(self, call: Call[T], end: float, request_id: str) -> T:
        with self._exchange(call, Remaining(end), request_id) as response:
            body = b"".join(in_time(response.iter_bytes(), end))
        return read_answer(call, response, body)

    @contextlib.contextmanager
    def _exchange(self, call: Call[T], timeouts: dict[str, Any], request_id: str) -> Iterator[httpx.Response]:
        check_open(self._http.is_closed, self._process)
        request = self._http.build_request(**request_for(call, request_id), extensions={"timeout": timeouts})
        try:
            response = self._http.send(request, stream=True)
            with contextlib.closing(response):
                yield response
        except httpx.HTTPError as problem:
            raise no_answer(problem, self._setup.url, request_id) from problem


class AsyncWire:
    """Connections to the service, used by the tasks of one event loop."""

    def __init__(self, setup: Setup) -> None:
        self._setup, self._http, self._process = setup, httpx.AsyncClient(**setup.options()), os.getpid()

    async def send(self, call: Call[T]) -> T:
        """Return the answer, after as many attempts as are allowed and of use."""
        attempts, request_id = Attempts(self._setup, call.repeatable), _new_id()
        while True:
            try:
                return await self._attempt(call, attempts.end, request_id)
            except ClientError as problem:
                await asyncio.sleep(attempts.pause(problem))

    async def lines(self, call: Call[T]) -> AsyncGenerator[T, None]:
        """Read an answer that is a stream, line by line, in one attempt."""
        lines = Lines()
        async with self._exchange(call, httpx.Timeout(self._setup.patience).as_dict(), _new_id()) as response:
            if not response.is_success:
                check_status(response, await response.aread())
            async for chunk in response.aiter_bytes():
                for line in lines.feed(chunk):
                    yield read_line(call, line, response)
            for line in lines.end():
                yield read_line(call, line, response)

    async def close(self) -> None:
        """Let go of all connections; those of a parent process are left to it."""
        if self._process == os.getpid():
            await self._http.aclose()

    async def _attempt(self, call: Call[T], end: float, request_id: str) -> T:
        async with self._exchange(call, Remaining(end), request_id) as response:
            try:
                async with asyncio.timeout(end - time.monotonic() + _GRACE):
                    body = await response.aread()
            except TimeoutError:
                raise httpx.ReadTimeout("the answer takes too long") from None
        return read_answer(call, response, body)

    @contextlib.asynccontextmanager
    async def _exchange(
        self, call: Call[T], timeouts: dict[str, Any], request_id: str
    ) -> AsyncIterator[httpx.Response]:
        check_open(self._http.is_closed, self._process)
        request = self._http.build_request(**request_for(call, request_id), extensions={"timeout": timeouts})
        try:
            response = await self._http.send(request, stream=True)
            async with contextlib.aclosing(response):
                yield response
        except httpx.HTTPError as problem:
            raise no_answer(problem, self._setup.url, request_id) from problem


def check_open(closed: bool, process: int) -> None:
    """Refuse to use a client that was closed, or connections that belong to a parent process."""
    if closed:
        raise ClosedError("the client is closed; make a new one", code="closed")
    if process != os.getpid():
        raise ClosedError("this client was made by the parent process; make a new one after a fork", code="forked")


def _new_id() -> str:
    return secrets.token_hex(8)
