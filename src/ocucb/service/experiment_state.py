"""An experiment in memory: the fold of its log, entry by entry, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ocucb import saving
from ocucb.arm_statistics import Choice
from ocucb.bandit import Bandit
from ocucb.errors import ArmError, HorizonError, OcucbError
from ocucb.labels import Label
from ocucb.memory import Window
from ocucb.saving import SavedBandit
from ocucb.service import records
from ocucb.service.definition import Definition
from ocucb.service.errors import ArchivedError, LogError
from ocucb.service.exact_sums import RoundingErrors
from ocucb.service.history import History
from ocucb.service.records import SECOND, Entry

SNAPSHOT_FORMAT = 3  # raised when the data of a snapshot changes; snapshots of another format are skipped


class StateCopy(NamedTuple):
    """A state as it was after entry `seq`, whatever becomes of it: taken quickly, and made plain data by who has time.

    Nothing in it changes any more: it has copies of what a state changes in place.
    """

    experiment: int
    seq: int
    status: str
    definition: Definition
    bandit: SavedBandit
    history: History
    metadata: dict[Label, Any]
    last_mark: list[Any] | None
    winner: tuple[float | None, Label | None]
    rounding_errors: RoundingErrors

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain data."""
        bandit, errors = saving.to_dict(self.bandit), self.rounding_errors.to_list()
        return {**self.to_columns(), "bandit": bandit, "rounding_errors": errors}

    def to_columns(self) -> dict[str, Any]:
        """Return the state as `to_dict` does, but with arrays in the place of the bandit's lists, and with `Pairs`."""
        return {
            "format": SNAPSHOT_FORMAT,
            "seq": self.seq,
            "status": self.status,
            "definition": self.definition.to_dict(),
            "bandit": saving.to_columns(self.bandit),
            "history": self.history.to_dict(),
            "metadata": [list(pair) for pair in self.metadata.items()],
            "last_mark": self.last_mark,
            "winner": list(self.winner),
            "rounding_errors": self.rounding_errors.to_pairs(),
        }


