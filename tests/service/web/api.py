"""The API on a real socket, in a thread of the test, so that a test can also look behind it."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import uvicorn

from ocucb.service.access import Access
from ocucb.service.connections import Connection
from ocucb.service.engine import Engine, Limits
from ocucb.service.node_directory import NodeDirectory
from ocucb.service.records import Clock, utc_now
from ocucb.service.replay import replay
from ocucb.service.settings import Settings
from ocucb.service.stores import Store
from ocucb.service.stores.dialects import Timeouts
from ocucb.service.web.app import build_app
from ocucb.service.web.app_state import Service
from ocucb.service.web.tracing import Tracing
from service.helpers import PATIENCE, PATIENT, QUIET, wait_until
from service.server import NO_TLS

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Api:
    """A node that serves HTTP. `admin` is the key of somebody who may everything."""

    def __init__(
        self,
        address: str,
        now: Clock = utc_now,
        limits: Limits = QUIET,
        timeouts: Timeouts = PATIENT,
        advertised: bool = False,
        tracing: Tracing | None = None,
        **settings: Any,
    ) -> None:
        self.store = Store(address, timeouts)
        self.store.migrate()
        self.access = Access(self.store, now)
        self.engine = Engine(self.store, now, limits, self.access).start()
        self.settings = Settings(**{"request_timeout": PATIENCE, **settings})
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.directory = NodeDirectory(self.store, self.url).start() if advertised else None
        self.app = build_app(Service(self.settings, self.store, self.engine, self.access, self.directory, tracing))
        self.admin = self.access.make("tests", ["admin"])[1]
        config = uvicorn.Config(self.app, http=Connection, ws="none", lifespan="on", log_config=None, access_log=False)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._listener],))
        self._thread.start()
        wait_until(lambda: self._server.started, "the server starts")
        self._clients = contextlib.ExitStack()
        self.http = self.client(self.admin)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, key: str | None = None) -> httpx.Client:
        """Return a client that sends a key with all it asks."""
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        client = httpx.Client(base_url=self.url, headers=headers, timeout=PATIENCE, trust_env=False, verify=NO_TLS)
        return self._clients.enter_context(client)

    def key(self, *roles: str, experiments: list[str] | None = None) -> str:
        """Return a new key."""
        return self.access.make("a test", roles, experiments)[1]

    def create(self, name: str = "colours", **what: Any) -> None:
        body = {"name": name, "arms": ["red", "green", "blue"], "seed": 1, **what}
        assert self.http.post("/v1/experiments", json=body).status_code == 201

    def decide(self, name: str = "colours", **what: Any) -> dict[str, Any]:
        answer = self.http.post(f"/v1/experiments/{name}/decisions", json=what)
        assert answer.status_code == 200, answer.text
        made: dict[str, Any] = answer.json()["decisions"][0]
        return made

    def reward(self, decision: str, reward: float) -> httpx.Response:
        return self.http.post("/v1/rewards", json={"decision": decision, "reward": reward})

    def verify(self, name: str = "colours") -> None:
        """Check that the server works, and that the log is what the policy makes of it."""
        self.decide(name)
        replayed = replay(self.store, name)
        assert replayed.verified, replayed.problem

    @contextlib.contextmanager
    def raw(self) -> Iterator[socket.socket]:
        """Open a bare connection."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as connection:
            yield connection

    def close(self) -> None:
        self._clients.close()
        self._server.should_exit = True
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        self._listener.close()
        if self.directory is not None:
            self.directory.close()
        self.engine.close()
        self.store.close()


def check_error(answer: httpx.Response, status: int, code: str | None = None) -> dict[str, Any]:
    """Check that an answer is an error of the one shape; return what is in it."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert list(body) == ["error"]
    error: dict[str, Any] = body["error"]
    assert {"code", "message", "request_id"} <= set(error) <= {"code", "message", "request_id", "details"}
    assert all(isinstance(error[name], str) and error[name] for name in ("code", "message", "request_id"))
    assert error["request_id"] == answer.headers["x-request-id"]
    assert REQUEST_ID.fullmatch(error["request_id"])
    for detail in error.get("details", []):
        assert set(detail) == {"where", "message"}
    assert code is None or error["code"] == code, error
    return error
