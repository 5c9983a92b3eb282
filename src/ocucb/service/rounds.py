"""A round: many requests, one transaction. Nothing is answered before it is durable."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

from ocucb.service.errors import LogError, StoreError, UnknownDecisionError, UnknownExperimentError
from ocucb.service.fold import Live
from ocucb.service.ids import Tokens, parse_id
from ocucb.service.lives import Lives, catch_up
from ocucb.service.records import Entry, Head, KeyRecord
from ocucb.service.requests import Create, Decide, Expire, ImportLog, Request, Reward
from ocucb.service.stores import Transaction

Found = tuple[Entry, Entry | None]


class Round:
    """What a batch of requests needs to know, and what it leaves to be written.

    Reads all that the batch may ask for in a few queries; then requests are applied in memory, one by one, and find
    here also what those before them in the batch have done.
    """

    def __init__(self, lives: Lives, requests: Sequence[Request], now: int, tokens: Tokens) -> None:
        self.now, self.tokens = now, tokens
        self._lives = lives
        names = {name for request in requests if (name := _name(request)) is not None}
        ids = {experiment for request in requests if (experiment := _id(request)) is not None}
        self.by_id, self.broken = lives.get(names, ids)
        self.by_name = {live.name: live for live in self.by_id.values()}
        self.known_keys: dict[int, dict[str, KeyRecord]] = {}
        self.known_units: dict[int, dict[str, Entry]] = {}
        self.known_decisions: dict[int, dict[int, Found]] = {}
        self._before: dict[int, Head] = {}
        self._entries: list[tuple[int, Entry]] = []
        self._keys: list[tuple[int, KeyRecord]] = []
        self._due: list[tuple[int, int, int]] = []
        self._closed: list[tuple[int, int]] = []

    def open(self, transaction: Transaction, requests: Sequence[Request]) -> None:
        """Lock the experiments, catch up with what other nodes wrote, and look up what the requests refer to."""
        self.transaction = transaction
        if self.by_id:
            heads = transaction.lock(sorted(self.by_id))
            if len(heads) != len(self.by_id):
                raise StoreError("an experiment is no longer in the database; it is read again, try again")
            for head in heads:
                self._before[head.id] = head
                self._catch_up(head)
        self._look_up(requests)

    def _look_up(self, requests: Sequence[Request]) -> None:
        """Find keys, units and decisions of the whole batch, with a query for each kind and experiment."""
        transaction = self.transaction
        asked_keys: defaultdict[int, set[str]] = defaultdict(set)
        asked_units: defaultdict[int, set[str]] = defaultdict(set)
        asked_decisions: defaultdict[int, set[int]] = defaultdict(set)
        for request in requests:
            if isinstance(request, Decide | ImportLog | Create):
                live = self.by_name.get(_name(request) or "")
                if live is not None and request.key is not None:
                    asked_keys[live.id].add(request.key)
                if live is not None and isinstance(request, Decide) and request.unit is not None:
                    asked_units[live.id].add(request.unit)
            elif isinstance(request, Reward) and (parts := parse_id(request.decision)) is not None:
                asked_decisions[parts.experiment].add(parts.seq)
        for experiment, keys in asked_keys.items():
            self.known_keys[experiment] = transaction.keys(experiment, sorted(keys))
        for experiment, units in asked_units.items():
            if self.by_id[experiment].definition.sticky is not None:
                self.known_units[experiment] = transaction.units(experiment, sorted(units))
        for experiment, seqs in asked_decisions.items():
            if experiment in self.by_id:
                self.known_decisions[experiment] = transaction.decisions(experiment, sorted(seqs))

    def _catch_up(self, head: Head) -> None:
        live = self.by_id[head.id]
        if head.name != live.name:
            raise StoreError("the database is another than it was; it is read again, try again")
        if head.seq < live.seq:
            raise StoreError(f"the log of experiment {head.name!r} is shorter than it was; it is read again, try again")
        try:
            if head.seq > live.seq:
                catch_up(self.transaction, head.id, live, head.seq)
        except LogError as problem:
            self.broken[head.id] = problem
            self._lives.drop([head.id])
            del self.by_id[head.id], self.by_name[head.name]

    def experiment(self, name: str) -> Live:
        """Return the experiment of this name."""
        live = self.by_name.get(name)
        if live is None:
            for head in self._broken_heads(name):
                raise LogError(f"experiment {name!r} cannot go on: {self.broken[head]}")
            raise UnknownExperimentError(name)
        return live

    def _broken_heads(self, name: str) -> list[int]:
        if not self.broken:
            return []
        return [head.id for head in self.transaction.find([name]) if head.id in self.broken]

    def experiment_of(self, decision: str, visible: frozenset[str] | None) -> tuple[Live, Found]:
        """Return the experiment that a decision id belongs to, the decision, and its outcome if there is one."""
        parts = parse_id(decision)
        if parts is not None and parts.experiment in self.broken:
            raise LogError(f"the experiment of this decision cannot go on: {self.broken[parts.experiment]}")
        live = None if parts is None else self.by_id.get(parts.experiment)
        if parts is None or live is None or (visible is not None and live.name not in visible):
            raise UnknownDecisionError
        found = self.known_decisions.get(live.id, {}).get(parts.seq)
        if found is None or not parts.matches(found[0]):
            raise UnknownDecisionError
        return live, found

    def create(self, live: Live, entry: Entry) -> None:
        """Take in an experiment that has just been made."""
        self._lives.add(live)
        self.by_id[live.id] = self.by_name[live.name] = live
        self._before[live.id] = Head(live.id, live.name, 0, live.status, entry.at)
        self._entries.append((live.id, entry))

    def record(self, live: Live, entry: Entry) -> None:
        """Write an entry that `live` has taken."""
        self._entries.append((live.id, entry))
        if entry.token is not None:
            if entry.deadline is not None:
                self._due.append((live.id, entry.seq, entry.deadline))
            if entry.unit is not None and live.definition.sticky is not None:
                self.known_units.setdefault(live.id, {})[entry.unit] = entry

    def close(self, live: Live, decision: Entry, outcome: Entry) -> None:
        """Write the outcome of a decision."""
        self._entries.append((live.id, outcome))
        self.known_decisions.setdefault(live.id, {})[decision.seq] = decision, outcome
        if decision.deadline is not None:
            self._closed.append((live.id, decision.seq))

    def remember(self, live: Live, record: KeyRecord) -> None:
        """Write what an idempotency key stands for."""
        self._keys.append((live.id, record))
        self.known_keys.setdefault(live.id, {})[record.key] = record

    def decisions(self, live: Live, first: int, size: int) -> list[Entry]:
        """Return entries of the log, those of this round included."""
        stored = self.transaction.entries(live.id, first - 1, first + size - 1)
        fresh = [entry for experiment, entry in self._entries if experiment == live.id]
        return stored + [entry for entry in fresh if first <= entry.seq < first + size]

    def write(self) -> list[Live]:
        """Write all that happened, and return the experiments it happened to."""
        moved = [live for live in self.by_id.values() if live.seq != self._before[live.id].seq]
        self.transaction.append(self._entries)
        self.transaction.add_keys(self._keys)
        self.transaction.add_due(self._due)
        self.transaction.end_due(self._closed)
        if moved:
            self.transaction.move([self._before[live.id]._replace(seq=live.seq, status=live.status) for live in moved])
        return moved

    def discard(self) -> None:
        """Throw away what was only in memory: it is not known to be stored."""
        self._lives.drop(chain(list(self.by_id), list(self._before)))


def _name(request: Request) -> str | None:
    if isinstance(request, Create):
        return request.definition.name
    return None if isinstance(request, Reward | Expire) else request.experiment


def _id(request: Request) -> int | None:
    if isinstance(request, Expire):
        return request.experiment_id
    parts = parse_id(request.decision) if isinstance(request, Reward) else None
    return None if parts is None else parts.experiment
