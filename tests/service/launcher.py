"""Starts `ocucb` as a fork of a process that has imported everything, launcher_process.py, and watches it.

A service takes seconds to import and its kernels to load, and tests start dozens of them.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

PATIENCE = 120.0  # compiling, once, on a busy machine
PROGRAM = str(Path(__file__).with_name("launcher_process.py"))
_LOCK = threading.Lock()


class Launched:
    """A command under way, as `subprocess.Popen` would show it."""

    def __init__(self, pid: int, code_file: Path) -> None:
        self.pid, self._code_file = pid, code_file
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        if self.returncode is None and self._code_file.exists():
            self.returncode = int(self._code_file.read_text(encoding="ascii"))
        return self.returncode

    def wait(self, timeout: float = PATIENCE) -> int:
        """Wait for the end, and return the exit code."""
        end = time.monotonic() + timeout
        try:
            watch = os.pidfd_open(self.pid)
        except ProcessLookupError:
            pass
        else:
            select.select([watch], [], [], timeout)
            os.close(watch)
        while (code := self.poll()) is None:
            assert time.monotonic() < end, f"process {self.pid} does not end"
            time.sleep(0.002)
        return code

    def send_signal(self, sign: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, sign)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


@cache
def _launcher() -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-W", "error", PROGRAM], stdin=-1, stdout=-1, text=True)
    atexit.register(_end, process)
    return process


def _end(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    process.wait(PATIENCE)
    process.stdout.close()


def launch(words: Sequence[str], folder: Path, environment: Mapping[str, str], out: Path, err: Path) -> Launched:
    """Run `ocucb WORDS` in a folder, with its output in files."""
    process, code_file = _launcher(), out.with_name(f"{out.name}.code")
    assert process.stdin is not None
    assert process.stdout is not None
    for file in (out, err):
        file.touch()  # so that it can be read at once
    files = {"folder": folder, "out": out, "err": err, "code": code_file}
    order = json.dumps({"words": words, "environment": dict(environment), **files}, default=str)
    with _LOCK:
        process.stdin.write(f"{order}\n")
        process.stdin.flush()
        return Launched(int(process.stdout.readline()), code_file)


def run(words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run `ocucb WORDS` in a folder to its end, and return what came of it."""
    with tempfile.TemporaryDirectory() as place:
        out, err = Path(place, "out"), Path(place, "err")
        code = launch(words, folder, environment, out, err).wait()
        said = out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8")
        return subprocess.CompletedProcess(words, code, *said)
