"""Archives: the beginning of a log as a Parquet file, verified before its rows are dropped, and replayable."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ocucb.errors import OcucbError
from ocucb.service import records
from ocucb.service.errors import LogError, RequestError, UnknownExperimentError
from ocucb.service.experiment_state import ExperimentState
from ocucb.service.parquet import ParquetWriter, check_installed, read_about, read_rows, sync
from ocucb.service.records import SECOND, Clock, Entry, ExperimentRecord, utc_now
from ocucb.service.replay import LogChecker, Replayed, replayed
from ocucb.service.snapshot_text import decode_snapshot, encode_snapshot
from ocucb.service.stores import Store, retention
from ocucb.service.stores.audit import Change, add_changes
from ocucb.service.stores.log_rows import COLUMN_KINDS, to_entry, to_row
from ocucb.service.stores.retention import Base

ENTRIES_PER_DROP = 2000
LOCK_FILE = "archive.lock"


class Archived(NamedTuple):
    """What was archived: entries after `after` and up to `upto`, in a file; and how many rows could be dropped."""

    experiment: str
    after: int
    upto: int
    file: Path | None
    dropped: int


def archive_log(store: Store, name: str, folder: Path, days: float, now: Clock = utc_now) -> Archived:
    """Write the part of a log that is older than so many days to a Parquet file, and drop its rows.

    All of it is recomputed first, so that the state in which the rest begins is what the log gives. Of an experiment
    that is archived the whole log is taken, however young. Open decisions, and what later entries refer to, stay.
    What an archive before it has left, because it was interrupted, is dropped too.
    """
    check_installed()
    if not folder.is_dir():
        raise RequestError(f"{folder} is no folder; make it, or name another for the archive")
    try:
        with _alone_in(folder):
            return _archive(store, name, folder, days, now)
    except OSError as error:
        raise RequestError(f"no archive can be written to {folder}: {error}; nothing was dropped") from None


def _archive(store: Store, name: str, folder: Path, days: float, now: Clock) -> Archived:
    head, base = _find(store, name)
    state = None if base is None else decode_snapshot(base.snapshot)
    if base is not None and state is None:
        raise LogError(f"the base of experiment {name!r} at entry {base.seq} cannot be read")
    after = 0 if state is None else state.seq
    checker = LogChecker(head.id, state)
    horizon = None if head.status == records.ARCHIVED else now() - round(days * SECOND * 86_400)
    file = folder / f"experiment-{head.id}-from-{after + 1}.parquet"
    try:
        _write(store, head, checker, file, horizon)
        _check_same_log(file)
    except BaseException:
        file.with_suffix(".part").unlink(missing_ok=True)
        raise
    state = checker.state
    if state is None or state.seq == after:
        file.with_suffix(".part").unlink(missing_ok=True)
        return Archived(name, after, after, None, 0 if base is None else drop_archived(store, base))
    _check_sticky(state, days, horizon)
    _compare(file.with_suffix(".part"), head, after, state, base)
    os.replace(file.with_suffix(".part"), file)
    sync(folder)  # else a power cut could leave neither its name nor the rows
    new = Base(*encode_snapshot(head.id, state.to_dict()), file.name, now())
    with store.write() as transaction:
        retention.add_base(transaction, new)
        details = {"entries": [after + 1, new.seq], "file": file.name}
        add_changes(transaction, [Change(now(), "", "log archived", name, details)])
    return Archived(name, after, new.seq, file, drop_archived(store, new))


def drop_archived(store: Store, base: Base) -> int:
    """Drop the rows before a base, some at a time, and return how many.

    In between it waits for as long as it has kept others from writing: SQLite's lock goes to whoever asks first, and
    those that wait for it ask only now and then.
    """
    dropped = after = 0
    while after < base.seq:
        began = time.monotonic()
        with store.write() as transaction:
            end = retention.end_of_rows(transaction, base.experiment, after, base.seq, ENTRIES_PER_DROP)
            dropped += retention.drop_entries(transaction, base.experiment, after, end, base.seq)
        after = end
        time.sleep(time.monotonic() - began)
    return dropped


def replay_archive(files: list[Path]) -> Replayed:
    """Recompute all decisions in the archives of one experiment, given in order from its first entry."""
    checker: LogChecker | None = None
    name = files[0].name if files else ""
    try:
        abouts = [_read_about(file) for file in files]
        wanted = _corrected(files)
        for file, about in zip(files, abouts, strict=True):
            name = about["experiment"]
            checker = checker or LogChecker(int(about["id"]), None)
            kept: dict[int, Entry] = checker.kept
            for page in _read(file):
                for entry in page:
                    checker.check(entry, kept)
                    if entry.kind == records.DECISION or entry.seq in wanted:
                        kept[entry.seq] = entry
                    if entry.kind in records.OUTCOMES and entry.decision not in wanted:
                        kept.pop(entry.decision or 0, None)
            if checker.state is None or encode_snapshot(1, checker.state.to_dict()).digest != about["digest"]:
                raise LogError(f"the state at the end of {file.name} is not the one it was archived with")
    except RequestError:
        raise
    except (OcucbError, KeyError, OSError, ValueError) as error:
        done = 0 if checker is None or checker.state is None else checker.state.seq
        return replayed(name, done, {} if checker is None else checker.seen, f"after entry {done}: {error}")
    if checker is None or checker.state is None:
        raise RequestError("name the files of an archive, in order")
    return replayed(name, checker.state.seq, checker.seen, None)


def _find(store: Store, name: str) -> tuple[ExperimentRecord, Base | None]:
    with store.read() as transaction:
        heads = transaction.find_experiments([name])
        if not heads:
            raise UnknownExperimentError(name)
        return heads[0], retention.find_base(transaction, heads[0].id)


def _write(store: Store, head: ExperimentRecord, checker: LogChecker, file: Path, horizon: int | None) -> None:
    """Check entries and write them beside their file, up to the first that is too young."""
    part = file.with_suffix(".part")
    first = checker.state
    writer = ParquetWriter(part, COLUMN_KINDS)
    try:
        for page, decisions in checker.pages(store, head, 0 if first is None else first.seq):
            old = []
            for entry in page:
                if horizon is not None and entry.at >= horizon:
                    break
                checker.check(entry, decisions)
                old.append(to_row(head.id, entry)[1:])
            writer.write(old)
            if len(old) < len(page):
                break
    finally:
        state = checker.state
        if state is not None:
            digest = encode_snapshot(1, state.to_dict()).digest
            writer.describe({"experiment": head.name, "id": str(head.id), "last": str(state.seq), "digest": digest})
        writer.close()
    sync(part)


def _check_same_log(file: Path) -> None:
    """Raise RequestError if there is a file of this name with anything that the new one has not: it would be lost.

    So it is where an experiment was deleted, whose id SQLite gives to the next, where two services have one folder, and
    where the database was restored from a backup. What the new one has, too, is left by an archive that was killed
    before it could say so in the database; units may have been erased since.
    """
    if not file.exists():
        return
    try:
        before = (entry._replace(unit=None) for page in _read(file) for entry in page)
        now = (entry._replace(unit=None) for page in _read(file.with_suffix(".part")) for entry in page)
        same = all(one == next(now, None) for one in before)
    except (OcucbError, OSError, ValueError) as error:
        raise RequestError(f"{file} is there and cannot be read as an archive: {error}; name another folder") from None
    if not same:
        raise RequestError(
            f"{file} is the archive of another log, and nothing else has what is in it; name another folder; nothing "
            "was dropped"
        )


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Wait until nobody else writes archives to a folder: two of one experiment would write to one file."""
    with (folder / LOCK_FILE).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _check_sticky(state: ExperimentState, days: float, horizon: int | None) -> None:
    sticky = state.definition.sticky
    if horizon is not None and sticky is not None and sticky > days * 86_400:
        raise RequestError(
            f"units of this experiment keep their decision for {sticky:g} seconds; archive what is older"
        )


