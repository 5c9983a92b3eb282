"""`ocucb serve` as a process of its own, with its output in files."""

from __future__ import annotations

import json
import os
import re
import signal
import ssl
import sys
import time
from pathlib import Path
from typing import Any

import httpx

from service import launcher

PATIENCE = launcher.PATIENCE
COMMAND = [sys.executable, "-W", "error", "-m", "ocucb.cli"]
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # servers here speak plain HTTP; to load certificates takes 40 ms


def environment(**more: str) -> dict[str, str]:
    """Return the environment, less what would set the service up, and more."""
    keep = {name: value for name, value in os.environ.items() if not name.startswith("OCUCB_")}
    return {**keep, **more}


class Server:
    """A running service in a folder, on a free port."""

    def __init__(self, folder: Path, *words: str, ready: bool = True, **variables: str) -> None:
        number = len(list(folder.glob("err.*")))
        self._out, self._err = folder / f"out.{number}", folder / f"err.{number}"
        command = ("serve", "--port", "0", *words)
        self.process = launcher.launch(command, folder, environment(**variables), self._out, self._err)
        if ready:
            self.wait_for(r"listens on http", "out")

    @property
    def out(self) -> str:
        return self._out.read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        return self._err.read_text(encoding="utf-8")

    @property
    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.err.splitlines()]

    @property
    def url(self) -> str:
        found = re.search(r"listens on (http://\S+)", self.out)
        assert found is not None, self.out
        return found[1]

    @property
    def key(self) -> str | None:
        found = re.search(r"ocucb_[a-z0-9]{12}_\S{43}", self.out)
        return None if found is None else found[0]

    def wait_for(self, pattern: str, where: str = "err") -> None:
        """Wait until something is printed."""
        end = time.monotonic() + PATIENCE
        while re.search(pattern, getattr(self, where)) is None:
            assert self.process.poll() is None, f"it ended with {self.process.returncode}: {self.err}"
            assert time.monotonic() < end, f"still waiting for {pattern!r}: {self.out} {self.err}"
            time.sleep(0.01)

    def ask(self, method: str, path: str, key: str | None, **more: Any) -> httpx.Response:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return httpx.request(method, self.url + path, headers=headers, timeout=PATIENCE, verify=NO_TLS, **more)

    def stop(self, sign: int = signal.SIGTERM) -> int:
        """End it by a signal, and return its exit code."""
        self.process.send_signal(sign)
        return self.process.wait(PATIENCE)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)
