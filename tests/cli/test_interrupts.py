"""What Ctrl-C does to work on this machine, and on others."""

from __future__ import annotations

import os

import pytest

from ocucb.cli.interrupts import exit_if_local


@pytest.mark.parametrize(
    ("executor", "exits"),
    [
        (None, True),
        ("threads", True),
        ("processes:2", True),
        ("dask://host:8786", False),
        ("ray://local", False),
    ],
)
def test_only_work_of_this_machine_is_left_at_once(
    executor: str | None, exits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    exit_if_local(executor)
    assert codes == ([130] if exits else [])
