"""How a call becomes an HTTP request, and a response an answer or an error. Nothing here sends or waits."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx

from ocucb_client.calls import Call
from ocucb_client.errors import AnswerError, ClientError, UnavailableError, error_class

T = TypeVar("T")

_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


def encode_request(call: Call[T], request_id: str) -> dict[str, Any]:
    """Return the parts of the HTTP request, for httpx's `build_request`."""
    headers = {"X-Request-Id": request_id}
    if call.body is not None:
        headers["Content-Type"] = "application/json"
    if call.idempotency_key is not None:
        headers["Idempotency-Key"] = call.idempotency_key
    return {
        "method": call.method,
        "url": call.path,
        "params": dict(call.query) or None,
        "content": call.body,
        "headers": headers,
    }


def decode_answer(call: Call[T], response: httpx.Response, body: bytes) -> T:
    """Return what the service answered, or raise the error it stands for."""
    check_status(response, body)
    return decode_line(call, body or b"null", response)


def decode_line(call: Call[T], line: bytes, response: httpx.Response) -> T:
    """Return what a whole answer, or one line of a stream, says."""
    try:
        return call.read(json.loads(line))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _not_the_service(response) from None


def check_status(response: httpx.Response, body: bytes) -> None:
    """Raise the error that the status stands for, unless it is 2xx."""
    status = response.status_code
    if 200 <= status < 300:
        return
    request_id = response.headers.get("X-Request-Id")
    kind = error_class(status)
    said = _decode_error(body)
    if said is None and not issubclass(kind, UnavailableError):
        raise _not_the_service(response)
    code, message = said or ("unavailable", f"{response.url.host} answered {status}")
    problem = kind(message, code=code, status=status, request_id=request_id)
    if isinstance(problem, UnavailableError):
        problem.undone = status in (408, 429)
        problem.retry_after = decode_retry_after(response.headers.get("Retry-After"))
    raise problem


def _decode_error(body: bytes) -> tuple[str, str] | None:
    """Return the code and the message of the service's own error shape, if it is that."""
    try:
        error = json.loads(body)["error"]
        code, message = error["code"], error["message"]
        details = "".join(f"; {detail['where']}: {detail['message']}" for detail in error.get("details", ()))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return (code, message + details) if isinstance(code, str) and isinstance(message, str) else None


def decode_retry_after(header: str | None) -> float | None:
    """Return the seconds that Retry-After asks to wait, from a number or a date."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            date = parsedate_to_datetime(header)
        except ValueError:
            return None
        zoned = date if date.tzinfo else date.replace(tzinfo=UTC)
        seconds = (zoned - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


def error_without_answer(problem: httpx.HTTPError, url: str, request_id: str) -> ClientError:
    """Return the error for a request that ended without an answer."""
    if not isinstance(problem, httpx.TransportError) or isinstance(
        problem, httpx.UnsupportedProtocol | httpx.LocalProtocolError
    ):
        return AnswerError(f"the exchange with {url} went wrong: {type(problem).__name__}", request_id=request_id)
    if isinstance(problem, httpx.TimeoutException):
        said = f"no answer in time from {url}"
    else:
        said = f"no answer from {url}: {str(problem) or type(problem).__name__}"
    error = UnavailableError(said, code="no-answer", request_id=request_id)
    error.undone = isinstance(problem, _NEVER_SENT)
    return error


def _not_the_service(response: httpx.Response) -> AnswerError:
    return AnswerError(
        f"the answer is not one of the service: {response.status_code} from {response.url.copy_with(query=None)}; "
        "check the address, and what stands between",
        code="not-understood",
        status=response.status_code,
        request_id=response.headers.get("X-Request-Id"),
    )


class LineSplitter:
    """Splits a stream of bytes into lines, at line feeds and nothing else."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that are whole now."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [line for line in lines if line.strip()]

    def rest(self) -> list[bytes]:
        """Return what stands after the last line feed, as one line if it is not blank."""
        return [self._rest] if self._rest.strip() else []
