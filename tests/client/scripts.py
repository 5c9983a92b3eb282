"""Programs of users, run as processes of their own, to see what is left when they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path

from client.admin_queries import PATIENCE

TOP = """
import asyncio, os, signal, sys, time
from pathlib import Path
from ocucb_client import AsyncClient, Client
url, key, decisions = os.environ["URL"], os.environ["KEY"], Path("decisions").read_text().split()
"""


class Script:
    """A program in a folder; `decisions` are the ids that it is to reward."""

    def __init__(self, folder: Path, code: str, url: str, key: str, decisions: list[str]) -> None:
        (folder / "decisions").write_text("\n".join(decisions))
        (folder / "script.py").write_text(TOP + textwrap.dedent(code))
        self._out, self._err = folder / "out", folder / "err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-W", "error", "-W", "ignore:This process:DeprecationWarning", "script.py"],
                cwd=folder,
                env={**os.environ, "URL": url, "KEY": key},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    @property
    def out(self) -> str:
        return self._out.read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        return self._err.read_text(encoding="utf-8")

    def wait_for(self, text: str, where: str = "out") -> None:
        """Wait until the program has said something."""
        end = time.monotonic() + PATIENCE
        while text not in getattr(self, where):
            assert self.process.poll() is None, f"it ended with {self.process.returncode}: {self.err}"
            assert time.monotonic() < end, f"still waiting for {text!r}: {self.out} {self.err}"
            time.sleep(0.02)

    def end(self) -> int:
        """Wait for its end, and return its exit code."""
        return self.process.wait(PATIENCE)

    def __enter__(self) -> Script:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)  # and whatever it has forked
        self.process.wait()
