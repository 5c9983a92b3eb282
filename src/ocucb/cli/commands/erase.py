"""`ocucb erase`: takes the name of a unit out of a service's logs, or out of its archives."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ocucb.cli.console import show_status
from ocucb.cli.options import Config, Database, open_database
from ocucb.errors import ParameterError


def erase(
    unit: str,
    /,
    *,
    experiment: str | None = None,
    file: Annotated[tuple[Path, ...], Parameter(metavar="FILE", negative=(), show_default=False)] = (),
    database: Database = None,
    config: Config = None,
) -> None:
    """Take the name of a unit out of all logs, or out of files of archives. What was decided stays, for nobody.

    Replays agree as before, of logs and of files.

    Parameters
    ----------
    unit
        The name of the unit, as decisions were asked for it.
    experiment
        Only in the log of this experiment.
    file
        Erase it from this file of an archive instead; repeat it for each.
    """
    from ocucb.service.erasure import erase_from_file, erase_unit

    if file and (experiment is not None or database is not None):
        raise ParameterError("erase takes the unit out of files or out of a database; leave out one of the two")
    if file:
        for one in file:
            with show_status(f"erasing from {one}"):
                done = erase_from_file(unit, one)
            print(f"{one}: erased from {done:,} decisions")
        return
    with open_database(database, config) as store, show_status("erasing"):
        erased = erase_unit(store, unit, experiment)
    print(f"erased from {erased.decisions:,} decisions")
    if erased.archives:
        print(f"it may still be in archives; erase it there with --file: {', '.join(erased.archives)}")
