"""What a spool has left after a power cut: only what was synced, under the names that were synced."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ocucb_client import spool
from ocucb_client.spool import Spool

PATIENCE = 60.0


class Disk:
    """A folder, and what of it a power cut would leave: contents as of their last sync, names as of the folder's."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder.mkdir()
        self.folder = folder
        self.path = folder / "rewards.spool"
        self.during_sync: Callable[[], None] = lambda: None
        self._contents: dict[int, bytes] = {}
        self._names: dict[str, int] = {}
        self._real = os.fsync
        monkeypatch.setattr(os, "fsync", self._fsync)

    def _fsync(self, file: int) -> None:
        there = {path.name: path.stat().st_ino for path in self.folder.iterdir()}
        synced = os.fstat(file).st_ino
        if synced == self.folder.stat().st_ino:
            self._names = there
            self._contents = {inode: self._contents.get(inode, b"") for inode in there.values()}
        for name, inode in there.items():
            if synced == inode:
                self._contents[inode] = (self.folder / name).read_bytes()
        self._real(file)
        self.during_sync()

    def left(self) -> list[str]:
        """Return the decisions that the next client finds after a power cut now."""
        folder = self.folder.with_name("after the power cut")
        folder.mkdir(exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        for name, inode in self._names.items():
            (folder / name).write_bytes(self._contents.get(inode, b""))
        found = Spool(folder / self.path.name)
        try:
            return [item.decision for item in found.unsettled()]
        finally:
            found.close()


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(tmp_path / "disk", monkeypatch)


def test_what_was_accepted_is_left(disk: Disk) -> None:
    """From the first reward on: the file has its name on the disk before anything is accepted."""
    kept = Spool(disk.path)
    for place in range(3):
        kept.append(f"d{place}", 1.0)
        assert disk.left() == [f"d{number}" for number in range(place + 1)]
    kept.close()
    assert disk.left() == ["d0", "d1", "d2"]


def test_what_was_accepted_is_left_when_the_file_is_replaced(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "_SMALLEST_LIMIT", 300)
    kept = Spool(disk.path)
    kept.append("stays", 1.0)
    replaced = 0
    for place in range(20):
        item = kept.append(f"d{place}", 1.0)
        left = disk.left()
        assert (left[0], left[-1]) == ("stays", f"d{place}")
        size = disk.path.stat().st_size
        kept.settle([item.number])
        replaced += disk.path.stat().st_size < size
        assert disk.left()[0] == "stays"
    assert replaced > 2
    kept.close()


def test_what_an_earlier_client_left_is_left_again(disk: Disk) -> None:
    kept = Spool(disk.path)
    first = kept.append("d0", 1.0)
    kept.append("d1", 1.0)
    kept.settle([first.number])
    kept.close()
    kept = Spool(disk.path)
    assert disk.left() == ["d1"]
    kept.append("d2", 1.0)
    assert disk.left() == ["d1", "d2"]
    kept.close()


def test_a_reward_written_during_the_sync_of_another_gets_its_own(disk: Disk) -> None:
    kept = Spool(disk.path)
    second = threading.Thread(target=kept.append, args=("second", 1.0))

    def write_second() -> None:
        disk.during_sync = lambda: None
        second.start()
        end = time.monotonic() + PATIENCE
        while b"second" not in disk.path.read_bytes():
            assert time.monotonic() < end
            time.sleep(0.001)

    disk.during_sync = write_second
    kept.append("first", 1.0)
    second.join()
    assert disk.left() == ["first", "second"]
    kept.close()
