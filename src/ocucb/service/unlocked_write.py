"""Writing what a batch leaves, without a lock: only where no other node has written, and while API keys are valid."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ocucb.service.experiment_cache import LOST_SECONDS, ExperimentCache
from ocucb.service.experiment_state import ExperimentState
from ocucb.service.stores import Transaction
from ocucb.service.stores.unlocked import Growth
from ocucb.service.used_keys import UsedKeys


def write_unlocked(
    transaction: Transaction,
    cache: ExperimentCache,
    keys: UsedKeys,
    states: Mapping[int, ExperimentState],
    growths: Sequence[Growth],
    rows: Sequence[Any],
    trusts: bool,
) -> set[int]:
    """Write, and return the experiments that are lost: what was answered for them is not true, and not stored.

    They are to be read again, and their requests served again. If the batch `trusts` what was seen a moment ago, those
    that it does not write to are looked at now. It may not know of API keys that were made or revoked since: then
    nothing is written at first, and everything by the new version of the keys if all that it has used are valid still.
    """
    at, version = time.monotonic(), transaction.key_version
    written_to = {growth.experiment for growth in growths}
    current = states.keys() - written_to
    if trusts and current:
        current = _look_again(transaction, [states[experiment] for experiment in current])
    valid = transaction.key_version == version or keys.are_valid(transaction)
    if growths and valid:
        written = transaction.write_checked(growths, *rows)
        if trusts and not written:
            transaction.look_at_experiments(sorted(written_to))
            if transaction.key_version != version and (valid := keys.are_valid(transaction)):
                written = transaction.write_checked(growths, *rows)
        current = current | written
    if not valid:
        current = set()
    cache.seen.note(current, at, transaction.key_version)
    lost = states.keys() - current
    cache.drop(lost)
    for experiment in lost if valid else ():
        cache.note_shared(experiment, LOST_SECONDS)
    return lost


def _look_again(transaction: Transaction, states: Collection[ExperimentState]) -> set[int]:
    """Return which experiments the database has as they are in memory."""
    records = transaction.look_at_experiments(sorted(state.id for state in states))
    found = {record.id: (record.name, record.seq, record.status) for record in records}
    return {state.id for state in states if found.get(state.id) == (state.name, state.seq, state.status)}
