"""An experiment in memory: the fold of its log, entry by entry, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from ocucb.bandit import Bandit
from ocucb.errors import ArmError, HorizonError, OcucbError
from ocucb.labels import Label
from ocucb.service import records
from ocucb.service.definition import Definition
from ocucb.service.errors import LogError
from ocucb.service.history import History
from ocucb.service.records import Entry


class Live:
    """The state of one experiment after entry `seq` of its log.

    Whoever folds the same entries has the same state, bit for bit: a node that starts, a node that catches up with
    another, a replay. Each method does its work, or raises and changes nothing. Nothing is kept per decision.
    """

    def __init__(self, experiment: int, definition: Definition, bandit: Bandit | None = None) -> None:
        self.id, self.name, self.definition = experiment, definition.name, definition
        self.bandit = definition.bandit() if bandit is None else bandit
        self.seq, self.status = 1, records.ACTIVE
        self.known: set[Label] = set(definition.arms)
        self.retired: set[Label] = set()
        self.metadata: dict[Label, Any] = {}  # of arms added later; that of the others is in the definition
        self.history = History()
        self.saved = 0
        self._horizon = definition.policy.rule().horizon

    @classmethod
    def begin(cls, experiment: int, first: Entry) -> Live:
        """Return the state after the first entry, which defines the experiment."""
        if first.seq != 1 or first.kind != records.CREATED or first.data is None:
            raise LogError(f"a log must begin with entry 1, {records.CREATED!r}, got entry {first.seq}, {first.kind!r}")
        try:
            return cls(experiment, Definition.from_dict(first.data))
        except (OcucbError, KeyError, TypeError) as problem:
            raise LogError(f"entry 1 defines no experiment: {problem}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain data."""
        return {
            "seq": self.seq,
            "status": self.status,
            "definition": self.definition.to_dict(),
            "bandit": self.bandit.to_dict(),
            "history": self.history.to_dict(),
            "metadata": [list(pair) for pair in self.metadata.items()],
        }

    @classmethod
    def from_dict(cls, experiment: int, data: dict[str, Any]) -> Live:
        """Return the state behind `to_dict`."""
        live = cls(experiment, Definition.from_dict(data["definition"]), Bandit.from_dict(data["bandit"]))
        live.seq, live.status = int(data["seq"]), str(data["status"])
        live.history = History.from_dict(data["history"])
        live.metadata = dict(data["metadata"])
        live.known = set(data["bandit"]["labels"])
        gone = zip(data["bandit"]["labels"], data["bandit"]["retired"], strict=True)
        live.retired = {label for label, retired in gone if retired}
        live.saved = live.seq
        return live

    def choose(self, at: int, token: str, unit: str | None) -> Entry:
        """Make a decision, and return its entry."""
        why = self.bandit.decide()
        self.seq += 1
        self.history.decide(why.arm, at)
        return Entry(
            self.seq,
            records.DECISION,
            at,
            why.arm,
            token=token,
            unit=unit,
            deadline=self.definition.deadline(at),
            pulls=why.pulls,
            mean=_known(why.mean),
            index_value=_known(why.index),
            effective=_known(why.effective_arms),
        )

    def check_room(self, count: int) -> None:
        """Raise HorizonError unless the policy can still make so many decisions."""
        if self._horizon is not None and self.bandit.rounds + count > self._horizon:
            raise HorizonError(
                f"{self.definition.policy} was made for {self._horizon} rounds, and {self.bandit.rounds} are over; "
                "create an experiment with a larger horizon, or with ocucb-n, which needs none"
            )

    def apply(self, entry: Entry) -> None:
        """Take the next entry of the log."""
        if entry.seq != self.seq + 1:
            raise LogError(f"entry {self.seq + 1} is missing from the log: entry {entry.seq} follows {self.seq}")
        fold = _FOLDS.get(entry.kind)
        if fold is None:
            raise LogError(f"entry {entry.seq} of the log is of a kind that is not known: {entry.kind!r}")
        fold(self, entry)
        self.seq = entry.seq

    def gone(self) -> list[tuple[Label, int, float]]:
        """Return the retired arms in order of label: pulls and mean of each."""
        if not self.retired:
            return []
        data = self.bandit.to_dict()
        rows = zip(*(data[name] for name in ("labels", "retired", "pulls", "learned", "totals")), strict=True)
        found = [
            (arm, pulls, total / learned if learned else math.nan) for arm, gone, pulls, learned, total in rows if gone
        ]
        return sorted(found, key=lambda row: str(row[0]))

    def take(self, entries: Iterable[Entry]) -> None:
        """Take the next entries, as they stand in the log."""
        for entry in entries:
            try:
                self.apply(entry)
            except LogError:
                raise
            except OcucbError as problem:
                raise LogError(f"entry {entry.seq} of the log cannot be: {problem}") from None

    def _decision(self, entry: Entry) -> None:
        arm = _arm(entry)
        chosen = self.bandit.choose()
        if chosen != arm:  # the log is right, whatever another version or another hand has made of it
            self.bandit.forget(chosen)
            self._pull(arm)
        self.history.decide(arm, entry.at)

    def _pull(self, arm: Label) -> None:
        """Count a pull that is not the policy's choice."""
        if arm not in self.known:
            raise LogError(f"entry {self.seq + 1} of the log decides for an arm that is not there: {arm!r}")
        data = self.bandit.to_dict()
        data["pulls"][data["labels"].index(arm)] += 1
        self.bandit = Bandit.from_dict(data)

    def _reward(self, entry: Entry) -> None:
        arm, reward = _arm(entry), entry.reward
        if reward is None:
            raise LogError(f"entry {entry.seq} of the log has no reward")
        self._with_arm(arm, lambda: self.bandit.learn(arm, reward))
        self.history.reward(reward)

    def _forgotten(self, entry: Entry) -> None:
        arm = _arm(entry)
        self._with_arm(arm, lambda: self.bandit.forget(arm))

    def _with_arm(self, arm: Label, act: Callable[[], None]) -> None:
        """Do something to an arm. A bandit hears nothing of a retired one, so that comes back for a moment."""
        if arm not in self.retired:
            act()
            return
        self.bandit.add_arm(arm)
        try:
            act()
        finally:
            self.bandit.retire_arm(arm)

    def _arm_added(self, entry: Entry) -> None:
        arm = _arm(entry)
        self.bandit.add_arm(arm)
        self.known.add(arm)
        self.retired.discard(arm)
        if (about := (entry.data or {}).get("metadata")) is not None:
            self.metadata[arm] = about

    def _arm_retired(self, entry: Entry) -> None:
        self.bandit.retire_arm(_arm(entry))
        self.retired.add(_arm(entry))

    def _log_imported(self, entry: Entry) -> None:
        pairs = (entry.data or {}).get("log", [])
        for arm, _ in pairs:
            if arm not in self.known:
                raise ArmError(f"no arm {arm!r}; add it first, or leave it out of the log")
        elsewhere = Bandit(self.definition.policy, list(dict.fromkeys(arm for arm, _ in pairs)), self.definition.noise)
        elsewhere.learn_many([arm for arm, _ in pairs], [reward for _, reward in pairs])
        self.bandit.merge(elsewhere)

    def _status(self, entry: Entry) -> None:
        self.status = records.ACTIVE if entry.kind == records.RESUMED else entry.kind


def _known(value: float) -> float | None:
    """Return a number, or None for nan, which says that nothing is known yet and which SQLite cannot keep."""
    return None if math.isnan(value) else value


def _arm(entry: Entry) -> Label:
    if entry.arm is None:
        raise LogError(f"entry {entry.seq} of the log names no arm")
    return entry.arm


_FOLDS: dict[str, Callable[[Live, Entry], None]] = {
    records.DECISION: Live._decision,
    records.REWARD: Live._reward,
    records.DEFAULT: Live._reward,
    records.FORGOTTEN: Live._forgotten,
    records.ARM_ADDED: Live._arm_added,
    records.ARM_RETIRED: Live._arm_retired,
    records.LOG_IMPORTED: Live._log_imported,
    records.PAUSED: Live._status,
    records.RESUMED: Live._status,
    records.ARCHIVED: Live._status,
}
