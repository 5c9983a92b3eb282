"""Reads experiments into memory in threads of its own, so that those already there need not wait for that."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from typing import NamedTuple

from ocucb.service.errors import LogError, ServiceError, StoreError
from ocucb.service.experiment_cache import load
from ocucb.service.experiment_state import ExperimentState
from ocucb.service.records import ExperimentRecord
from ocucb.service.stores import Store

THREADS = 2  # one long log must not hold up all short ones
Target = str | int
"""An experiment as requests name it: by its name, or by its id."""

logger = logging.getLogger(__name__)


class Loaded(NamedTuple):
    """What became of a load: a state, or an error with or without a record; neither if there is no such experiment."""

    target: Target
    record: ExperimentRecord | None = None
    state: ExperimentState | None = None
    error: ServiceError | None = None


class Loader:
    """Loads the experiments that it is asked for, and hands each on as soon as it is there."""

    def __init__(self, store: Store, hand_on: Callable[[Loaded], None]) -> None:
        self._store, self._hand_on = store, hand_on
        self._wanted: queue.SimpleQueue[Target | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._load_wanted, name=f"ocucb loader {number}", daemon=True)
            for number in range(THREADS)
        ]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def ask(self, target: Target) -> None:
        """Ask for an experiment."""
        self._wanted.put(target)

    def close(self) -> None:
        """Load what was asked for, and stop."""
        for _ in self._threads:
            self._wanted.put(None)
        for thread in self._threads:
            thread.join()

    def load(self, target: Target) -> Loaded:
        """Load an experiment now."""
        names, ids = ([target], []) if isinstance(target, str) else ([], [target])
        record: ExperimentRecord | None = None
        try:
            with self._store.read() as transaction:
                for record in transaction.find_experiments(names, ids):
                    state = load(transaction, record.id, record.seq)
                    state.definition.warm_up()
                    return Loaded(target, record, state)
        except LogError as error:
            logger.error("experiment %r: %s", record.name if record else target, error)
            return Loaded(target, record, error=error)
        except StoreError as error:
            return Loaded(target, error=error)
        except Exception:
            logger.exception("experiment %r could not be loaded", target)
            return Loaded(target, error=ServiceError("the experiment could not be loaded"))
        return Loaded(target)

    def _load_wanted(self) -> None:
        while (target := self._wanted.get()) is not None:
            self._hand_on(self.load(target))
