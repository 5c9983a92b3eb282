"""A proxy that makes faults: real sockets, and the service behind it does not know what its callers were told."""

from __future__ import annotations

import http.client
import random
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Fault:
    """What happens to one request.

    forward   it reaches the service
    status    the caller gets this status, with `headers` and `body`, instead of what the service answered
    cut       the connection is broken: "" not at all, "silent" before the answer, "torn" in the middle of it
    trickle   the answer comes a byte at a time, and never ends
    hang      there is no answer until the proxy is closed
    """

    forward: bool = True
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b"{}"
    cut: str = ""
    trickle: bool = False
    hang: bool = False


PASS = Fault()
DROPPED = Fault(forward=False, cut="silent")
CUT = Fault(cut="silent")
TORN = Fault(cut="torn")
BUSY = Fault(forward=False, status=503, headers={"Retry-After": "0"})
LIED = Fault(status=503)
HANGS = Fault(hang=True)
TRICKLES = Fault(trickle=True)


class Seen(NamedTuple):
    """A request that came, when, and what happened to it."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float
    fault: Fault


class Proxy:
    """Stands before a service. Faults come one by one from `faults`, then all from `always`, or by chance."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.faults: deque[Fault] = deque()
        self.always = PASS
        self.seen: list[Seen] = []
        self.closing = threading.Event()
        self._chance: tuple[random.Random, float, tuple[Fault, ...]] | None = None
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def be_flaky(self, seed: int, share: float, *faults: Fault) -> None:
        """Do one of these to a share of all requests."""
        self._chance = random.Random(seed), share, faults

    def heal(self) -> None:
        """Let everything pass again."""
        with self._lock:
            self._chance, self.always = None, PASS
            self.faults.clear()

    def next_fault(self) -> Fault:
        with self._lock:
            if self.faults:
                return self.faults.popleft()
            if self._chance is not None:
                draw, share, faults = self._chance
                return draw.choice(faults) if draw.random() < share else PASS
            return self.always

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 100

    def __init__(self, proxy: Proxy) -> None:
        self.proxy = proxy
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Callers may go at any time; nobody needs to know."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _serve(self) -> None:
        proxy = self.server.proxy
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = proxy.next_fault()
        proxy.seen.append(Seen(self.command, self.path, dict(self.headers), body, time.monotonic(), fault))
        answer = self._ask(proxy.upstream, body) if fault.forward else (fault.status or 503, {}, b"")
        if fault.status is not None:
            answer = fault.status, dict(fault.headers), fault.body
        if fault.hang:
            proxy.closing.wait()
        if answer is None or fault.hang or fault.cut == "silent":
            self._break()
        else:
            self._answer(*answer, fault)

    do_GET = do_POST = do_DELETE = _serve  # noqa: N815  # the names that http.server looks for

    def _ask(self, upstream: str, body: bytes) -> tuple[int, dict[str, str], bytes] | None:
        """Return what the service answers; None if it is not there."""
        parts = urlsplit(upstream)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60.0)
        try:
            connection.request(self.command, self.path, body, dict(self.headers))
            response = connection.getresponse()
            return response.status, dict(response.headers), response.read()
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def _answer(self, status: int, headers: Mapping[str, str], body: bytes, fault: Fault) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(10**9 if fault.trickle else len(body)))
        self.end_headers()
        if fault.trickle:
            while not self.server.proxy.closing.wait(0.05):
                self.wfile.write(b" ")
        elif fault.cut == "torn":
            self.wfile.write(body[: len(body) // 2])
            self._break()
        else:
            self.wfile.write(body)

    def _break(self) -> None:
        """Break the connection, so that the caller sees it reset."""
        self.close_connection = True
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def log_message(self, *_: object) -> None:
        """Say nothing."""
