"""Which database a command works on: the one that `ocucb serve`, called in the same place, would open."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ocucb.service.database import existing
from ocucb.service.settings import Settings, load_settings
from ocucb.service.stores import Store

Database = Annotated[
    str | None,
    Parameter(
        metavar="TEXT",
        show_default=lambda _: Settings.database,
        help="The database of the service: sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME.",
    ),
]


def open_existing(database: str | None, config: Path | None) -> AbstractContextManager[Store]:
    """Open the database that flags, the environment or a file name."""
    return existing(load_settings({"database": database}, os.environ, config).database)
