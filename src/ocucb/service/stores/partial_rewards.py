"""Partial rewards of decisions whose window is open, as rows: found by their decision, deleted once they are summed."""

from __future__ import annotations

from collections.abc import Sequence

from ocucb.service.stores.dialects import delete_rows, find_rows, insert_rows
from ocucb.service.stores.store import Transaction
from ocucb.service.stores.tables import partial_rewards

_FIND = (
    "SELECT decision, part, reward FROM {} "
    "JOIN partial_rewards ON experiment = given.column1 AND decision = given.column2"
)


def find_parts(transaction: Transaction, experiment: int, decisions: Sequence[int]) -> dict[int, dict[str, float]]:
    """Return the partial rewards of each of these decisions, by their names."""
    found: dict[int, dict[str, float]] = {seq: {} for seq in decisions}
    wanted = [(experiment, seq) for seq in decisions]
    for decision, part, reward in find_rows(transaction.connection, _FIND, wanted):
        found[decision][part] = reward
    return found


def add_parts(transaction: Transaction, rows: Sequence[tuple[int, int, str, float]]) -> None:
    """Store partial rewards: (experiment, decision, part, reward)."""
    insert_rows(transaction.connection, partial_rewards, rows)


def delete_parts(transaction: Transaction, decisions: Sequence[tuple[int, int]]) -> None:
    """Delete the partial rewards of decisions that are closed: (experiment, decision)."""
    delete_rows(transaction.connection, partial_rewards, ("experiment", "decision"), decisions)
