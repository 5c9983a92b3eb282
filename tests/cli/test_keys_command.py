"""`ocucb keys`, as an operator uses it on the database of a service."""

from __future__ import annotations

import re
from pathlib import Path

from cli.command import error, ocucb
from ocucb.service.access import Access
from ocucb.service.stores import Store


def test_keys(folder: Path) -> None:
    made = ocucb(
        "keys", "make", "--name", "the [web] shop", "--role", "decide", "--role", "reward", "--experiment", "colours",
        at=folder,
    )  # fmt: skip
    text = made.stdout.strip()
    store = Store(f"sqlite:///{folder / 'ocucb.db'}")
    try:
        access = Access(store)
        key = access.identify(text)
        assert key is not None
        assert (key.name, key.roles, key.experiments) == (
            "the [web] shop",
            frozenset({"decide", "reward"}),
            frozenset({"colours"}),
        )
        assert made.stderr == f"made key {key.id}, 'the [web] shop', shown only this once:\n"
        shown = ocucb("keys", "list", at=folder).stdout
        (line,) = [line for line in shown.splitlines() if line.startswith(key.id)]
        assert re.fullmatch(
            rf"{key.id} +the \[web\] shop +decide, reward +colours +\d{{4}}-\d\d-\d\d \d\d:\d\d UTC", line.rstrip()
        )
        assert re.search(r"^\w{12} +first +admin +all +\d{4}-\d\d-\d\d", shown, flags=re.MULTILINE)
        assert text.split("_", 2)[2] not in shown
        for _ in range(2):
            done = ocucb("keys", "revoke", key.id, at=folder)
            assert done.stdout == f"revoked key {key.id}, 'the [web] shop'\n"
        access.refresh()
        assert access.identify(text) is None
    finally:
        store.close()
    (line,) = [line for line in ocucb("keys", "list", at=folder).stdout.splitlines() if line.startswith(key.id)]
    assert line.count("UTC") == 2


def test_an_admin_key_for_whoever_lost_it(folder: Path) -> None:
    text = ocucb("keys", "make", "--name", "admin", "--role", "admin", at=folder).stdout.strip()
    store = Store(f"sqlite:///{folder / 'ocucb.db'}")
    try:
        key = Access(store).identify(text)
        assert key is not None
        assert key.may("admin")
    finally:
        store.close()


def test_keys_that_make_no_sense(folder: Path) -> None:
    make = ("keys", "make", "--name")
    assert "role must be one of 'admin', 'decide', 'reward', 'correct', 'read', got 'all'" in error(
        *make, "x", "--role", "all", at=folder
    )
    assert "--role requires an argument" in error(*make, "x", at=folder)
    assert "the name of a key must be text" in error(*make, "", "--role", "read", at=folder)
    assert "an admin key sees all experiments" in error(
        *make, "x", "--role", "admin", "--experiment", "colours", at=folder
    )
    assert "nobody" in error("keys", "revoke", "nobody", at=folder)
    assert 'Unknown command "mke". Did you mean "make"?' in error("keys", "mke", at=folder)
