"""A policy with a memory, as the lab plays it: "ucb(2) with window(1000)"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ocucb.errors import ParameterError
from ocucb.memory import Discount, Memory, Window
from ocucb.noise import Noise
from ocucb.policies import Policy
from ocucb.policies.policy import Rule
from ocucb.suitability import check_suitable


@dataclass(frozen=True)
class Remembering(Policy):
    """A policy that sees only what is remembered.

    Parameters
    ----------
    policy : any policy that a `Bandit` with this memory takes.
    memory : `Window(rounds)` or `Discount(factor)`.
    """

    formula: ClassVar[str] = "that of its policy, of what is remembered"
    source: ClassVar[str] = "Garivier & Moulines 2011"

    policy: Policy
    memory: Memory

    def __post_init__(self) -> None:
        if not isinstance(self.policy, Policy) or isinstance(self.policy, Remembering):
            raise ParameterError(f"policy must be a policy such as UCB(), got {self.policy!r}")
        if not isinstance(self.memory, Window | Discount):
            raise ParameterError(f"memory must be Window(rounds) or Discount(factor), got {self.memory!r}")

    @property
    def name(self) -> str:
        """That of the policy and of the memory."""
        return f"{self.policy.name} with {self.memory.name}"

    def rule(self) -> Rule:
        return self.memory.limit(self.policy.rule())

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "policy": self.policy.to_dict(), "memory": self.memory.to_dict()}

    def __str__(self) -> str:
        return f"{self.policy} with {self.memory}"


def check_fit(policy: Policy, noise: Noise) -> None:
    """Raise one clear line for a policy that makes no sense under a noise family, or with its memory."""
    if isinstance(policy, Remembering):
        check_suitable(policy.policy, noise, policy.memory)
    else:
        check_suitable(policy, noise)
