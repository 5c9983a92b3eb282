"""The bandit: checks input once, then chooses and learns."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ocucb import saving
from ocucb.arm_statistics import ArmStatistics, Choice, Statistics, arm_statistics, statistics_of
from ocucb.arms import Arms
from ocucb.checks import as_float, whole
from ocucb.choosing import Chooser
from ocucb.compiled import Floats, Integers
from ocucb.confidence_sequences import ConfidenceSequences, Intervals, clean_confidence
from ocucb.errors import ArmError, HorizonError, ParameterError, RewardError, StateError
from ocucb.labels import Label, clean_label, clean_labels
from ocucb.memory import CALLS, MEMORIES, Memory
from ocucb.merging import add_learned
from ocucb.noise import Gaussian, Noise
from ocucb.notebook_table import MAX_ROWS, cell, html_table
from ocucb.policies import Policy
from ocucb.saving import SavedBandit
from ocucb.selection import Selector
from ocucb.shares import Shares, clean_shares
from ocucb.suitability import check_suitable, check_verdicts
from ocucb.verdict import Verdict, find_verdict


class Bandit:
    """Choose among arms, learn from rewards, choose better.

    >>> bandit = Bandit(OCUCBn(), arms=["red", "green", "blue"])
    >>> arm = bandit.choose()
    >>> bandit.learn(arm, 0.7)

    A choice counts as a pull whose reward is *pending* until `learn` or `forget`. While rewards are pending an arm's
    pulls include its pending ones, so a burst of choices spreads out. Arms never pulled come first, in order. An arm
    whose first reward is still pending waits for it, unless every arm does: then the one with fewest pulls is chosen.

    A retired arm is never chosen, and counts neither as an arm nor among the effective arms. Its pulls still count as
    rounds, rewards for it still come and may be forgotten, and it keeps its statistics: `add_arm` brings it back.

    Parameters
    ----------
    policy : how to choose.
    arms : how many, labelled 0, 1, ...; or their labels, strings or integers, all different.
    noise : how rewards spread around an arm's mean. `Gaussian(scale)` is right for any subgaussian reward.
    seed : for policies and shares, which draw random numbers; drawn at random if None.
    shares : arms that get a part of all rounds, whatever the policy chooses, as in {"control": 0.1}; see `set_shares`.
    memory : `Window`, `Discount` or `Restart`, for an environment that drifts: the policy sees only what is remembered.
        An arm that is forgotten altogether is tried again. By default everything is remembered.

    Safe to share between threads. Every method either does its work or raises and changes nothing.
    """

    def __init__(
        self,
        policy: Policy,
        arms: int | Iterable[Label],
        noise: Noise | None = None,
        seed: int | None = None,
        shares: Mapping[Label, float] | None = None,
        memory: Memory | None = None,
    ) -> None:
        noise = Gaussian() if noise is None else noise
        if not isinstance(policy, Policy):
            raise ParameterError(f"policy must be a policy such as OCUCBn(), got {policy!r}")
        if not isinstance(noise, Noise):
            raise ParameterError(f"noise must be a noise family such as Gaussian(1.0), got {noise!r}")
        if memory is not None and not isinstance(memory, tuple(MEMORIES.values())):
            raise ParameterError(f"memory must be {CALLS}, or None, got {memory!r}")
        check_suitable(policy, noise, memory)
        labels = clean_labels(arms)
        self._policy, self._noise, self._memory = policy, noise, memory
        self._seed = secrets.randbits(63) if seed is None else _clean_seed(seed)
        self._low, self._high = noise.support()
        self._whole = noise.whole
        self._labels = labels
        rule = policy.rule() if memory is None else memory.limit(policy.rule())
        self._selector = Selector(rule, noise.family(), self._seed, len(labels))
        self._arms = Arms(labels, self._selector)
        self._slot, self._slots = self._arms.slot, self._arms.slots
        self._chooser = Chooser(self._arms, policy.rule(), self._seed)
        self._plain = True  # there are no shares
        self._lock = threading.RLock()
        if shares is not None:
            self.set_shares(shares)

    def choose(self, among: Iterable[Label] | None = None) -> Label:
        """Return the arm to play next; if arms are named, one `among` these. Its reward is pending from now on."""
        with self._lock:
            if among is None and self._plain:
                slot = self._selector.choose()
                if slot >= 0:
                    return slot if slot < self._arms.numbers else self._labels[slot]
            slots = None if among is None else self._arms.slots_among(among)
            return self._label_of(self._chooser.choose(slots), slots)

    def decide(self, among: Iterable[Label] | None = None) -> Choice:
        """Choose as `choose` does, and return also what was known of the arm before, and how likely it was chosen.

        Effective arms are None under a policy that has no use for them.
        """
        with self._lock:
            slots = None if among is None else self._arms.slots_among(among)
            slot, known, probability = self._chooser.decide(slots)
            return Choice(self._label_of(slot, slots), arm_statistics(*known), probability)

    def peek(self, among: Iterable[Label] | None = None) -> Label:
        """Return the arm that `choose` would return, and commit to nothing."""
        with self._lock:
            slots = None if among is None else self._arms.slots_among(among)
            return self._label_of(self._chooser.peek(slots), slots)

    def choose_many(self, count: int) -> list[Label]:
        """Return so many different arms by falling index: for a list, or a page of results. Each is a round."""
        return [choice.arm for choice in self.decide_many(count)]

    def decide_many(self, count: int) -> list[Choice]:
        """Choose as `choose_many` does, and return also what was known of each arm before the first of them.

        The probability is that of being among those chosen.
        """
        with self._lock:
            choices = self.peek_many(count)
            for choice in choices:
                self.count_pull(choice.arm)
            return choices

    def peek_many(self, count: int) -> list[Choice]:
        """Return what `decide_many` would return, and commit to nothing."""
        with self._lock:
            count = whole("count", count, 1, "choose_many(1) is one choice")
            if count > self._selector.active:
                raise ArmError(f"count must be at most {self._selector.active}, the arms in play, got {count}")
            made = self._chooser.peek_many(count)
            if not made:
                self._refuse_round()
            return [Choice(self._labels[one.slot], arm_statistics(*one.known), one.probability) for one in made]

    @property
    def shares(self) -> dict[Label, float]:
        """The part of all rounds that each of some arms gets, whatever the policy chooses."""
        with self._lock:
            return {self._labels[slot]: share for slot, share in self._chooser.shares.by_slot.items()}

    def set_shares(self, shares: Mapping[Label, float]) -> None:
        """Give each of some arms a part of all rounds from now on; all others have none.

        Arm i is chosen with probability f_i + (1 - Σ f) [the policy chooses i]. The draw is a function of the seed and
        the round. The share of an arm that is retired, or not among those named, goes to the policy.
        """
        with self._lock:
            clean = clean_shares(shares, self._slot)
            self._arms.check_playing(clean)
            self._use_shares(clean)

    def learn(self, arm: Label, reward: float) -> None:
        """Take the reward of a pending choice of `arm`, or of a pull that was made elsewhere if none is pending."""
        with self._lock:
            if type(arm) is int and 0 <= arm < self._arms.numbers:
                slot = arm  # the table of labels, if they are many, is in no cache of the processor
            else:
                try:
                    slot = self._slots[arm]
                except (KeyError, TypeError):
                    slot = self._slot(arm)  # which raises
            if not self._selector.learn(slot, self._clean_reward(reward)):
                raise _overflow()

    def count_pull(self, arm: Label) -> None:
        """Count a choice of `arm` that was made elsewhere. Its reward is pending from now on."""
        with self._lock:
            self._selector.count_pull(self._slot(arm))

    def forget(self, arm: Label) -> None:
        """Cancel one pending choice of `arm`, as if it had never been made."""
        with self._lock:
            if not self._selector.forget(self._slot(arm)):
                raise ArmError(f"arm {arm!r} has no pending choice to forget; each choose() or count_pull() makes one")

    def revise(self, arm: Label, rewards: int, total: float) -> None:
        """Replace what was learned of an arm: how many rewards it has, and their sum. Pending choices stay pending.

        For rewards that turn out to be wrong. A bandit keeps only the sum, from which no reward can be taken out
        without a rounding error, so whoever has the rewards says what it should be.
        """
        with self._lock:
            if self._memory is not None or self._selector.keeps_moments:
                reason = self._memory or (self._noise if self._noise.family().spreads else self._policy)
                raise ParameterError(f"with {reason} rewards cannot be revised: sums do not tell which they were")
            slot = self._slot(arm)
            rewards, total = whole("rewards", rewards, 0, "0 if all were wrong"), as_float(total)
            possible = rewards * self._low <= total <= rewards * self._high if rewards else total == 0.0
            if not possible or (self._whole and total % 1.0):
                raise RewardError(f"{rewards} rewards, each {self._noise.expected()}, cannot have the sum {total!r}")
            self._selector.revise(slot, rewards, total)

    def learned(self, arm: Label) -> tuple[int, float]:
        """Return how many rewards of an arm have come, and their sum: what `revise` replaces."""
        with self._lock:
            record = self._selector.arms[self._slot(arm)]
            return int(record["learned"]), float(record["total"])

    def learn_many(self, arms: Iterable[Label], rewards: Iterable[float]) -> None:
        """Take many rewards, as one `learn` after another would: a log, or a warm start. All or none."""
        with self._lock:
            slots = np.array([self._slot(arm) for arm in arms], dtype=np.int64)
            clean = np.array([self._clean_reward(reward) for reward in rewards], dtype=float)
            if len(slots) != len(clean):
                raise RewardError(f"as many rewards as arms were expected, got {len(slots)} arms, {len(clean)} rewards")
            if not self._selector.learn_many(slots, clean):
                raise _overflow()

    def add_arm(self, label: Label) -> None:
        """Add an arm, which is then played next; or bring back a retired one with the statistics it has."""
        with self._lock:
            label = clean_label(label)
            slot = self._arms.slots.get(label)
            if slot is None:
                self._arms.add([label])
            elif self._selector.is_retired(slot):
                self._selector.bring_back(slot)
            else:
                raise ArmError(f"arm {label!r} is already there; labels must be different")

    def retire_arm(self, label: Label) -> None:
        """Stop choosing an arm. Its rounds still count as time passed, and its pending rewards may still come."""
        with self._lock:
            slot = self._slot(label)
            self._arms.check_playing([slot])
            if self._selector.active == 1:
                raise ArmError(f"arm {label!r} is the last one; add another before you retire it")
            self._selector.retire(slot)

    def merge(self, other: Bandit) -> None:
        """Add what another bandit has learned; its pending choices stay its own. Arms that only it has are added."""
        if not isinstance(other, Bandit):
            raise ParameterError(f"only another bandit can be merged, got {other!r}")
        if other is self:
            raise ParameterError("a bandit cannot be merged with itself: every reward would count twice")
        if self._memory is not None or other._memory is not None:
            raise ParameterError("bandits that forget cannot be merged: their rounds have no common order")
        if other.noise != self.noise:
            raise ParameterError(f"both bandits must have the same noise, got {self.noise} and {other.noise}")
        theirs = other.saved()
        with self._lock:
            if not self._selector.keeps_moments:
                theirs = theirs._replace(moments=None)
            elif theirs.moments is None:
                raise ParameterError(
                    f"{self.policy} reads how rewards vary, and a bandit with {other.policy} has only their sums; "
                    "merge bandits that have the same policy"
                )
            if not add_learned(self._arms, theirs):
                raise _overflow()

    @property
    def policy(self) -> Policy:
        """How it chooses."""
        return self._policy

    @property
    def noise(self) -> Noise:
        """How rewards spread."""
        return self._noise

    @property
    def memory(self) -> Memory | None:
        """What it remembers; None is everything."""
        return self._memory

    @property
    def arms(self) -> tuple[Label, ...]:
        """The labels of the arms in play, in the order in which they were added, which is that of all arrays below."""
        with self._lock:
            return tuple(map(self._labels.__getitem__, self._arms.playing().tolist()))

    @property
    def retired_arms(self) -> tuple[Label, ...]:
        """The labels of the retired arms, in the order in which they were added."""
        with self._lock:
            return tuple(map(self._labels.__getitem__, self._arms.retired().tolist()))

    def is_retired(self, arm: Label) -> bool:
        """Return whether an arm is retired."""
        with self._lock:
            return self._selector.is_retired(self._slot(arm))

    def __contains__(self, arm: object) -> bool:
        """Return whether an arm was ever added, retired ones included."""
        with self._lock:
            try:
                return arm in self._arms.slots
            except TypeError:  # not hashable, so no label
                return False

    @property
    def rounds(self) -> int:
        """Rounds played so far, that is all pulls, with pending ones and those of retired arms."""
        with self._lock:
            return self._selector.rounds

    @property
    def restarts(self) -> int:
        """How often a `Restart` memory has found a change and forgotten all; 0 with any other."""
        with self._lock:
            return self._selector.restarts

    @property
    def pulls(self) -> Integers:
        """Pulls of each arm, pending ones included."""
        with self._lock:
            return self._selector.pulls[self._arms.playing()]

    @property
    def pending(self) -> Integers:
        """Choices of each arm whose reward has not come."""
        with self._lock:
            return self.pulls - self._selector.learned[self._arms.playing()]

    @property
    def means(self) -> Floats:
        """Mean of the rewards of each arm, of those that are remembered; nan without one."""
        with self._lock:
            return self._selector.means[self._arms.playing()]

    def indices(self) -> Floats:
        """Return what the arms are compared by in the coming round: inf before the first pull, -inf while waiting."""
        with self._lock:
            return self._selector.indices()[self._arms.playing()]

    def effective_arms(self) -> Floats:
        """Return k = Σ_j min{1, (T_j/T)^ρ} of each arm, at the policy's ρ or else 1/2; nan before the first pull."""
        with self._lock:
            return self._selector.effective()[self._arms.playing()]

    def explain(self, arm: Label) -> ArmStatistics:
        """Return the statistics of one arm, retired or not, and its index in the coming round.

        Effective arms are at the policy's ρ, or else 1/2.
        """
        with self._lock:
            slot = self._slot(arm)
            index, effective = self._selector.index(slot), self._selector.effective_of(slot)
            return arm_statistics(*self._selector.known_of(slot), index, effective)

    def explain_many(self, arms: Iterable[Label]) -> Statistics:
        """Return the statistics of some arms, retired or not, in a time that does not grow with the other arms.

        Effective arms are at the policy's ρ, and nan if it has none. Spreads and what is remembered are left out.
        """
        with self._lock:
            labels = tuple(arms)
            slots = np.array([self._slot(arm) for arm in labels], dtype=np.int64)
            known = self._selector.describe_many(slots)
            pulls = known[:, 0].astype(np.int64)
            return Statistics(
                arms=labels,
                retired=self._selector.arms["active"][slots] == 0,
                pulls=pulls,
                pending=pulls - known[:, 1].astype(np.int64),
                means=known[:, 2],
                indices=known[:, 3],
                effective_arms=known[:, 4],
            )

    def statistics(self, retired: bool = False) -> Statistics:
        """Return the statistics of all arms in play, and if `retired` of the retired ones too."""
        with self._lock:
            slots = np.arange(len(self._labels)) if retired else self._arms.playing()
            return statistics_of(self._selector, [self._labels[slot] for slot in slots], slots)

    def intervals(self, confidence: float = 0.95) -> Intervals:
        """Return an interval for the mean of each arm in play that is right at all times at once.

        Over the whole life of the bandit an arm's interval ever leaves out its mean with probability at most
        1 - confidence, whatever the policy and however often one looks. Assumed: the rewards of an arm are independent
        and have one mean, and that a reward is late or lost does not depend on its value.
        """
        error = 1.0 - clean_confidence(confidence)
        check_verdicts(self._memory)
        with self._lock:
            playing = self._arms.playing()
            known, spreads = self._selector.arms[playing], self._selector.spreads()
            own = None if spreads is None else spreads[playing]
            return ConfidenceSequences(self._noise, known["mean"], known["learned"], own).intervals(error)

    def best(self, confidence: float = 0.95) -> Verdict:
        """Return which arm in play is the best, if that is certain, and which are ruled out.

        With probability at least `confidence` no verdict, over the whole life of the bandit, rules out all best arms.
        If arms added or retired change which is the best, this holds for each of them. Assumed is what `intervals`
        assumes.
        """
        confidence = clean_confidence(confidence)
        check_verdicts(self._memory)
        with self._lock:
            arms = self._selector.arms
            return find_verdict(
                self._labels,
                self._noise,
                arms["mean"],
                arms["learned"],
                arms["active"] == 1,
                self._arms.first,
                self.rounds,
                confidence,
                self._selector.spreads(),
            )

    def saved(self) -> SavedBandit:
        """Return a copy of everything, in arrays: what `to_dict` makes plain data of, in a tenth of the time."""
        with self._lock:
            arms = self._selector.arms
            return SavedBandit(
                policy=self._policy,
                noise=self._noise,
                seed=self._seed,
                labels=list(self._labels),
                pulls=self._selector.pulls,
                learned=self._selector.learned.copy(),
                totals=self._selector.totals.copy(),
                retired=arms["active"] == 0,
                first=self._arms.first,
                shares=list(self.shares.items()),
                moments=self._selector.moments.copy() if self._selector.keeps_moments else None,
                memory=self._memory,
                remembered=self._selector.remembered() if self._memory is not None else None,
            )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON, with the version of the format."""
        return saving.to_dict(self.saved())

    @classmethod
    def from_dict(cls, data: object, policy: Policy | None = None) -> Bandit:
        """Return the bandit behind `to_dict`. A policy of your own must be given; it must be the one that was saved."""
        saved = saving.from_dict(data, policy)
        bandit = cls(saved.policy, saved.labels, saved.noise, saved.seed, memory=saved.memory)
        if saved.remembered is None:
            bandit._selector.absorb(saved.pulls, saved.learned, saved.totals, saved.moments)
        else:
            bandit._selector.remember(saved.pulls, saved.learned, saved.totals, saved.remembered)
        bandit._selector.retire_many(np.flatnonzero(saved.retired))
        bandit._use_shares({bandit._slot(label): share for label, share in saved.shares})
        bandit._arms.first = saved.first
        return bandit

    def save(self, path: str | Path) -> None:
        """Write everything to a JSON file, whole or not at all."""
        saving.write(Path(path), self.to_dict())

    @classmethod
    def load(cls, path: str | Path, policy: Policy | None = None) -> Bandit:
        """Return the bandit in a file. It goes on with exactly the choices the saved one would have made."""
        try:
            return cls.from_dict(saving.read(Path(path)), policy)
        except StateError as problem:
            raise StateError(f"{path}: {problem}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        return Bandit.from_dict, (self.to_dict(), self._policy)

    def __repr__(self) -> str:
        with self._lock:
            return f"Bandit({self._policy}, {self._selector.active} arms, {self._noise}, {self.rounds} rounds)"

    def _repr_html_(self) -> str:
        known = self.statistics()
        order = np.argsort(-known.pulls, kind="stable")[:MAX_ROWS].tolist()
        numbers = (known.pulls, known.pending, known.means, known.indices, known.effective_arms)
        rows = [[str(known.arms[k]), *(cell(float(column[k])) for column in numbers)] for k in order]
        header = ("arm", "pulls", "pending", "mean", "index", "effective arms")
        return html_table([repr(self)], header, rows, len(known.arms) - len(rows))

    def _use_shares(self, shares: dict[int, float]) -> None:
        self._chooser.shares, self._plain = Shares(shares), not shares

    def _label_of(self, slot: int, among: Integers | None) -> Label:
        if slot < 0:
            self._arms.check_playing([] if among is None else among.tolist())
            self._refuse_round()
        return self._labels[slot]

    def _clean_reward(self, reward: object) -> float:
        value = reward if type(reward) is float else as_float(reward)
        if self._low <= value <= self._high and not (self._whole and value % 1.0):
            return value
        raise RewardError(f"a reward must be {self._noise.expected()}, got {reward!r}")

    def _refuse_round(self) -> None:
        horizon = self._policy.rule().horizon
        raise HorizonError(
            f"{self._policy} was made for {horizon} rounds and they are over; "
            "build it with a larger horizon, or use OCUCBn(), which needs none"
        )


def _overflow() -> RewardError:
    return RewardError("the sum of an arm's rewards would no longer be a finite number; rescale the rewards")


def _clean_seed(seed: object) -> int:
    return whole("seed", seed, 0, "or None for a random one", high=2**63 - 1)
