"""A real service on a real SQLite file, a proxy that makes faults, and both clients."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from client.admin_queries import key_of
from client.blocking import Blocking
from client.proxy import Proxy
from ocucb_client import Client
from service.server import Server

_names = (f"experiment {number}" for number in itertools.count(1))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service that all tests share; each has an experiment of its own."""
    with Server(tmp_path_factory.mktemp("service")) as started:
        yield started


@pytest.fixture(scope="session")
def admin(server: Server) -> Iterator[Client]:
    """A client without a proxy, to see what is true."""
    with Client(server.url, key_of(server), timeout=120.0, attempt_timeout=60.0) as client:
        yield client


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    with Proxy(server.url) as started:
        yield started


@pytest.fixture
def name(admin: Client) -> str:
    """An experiment of the test's own."""
    chosen = next(_names)
    admin.create(chosen, ["red", "green", "blue"], seed=1)
    return chosen


@pytest.fixture(params=["sync", "async"])
def make(request: pytest.FixtureRequest, server: Server, proxy: Proxy) -> Iterator[Callable[..., Any]]:
    """Make a client of one kind, and then of the other, that asks through the proxy."""
    made: list[Any] = []

    def make_client(**options: Any) -> Any:
        kind: Any = Client if request.param == "sync" else Blocking
        url, key = options.pop("url", proxy.url), options.pop("api_key", key_of(server))
        made.append(kind(url, key, **{"timeout": 120.0, "attempt_timeout": 60.0, **options}))
        return made[-1]

    yield make_client
    proxy.heal()
    for client in made:
        client.close(60.0)


@pytest.fixture
def client(make: Callable[..., Any]) -> Any:
    return make()