class ExperimentState:
    """The state of one experiment after entry `seq` of its log.

    Whoever folds the same entries has the same state, bit for bit: a node that starts, a node that catches up with
    another, a replay. Each method does its work, or raises and changes nothing. Nothing is kept per decision.
    """

    def __init__(self, experiment: int, definition: Definition, bandit: Bandit | None = None) -> None:
        self.id, self.name, self.definition = experiment, definition.name, definition
        self.bandit = definition.bandit() if bandit is None else bandit
        self.seq, self.status = 1, records.ACTIVE
        self.labels = list(definition.arms)  # of all arms in the order in which they were added, retired ones included
        self.metadata: dict[Label, Any] = {}  # of arms added later; that of the others is in the definition
        self.winner_confidence: float | None = None  # at which a winner is looked for, to be the only arm played
        self.winner: Label | None = None
        self.looked_at = 0.0  # how many rounds there were when a winner was last looked for
        self.listed: list[Choice] = []  # what a replay expects of decisions made at once
        self.history = History()
        self.rounding_errors = RoundingErrors()
        self.snapshot_seq = 0
        self.last_mark: list[Any] | None = None
        self._horizon = definition.policy.rule().horizon
        self._window = None if definition.window is None else round(definition.window * SECOND)

    @classmethod
    def begin(cls, experiment: int, first: Entry) -> ExperimentState:
        """Return the state after the first entry, which defines the experiment."""
        if first.seq != 1 or first.kind != records.CREATED or first.data is None:
            raise LogError(f"a log must begin with entry 1, {records.CREATED!r}, got entry {first.seq}, {first.kind!r}")
        try:
            state = cls(experiment, Definition.from_dict(first.data))
        except (OcucbError, KeyError, TypeError) as error:
            raise LogError(f"entry 1 defines no experiment: {error}") from None
        state.last_mark = mark(first)
        return state

    @property
    def size(self) -> int:
        """How much a snapshot has to say: of each arm, and of each pull and reward that a window remembers."""
        memory = self.definition.memory
        return len(self.labels) + (2 * min(memory.rounds, self.bandit.rounds) if isinstance(memory, Window) else 0)

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain data."""
        return self.copy().to_dict()

    def copy(self) -> StateCopy:
        """Return the state as it is now. With many arms that takes a tenth of the time of `to_dict`."""
        return StateCopy(
            self.id,
            self.seq,
            self.status,
            self.definition,
            self.bandit.saved(),
            self.history.copy(),
            dict(self.metadata),
            self.last_mark,
            (self.winner_confidence, self.winner),
            self.rounding_errors.copy(),
        )

    @classmethod
    def from_dict(cls, experiment: int, data: dict[str, Any]) -> ExperimentState:
        """Return the state behind `to_dict`."""
        if data.get("format") != SNAPSHOT_FORMAT:
            raise LogError(f"the format must be {SNAPSHOT_FORMAT}, got {data.get('format')!r}")
        state = cls(experiment, Definition.from_dict(data["definition"]), Bandit.from_dict(data["bandit"]))
        state.seq, state.status = int(data["seq"]), str(data["status"])
        state.history = History.from_dict(data["history"])
        state.metadata = dict(data["metadata"])
        state.last_mark = data.get("last_mark")  # snapshots of older services have none
        state.winner_confidence, state.winner = data.get("winner", (None, None))
        state.rounding_errors = RoundingErrors.from_list(data["rounding_errors"])
        state.labels = list(data["bandit"]["labels"])
        state.snapshot_seq = state.seq
        return state

    def choose(self, at: int, token: str, unit: str | None, among: Sequence[Label] | None = None) -> Entry:
        """Make a decision, among all arms or some, and return its entry. A winner that may be chosen is."""
        wins = self.winner is not None and (among is None or self.winner in among)
        choice = self.bandit.decide([self.winner] if wins else among)  # type: ignore[list-item]  # it is an arm
        self.seq += 1
        self.history.decide(choice.arm, at)
        entry = self.entry_of(choice, self.seq, at, token, unit, None if among is None else {"among": list(among)})
        self.last_mark = mark(entry)
        return entry

    def choose_many(self, at: int, tokens: Sequence[str]) -> list[Entry]:
        """Make so many decisions at once, each of another arm, and return their entries."""
        choices = self.bandit.peek_many(len(tokens))
        entries = []
        for place, (choice, token) in enumerate(zip(choices, tokens, strict=True), 1):
            entry = self.entry_of(choice, self.seq + 1, at, token, None, {"place": place, "of": len(tokens)})
            self.apply(entry)
            entries.append(entry)
        return entries

    def entry_of(
        self, choice: Choice, seq: int, at: int, token: str, unit: str | None, data: dict[str, Any] | None
    ) -> Entry:
        """Return the entry of a decision."""
        arm, statistics, probability = choice
        deadline = None if self._window is None else at + self._window
        # by place, not by name, which takes twice as long: no outcome, no reward
        return Entry(seq, records.DECISION, at, arm, None, None, token, unit, deadline, statistics, probability, data)

    def check_open(self) -> None:
        """Raise ArchivedError if the experiment has ended."""
        if self.status == records.ARCHIVED:
            raise ArchivedError(self.name)

    def check_horizon(self, count: int) -> None:
        """Raise HorizonError unless the policy can still make so many decisions."""
        if self._horizon is not None and self.bandit.rounds + count > self._horizon:
            raise HorizonError(
                f"{self.definition.policy} was made for {self._horizon} rounds, and {self.bandit.rounds} are over; "
                "create an experiment with a larger horizon, or with ocucb-n, which needs none"
            )

    def apply(self, entry: Entry) -> None:
        """Apply the next entry of the log."""
        if entry.seq != self.seq + 1:
            raise LogError(f"entry {self.seq + 1} is missing from the log: entry {entry.seq} follows {self.seq}")
        apply = _APPLY.get(entry.kind)
        if apply is None:
            raise LogError(f"entry {entry.seq} of the log is of a kind that is not known: {entry.kind!r}")
        apply(self, entry)
        self.seq, self.last_mark = entry.seq, mark(entry)

    def fold(self, entries: Iterable[Entry]) -> None:
        """Apply the next entries of the log, whatever they say."""
        for entry in entries:
            try:
                self.apply(entry)
            except LogError:
                raise
            except OcucbError as error:
                raise LogError(f"entry {entry.seq} of the log cannot be: {error}") from None

    def _decision(self, entry: Entry) -> None:
        arm = _arm(entry)
        self.bandit.count_pull(arm)  # the log is right, whatever another version or another hand has made of it
        self.history.decide(arm, entry.at)

    def _reward(self, entry: Entry) -> None:
        if entry.reward is None:
            raise LogError(f"entry {entry.seq} of the log has no reward")
        arm = _arm(entry)
        if self.definition.memory is None:
            _, before = self.bandit.learned(arm)
            self.bandit.learn(arm, entry.reward)
            self.rounding_errors.added(arm, before, entry.reward)
        else:  # which no correction can change
            self.bandit.learn(arm, entry.reward)
        self.history.reward(entry.reward)

    def _partial(self, entry: Entry) -> None:
        """Learn nothing yet: the sum counts when the window has passed."""

    def _corrected(self, entry: Entry) -> None:
        """Put a reward in the place of another; None stands for a decision that was forgotten."""
        arm, now, data = _arm(entry), entry.reward, entry.data or {}
        was, counted = data.get("was"), data.get("counted")
        if counted is None or (was is None and now is None):
            raise LogError(f"entry {entry.seq} of the log does not say what it corrects")
        rewards, before = self.bandit.learned(arm)
        more = (now is not None) - (was is not None)
        change = -(was or 0.0), now or 0.0
        total = self.rounding_errors.sum_after(arm, before, change)
        self.bandit.revise(arm, rewards + more, total)
        self.rounding_errors.replaced(arm, before, change, total)
        self.history.correct(counted, more, sum(change))
        self.winner, self.looked_at = None, 0.0  # it was found with the reward that was wrong

    def _forgotten(self, entry: Entry) -> None:
        self.bandit.forget(_arm(entry))

    def _arm_added(self, entry: Entry) -> None:
        arm = _arm(entry)
        new = arm not in self.bandit
        self.bandit.add_arm(arm)
        if new:
            self.labels.append(arm)
        self.winner = None  # it was that of the others
        if (about := (entry.data or {}).get("metadata")) is not None:
            self.metadata[arm] = about

    def _arm_retired(self, entry: Entry) -> None:
        self.bandit.retire_arm(_arm(entry))
        if self.winner == entry.arm:
            self.winner = None

    def _shares_set(self, entry: Entry) -> None:
        self.bandit.set_shares(dict((entry.data or {}).get("shares", ())))

    def _winner_rule_set(self, entry: Entry) -> None:
        self.winner_confidence, self.winner, self.looked_at = (entry.data or {}).get("confidence"), None, 0.0

    def _winner_found(self, entry: Entry) -> None:
        self.winner = _arm(entry)

    def _log_imported(self, entry: Entry) -> None:
        pairs = (entry.data or {}).get("log", [])
        for arm, _ in pairs:
            if arm not in self.bandit:
                raise ArmError(f"no arm {arm!r}; add it first, or leave it out of the log")
        if self.definition.memory is not None:
            self._play_imported(pairs)
            return
        rewards: dict[Label, list[float]] = {}
        for arm, reward in pairs:
            rewards.setdefault(arm, []).append(reward)
        before = {arm: self.bandit.learned(arm)[1] for arm in rewards}
        elsewhere = Bandit(self.definition.policy, list(dict.fromkeys(arm for arm, _ in pairs)), self.definition.noise)
        elsewhere.learn_many([arm for arm, _ in pairs], [reward for _, reward in pairs])
        self.bandit.merge(elsewhere)  # which leaves what is pending here pending
        for arm, values in rewards.items():
            self.rounding_errors.replaced(arm, before[arm], values, self.bandit.learned(arm)[1])

    def _play_imported(self, pairs: Iterable[tuple[Label, float]]) -> None:
        """Take imported pulls as rounds, in their order; what is pending here stays so. No sum can overflow."""
        for arm, reward in pairs:
            self.bandit.count_pull(arm)
            self.bandit.learn(arm, reward)

    def _status(self, entry: Entry) -> None:
        self.status = records.ACTIVE if entry.kind == records.RESUMED else entry.kind


def mark(entry: Entry) -> list[Any]:
    """Return what tells an entry from any other that might stand in its place."""
    return [entry.kind, entry.at, entry.token, entry.reward]


def _arm(entry: Entry) -> Label:
    if entry.arm is None:
        raise LogError(f"entry {entry.seq} of the log names no arm")
    return entry.arm


_APPLY: dict[str, Callable[[ExperimentState, Entry], None]] = {
    records.DECISION: ExperimentState._decision,
    records.REWARD: ExperimentState._reward,
    records.DEFAULT: ExperimentState._reward,
    records.SUMMED: ExperimentState._reward,
    records.PARTIAL: ExperimentState._partial,
    records.CORRECTED: ExperimentState._corrected,
    records.FORGOTTEN: ExperimentState._forgotten,
    records.ARM_ADDED: ExperimentState._arm_added,
    records.ARM_RETIRED: ExperimentState._arm_retired,
    records.LOG_IMPORTED: ExperimentState._log_imported,
    records.SHARES_SET: ExperimentState._shares_set,
    records.WINNER_RULE_SET: ExperimentState._winner_rule_set,
    records.WINNER: ExperimentState._winner_found,
    records.PAUSED: ExperimentState._status,
    records.RESUMED: ExperimentState._status,
    records.ARCHIVED: ExperimentState._status,
}
