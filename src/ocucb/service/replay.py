"""Replay: fold a log from nothing, and hold every decision against what the policy chooses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ocucb.errors import OcucbError
from ocucb.service import records
from ocucb.service.errors import LogError, UnavailableError, UnknownExperimentError
from ocucb.service.exact_sums import sum_of
from ocucb.service.experiment_cache import pages
from ocucb.service.experiment_state import ExperimentState
from ocucb.service.records import Entry, ExperimentRecord, Snapshot
from ocucb.service.snapshot_text import decode_snapshot
from ocucb.service.stores import Store, Transaction
from ocucb.service.stores.retention import find_base

_CORRECTABLE = (records.REWARD, records.DEFAULT, records.SUMMED, records.CORRECTED)
NOT_LOGGED = (("pending", None), ("probability", None))  # by older services


@dataclass(frozen=True)
class Replayed:
    """What a replay found: how much was verified, and what is wrong with the first entry that was not.

    The first `archived` of the entries were not read: they are in files, and were verified when they were moved there.
    """

    experiment: str
    entries: int
    decisions: int
    outcomes: int
    problem: str | None = None
    archived: int = 0

    @property
    def verified(self) -> bool:
        """Whether the whole log is what the policy makes of it."""
        return self.problem is None


class LogChecker:
    """Folds the log of an experiment, entry by entry, and compares each with what it should be.

    It begins with the first entry, or where a log begins whose first part is archived: with a `state`.
    """

    def __init__(self, experiment: int, state: ExperimentState | None) -> None:
        self._experiment, self.state = experiment, state
        self.seen: Counter[str] = Counter()
        self.kept: dict[int, Entry] = {}  # for whoever has no database to find decisions in
        self._parts = _Parts(0 if state is None else state.seq)

    def check(self, entry: Entry, decisions: dict[int, Entry]) -> None:
        """Take the next entry, if it is right; `decisions` has those that outcomes and corrections refer to."""
        self.state = _check(self.state, self._experiment, entry, decisions)
        self._parts.check(entry)
        self.seen[entry.kind] += 1

    def pages(self, store: Store, head: ExperimentRecord, after: int) -> Iterator[tuple[list[Entry], dict[int, Entry]]]:
        """Yield the entries after `after`, some at a time, with those that they refer to."""
        known: dict[int, Entry] = {}
        while after < head.seq:
            with store.read() as transaction:  # a page each: a long replay must not hold up the database's cleaning
                page = next(pages(transaction, head.id, after, head.seq), None)
                if page is None:
                    raise LogError(f"the log ends at entry {after}, but should go on to {head.seq}")
                known.update((entry.seq, entry) for entry in page)
                decisions = _decisions_of(transaction, head.id, page, known)
            yield page, decisions
            known = {entry.seq: entry for entry in page}  # most outcomes come soon
            after = page[-1].seq


def replay(store: Store, experiment: str) -> Replayed:
    """Fold the log of an experiment, and recompute each decision and all that explains it.

    It begins with the first entry, or with the state that was verified when all before it was archived.

    Entries written while it runs are left for the next time. It stops at the first entry that is not what the policy,
    given what was known at the time, makes of it, and at a snapshot that is not what the log before it gives.
    """
    with store.read() as transaction:
        heads = transaction.find_experiments([experiment])
        if not heads:
            raise UnknownExperimentError(experiment)
        head = heads[0]
        snapshots = {snapshot.seq: snapshot for snapshot in transaction.read_snapshots(head.id)}
        base = find_base(transaction, head.id)
    state = None if base is None else decode_snapshot(base.snapshot)
    first = done = 0 if base is None else base.seq
    checker = LogChecker(head.id, state)
    try:
        if base is not None and state is None:
            raise LogError("the state with which the log begins cannot be read")
        for page, decisions in checker.pages(store, head, done):
            for entry in page:
                checker.check(entry, decisions)
                done = entry.seq
                if done in snapshots and checker.state is not None:
                    _check_snapshot(checker.state, snapshots[done])
    except UnavailableError:
        raise
    except OcucbError as error:
        return replayed(experiment, done, checker.seen, f"after entry {done}: {error}", first)
    return replayed(experiment, done, checker.seen, None, first)


def _decisions_of(
    transaction: Transaction, experiment: int, page: list[Entry], known: Mapping[int, Entry]
) -> dict[int, Entry]:
    """Return the entries that those in a page refer to; those that are not known are looked up."""
    seqs = [entry.decision for entry in page if entry.decision is not None]
    missing = [seq for seq in seqs if seq not in known]
    found = transaction.find_decisions([(experiment, seq) for seq in missing])
    return {seq: known[seq] for seq in seqs if seq in known} | {seq: entry for (_, seq), (entry, _) in found.items()}


def _check(
    state: ExperimentState | None, experiment: int, entry: Entry, decisions: dict[int, Entry]
) -> ExperimentState:
    """Take one entry, after comparing it with what it should be."""
    if state is None:
        return ExperimentState.begin(experiment, entry)
    if entry.seq != state.seq + 1:
        raise LogError(f"entry {state.seq + 1} is missing: entry {entry.seq} follows {state.seq}")
    if entry.kind == records.DECISION:
        _check_decision(state, entry)
        return state
    if entry.kind == records.WINNER:
        _check_winner(state, entry)
    if entry.kind in records.OUTCOMES:
        _check_outcome(state, entry, decisions.get(entry.decision or 0))
    if entry.kind == records.CORRECTED:
        _check_correction(entry, decisions.get(entry.decision or 0))
    state.apply(entry)
    return state


def _check_decision(state: ExperimentState, entry: Entry) -> None:
    if state.status != records.ACTIVE:
        raise LogError(f"entry {entry.seq} decides while the experiment is {state.status}")
    right = _listed(state, entry) if "place" in (entry.data or {}) else _chosen(state, entry)
    if entry == right:
        return
    chosen = _explain(right)
    for name, logged in _explain(entry).items():
        if logged != chosen[name] and (name, logged) not in NOT_LOGGED:
            raise LogError(f"entry {entry.seq} has {name} {logged!r}, but the policy's choice has {chosen[name]!r}")


def _chosen(state: ExperimentState, entry: Entry) -> Entry:
    """Make a decision as it was made, and return its entry."""
    return state.choose(entry.at, entry.token or "", entry.unit, (entry.data or {}).get("among"))


def _listed(state: ExperimentState, entry: Entry) -> Entry:
    """Count a decision that was made with others at once, and return its entry as it should be."""
    place, size = (entry.data or {}).get("place"), (entry.data or {}).get("of")
    if type(place) is not int or type(size) is not int or not 1 <= place <= size:
        raise LogError(f"entry {entry.seq} stands at no place of a list")
    if place == 1:
        state.listed = state.bandit.peek_many(size)
    if place > len(state.listed) or len(state.listed) != size:
        raise LogError(f"entry {entry.seq} belongs to a list that did not begin")
    right = state.entry_of(state.listed[place - 1], entry.seq, entry.at, entry.token or "", entry.unit, entry.data)
    state.apply(right)
    return right


def _explain(decision: Entry) -> dict[str, Any]:
    """Return all that follows from what was known when a decision was made."""
    if decision.statistics is None:
        raise LogError(f"entry {decision.seq} does not say what was known of its arm")
    known = {"arm": decision.arm, "deadline": decision.deadline, "probability": decision.probability}
    return {**known, **decision.statistics._asdict()}


def _check_winner(state: ExperimentState, entry: Entry) -> None:
    confidence = state.winner_confidence
    if confidence is None or state.bandit.best(confidence).best != entry.arm:
        raise LogError(f"entry {entry.seq} names a winner that is none")


def _check_snapshot(state: ExperimentState, snapshot: Snapshot) -> None:
    stored = decode_snapshot(snapshot)
    if stored is None:  # nobody uses it
        return
    if stored.last_mark is None:
        stored.last_mark = state.last_mark
    if stored.to_dict() != state.to_dict():
        raise LogError(f"the snapshot at entry {state.seq} is not what the log gives; delete it, it is only a cache")


def _check_outcome(state: ExperimentState, entry: Entry, decision: Entry | None) -> None:
    if decision is None or decision.kind != records.DECISION or decision.seq >= entry.seq:
        raise LogError(f"entry {entry.seq} closes entry {entry.decision}, which is no decision made before it")
    if decision.arm != entry.arm:
        raise LogError(f"entry {entry.seq} gives arm {entry.arm!r} what belongs to arm {decision.arm!r}")
    passed = decision.deadline is not None and entry.at > decision.deadline
    if passed == (entry.kind == records.REWARD):
        wrong = "after its window" if passed else "before its window has passed"
        raise LogError(f"entry {entry.seq} is {entry.kind!r} {wrong}")
    if entry.kind == records.DEFAULT and entry.reward != state.definition.on_expiry:
        raise LogError(
            f"entry {entry.seq} has the reward {entry.reward!r}, but the default is {state.definition.on_expiry!r}"
        )


def _check_correction(entry: Entry, replaced: Entry | None) -> None:
    if replaced is None or replaced.kind not in _CORRECTABLE or replaced.seq >= entry.seq:
        raise LogError(f"entry {entry.seq} corrects entry {entry.decision}, which is no reward before it")
    if replaced.arm != entry.arm:
        raise LogError(f"entry {entry.seq} corrects for arm {entry.arm!r} what belongs to arm {replaced.arm!r}")
    of = replaced.data or {} if replaced.kind == records.CORRECTED else {"counted": replaced.at}
    if (entry.data or {}) != {"was": replaced.reward, "counted": of.get("counted")}:
        raise LogError(f"entry {entry.seq} corrects what entry {replaced.seq} does not say")


class _Parts:
    """The partial rewards of decisions that are open at some point of a replay."""

    def __init__(self, after: int) -> None:
        self._after = after  # the parts of decisions before it may be archived
        self._of_decision: defaultdict[int, dict[str, float]] = defaultdict(dict)

    def check(self, entry: Entry) -> None:
        """Take the next entry: a part must be a new one, and a sum that of its parts."""
        if entry.kind == records.PARTIAL:
            about = entry.data or {}
            parts, part = self._of_decision[about.get("decision", 0)], about.get("part", "")
            if part in parts or entry.reward is None:
                raise LogError(f"entry {entry.seq} gives the part {part!r} once more, or without a reward")
            parts[part] = entry.reward
        elif entry.kind in records.OUTCOMES:
            parts = self._of_decision.pop(entry.decision or 0, {})
            whole = (entry.decision or 0) > self._after
            if entry.kind == records.SUMMED and whole and sum_of(parts) != entry.reward:
                raise LogError(f"entry {entry.seq} has the reward {entry.reward!r}, but its parts {sum_of(parts)!r}")
            if entry.kind == records.DEFAULT and parts:
                raise LogError(f"entry {entry.seq} counts a default, though parts of the reward had come")


def replayed(experiment: str, done: int, seen: Mapping[str, int], problem: str | None, archived: int = 0) -> Replayed:
    """Return what a replay has found."""
    outcomes = sum(seen.get(kind, 0) for kind in records.OUTCOMES)
    return Replayed(experiment, done, seen.get(records.DECISION, 0), outcomes, problem, archived)
