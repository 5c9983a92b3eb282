"""`ocucb serve --demo`. (What `ocucb serve` does is tested with the service.)"""

from __future__ import annotations

import re
import signal
import socket
import subprocess
from pathlib import Path

from cli.command import error
from ocucb_client import Client
from service.helpers import wait_until
from service.server import COMMAND, environment


def test_the_demo_moves(tmp_path: Path) -> None:
    """On another port, if its own is taken; Ctrl-C ends it, and leaves nothing."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = str(other.getsockname()[1])
        with (tmp_path / "out").open("wb") as out:
            child = subprocess.Popen(
                [*COMMAND, "serve", "--demo"],
                cwd=tmp_path,
                env=environment(OCUCB_PORT=taken, TMPDIR=str(tmp_path)),
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        try:
            wait_until(lambda: b"Ctrl-C ends the demo" in (tmp_path / "out").read_bytes(), "the demo to begin")
            text = (tmp_path / "out").read_text(encoding="utf-8")
            url, key = re.findall(r"^  (?:Open|Key) +(\S+)$", text, flags=re.MULTILINE)
            assert not url.endswith(f":{taken}")
            with Client(url, key) as client:
                wait_until(lambda: len(list(client.experiments())) == 2, "the experiments")
                for name, size in (("page layouts", 6), ("fifty headlines", 50)):
                    wait_for_pulls(client, name, 100)
                    assert len(list(client.arms(name))) == size
                client.pause("page layouts")
                wait_for_pulls(client, "fifty headlines", 20)
            child.send_signal(signal.SIGINT)
            assert child.wait(60) == 0
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
    assert (tmp_path / "out").read_text(
        encoding="utf-8"
    ) == f"{text}\nThe demo has ended, and its database is deleted.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def wait_for_pulls(client: Client, name: str, more: int) -> None:
    def pulls() -> int:
        return sum(arm.statistics.pulls or 0 for arm in client.arms(name))

    before = pulls()
    wait_until(lambda: pulls() > before + more, f"{more} decisions of {name}")


def test_the_demo_has_a_database_of_its_own(tmp_path: Path) -> None:
    line = error("serve", "--demo", "--database", "sqlite:///x.db", at=tmp_path)
    assert line == "--demo makes a database of its own, got --database too; leave out one of the two"
