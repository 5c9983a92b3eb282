"""What an experiment is: its arms, its policy, its noise, and its windows."""

from __future__ import annotations

import contextlib
import math
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ocucb.bandit import Bandit
from ocucb.checks import above, as_float, one_of, whole
from ocucb.errors import OcucbError, RewardError
from ocucb.labels import Label, clean_labels
from ocucb.memory import SERVED_MEMORIES, Memory, Window, memory_from_dict
from ocucb.noise import NOISES, Gaussian, Noise
from ocucb.policies import POLICIES, OCUCBn, Policy
from ocucb.precompile import use_all
from ocucb.service.errors import RequestError
from ocucb.service.text import clean_arm, clean_name, encode

WIDE_REWARD = 1e100  # so many rewards of that size as can ever be counted have a finite sum, and so have their squares
MAX_REMEMBERED_WARM = 1000
MAX_WINDOW = 10 * 366 * 86_400.0  # seconds
MAX_ARMS_PER_EXPERIMENT = 1_000_000
MAX_REMEMBERED_ROUNDS = 100_000  # of a window, whose pulls and rewards are all part of a snapshot
MAX_METADATA = 10_000  # characters of JSON, and METADATA_PER_ARM more for each arm
METADATA_PER_ARM = 200


@dataclass(frozen=True)
class Definition:
    """All that is said of an experiment when it is created. Checked once, here.

    Parameters
    ----------
    name : what the experiment is called.
    arms : their labels, all different.
    policy, noise, seed : as of a `Bandit`; policy and noise must be registered.
    window : seconds after which a decision's reward is too late; None for never.
    on_expiry : what happens then: "forget" the decision, as if it had never been made, or this reward by default.
    late : what a reward after the window is told: "refuse" it, or "accept" it and count nothing.
    sticky : seconds in which the same unit gets the same decision back, unless its window has passed; None for never.
    reward_bounds : the smallest and the largest reward that is accepted. By default only what could make a sum overflow
        is refused.
    partial_rewards : a decision may have several rewards within its window, and their sum counts when that has passed.
    shares : pairs of an arm and the part of all decisions that it gets, whatever the policy chooses; see `Bandit`.
    memory : what the policy sees where means drift: `Window(rounds)`, `Discount(factor)`, or None for all.
        A round is a decision; a reward is remembered from the round in which it came.
    metadata : anything about the arms or the experiment, as plain data; the service only keeps it.
    """

    name: str
    arms: tuple[Label, ...]
    policy: Policy = field(default_factory=OCUCBn)
    noise: Noise = field(default_factory=Gaussian)
    seed: int = field(default_factory=lambda: secrets.randbits(63))
    window: float | None = None
    on_expiry: Literal["forget"] | float = "forget"
    late: Literal["refuse", "accept"] = "refuse"
    sticky: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    reward_bounds: tuple[float, float] = (-WIDE_REWARD, WIDE_REWARD)
    shares: tuple[tuple[Label, float], ...] = ()
    partial_rewards: bool = False
    memory: Memory | None = None

    def __post_init__(self) -> None:
        clean_name(self.name)
        arms = tuple(clean_arm(label) for label in clean_labels(self.arms))
        whole("the number of arms", len(arms), 1, "split the experiment", high=MAX_ARMS_PER_EXPERIMENT)
        object.__setattr__(self, "arms", arms)
        scratch = Bandit(self.policy, [0], self.noise, self.seed, memory=self.memory)
        object.__setattr__(self, "policy", POLICIES.from_dict(self.policy.to_dict()))
        object.__setattr__(self, "noise", NOISES.from_dict(self.noise.to_dict()))
        for name in ("window", "sticky"):
            _clean_seconds(name, getattr(self, name))
        one_of("late", self.late, ("refuse", "accept"))
        low, high = (as_float(bound) for bound in self.reward_bounds)
        if not -math.inf < low <= high < math.inf:
            raise RequestError(f"reward_bounds must be two finite numbers in order, got {low} and {high}")
        object.__setattr__(self, "reward_bounds", (low, high))
        self._check_memory()
        if self.on_expiry != "forget":
            scratch.learn(0, self.on_expiry)
            self.check_reward(self.on_expiry)
            object.__setattr__(self, "on_expiry", float(self.on_expiry))
        if type(self.partial_rewards) is not bool:
            raise RequestError(f"partial_rewards must be true or false, got {self.partial_rewards!r}")
        if self.partial_rewards and self.window is None:
            raise RequestError("partial rewards are summed within a window; give one")
        limit = MAX_METADATA + METADATA_PER_ARM * len(arms)
        if not isinstance(self.metadata, Mapping) or len(encode(dict(self.metadata))) > limit:
            raise RequestError("metadata must be a small dictionary of plain data")
        if self.shares:
            shares = tuple((clean_arm(label), as_float(share)) for label, share in self.shares)
            object.__setattr__(self, "shares", shares)
            self.bandit()  # which checks them
        encode(self.to_dict())

    def _check_memory(self) -> None:
        if self.memory is not None and self.memory.name not in SERVED_MEMORIES:
            raise RequestError(
                f"a memory of an experiment must be one of {', '.join(SERVED_MEMORIES)}, got {self.memory.name}; "
                "that is in the library and the lab only"
            )
        if isinstance(self.memory, Window) and self.memory.rounds > MAX_REMEMBERED_ROUNDS:
            raise RequestError(
                f"a window of an experiment must be {MAX_REMEMBERED_ROUNDS} rounds or less, got {self.memory.rounds}; "
                "a discount may remember more"
            )
        if self.memory is not None and max(map(abs, self.reward_bounds)) > WIDE_REWARD:
            raise RequestError(f"reward_bounds must be within {WIDE_REWARD:g} of 0 where something is forgotten")

    def bandit(self) -> Bandit:
        """Return the bandit as it is before the first decision."""
        return Bandit(self.policy, self.arms, self.noise, self.seed, shares=dict(self.shares), memory=self.memory)

    def warm_up(self) -> None:
        """Compile what a bandit of this policy can be asked for, or load it: no transaction should wait for that."""
        remembered = None if self.memory is None else self.memory.name
        needed = encode([self.policy.to_dict(), self.noise.to_dict(), remembered])
        if needed in _warm:
            return
        low, high = self.noise.support()
        reward = min(max(1.0, low), high)
        with contextlib.suppress(OcucbError):  # as of a horizon of one round
            use_all(Bandit(self.policy, [0, 1], self.noise, self.seed, memory=self.memory), reward)
        if len(_warm) >= MAX_REMEMBERED_WARM:
            _warm.clear()
        _warm.add(needed)

    def check_reward(self, reward: float) -> None:
        """Raise RewardError unless a reward lies within the bounds, and can be one of the noise family."""
        low, high = self.noise.support()
        if not low <= reward <= high or (self.noise.whole and reward % 1.0):
            raise RewardError(f"a reward must be {self.noise.expected()}, got {reward!r}")
        low, high = self.reward_bounds
        if not low <= reward <= high:
            raise RewardError(f"a reward of this experiment must lie between {low:g} and {high:g}, got {reward!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "name": self.name,
            "arms": list(self.arms),
            "policy": self.policy.to_dict(),
            "noise": self.noise.to_dict(),
            "seed": self.seed,
            "window": self.window,
            "on_expiry": self.on_expiry,
            "late": self.late,
            "sticky": self.sticky,
            "metadata": dict(self.metadata),
            "reward_bounds": list(self.reward_bounds),
            **({"shares": [list(pair) for pair in self.shares]} if self.shares else {}),
            **({"partial_rewards": True} if self.partial_rewards else {}),
            **({} if self.memory is None else {"memory": self.memory.to_dict()}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Definition:
        """Return the definition behind `to_dict`."""
        policy, noise = POLICIES.from_dict(data["policy"]), NOISES.from_dict(data["noise"])
        bounds = data["reward_bounds"] if "reward_bounds" in data else _bounds_of_old(data["on_expiry"])
        read = {"arms": tuple(data["arms"]), "policy": policy, "noise": noise, "reward_bounds": tuple(bounds)}
        shares = tuple((label, share) for label, share in data.get("shares", ()))
        memory = None if data.get("memory") is None else memory_from_dict(data["memory"])
        return cls(**{**data, **read, "shares": shares, "memory": memory})


_warm: set[str] = set()


def _bounds_of_old(on_expiry: object) -> tuple[float, float]:
    """Return the bounds of an experiment that was defined when there were none."""
    default = 0.0 if on_expiry == "forget" else as_float(on_expiry)
    return min(-WIDE_REWARD, default), max(WIDE_REWARD, default)


def _clean_seconds(name: str, seconds: float | None) -> None:
    if seconds is not None and above(name, seconds, 0.0, "or None for no window") > MAX_WINDOW:
        raise RequestError(f"{name} must be ten years or less, got {seconds} seconds")
