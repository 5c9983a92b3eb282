"""`ocucb archive`: moves the old part of a service's log to Parquet files, where its database can be opened."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ocucb.cli.console import show_status
from ocucb.cli.options import Config, Database, open_database


def archive(
    experiment: str,
    /,
    *,
    folder: Annotated[Path, Parameter(name="--to")],
    days: float = 30.0,
    database: Database = None,
    config: Config = None,
) -> None:
    """Move the old part of an experiment's log to a Parquet file, after recomputing all of it, and drop its rows.

    The experiment goes on. A reward for a decision that was closed before is then answered 410, archived-decision. Of
    an experiment that is archived, the whole log is moved.

    Parameters
    ----------
    experiment
        The name of the experiment.
    folder
        Where the file is written.
    days
        Entries must be older than so many days; at least as long as idempotency keys are kept.
    """
    from ocucb.service.archive import archive_log

    with open_database(database, config) as store, show_status(f"archiving {experiment!r}"):
        done = archive_log(store, experiment, folder, days)
    if done.file is None:
        left = f"; {done.dropped:,} rows that an earlier archive had left were dropped" if done.dropped else ""
        before = f" after entry {done.after:,}, where its archive ends" if done.after else ""
        print(f"{experiment}: nothing is old enough{before}{left}")
        return
    moved = f"entries {done.after + 1:,} to {done.upto:,} are in {done.file}"
    print(f"{experiment}: {moved}; {done.dropped:,} rows were dropped")
