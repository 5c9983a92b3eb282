"""How a call becomes a request, and what comes back an answer or an error. Nothing here sends or waits."""

from __future__ import annotations

import json
import math
import re
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx

from ocucb import __version__
from ocucb.checks import above, whole
from ocucb.client.calls import Call
from ocucb.client.errors import AnswerError, ClientError, UnavailableError, class_for
from ocucb.errors import ParameterError

T = TypeVar("T")

_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_IDLE = 4.0  # shorter than servers keep an idle connection, so that it is rarely closed while a request is on its way


@dataclass(frozen=True)
class Setup:
    """Where the service is and how long to wait for it; the key is only in `headers`, which nothing prints."""

    url: str
    timeout: float
    patience: float
    retries: int
    headers: Mapping[str, str] = field(repr=False)
    tls: ssl.SSLContext = field(repr=False, default_factory=httpx.create_ssl_context)

    def options(self) -> dict[str, Any]:
        """Return what an httpx client is made with."""
        limits = httpx.Limits(max_connections=100, max_keepalive_connections=100, keepalive_expiry=_IDLE)
        return {"base_url": self.url, "headers": self.headers, "limits": limits, "verify": self.tls}


def set_up(url: str, key: str, timeout: float, patience: float, retries: int) -> Setup:
    """Check what a client is made with. No message repeats the key."""
    if not isinstance(key, str) or not _PRINTABLE.fullmatch(key):
        raise ParameterError("key must be the text of an API key, ocucb_..., without spaces; got something else")
    return Setup(
        _clean_url(url),
        above("timeout", timeout, 0.0, "it is the seconds that a call may take, retries included"),
        above("patience", patience, 0.0, "it is the seconds to wait for one answer"),
        whole("retries", retries, 0, "0 for none"),
        {"Authorization": f"Bearer {key}", "User-Agent": f"ocucb/{__version__}", "Accept": "application/json"},
    )


def _clean_url(url: str) -> str:
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.query or parsed.fragment:
        raise ParameterError(f"url must be the address of the service, like http://127.0.0.1:8000, got {url!r}")
    if parsed.userinfo:
        raise ParameterError("url must have no user or password in it; the key is given apart")
    return str(parsed)


class Remaining(dict[str, float]):
    """Timeouts for one attempt as httpx asks for them: whatever the step, what is left until `end`."""

    def __init__(self, end: float) -> None:
        super().__init__()
        self._end = end

    def get(self, key: str, default: Any = None) -> Any:
        return max(0.001, self._end - time.monotonic())


def request_for(call: Call[T], request_id: str) -> dict[str, Any]:
    """Return the parts of the HTTP request, for httpx's `build_request`."""
    headers = {"X-Request-Id": request_id}
    if call.body is not None:
        headers["Content-Type"] = "application/json"
    if call.key is not None:
        headers["Idempotency-Key"] = call.key
    return {
        "method": call.method,
        "url": call.path,
        "params": dict(call.query) or None,
        "content": call.body,
        "headers": headers,
    }


def in_time(chunks: Iterable[bytes], end: float) -> Iterator[bytes]:
    """Pass chunks on until `end`; a server that sends a byte now and then must not hold a caller for ever."""
    for chunk in chunks:
        yield chunk
        if time.monotonic() > end:
            raise httpx.ReadTimeout("the answer takes too long")


def read_answer(call: Call[T], response: httpx.Response, body: bytes) -> T:
    """Return what the service answered, or raise the error it stands for."""
    check_status(response, body)
    if not body:
        return _understand(call, None, response)
    try:
        data = json.loads(body)
    except ValueError:
        raise _not_the_service(response) from None
    return _understand(call, data, response)


def read_line(call: Call[T], line: bytes, response: httpx.Response) -> T:
    """Return what one line of a stream says."""
    try:
        data = json.loads(line)
    except ValueError:
        raise _not_the_service(response) from None
    return _understand(call, data, response)


def _understand(call: Call[T], data: Any, response: httpx.Response) -> T:
    try:
        return call.read(data)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _not_the_service(response) from None


def check_status(response: httpx.Response, body: bytes) -> None:
    """Raise the error that the status stands for, unless it is 2xx."""
    status = response.status_code
    if 200 <= status < 300:
        return
    request_id = response.headers.get("X-Request-Id")
    kind = class_for(status)
    said = _error_in(body)
    if said is None and not issubclass(kind, UnavailableError):
        raise _not_the_service(response)
    code, message = said or ("unavailable", f"{response.url.host} answered {status}")
    problem = kind(message, code=code, status=status, request_id=request_id)
    if isinstance(problem, UnavailableError):
        problem.undone = status in (408, 429)
        problem.retry_after = _seconds(response.headers.get("Retry-After"))
    raise problem


def _error_in(body: bytes) -> tuple[str, str] | None:
    """Return the code and the message of the service's own error shape, if it is that."""
    try:
        error = json.loads(body)["error"]
        code, message = error["code"], error["message"]
        details = "".join(f"; {detail['where']}: {detail['message']}" for detail in error.get("details", ()))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return (code, message + details) if isinstance(code, str) and isinstance(message, str) else None


def _seconds(header: str | None) -> float | None:
    """Return the seconds that Retry-After asks to wait, from a number or a date."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            moment = parsedate_to_datetime(header)
        except ValueError:
            return None
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        seconds = (zoned - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


def no_answer(problem: httpx.HTTPError, url: str, request_id: str) -> ClientError:
    """Return the error for an exchange that ended without an answer."""
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


class Lines:
    """Cuts a stream of bytes into lines, at line feeds and nothing else."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that are whole now."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [line for line in lines if line.strip()]

    def end(self) -> list[bytes]:
        """Return what stands after the last line feed."""
        return [self._rest] if self._rest.strip() else []
