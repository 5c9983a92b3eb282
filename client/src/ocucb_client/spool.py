"""Background rewards in a file, so that those accepted survive the end of the process, however it comes.

The file is lines of JSON that are only ever appended: a reward with a number, or the numbers of rewards that are
settled. A mark that is lost costs nothing: the reward is sent again, and the service counts it once.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ocucb_client.errors import SpoolError

if sys.platform != "win32":
    import fcntl

logger = logging.getLogger("ocucb_client")

_HEAD = b'{"ocucb":"spool","version":1}\n'
_SMALLEST_LIMIT = 4_000_000


class SpooledReward(NamedTuple):
    """A reward in the file."""

    number: int
    decision: str
    value: float
    part: str | None = None

    def line(self) -> bytes:
        """Return it as it stands in the file."""
        part = {} if self.part is None else {"part": self.part}
        return _line({"number": self.number, "decision": self.decision, "reward": self.value, **part})


class Spool:
    """A file of rewards that one client appends to. Safe for many threads; one disk sync serves all who wait for it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._writing, self._syncing = threading.Lock(), threading.RLock()
        self._broken: OSError | None = None
        self._file = -1
        self._size = self._limit = self._written = self._synced = 0
        try:
            self._lock = _lock(self.path)
        except OSError as problem:
            raise _unusable(self.path, problem) from None
        try:
            self._pending = {item.number: item for item in _read(self.path)}
            self._number = max(self._pending, default=0)
            self._rewrite()
        except (OSError, SpoolError) as problem:
            self.close()
            raise (_unusable(self.path, problem) if isinstance(problem, OSError) else problem) from None

    def unsettled(self) -> list[SpooledReward]:
        """Return the rewards that are not settled, in the order in which they were accepted."""
        with self._writing:
            return list(self._pending.values())

    def append(self, decision: str, value: float, part: str | None = None) -> SpooledReward:
        """Write a reward; when this returns it is on the disk."""
        with self._writing:
            self._check()
            self._number += 1
            item = SpooledReward(self._number, decision, value, part)
            self._write(item.line())
            self._pending[item.number] = item
            self._written += 1
            mine = self._written
        try:
            self._sync(mine)
        except OSError as problem:
            self._broken = problem  # what a failed sync has left on the disk, no later one can tell
            self._pending.pop(item.number, None)
            raise _unusable(self.path, problem) from None
        return item

    def settle(self, numbers: Iterable[int]) -> None:
        """Mark rewards as settled. If the mark cannot be written they are sent again at the next start."""
        settled = list(numbers)
        with self._syncing, self._writing:
            for number in settled:
                self._pending.pop(number, None)
            try:
                self._check()
                self._write(_line({"settled": settled}))
                if self._size > self._limit:
                    self._rewrite()
            except (OSError, SpoolError) as problem:
                logger.warning("the spool %s is not up to date: %s", self.path, problem)

    def close(self) -> None:
        """Let go of the file."""
        with self._syncing, self._writing:
            for file in (self._file, self._lock):
                if file >= 0:
                    os.close(file)
            self._file = self._lock = -1

    def _check(self) -> None:
        if self._broken is not None:
            raise _unusable(self.path, self._broken)
        if self._file < 0:
            raise SpoolError(f"the spool {self.path} is closed", code="spool")

    def _write(self, line: bytes) -> None:
        """Append a line, or nothing of it."""
        try:
            if os.write(self._file, line) != len(line):
                raise OSError("no room for a whole line")
        except OSError as problem:
            try:
                os.ftruncate(self._file, self._size)
            except OSError:
                self._broken = problem
            raise _unusable(self.path, problem) from None
        self._size += len(line)

    def _sync(self, mine: int) -> None:
        with self._syncing:
            if self._synced < mine:
                goal = self._written
                os.fsync(self._file)
                self._synced = goal

    def _rewrite(self) -> None:
        """Replace the file by one that has only what is not settled."""
        text = _HEAD + b"".join(item.line() for item in self._pending.values())
        new = self.path.with_name(f"{self.path.name}.new")
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        try:
            with os.fdopen(file, "wb", closefd=False) as stream:
                stream.write(text)
            os.fsync(file)
            os.replace(new, self.path)
        except OSError:
            os.close(file)
            raise
        file, self._file = self._file, file
        if file >= 0:
            os.close(file)
        self._size, self._synced, self._limit = len(text), self._written, max(_SMALLEST_LIMIT, 2 * len(text))
        try:
            _sync_folder(self.path.parent)
        except OSError as problem:  # after a power cut the old file might be there again
            self._broken = problem
            raise


def _read(path: Path) -> list[SpooledReward]:
    """Return what an earlier client has left unsettled. A last line that is not whole was never accepted."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return []
    if text and not text.startswith(_HEAD):
        raise SpoolError(f"{path} is not a spool of this version; choose another file", code="spool")
    pending: dict[int, SpooledReward] = {}
    damaged = []
    for line in text[len(_HEAD) :].split(b"\n")[:-1]:
        try:
            data = json.loads(line)
            if "settled" in data:
                for number in data["settled"]:
                    pending.pop(number, None)
            else:
                part = None if data.get("part") is None else str(data["part"])
                item = SpooledReward(int(data["number"]), str(data["decision"]), float(data["reward"]), part)
                pending[item.number] = item
        except (ValueError, KeyError, TypeError):
            damaged.append(line)
    if damaged:
        aside = path.with_name(f"{path.name}.damaged")
        with aside.open("ab") as stream:
            stream.writelines(line + b"\n" for line in damaged)
        logger.error("%d lines of the spool %s cannot be read; they were put into %s", len(damaged), path, aside)
    return list(pending.values())


def _lock(path: Path) -> int:
    """Make sure that nobody else uses the file, as far as the system can."""
    file = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            raise SpoolError(f"the spool {path} is in use by another client; give each its own", code="spool") from None
    return file


def _sync_folder(folder: Path) -> None:
    if sys.platform != "win32":
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def _line(data: dict[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"


def _unusable(path: Path, problem: OSError) -> SpoolError:
    return SpoolError(f"the spool {path} cannot be used: {problem.strerror or problem}", code="spool")
