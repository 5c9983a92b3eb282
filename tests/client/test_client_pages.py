"""What README and the pages show of the client is run as printed, against a real service."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from client.admin_queries import key_of
from ocucb_client import Client
from service.server import Server

ROOT = Path(__file__).parent.parent.parent
ADDRESS = "http://127.0.0.1:8000"


def client_blocks(page: Path) -> list[str]:
    """The code of a page that needs a service; tests/test_docs.py runs the rest."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [block for block in blocks if "ocucb_client" in block or "client." in block or "Client(" in block]


PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if client_blocks(page)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One service for all pages; after each of them its experiments are deleted."""
    with Server(tmp_path_factory.mktemp("service")) as opened:
        yield opened


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    """A client of a service that has one experiment, with a reward that is wrong."""
    with Client(server.url, key_of(server)) as opened:
        opened.create("landing page", ["a", "b"])
        opened.reward(opened.decide("landing page"), 1000.0)
        yield opened
        for experiment in list(opened.experiments()):
            opened.archive(experiment.name)
            opened.delete(experiment.name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_blocks_run_as_printed(page: Path, server: Server, client: Client, tmp_path: Path) -> None:
    """All blocks of the page that need a service, one after another; only its address is another."""
    code = "\n".join(client_blocks(page))
    assert f'"{ADDRESS}", os.environ["OCUCB_KEY"]' in code
    (tmp_path / "example.py").write_text(code.replace(ADDRESS, server.url), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "example.py"],
        cwd=tmp_path,
        env={**os.environ, "OCUCB_KEY": key_of(server)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for experiment in client.experiments():
        found = client.experiment(experiment.name)
        assert 0 < found.rewards <= found.decisions or experiment.name == "landing page"
