"""Takes the name of a unit out of all logs: the only change that is ever made to an entry."""

from __future__ import annotations

from ocucb.service.errors import UnknownExperimentError
from ocucb.service.records import Clock, utc_now
from ocucb.service.stores import Store, retention
from ocucb.service.stores.audit import Change, add_changes
from ocucb.service.text import clean_text

EXPERIMENTS_PER_READ = 100


def erase_unit(store: Store, unit: str, experiment: str | None = None, by: str = "", now: Clock = utc_now) -> int:
    """Erase a unit from one experiment or from all, and return from how many decisions. `by` is the id of an API key.

    Nothing depends on a unit but which decision it gets again, so a replay finds the log as good as before.
    """
    clean_text("a unit", unit)
    erased, after = 0, ""
    while True:
        with store.read() as transaction:
            if experiment is None:
                heads = transaction.list_experiments(after, EXPERIMENTS_PER_READ)
            elif not (heads := transaction.find_experiments([experiment])):
                raise UnknownExperimentError(experiment)
        for head in heads:
            with store.write() as transaction:
                done = retention.erase_unit(transaction, head.id, unit)
                if done:
                    add_changes(transaction, [Change(now(), by, "unit erased", head.name, {"decisions": done})])
            erased += done
        if experiment is not None or len(heads) < EXPERIMENTS_PER_READ:
            return erased
        after = heads[-1].name
