"""The latest decisions of an experiment: which arm, with which probability, and what became of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from ocucb.labels import Label
from ocucb.service.records import SECOND, Entry
from ocucb.service.stores import Store
from ocucb.service.web.export_formats import outcome_of
from ocucb.service.web.page.numbers import NOTHING, date_and_time, figure, percent

DECISIONS_SHOWN = 8
ENTRIES_READ = 200  # the last of a log, among which decisions are looked for


class LatestDecision(NamedTuple):
    """A decision as text."""

    time: str
    date: str
    arm: Label
    probability: str
    outcome: str


def read_latest(store: Store, experiment: str, seq: int) -> tuple[LatestDecision, ...]:
    """Return some of the last decisions up to an entry, the newest first."""
    with store.read() as transaction:
        for head in transaction.find_experiments([experiment]):
            made = transaction.list_decisions(head.id, max(0, seq - ENTRIES_READ), seq)
            return tuple(_in_words(*one) for one in reversed(made[-DECISIONS_SHOWN:]))
    return ()


def _in_words(decision: Entry, outcome: Entry | None) -> LatestDecision:
    word = outcome_of(outcome)
    reward = None if outcome is None or outcome.reward is None else figure(outcome.reward)
    return LatestDecision(
        f"{datetime.fromtimestamp(decision.at / SECOND, UTC):%H:%M:%S}",
        date_and_time(decision.at),
        "" if decision.arm is None else decision.arm,
        NOTHING if decision.probability is None else percent(decision.probability),
        word if reward is None else reward if word == "reward" else f"{reward} ({word})",
    )
