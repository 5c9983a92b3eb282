"""What an experiment is: its arms, its policy, its noise, and its windows."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ocucb import noise as noises
from ocucb import policies
from ocucb.bandit import Bandit
from ocucb.checks import above, one_of, whole
from ocucb.labels import Label, clean_labels
from ocucb.noise import Gaussian, Noise
from ocucb.policies import OCUCBn, Policy
from ocucb.service.errors import RequestError
from ocucb.service.records import SECOND
from ocucb.service.text import clean_arm, clean_name, encode

LONGEST_WINDOW = 10 * 366 * 86_400.0
MOST_ARMS = 1_000_000
LARGEST_METADATA = 10_000


@dataclass(frozen=True)
class Definition:
    """All that is said of an experiment when it is created. Checked once, here.

    Parameters
    ----------
    name : what the experiment is called.
    arms : their labels, all different.
    policy, noise, seed : as of a `Bandit`; the policy must be one of the package.
    window : seconds after which a decision's reward is too late; None for never.
    on_expiry : what happens then: "forget" the decision, as if it had never been made, or this reward by default.
    late : what a reward after the window is told: "refuse" it, or "accept" it and count nothing.
    sticky : seconds in which the same unit gets the same decision back; None for never.
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

    def __post_init__(self) -> None:
        clean_name(self.name)
        arms = tuple(clean_arm(label) for label in clean_labels(self.arms))
        whole("the number of arms", len(arms), 1, "split the experiment", high=MOST_ARMS)
        object.__setattr__(self, "arms", arms)
        scratch = Bandit(self.policy, [0], self.noise, self.seed)
        object.__setattr__(self, "policy", policies.from_dict(self.policy.to_dict()))
        object.__setattr__(self, "noise", noises.from_dict(self.noise.to_dict()))
        for name in ("window", "sticky"):
            _clean_seconds(name, getattr(self, name))
        one_of("late", self.late, ("refuse", "accept"))
        if self.on_expiry != "forget":
            scratch.learn(0, self.on_expiry)
            object.__setattr__(self, "on_expiry", float(self.on_expiry))
        if not isinstance(self.metadata, Mapping) or len(encode(dict(self.metadata))) > LARGEST_METADATA + 200 * len(
            arms
        ):
            raise RequestError("metadata must be a small dictionary of plain data")
        encode(self.to_dict())

    def bandit(self) -> Bandit:
        """Return the bandit as it is before the first decision."""
        return Bandit(self.policy, self.arms, self.noise, self.seed)

    def deadline(self, at: int) -> int | None:
        """Return when the reward of a decision made now is too late."""
        return None if self.window is None else at + round(self.window * SECOND)

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
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Definition:
        """Return the definition behind `to_dict`."""
        policy, noise = policies.from_dict(data["policy"]), noises.from_dict(data["noise"])
        return cls(**{**data, "arms": tuple(data["arms"]), "policy": policy, "noise": noise})


def _clean_seconds(name: str, seconds: float | None) -> None:
    if seconds is not None and above(name, seconds, 0.0, "or None for no window") > LONGEST_WINDOW:
        raise RequestError(f"{name} must be ten years or less, got {seconds} seconds")
