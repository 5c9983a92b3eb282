"""The database that a command is told to open, and what it says of one that it cannot."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from pathlib import Path

import pytest

from cli.command import error, ocucb, spoil


@pytest.mark.parametrize("words", [["replay", "--all"], ["keys", "list"], ["keys", "revoke", "abc"]])
def test_a_database_that_is_none(words: list[str], tmp_path: Path) -> None:
    absent = "there is no database sqlite:///ocucb.db; name that of a service with --database"
    assert error(*words, at=tmp_path) == absent
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "ocucb.db").touch()
    assert error(*words, at=tmp_path) == absent
    assert (tmp_path / "ocucb.db").stat().st_size == 0
    (tmp_path / "ocucb.db").write_text("my notes\n" * 1000, encoding="utf-8")
    assert error(*words, at=tmp_path).startswith(
        "the database sqlite:///ocucb.db cannot be used: file is not a database;"
    )
    (tmp_path / "ocucb.db").unlink()
    spoil(tmp_path, "CREATE TABLE other (a)")
    assert error(*words, at=tmp_path).startswith("the database has schema none, but this ocucb needs 0")
    far = f"postgresql://me:hunter2@/name?host={tmp_path}/absent"
    assert error(*words, at=tmp_path, OCUCB_DATABASE=far).startswith(
        f"the database postgresql://me:***@/name?host={tmp_path}/absent cannot be used: "
    )


def test_a_database_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a disk that is mounted to be read only: SQLite says no more than that it cannot open it."""
    (tmp_path / "ocucb.db").write_text("no database" * 100, encoding="utf-8")
    monkeypatch.setattr(os, "access", lambda *_: False)  # whoever runs the tests as root may write everywhere
    assert error("keys", "list", at=tmp_path).endswith("; the file and its folder must be writable, also to read it")


def test_a_command_waits_for_its_turn(folder: Path) -> None:
    """For longer than a node would: a service that writes all the time seldom leaves SQLite's lock to others."""
    with contextlib.closing(sqlite3.connect(folder / "ocucb.db", check_same_thread=False)) as database:
        database.execute("BEGIN IMMEDIATE")
        end = threading.Timer(2.5, database.rollback)
        end.start()
        assert ocucb("keys", "make", "--name", "late", "--role", "read", at=folder).stdout
        end.join()
