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
from ocucb.service.stores.dialects import Timeouts

POSTGRESQL_WAIT = 10.0  # seconds that a PostgreSQL which does not answer yet is waited for
RETRY_INTERVAL = 0.5
SQLITE = "sqlite:///"
PATIENT = Timeouts(lock=60.0, statement=600.0)  # of a command, whose turn a busy service lets come seldom

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def open_or_create_store(address: str) -> Iterator[Store]:
    """Open a database to serve from: create it if there is none, and bring its schema up to date."""
    with _opened_store(address, "; choose another with --database") as store:
        if address.startswith(SQLITE):
            _create_private_file(_sqlite_file(address))
        _migrate(store, time.monotonic() + (0.0 if address.startswith(SQLITE) else POSTGRESQL_WAIT))
        yield store


@contextlib.contextmanager
def open_existing_store(address: str) -> Iterator[Store]:
    """Open a database that a service has created; create none, and change no schema."""
    if address.startswith(SQLITE) and (
        not _sqlite_file(address).is_file() or _sqlite_file(address).stat().st_size == 0
    ):
        raise ServiceError(f"there is no database {mask(address)}; name that of a service with --database")
    with _opened_store(address, "; is it that of a service?", PATIENT) as store:
        store.check_schema()
        yield store


@contextlib.contextmanager
def _opened_store(address: str, remedy: str, timeouts: Timeouts | None = None) -> Iterator[Store]:
    store = Store(address, timeouts)
    try:
        yield store
    except StoreError as error:
        if address.startswith(SQLITE) and not _is_writable(_sqlite_file(address)):
            remedy = "; the file and its folder must be writable, also to read it"
        raise ServiceError(f"the database {mask(address)} cannot be used: {error.reason}{remedy}") from None
    finally:
        store.close()


def _sqlite_file(address: str) -> Path:
    return Path(address.removeprefix(SQLITE).partition("?")[0])


def _is_writable(file: Path) -> bool:
    return not file.exists() or (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK))


def _create_private_file(file: Path) -> None:
    """Create a file that only its owner can read, unless there is one; SQLite gives the files beside it the same."""
    with contextlib.suppress(OSError):  # SQLite will say what is wrong
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _migrate(store: Store, end: float) -> None:
    """Bring the schema up to date; a database on the network may need a moment until it answers."""
    while True:
        try:
            store.migrate()
            return
        except StoreError as error:
            if time.monotonic() >= end:
                raise
            logger.warning("the database does not answer yet", extra={"fields": {"reason": error.reason}})
            time.sleep(RETRY_INTERVAL)
