"""`ocucb replay`: proves that a service decided as its policy does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from ocucb.cli.database import Database, open_existing
from ocucb.cli.serve import Config
from ocucb.errors import ParameterError
from ocucb.service.replay import Replayed
from ocucb.service.replay import replay as replay_log
from ocucb.service.stores import Store

WRONG = 1


def replay(
    experiment: str | None = None,
    /,
    *,
    everything: Annotated[bool, Parameter(name="--all", show_default=False)] = False,
    database: Database = None,
    config: Config = None,
) -> int:
    """Recompute every decision of an experiment from its log, and name the first that is wrong.

    Parameters
    ----------
    experiment
        The name of the experiment.
    everything
        Replay all experiments.
    """
    if (experiment is None) != everything:
        raise ParameterError("replay needs the name of an experiment, or --all, and not both; see ocucb replay --help")
    with open_existing(database, config) as store:
        found = [_replay(store, name) for name in (_names(store) if experiment is None else [experiment])]
    if not found:
        print("there are no experiments")
    return 0 if all(one.verified for one in found) else WRONG


def _replay(store: Store, name: str) -> Replayed:
    with Console(stderr=True).status(f"replaying {name!r}"):
        one = replay_log(store, name)
    counts = f"{one.entries:,} entries, {one.decisions:,} decisions, {one.outcomes:,} outcomes"
    if one.verified:
        print(f"{name}: verified {counts}", flush=True)
    else:
        print(f"{name}: WRONG {one.problem} (verified before: {counts})", flush=True)
    return one


def _names(store: Store) -> Iterator[str]:
    after = ""
    while True:
        with store.read() as transaction:
            page = transaction.page(after)
        yield from (head.name for head in page)
        if not page:
            return
        after = page[-1].name
