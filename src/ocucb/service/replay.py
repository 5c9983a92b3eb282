"""Replay: fold a log from nothing, and hold every decision against what the policy chooses."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ocucb.errors import OcucbError
from ocucb.service import records
from ocucb.service.errors import LogError, UnavailableError, UnknownExperimentError
from ocucb.service.fold import Live
from ocucb.service.lives import pages
from ocucb.service.records import Entry
from ocucb.service.stores import Store, Transaction

_OUTCOMES = (records.REWARD, records.FORGOTTEN, records.DEFAULT)
_WHY = ("arm", "deadline", "pulls", "mean", "index_value", "effective")


@dataclass(frozen=True)
class Replayed:
    """What a replay found: how much was verified, and what is wrong with the first entry that was not."""

    experiment: str
    entries: int
    decisions: int
    outcomes: int
    problem: str | None = None

    @property
    def verified(self) -> bool:
        """Whether the whole log is what the policy makes of it."""
        return self.problem is None


def replay(store: Store, experiment: str) -> Replayed:
    """Fold the log of an experiment from nothing, and recompute each decision and all that explains it.

    Snapshots are not looked at. Entries written while it runs are left for the next time. It stops at the first entry
    that is not what the policy, given what was known at the time, makes of it.
    """
    with store.read() as transaction:
        heads = transaction.find([experiment])
    if not heads:
        raise UnknownExperimentError(experiment)
    head = heads[0]
    live: Live | None = None
    seen: Counter[str] = Counter()
    done = 0
    try:
        while done < head.seq:
            with store.read() as transaction:  # a page each: a long replay must not hold up the database's cleaning
                page = next(pages(transaction, head.id, done, head.seq), None)
                if page is None:
                    raise LogError(f"the log ends at entry {done}, but should go on to {head.seq}")
                decisions = _decisions_of(transaction, head.id, page)
            for entry in page:
                live = _check(live, head.id, entry, decisions)
                seen[entry.kind] += 1
                done = entry.seq
    except UnavailableError:
        raise
    except OcucbError as problem:
        return _replayed(experiment, done, seen, f"after entry {done}: {problem}")
    return _replayed(experiment, done, seen, None)


def _decisions_of(transaction: Transaction, experiment: int, page: list[Entry]) -> dict[int, Entry]:
    """Return the decisions that the outcomes in a page refer to."""
    seqs = [entry.decision for entry in page if entry.decision is not None]
    return {seq: decision for seq, (decision, _) in transaction.decisions(experiment, seqs).items()}


def _check(live: Live | None, experiment: int, entry: Entry, decisions: dict[int, Entry]) -> Live:
    """Take one entry, after comparing it with what it should be."""
    if live is None:
        return Live.begin(experiment, entry)
    if entry.seq != live.seq + 1:
        raise LogError(f"entry {live.seq + 1} is missing: entry {entry.seq} follows {live.seq}")
    if entry.kind == records.DECISION:
        _check_decision(live, entry)
        return live
    if entry.kind in _OUTCOMES:
        _check_outcome(live, entry, decisions.get(entry.decision or 0))
    live.apply(entry)
    return live


def _check_decision(live: Live, entry: Entry) -> None:
    if live.status != records.ACTIVE:
        raise LogError(f"entry {entry.seq} decides while the experiment is {live.status}")
    right = live.choose(entry.at, entry.token or "", entry.unit)
    for name in _WHY:
        logged, chosen = getattr(entry, name), getattr(right, name)
        if logged != chosen:
            raise LogError(f"entry {entry.seq} has {name} {logged!r}, but the policy's choice has {chosen!r}")


def _check_outcome(live: Live, entry: Entry, decision: Entry | None) -> None:
    if decision is None or decision.kind != records.DECISION or decision.seq >= entry.seq:
        raise LogError(f"entry {entry.seq} closes entry {entry.decision}, which is no decision made before it")
    if decision.arm != entry.arm:
        raise LogError(f"entry {entry.seq} gives arm {entry.arm!r} what belongs to arm {decision.arm!r}")
    passed = decision.deadline is not None and entry.at > decision.deadline
    if passed == (entry.kind == records.REWARD):
        wrong = "after its window" if passed else "before its window has passed"
        raise LogError(f"entry {entry.seq} is {entry.kind!r} {wrong}")
    if entry.kind == records.DEFAULT and entry.reward != live.definition.on_expiry:
        raise LogError(
            f"entry {entry.seq} has the reward {entry.reward!r}, but the default is {live.definition.on_expiry!r}"
        )


def _replayed(experiment: str, done: int, seen: Counter[str], problem: str | None) -> Replayed:
    return Replayed(experiment, done, seen[records.DECISION], sum(seen[kind] for kind in _OUTCOMES), problem)
