"""The bandit: checks input once, then chooses and learns."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ocucb import saving
from ocucb.checks import as_float, whole
from ocucb.compiled import Floats, Integers
from ocucb.errors import ArmError, HorizonError, ParameterError, RewardError, StateError
from ocucb.labels import Label, clean_label, clean_labels
from ocucb.noise import Gaussian, Noise
from ocucb.policies import Policy
from ocucb.saving import Snapshot
from ocucb.selection import Selector


@dataclass(frozen=True)
class Explanation:
    """Why an arm was, or was not, chosen."""

    arm: Label
    pulls: int
    pending: int
    mean: float
    index: float
    effective_arms: float


class Bandit:
    """Choose among arms, learn from rewards, choose better.

    >>> bandit = Bandit(OCUCBn(), arms=["red", "green", "blue"])
    >>> arm = bandit.choose()
    >>> bandit.learn(arm, 0.7)

    A choice counts as a pull whose reward is *pending* until `learn` or `forget`. While rewards are pending an arm's
    pulls include its pending ones, so a burst of choices spreads out. Arms never pulled come first, in order. An arm
    whose first reward is still pending waits for it, unless every arm does: then the one with fewest pulls is chosen.

    Parameters
    ----------
    policy : how to choose.
    arms : how many, labelled 0, 1, ...; or their labels, strings or integers, all different.
    noise : how rewards spread around an arm's mean. `Gaussian(scale)` is right for any subgaussian reward.
    seed : for policies that draw random numbers; drawn at random if None.

    Safe to share between threads. Every method either does its work or raises and changes nothing.
    """

    def __init__(
        self, policy: Policy, arms: int | Iterable[Label], noise: Noise | None = None, seed: int | None = None
    ) -> None:
        noise = Gaussian() if noise is None else noise
        if not isinstance(policy, Policy):
            raise ParameterError(f"policy must be a policy such as OCUCBn(), got {policy!r}")
        if not isinstance(noise, Noise):
            raise ParameterError(f"noise must be a noise family such as Gaussian(1.0), got {noise!r}")
        labels = clean_labels(arms)
        self._policy, self._noise = policy, noise
        self._seed = secrets.randbits(63) if seed is None else _clean_seed(seed)
        self._low, self._high = noise.support()
        self._whole = noise.whole
        self._labels = labels
        self._slots: dict[Label, int] = {label: slot for slot, label in enumerate(labels)}
        self._retired: dict[Label, int] = {}
        self._selector = Selector(policy.rule(), noise.family(), self._seed, len(labels))
        self._lock = threading.RLock()

    def choose(self) -> Label:
        """Return the arm to play next. Its reward is pending from now on."""
        with self._lock:
            slot = self._selector.choose()
            if slot < 0:
                self._refuse_round()
            return self._labels[slot]

    def decide(self) -> Explanation:
        """Choose as `choose` does, and return why: what was known of the arm before it was chosen.

        Effective arms are nan under a policy that has no use for them.
        """
        with self._lock:
            slot, (pulls, learned, mean, index, effective) = self._selector.decide()
            if slot < 0:
                self._refuse_round()
            return Explanation(self._labels[slot], int(pulls), int(pulls - learned), mean, index, effective)

    def peek(self) -> Label:
        """Return the arm that `choose` would return, and commit to nothing."""
        with self._lock:
            slot = self._selector.peek()
            if slot < 0:
                self._refuse_round()
            return self._labels[slot]

    def learn(self, arm: Label, reward: float) -> None:
        """Take the reward of a pending choice of `arm`, or of a pull that was made elsewhere if none is pending."""
        with self._lock:
            if not self._selector.learn(self._slot(arm), self._clean_reward(reward)):
                raise _overflow()

    def forget(self, arm: Label) -> None:
        """Cancel one pending choice of `arm`, as if it had never been made."""
        with self._lock:
            if not self._selector.forget(self._slot(arm)):
                raise ArmError(f"arm {arm!r} has no pending choice to forget; each choose() makes one")

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
        """Add an arm, which is then played next; or bring back a retired one with the statistics it had."""
        with self._lock:
            label = clean_label(label)
            if label in self._slots:
                raise ArmError(f"arm {label!r} is already there; labels must be different")
            if label in self._retired:
                slot = self._retired.pop(label)
                self._selector.set_active(slot, True)
            else:
                slot = len(self._labels)
                self._labels.append(label)
                self._selector.add()
            self._slots[label] = slot

    def retire_arm(self, label: Label) -> None:
        """Stop choosing an arm. Its rounds still count as time passed; rewards for it are refused from now on."""
        with self._lock:
            self._slot(label)
            if len(self._slots) == 1:
                raise ArmError(f"arm {label!r} is the last one; add another before you retire it")
            self._retire([label])

    def merge(self, other: Bandit) -> None:
        """Add what another bandit has learned; its pending choices stay its own. Arms that only it has are added."""
        if not isinstance(other, Bandit):
            raise ParameterError(f"only another bandit can be merged, got {other!r}")
        if other is self:
            raise ParameterError("a bandit cannot be merged with itself: every reward would count twice")
        if other.noise != self.noise:
            raise ParameterError(f"both bandits must have the same noise, got {self.noise} and {other.noise}")
        theirs = other._snapshot()
        with self._lock:
            everyone = {**self._slots, **self._retired}
            missing = [label for label in theirs.labels if label not in everyone]
            slots = np.array([everyone.get(label, -1) for label in theirs.labels], dtype=np.int64)
            slots[slots < 0] = len(self._labels) + np.arange(len(missing))
            ours = self._snapshot()
            totals = np.zeros(len(self._labels) + len(missing))
            totals[: len(ours.totals)] = ours.totals
            with np.errstate(over="ignore"):
                totals[slots] += theirs.totals
            if not np.isfinite(totals).all():
                raise _overflow()
            self._slots.update((label, len(self._labels) + i) for i, label in enumerate(missing))
            self._labels += missing
            self._selector.add(len(missing))
            learned, added = np.zeros(len(self._labels), np.int64), np.zeros(len(self._labels))
            learned[slots], added[slots] = theirs.learned, theirs.totals
            self._selector.absorb(learned, learned, added)
            new = set(missing)
            gone = zip(theirs.labels, theirs.retired.tolist(), strict=True)
            self._retire([label for label, retired in gone if retired and label in new])

    @property
    def policy(self) -> Policy:
        """How it chooses."""
        return self._policy

    @property
    def noise(self) -> Noise:
        """How rewards spread."""
        return self._noise

    @property
    def arms(self) -> tuple[Label, ...]:
        """The labels of the arms in play, in the order of all arrays below."""
        with self._lock:
            return tuple(self._labels[slot] for slot in self._playing())

    @property
    def rounds(self) -> int:
        """Rounds played so far: all pulls, with pending ones and those of retired arms."""
        with self._lock:
            return self._selector.rounds

    @property
    def pulls(self) -> Integers:
        """Pulls of each arm, pending ones included."""
        return self._column("pulls").astype(np.int64)

    @property
    def pending(self) -> Integers:
        """Choices of each arm whose reward has not come."""
        with self._lock:
            return self.pulls - self._column("learned").astype(np.int64)

    @property
    def means(self) -> Floats:
        """Mean of the rewards of each arm; nan before the first."""
        with self._lock:
            return np.where(self._column("learned") > 0, self._column("mean"), np.nan)

    def indices(self) -> Floats:
        """Return what the arms are compared by in the coming round: inf before the first pull, -inf while waiting."""
        with self._lock:
            return self._selector.indices()[self._playing()]

    def effective_arms(self) -> Floats:
        """Return k = Σ_j min{1, (T_j/T)^ρ} of each arm, at the policy's ρ or else 1/2; nan before the first pull."""
        with self._lock:
            return self._selector.effective()[self._playing()]

    def explain(self, arm: Label) -> Explanation:
        """Return the statistics of one arm, and its index in the coming round."""
        with self._lock:
            slot = self._slot(arm)
            record = self._selector.arms[slot]
            pulls, learned = int(record["pulls"]), int(record["learned"])
            mean = float(record["mean"]) if learned else float("nan")
            effective = self._selector.effective_of(slot)
            return Explanation(arm, pulls, pulls - learned, mean, self._selector.index(slot), effective)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON, with the version of the format."""
        return saving.to_dict(self._snapshot())

    @classmethod
    def from_dict(cls, data: object, policy: Policy | None = None) -> Bandit:
        """Return the bandit behind `to_dict`. A policy of your own must be given; it must be the one that was saved."""
        snapshot = saving.from_dict(data, policy)
        bandit = cls(snapshot.policy, snapshot.labels, snapshot.noise, snapshot.seed)
        bandit._selector.absorb(snapshot.pulls, snapshot.learned, snapshot.totals)
        gone = zip(snapshot.labels, snapshot.retired.tolist(), strict=True)
        bandit._retire([label for label, retired in gone if retired])
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
        return f"Bandit({self._policy}, {len(self._slots)} arms, {self._noise}, {self.rounds} rounds)"

    def _retire(self, labels: list[Label]) -> None:
        self._selector.set_active(np.array([self._slots[label] for label in labels], dtype=np.intp), False)
        self._retired.update((label, self._slots.pop(label)) for label in labels)

    def _snapshot(self) -> Snapshot:
        with self._lock:
            arms = self._selector.arms
            retired = arms["active"] == 0
            pulls, learned, totals = arms["pulls"].astype(np.int64), arms["learned"].copy(), arms["total"].copy()
            return Snapshot(self._policy, self._noise, self._seed, list(self._labels), pulls, learned, totals, retired)

    def _playing(self) -> npt.NDArray[np.intp]:
        return np.flatnonzero(self._selector.arms["active"])

    def _column(self, name: str) -> npt.NDArray[Any]:
        with self._lock:
            return self._selector.arms[name][self._playing()]

    def _slot(self, arm: Label) -> int:
        try:
            return self._slots[arm]
        except (KeyError, TypeError):  # not there, or no label at all
            raise self._unknown(arm) from None

    def _unknown(self, arm: Label) -> ArmError:
        if clean_label(arm) in self._retired:
            return ArmError(f"arm {arm!r} is retired; add_arm({arm!r}) brings it back")
        some = ", ".join(map(repr, list(self._slots)[:5])) + (", ..." if len(self._slots) > 5 else "")
        return ArmError(f"no arm {arm!r}; the arms are {some}")

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
