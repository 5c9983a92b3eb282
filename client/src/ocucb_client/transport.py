"""Sending calls from threads: once, or until they are answered."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Generator, Iterable, Iterator
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
from ocucb_client.errors import ClientError, ClosedError, forked
from ocucb_client.retries import RetryState

T = TypeVar("T")


class Transport:
    """Connections to the service, shared by all threads of a process."""

    def __init__(self, config: Config) -> None:
        self._config, self._http, self._process = config, httpx.Client(**config.httpx_options()), os.getpid()

    def send(self, call: Call[T]) -> T:
        """Return the answer, after as many attempts as are allowed and of use."""
        retries, request_id = RetryState(self._config, call.repeatable), new_request_id()
        while True:
            try:
                return self._send_once(call, retries.attempt_deadline(), request_id)
            except ClientError as problem:
                time.sleep(retries.delay_or_raise(problem))

    def send_once(self, call: Call[T]) -> T:
        """Return the answer to one attempt."""
        return self._send_once(call, time.monotonic() + self._config.attempt_timeout, new_request_id())

    def stream(self, call: Call[T]) -> Generator[T, None, None]:
        """Read an answer that is a stream, line by line, in one attempt."""
        lines = LineSplitter()
        with self._open_response(call, timeout_per_step(self._config), new_request_id()) as response:
            if not response.is_success:
                check_status(response, response.read())
            for chunk in response.iter_bytes():
                for line in lines.feed(chunk):
                    yield decode_line(call, line, response)
            for line in lines.rest():
                yield decode_line(call, line, response)

    def close(self) -> None:
        """Close all connections; those of a parent process are left to it."""
        if self._process == os.getpid():
            self._http.close()

    def _send_once(self, call: Call[T], deadline: float, request_id: str) -> T:
        with self._open_response(call, RemainingTime(deadline), request_id) as response:
            body = b"".join(_read_until(deadline, response.iter_bytes()))
        return decode_answer(call, response, body)

    @contextlib.contextmanager
    def _open_response(self, call: Call[T], timeouts: dict[str, Any], request_id: str) -> Iterator[httpx.Response]:
        """Send a request, and yield its response before the body is read."""
        check_usable(self._http.is_closed, self._process)
        request = self._http.build_request(**encode_request(call, request_id), extensions={"timeout": timeouts})
        try:
            response = self._http.send(request, stream=True)
            with contextlib.closing(response):
                yield response
        except httpx.HTTPError as problem:
            raise error_without_answer(problem, self._config.url, request_id) from problem


class RemainingTime(dict[str, float]):
    """Timeouts for one attempt as httpx asks for them: whatever the step, what is left until the deadline."""

    def __init__(self, deadline: float) -> None:
        super().__init__()
        self._deadline = deadline

    def get(self, key: str, default: Any = None) -> Any:
        return max(0.001, self._deadline - time.monotonic())


def timeout_per_step(config: Config) -> dict[str, Any]:
    """Return the timeouts of a stream, which may take for ever as long as something comes."""
    return httpx.Timeout(config.attempt_timeout).as_dict()


def _read_until(deadline: float, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Pass chunks on until the deadline; a server that sends a byte now and then must not hold a caller for ever."""
    for chunk in chunks:
        yield chunk
        if time.monotonic() > deadline:
            raise httpx.ReadTimeout("the answer takes too long")


def check_usable(closed: bool, process: int) -> None:
    """Refuse to use a client that was closed, or connections that belong to a parent process."""
    if closed:
        raise ClosedError("the client is closed; make a new one", code="closed")
    if process != os.getpid():
        raise forked()


def new_request_id() -> str:
    """Return a random id, by which the service's log knows a request."""
    return secrets.token_hex(8)
