"""What the README and the client's page show is run as printed, against a real service."""

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


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("service")) as server:
        yield server


@pytest.mark.parametrize("page", ["README.md", "docs/client.md", "docs/choices.md", "docs/memory.md"])
def test_python_blocks_run_as_printed(page: str, server: Server, tmp_path: Path) -> None:
    """All blocks of the page that need a service, one after another; only its address is another."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    code = "\n".join(block for block in blocks if page == "docs/client.md" or "ocucb_client" in block)
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
    with Client(server.url, key_of(server)) as client:
        for experiment in list(client.experiments()):
            found = client.experiment(experiment.name)
            assert 0 < found.rewards <= found.decisions
            client.archive(experiment.name)  # the next page may have one of the same name
            client.delete(experiment.name)
