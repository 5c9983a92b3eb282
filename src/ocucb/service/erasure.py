"""Takes the name of a unit out of all logs and archives: the only change that is ever made to an entry.

Nothing depends on a unit but which decision it gets again, so a replay finds a log, or a file, as good as before.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ocucb.service.errors import RequestError, UnknownExperimentError
from ocucb.service.parquet import ParquetWriter, read_about, read_rows, sync
from ocucb.service.records import Clock, utc_now
from ocucb.service.stores import Store, retention
from ocucb.service.stores.audit import Change, add_changes
from ocucb.service.stores.log_rows import COLUMN_KINDS
from ocucb.service.text import clean_text

EXPERIMENTS_PER_READ = 100
MAX_FILES_NAMED = 1000


class Erased(NamedTuple):
    """From how many decisions a unit was erased, and in which files of archives it may still be."""

    decisions: int
    archives: list[str]


def erase_unit(store: Store, unit: str, experiment: str | None = None, by: str = "", now: Clock = utc_now) -> Erased:
    """Erase a unit from the log of one experiment or of all. `by` is the id of an API key."""
    clean_text("a unit", unit)
    erased, after = 0, ""
    files: list[str] = []
    while True:
        with store.read() as transaction:
            if experiment is None:
                heads = transaction.list_experiments(after, EXPERIMENTS_PER_READ)
            elif not (heads := transaction.find_experiments([experiment])):
                raise UnknownExperimentError(experiment)
        for head in heads:
            with store.write() as transaction:
                done = retention.erase_unit(transaction, head.id, unit)
                files += retention.list_files(transaction, head.id)
                if done:
                    add_changes(transaction, [Change(now(), by, "unit erased", head.name, {"decisions": done})])
            erased += done
        if experiment is not None or len(heads) < EXPERIMENTS_PER_READ:
            return Erased(erased, files[:MAX_FILES_NAMED])
        after = heads[-1].name


def erase_from_file(unit: str, file: Path) -> int:
    """Erase a unit from an archive, and return from how many decisions. The file is replaced by a whole one at once."""
    clean_text("a unit", unit)
    place = list(COLUMN_KINDS).index("unit")
    part = file.with_suffix(".part")
    try:
        about = read_about(file)
        if "digest" not in about:
            raise RequestError(f"{file} is no archive: it does not say which log it is of")
        erased = _copy_without(unit, place, file, part, about)
    except (OSError, ValueError) as error:
        part.unlink(missing_ok=True)
        raise RequestError(f"{file} cannot be read as an archive: {error}") from None
    if erased:
        sync(part)
        os.replace(part, file)
        sync(file.parent)
    part.unlink(missing_ok=True)
    return erased


def _copy_without(unit: str, place: int, file: Path, part: Path, about: dict[str, str]) -> int:
    erased = 0
    writer = ParquetWriter(part, COLUMN_KINDS)
    try:
        for rows in read_rows(file):
            erased += sum(row[place] == unit for row in rows)
            writer.write([_without(row, place) if row[place] == unit else row for row in rows])
        writer.describe(about)
    finally:
        writer.close()
    return erased


def _without(row: Sequence[object], place: int) -> tuple[object, ...]:
    return (*row[:place], None, *row[place + 1 :])