def _compare(part: Path, head: ExperimentRecord, after: int, state: ExperimentState, base: Base | None) -> None:
    """Read a file back and fold it: it must give the state that the rows have given."""
    again = None if base is None else decode_snapshot(base.snapshot)
    for page in _read(part):
        rest = page
        if again is None:
            again, rest = ExperimentState.begin(head.id, page[0]), page[1:]
        again.fold(rest)
    if again is None or again.to_dict() != state.to_dict():
        raise LogError(
            f"the archive of entries {after + 1} to {state.seq} is not what was written; nothing was dropped"
        )


def _read_about(file: Path) -> dict[str, str]:
    """Return what an archive says of itself."""
    if not file.exists():
        raise RequestError(f"there is no file {file}; name the files of an archive, in order")
    try:
        about = read_about(file)
    except (OSError, ValueError) as error:
        raise RequestError(f"{file} cannot be read as an archive: {error}") from None
    if not {"experiment", "id", "digest"} <= about.keys():
        raise LogError(f"{file.name} is no archive: it does not say which log it is of")
    return about


def _read(file: Path) -> Iterator[list[Entry]]:
    for rows in read_rows(file):
        yield [to_entry(row) for row in rows]


def _corrected(files: list[Path]) -> set[Any]:
    """Return which entries are corrected by later ones."""
    return {
        entry.decision for file in files for page in _read(file) for entry in page if entry.kind == records.CORRECTED
    }
