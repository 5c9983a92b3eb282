"""The command, called in this process; in one of its own where that is the point."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import signal
import sqlite3
import subprocess
import termios
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest

from ocucb import cli
from service.server import environment

SMALL = ("--horizon", "300", "--runs", "20")
COMPARE_FILES = {"results.zarr", "experiment.toml", "table.csv", "regret.png", "regret.pdf", "report.html", ".made"}


class Done(NamedTuple):
    """What a command printed."""

    stdout: str
    stderr: str


def ocucb(*words: str, at: Path, code: int = 0, **variables: str) -> Done:
    """Call the command in this process, in a folder, with an environment that sets nothing up but what is given."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(at),
        mock.patch.dict(os.environ, environment(**variables), clear=True),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as left,
    ):
        cli.main(words)
    assert "Traceback" not in err.getvalue()
    assert left.value.code == code, err.getvalue()
    return Done(out.getvalue(), err.getvalue())


def error(*words: str, at: Path, **variables: str) -> str:
    """Return the one line that is said of an error, less its beginning."""
    done = ocucb(*words, at=at, code=2, **variables)
    assert done.stdout == ""
    found = re.fullmatch(r"ocucb: error: ([^\n]+)\n", done.stderr)
    assert found is not None, done.stderr
    return found[1]


def on_terminal(
    command: list[str], at: Path, interrupt: Callable[[bytes], bool] = lambda _: False
) -> tuple[int, str, str]:
    """Run a process on a terminal of 100 columns; return its exit code, its output and all the terminal showed.

    Ctrl-C is pressed as soon as `interrupt` says so of what is shown.
    """
    terminal, end = os.openpty()
    termios.tcsetwinsize(end, (40, 100))
    with subprocess.Popen(command, cwd=at, env=with_tests(), stdout=subprocess.PIPE, stderr=end, text=True) as child:
        os.close(end)
        shown, stopped = b"", False
        while True:
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # how Linux says that the other end is closed
                break
            if not stopped and interrupt(shown):
                child.send_signal(signal.SIGINT)
                stopped = True
        out, _ = child.communicate(timeout=60)
    os.close(terminal)
    return child.returncode, out, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())


def with_tests() -> dict[str, str]:
    """Return variables with which a process finds what stands in the folder of the tests."""
    paths = [str(Path(__file__).parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def lines(text: str) -> dict[str, list[str]]:
    """Return the lines of a printed table by their first word."""
    return {words[0]: words[1:] for words in map(str.split, text.splitlines()) if words}


def words_of(line: str) -> list[str]:
    """Return the words of a command line; what stands in brackets is one with the word before."""
    return re.findall(r"[^\s(]+(?:\([^)]*\)?)?", line)


def spoil(folder: Path, change: str) -> None:
    """Change the database of a service behind its back."""
    with contextlib.closing(sqlite3.connect(folder / "ocucb.db")) as database, database:
        database.execute(change)
