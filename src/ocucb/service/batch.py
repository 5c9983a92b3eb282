"""A batch: many requests, one transaction. Nothing is answered before it is durable."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, TypeVar

from ocucb.service.errors import (
    ArchivedDecisionError,
    DamagedError,
    LogError,
    StoreError,
    UnavailableError,
    UnknownDecisionError,
    UnknownExperimentError,
)
from ocucb.service.experiment_cache import ExperimentCache, catch_up
from ocucb.service.experiment_state import ExperimentState
from ocucb.service.ids import Tokens, parse_id
from ocucb.service.loader import Target
from ocucb.service.records import DELETED, Entry, ExperimentRecord, IdempotencyRecord
from ocucb.service.requests import Correct, Create, Decide, Expire, ImportLog, Request, Reward
from ocucb.service.stores import Transaction, partial_rewards, retention
from ocucb.service.stores.audit import Change, add_changes
from ocucb.service.stores.store import ENTRIES_PER_PAGE, DecisionAndOutcome, ScopedKey
from ocucb.service.stores.unlocked import Growth
from ocucb.service.unlocked_write import write_unlocked
from ocucb.service.used_keys import KeyVerifier, UsedKeys

_Part = TypeVar("_Part", int, str)
_Found = TypeVar("_Found")


class NotLoadedError(Exception):
    """An experiment must be loaded before a request can be served."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Batch:
    """What a batch of requests needs to know, and what it leaves to be written.

    Reads all that the batch may ask for in a few queries; then requests are handled in memory, one by one, and find
    here also what those before them in the batch have done.
    """

    def __init__(
        self,
        cache: ExperimentCache,
        targets: Iterable[Target],
        now: int,
        tokens: Tokens,
        key_verifier: KeyVerifier | None = None,
    ) -> None:
        self.now, self.tokens = now, tokens
        self.api_key = ""  # of whoever is served just now
        self.keys = UsedKeys(key_verifier)
        self.served = False
        self._cache = cache
        self.by_id = {state.id: state for target in targets if (state := cache.find(target)) is not None}
        self.by_name = {state.name: state for state in self.by_id.values()}
        self.locked: dict[Target, int] = {}
        self.lost: set[int] = set()  # another node has written to these while nothing was locked
        self._to_load: dict[Target, str] = {}
        self.idempotency_records: dict[ScopedKey, IdempotencyRecord] = {}
        self._last_decisions: dict[tuple[int, str], Entry] = {}
        self._unreadable: dict[int, LogError] = {}
        self.found_decisions: dict[tuple[int, int], DecisionAndOutcome] = {}
        self._trusts = False  # that the experiments are as they were seen a moment ago
        self._seq_before: dict[int, int] = {}
        self._entries: list[tuple[int, Entry]] = []
        self.new_idempotency_records: list[tuple[int, IdempotencyRecord]] = []
        self._corrections: dict[tuple[int, int], Entry] = {}
        self._parts: dict[tuple[int, int], dict[str, float]] = {}
        self._new_parts: list[tuple[int, int, str, float]] = []
        self._closed_parts: list[tuple[int, int]] = []
        self._changes: list[Change] = []
        self._due: list[tuple[int, int, int]] = []
        self._not_due: list[tuple[int, int]] = []

    def open(self, transaction: Transaction, starved: int | None = None) -> None:
        """Lock the experiments, and catch up with what other nodes wrote. Those that others have locked are left out.

        The lock of `starved` is waited for a little, and not only tried. Where nothing is to be locked, nothing is, and
        what was seen a moment ago is not even looked at.
        """
        self.transaction = transaction
        if self.by_id and not transaction.is_unlocked:
            self._take_in(transaction.lock_experiments(sorted(self.by_id), starved))
        elif self.by_id and self._cache.seen.has(self.by_id):
            self._trusts, transaction.key_version = True, self._cache.seen.key_version
            self._seq_before = {state.id: state.seq for state in self.by_id.values()}
        elif self.by_id:
            self._look()

    def _look(self) -> None:
        """Catch up with what other nodes wrote, and lock nothing."""
        self._trusts, at = False, time.monotonic()
        self._take_in(self.transaction.look_at_experiments(sorted(self.by_id)))
        self._cache.seen.note(self._seq_before, at, self.transaction.key_version)

    def _take_in(self, records: Sequence[ExperimentRecord]) -> None:
        if len(records) != len(self.by_id):
            self._leave_out_locked(set(self.by_id).difference(record.id for record in records))
        new_entries = self._read_new_entries(records)
        for record in records:
            if record.status == DELETED:
                self._leave_out(record.id)
                continue
            self._seq_before[record.id] = record.seq
            self._catch_up(record, new_entries.get(record.id))

    def _read_new_entries(self, records: Iterable[ExperimentRecord]) -> dict[int, list[Entry]]:
        """Return what other nodes wrote: by one query for all experiments, less those that are far behind."""
        behind = [(record.id, self.by_id[record.id].seq, record.seq) for record in records]
        behind = [span for span in behind if 0 < span[2] - span[1] <= ENTRIES_PER_PAGE]
        behind.sort(key=lambda span: span[1] - span[2])  # the last, which may be read several times, is the shortest
        try:
            return self.transaction.read_new_entries(behind) if behind else {}
        except LogError:  # one log is damaged: each is read by itself, and the others go on
            return {}

    def _leave_out_locked(self, missing: set[int]) -> None:
        locked = {record.id for record in self.transaction.find_experiments([], sorted(missing))}
        for experiment in missing - locked:  # it was deleted, or the database was replaced
            self._read_again(experiment)
        for experiment in locked:
            state = self.by_id.pop(experiment)
            del self.by_name[state.name]
            self.locked[experiment] = self.locked[state.name] = experiment

    def _leave_out(self, experiment: int) -> None:
        """Go on as if an experiment had never been."""
        del self.by_name[self.by_id.pop(experiment).name]
        self._seq_before.pop(experiment, None)
        self._cache.drop([experiment])

    def _read_again(self, experiment: int) -> None:
        """Let requests for an experiment wait until it is loaded once more."""
        self._to_load[experiment] = name = self.by_id[experiment].name
        self._to_load[name] = name
        self._leave_out(experiment)

    def delete_experiment(self, state: ExperimentState) -> None:
        """Delete an experiment that this batch has not changed."""
        retention.mark_deleted(self.transaction, state.id)
        self._leave_out(state.id)

    def delete_damaged(self, name: str) -> ExperimentRecord | None:
        """Delete an experiment that is damaged, and so could not be archived before; None if there is none."""
        damaged = None if name in self.by_name else self._cache.find_damaged(name)
        if damaged is None:
            return None
        found = self.transaction.find_experiments([], [damaged.id])
        locked = self.transaction.lock_experiments([damaged.id]) if found else []
        if found and not locked:
            raise UnavailableError(f"another node has locked experiment {name!r}; not deleted, try again")
        self._cache.drop_damaged(damaged.id)
        if not locked or locked[0].status == DELETED:
            return None
        retention.mark_deleted(self.transaction, damaged.id)
        return locked[0]

    def find_referenced(self, requests: Sequence[Request]) -> None:
        """Look up what requests refer to, keys, units and decisions: a query for each kind."""
        keys: set[tuple[int, str]] = set()
        units: set[tuple[int, str]] = set()
        decisions: set[tuple[int, int]] = set()
        for request in requests:
            if type(request) is Decide and request.unit is None and request.idempotency_key is None:
                continue
            if isinstance(request, _KEYED):
                state = self.by_name.get(_experiment_name(request) or "")
                if state is None:
                    continue
                if request.idempotency_key is not None:
                    keys.add((state.id, request.idempotency_key))
                if isinstance(request, Decide) and request.unit is not None and state.definition.sticky is not None:
                    units.add((state.id, request.unit))
            elif isinstance(request, _OF_DECISION):
                parts = parse_id(request.decision)
                if parts is not None and parts.experiment in self.by_id:
                    decisions.add((parts.experiment, parts.seq))
        if keys:
            self.idempotency_records = self.transaction.find_idempotency_keys(sorted(keys))
        if units:
            self._last_decisions = self._find(self.transaction.find_last_decisions, units)
        if decisions:
            self.found_decisions = self._find(self.transaction.find_decisions, decisions)
        if self._trusts and self._is_behind():
            self._look()

    def _is_behind(self) -> bool:
        """Tell whether something was found that is later than what is in memory: another node has written it."""
        found = [
            *((experiment, record.seq) for (experiment, _, _), record in self.idempotency_records.items()),
            *((experiment, entry.seq) for (experiment, _), entry in self._last_decisions.items()),
            *((key[0], one.seq) for key, pair in self.found_decisions.items() for one in pair if one is not None),
        ]
        return any(seq > self._seq_before[experiment] for experiment, seq in found)

    def _find(
        self,
        find: Callable[[Sequence[tuple[int, _Part]]], dict[tuple[int, _Part], _Found]],
        wanted: set[tuple[int, _Part]],
    ) -> dict[tuple[int, _Part], _Found]:
        """Return what is found of (experiment, ...); if an entry cannot be read, that of the other experiments."""
        try:
            return find(sorted(wanted))
        except LogError:
            found = {}
            for experiment in {experiment for experiment, _ in wanted}:
                try:
                    found.update(find(sorted(one for one in wanted if one[0] == experiment)))
                except LogError as error:
                    self._unreadable[experiment] = error
            return found

    def _check_readable(self, state: ExperimentState) -> None:
        if state.id in self._unreadable:
            raise DamagedError(state.name, str(self._unreadable[state.id]))

    def last_decision(self, state: ExperimentState, unit: str) -> Entry | None:
        """Return the last decision for a unit, if decisions stick to their units."""
        self._check_readable(state)
        return self._last_decisions.get((state.id, unit))

    def _catch_up(self, record: ExperimentRecord, new_entries: list[Entry] | None) -> None:
        state = self.by_id[record.id]
        if record.name != state.name:
            self._cache.drop([record.id])
            raise StoreError("the database was replaced by another; it is read again, try again")
        if record.seq < state.seq:
            self._cache.drop([record.id])
            raise StoreError(
                f"the log of experiment {record.name!r} is shorter than it was; it is read again, try again"
            )
        seen = state.seq
        try:
            if record.seq > state.seq:
                self._cache.note_shared(record.id)
                catch_up(self.transaction, record.id, state, record.seq, new_entries)
        except LogError as error:
            base = retention.find_base(self.transaction, record.id)
            if base is not None and base.seq > seen:  # what it has not seen was archived meanwhile
                self._read_again(record.id)
                return
            self._cache.add_damaged(record, error)
            del self._seq_before[record.id]
            del self.by_id[record.id], self.by_name[record.name]

    def experiment(self, name: str) -> ExperimentState:
        """Return the experiment of this name."""
        state = self.by_name.get(name)
        if state is None:
            if name in self._to_load:
                raise NotLoadedError(name)
            if (damaged := self._cache.find_damaged(name)) is not None:
                raise DamagedError(name, str(damaged.error))
            raise UnknownExperimentError(name)
        return state

    def decision_and_outcome(
        self, decision: str, visible: frozenset[str] | None
    ) -> tuple[ExperimentState, DecisionAndOutcome]:
        """Return the experiment of a decision id, the decision, and its outcome if there is one."""
        parts = parse_id(decision)
        if parts is not None and (damaged := self._cache.find_damaged(parts.experiment)) is not None:
            raise DamagedError(damaged.name, str(damaged.error))
        state = None if parts is None else self.by_id.get(parts.experiment)
        if parts is not None and parts.experiment in self._to_load:
            raise NotLoadedError(self._to_load[parts.experiment])
        if parts is None or state is None or (visible is not None and state.name not in visible):
            raise UnknownDecisionError
        found = self.found_decisions.get((state.id, parts.seq))
        if found is None:
            self._check_readable(state)
        if found is None and (base := retention.find_base(self.transaction, state.id)) and parts.seq <= base.seq:
            raise ArchivedDecisionError(base.seq)
        if found is None or not parts.matches(found[0]):
            raise UnknownDecisionError
        return state, found

    def add_experiment(self, state: ExperimentState, entry: Entry) -> None:
        """Add an experiment that this batch creates."""
        self._cache.add(state)
        self.by_id[state.id] = self.by_name[state.name] = state
        self._seq_before[state.id] = 0
        self._entries.append((state.id, entry))

    def add_entry(self, state: ExperimentState, entry: Entry) -> None:
        """Note an entry that `state` has folded, to be written."""
        self._entries.append((state.id, entry))
        if entry.token is not None:
            if entry.deadline is not None:
                self._due.append((state.id, entry.seq, entry.deadline))
            if entry.unit is not None and state.definition.sticky is not None:
                self._last_decisions[state.id, entry.unit] = entry

    def add_outcome(self, state: ExperimentState, decision: Entry, outcome: Entry) -> None:
        """Note the outcome of a decision, to be written."""
        self._entries.append((state.id, outcome))
        self.found_decisions[state.id, decision.seq] = decision, outcome
        if decision.deadline is not None:
            self._not_due.append((state.id, decision.seq))
        if self._parts.get((state.id, decision.seq)):
            self._closed_parts.append((state.id, decision.seq))

    def parts(self, experiment: int, decisions: Sequence[int]) -> dict[int, dict[str, float]]:
        """Return the partial rewards that open decisions have so far, by their names."""
        missing = [seq for seq in decisions if (experiment, seq) not in self._parts]
        if missing:
            for seq, found in partial_rewards.find_parts(self.transaction, experiment, missing).items():
                self._parts[experiment, seq] = found
        return {seq: self._parts[experiment, seq] for seq in decisions}

    def add_part(self, state: ExperimentState, decision: Entry, part: str, entry: Entry) -> None:
        """Note a partial reward, to be written."""
        self._entries.append((state.id, entry))
        value = entry.reward or 0.0
        self._parts[state.id, decision.seq][part] = value
        self._new_parts.append((state.id, decision.seq, part, value))

    def last_correction(self, experiment: int, outcome: Entry) -> Entry:
        """Return what stands in the place of an outcome: its last correction, or itself if there is none."""
        while True:
            later = self._corrections.get((experiment, outcome.seq))
            if later is None:
                found = self.transaction.find_decisions([(experiment, outcome.seq)]).get((experiment, outcome.seq))
                later = None if found is None else found[1]
            if later is None:
                return outcome
            outcome = later

    def add_correction(self, state: ExperimentState, entry: Entry) -> None:
        """Note a correction, to be written."""
        self._entries.append((state.id, entry))
        self._corrections[state.id, entry.decision or 0] = entry

    def add_idempotency_record(self, state: ExperimentState, record: IdempotencyRecord) -> None:
        """Note the answer that an idempotency key stands for, to be written."""
        self.new_idempotency_records.append((state.id, record))
        self.idempotency_records[state.id, record.api_key, record.idempotency_key] = record

    def note_change(self, action: str, experiment: str, **details: Any) -> None:
        """Note for the audit log what whoever is served just now has changed, to be written."""
        self._changes.append(Change(self.now, self.api_key, action, experiment, details))

    def read_entries(self, state: ExperimentState, first: int, size: int) -> list[Entry]:
        """Return entries of the log, those of this batch included."""
        stored = self.transaction.read_entries(state.id, first - 1, first + size - 1)
        new = [entry for experiment, entry in self._entries if experiment == state.id]
        return stored + [entry for entry in new if first <= entry.seq < first + size]

    def write(self) -> list[ExperimentState]:
        """Write all that was noted, and return the experiments that changed, less those that were lost."""
        changed = [state for state in self.by_id.values() if state.seq != self._seq_before[state.id]]
        if self.transaction.is_unlocked:
            return self._write_checked(changed)
        transaction = self.transaction
        transaction.append_entries(self._entries)
        if self.new_idempotency_records:
            transaction.add_idempotency_keys(self.new_idempotency_records)
        if self._changes:
            add_changes(transaction, self._changes)
        if self._new_parts:
            partial_rewards.add_parts(transaction, self._new_parts)
        if self._closed_parts:
            partial_rewards.delete_parts(transaction, self._closed_parts)
        if self._due:
            transaction.add_due(self._due)
        if self._not_due:
            transaction.delete_due(self._not_due)
        if changed:
            transaction.update_experiments([(state.id, state.seq, state.status) for state in changed])
        return changed

    def _write_checked(self, changed: list[ExperimentState]) -> list[ExperimentState]:
        """Write where no other node has written meanwhile. Where one has, the experiment is lost: it is read again."""
        if self._changes or self._new_parts or self._closed_parts:
            raise StoreError("this cannot be written without a lock; not stored, try again")
        touched = {state.id: state for state in changed}  # or with an idempotency key for what was decided before
        touched |= {experiment: self.by_id[experiment] for experiment, _ in self.new_idempotency_records}
        growths = [
            Growth(experiment, state.name, self._seq_before[experiment], state.seq, state.status)
            for experiment, state in touched.items()
        ]
        rows = self._entries, self.new_idempotency_records, self._due, self._not_due
        self.lost = write_unlocked(
            self.transaction, self._cache, self.keys, self.by_id, growths, rows, trusts=self._trusts
        )
        return [state for state in changed if state.id not in self.lost]

    def is_lost(self, target: Target | None) -> bool:
        """Tell whether what was decided for an experiment could not be written, since another node wrote before."""
        state = self.by_name.get(target) if isinstance(target, str) else self.by_id.get(target or 0)
        return state is not None and state.id in self.lost

    def discard(self) -> None:
        """Drop what is only in memory, if any request was served: it is not known to be stored."""
        if self.served:
            self._cache.drop(chain(list(self.by_id), list(self._seq_before)))


_KEYED = (Decide, ImportLog, Create)
_OF_DECISION = (Reward, Correct)
_BY_ID = (Reward, Correct, Expire)


def needs_lock(request: Request) -> bool:
    """Tell whether a request may write more than entries, idempotency keys and deadlines."""
    return not (type(request) is Decide or (type(request) is Reward and request.part is None))


def _experiment_name(request: Request) -> str | None:
    if isinstance(request, Create):
        return request.definition.name
    return None if isinstance(request, _BY_ID) else request.experiment


def target_of(request: Request) -> Target | None:
    """Return the experiment that a request is about, by its name or its id; None if there is none."""
    if type(request) is Decide:
        return request.experiment
    if isinstance(request, Expire):
        return request.experiment_id
    if isinstance(request, _OF_DECISION):
        parts = parse_id(request.decision)
        return None if parts is None else parts.experiment
    return _experiment_name(request)
