"""`ocucb replay`: proves that a service decided as its policy does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ocucb.cli.console import show_status
from ocucb.cli.options import Config, Database, open_database
from ocucb.errors import ParameterError

if TYPE_CHECKING:
    from ocucb.service.replay import Replayed
    from ocucb.service.stores import Store

WRONG = 1


def replay(
    experiment: str | None = None,
    /,
    *,
    everything: Annotated[bool, Parameter(name="--all", show_default=False)] = False,
    file: Annotated[tuple[Path, ...], Parameter(metavar="FILE", negative=(), show_default=False)] = (),
    database: Database = None,
    config: Config = None,
) -> int:
    """Recompute every decision of an experiment from its log, and name the first that is wrong.

    The exit code is 0 if everything is verified, 1 if something is wrong, 2 after an error.

    Parameters
    ----------
    experiment
        The name of the experiment.
    everything
        Replay all experiments.
    file
        Replay the files of an archive instead; repeat it for each, in order.
    """
    if file and experiment is None and not everything:
        from ocucb.service.archive import replay_archive

        with show_status("replaying an archive"):
            one = replay_archive(list(file))
        _show(one)
        return 0 if one.verified else WRONG
    if file or (experiment is None) != everything:
        raise ParameterError(
            "replay needs the name of an experiment, --all, or files, and no two of these; see ocucb replay --help"
        )
    with open_database(database, config) as store:
        found = [_replay_one(store, name) for name in (_names(store) if experiment is None else [experiment])]
    if not found:
        print("there are no experiments")
    return 0 if all(one.verified for one in found) else WRONG


def _replay_one(store: Store, name: str) -> Replayed:
    from ocucb.service.replay import replay

    with show_status(f"replaying {name!r}"):
        one = replay(store, name)
    _show(one)
    return one


def _show(one: Replayed) -> None:
    name = one.experiment
    counts = f"{one.entries - one.archived:,} entries, {one.decisions:,} decisions, {one.outcomes:,} outcomes"
    if one.archived:
        counts += f"; {one.archived:,} entries before these are archived, see --file"
    if one.verified:
        print(f"{name}: verified {counts}", flush=True)
    else:
        print(f"{name}: WRONG {one.problem} (verified before: {counts})", flush=True)


def _names(store: Store) -> Iterator[str]:
    after = ""
    while True:
        with store.read() as transaction:
            page = transaction.list_experiments(after)
        yield from (head.name for head in page)
        if not page:
            return
        after = page[-1].name
