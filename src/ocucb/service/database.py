"""How a process opens its database, and says in one line what keeps it from that."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path

from ocucb.service.errors import ServiceError, StoreError
from ocucb.service.settings import mask
from ocucb.service.stores import Store

WAIT = 10.0  # seconds that a PostgreSQL which is not there yet is waited for
PAUSE = 0.5
SQLITE = "sqlite:///"

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def serving(address: str) -> Iterator[Store]:
    """Open a database to serve from: make it if it is not there, and bring its schema up to date."""
    with _opened(address, "; choose another with --database") as store:
        if address.startswith(SQLITE):
            _make_private(_file(address))
        _migrate(store, time.monotonic() + (0.0 if address.startswith(SQLITE) else WAIT))
        yield store


@contextlib.contextmanager
def existing(address: str) -> Iterator[Store]:
    """Open a database that a service has made; make none, and change no schema."""
    if address.startswith(SQLITE) and (not _file(address).is_file() or _file(address).stat().st_size == 0):
        raise ServiceError(f"there is no database {mask(address)}; name that of a service with --database")
    with _opened(address, "; is it that of a service?") as store:
        store.check()
        yield store


@contextlib.contextmanager
def _opened(address: str, remedy: str) -> Iterator[Store]:
    store = Store(address)
    try:
        yield store
    except StoreError as problem:
        raise ServiceError(f"the database {mask(address)} cannot be used: {problem.reason}{remedy}") from None
    finally:
        store.close()


def _file(address: str) -> Path:
    return Path(address.removeprefix(SQLITE).partition("?")[0])


def _make_private(file: Path) -> None:
    """Make a file that only its owner can read, unless there is one; SQLite gives the files beside it the same."""
    with contextlib.suppress(OSError):  # SQLite will say what is wrong
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _migrate(store: Store, end: float) -> None:
    """Bring the schema up to date; a database on the network may need a moment to be there."""
    while True:
        try:
            store.migrate()
            return
        except StoreError as problem:
            if time.monotonic() >= end:
                raise
            logger.warning("the database is not there yet", extra={"fields": {"reason": problem.reason}})
            time.sleep(PAUSE)
