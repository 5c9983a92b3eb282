"""Servers for the tests of the API, all on real sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from service.web.api import Api


@pytest.fixture
def serve(sqlite: str) -> Iterator[Callable[..., Api]]:
    """Start servers, on one SQLite file unless told otherwise; all are closed at the end."""
    servers: list[Api] = []

    def make(address: str = sqlite, **what: Any) -> Api:
        servers.append(Api(address, **what))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


@pytest.fixture
def api(serve: Callable[..., Api]) -> Api:
    return serve()


@pytest.fixture
def both(serve: Callable[..., Api], address: str) -> Api:
    """A server on SQLite, and one on PostgreSQL."""
    return serve(address)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server with an experiment, for many small tests; at the end it works, and its log is right."""
    folder: Path = tmp_path_factory.mktemp("lasting")
    server = Api(f"sqlite:///{folder / 'service.db'}")
    server.create()
    yield server
    server.verify()
    server.close()
