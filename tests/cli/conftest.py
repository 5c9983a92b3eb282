"""One finished run, and one service's database, for many tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.command import SMALL, Done, ocucb
from ocucb.service.access import Access
from ocucb.service.requests import RetireArm
from service.helpers import Node


@pytest.fixture(scope="session")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """Return the folder where `ocucb compare` ran, small, and what it said."""
    at = tmp_path_factory.mktemp("compared")
    return at, ocucb("compare", *SMALL, at=at)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with the database of a service in it: two experiments, and a first key."""
    node = Node(f"sqlite:///{tmp_path / 'ocucb.db'}")
    try:
        Access(node.store).make_first_key()
        for name in ("colours", "sizes"):
            node.create(name)
            node.play(20, name)
        node.decide("colours")
        node.ask(RetireArm("colours", "blue"))
        yield tmp_path
    finally:
        node.close()
