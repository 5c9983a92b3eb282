"""A policy with a memory, as the lab plays it: "ucb(2) with window(1000)"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ocucb.errors import ParameterError
from ocucb.memory import CALLS, MEMORIES, Memory
from ocucb.policies import Policy
from ocucb.policies.policy import Rule


@dataclass(frozen=True)
class Remembering(Policy):
    """A policy that sees only what is remembered.

    Parameters
    ----------
    policy : any policy that a `Bandit` with this memory takes.
    memory : `Window`, `Discount` or `Restart`.
    """

    formula: ClassVar[str] = "that of its policy, of what is remembered"
    source: ClassVar[str] = "Garivier & Moulines 2011; Besson et al. 2022"

    policy: Policy
    memory: Memory

    def __post_init__(self) -> None:
        if not isinstance(self.policy, Policy) or isinstance(self.policy, Remembering):
            raise ParameterError(f"policy must be a policy such as UCB(), got {self.policy!r}")
        if not isinstance(self.memory, tuple(MEMORIES.values())):
            raise ParameterError(f"memory must be {CALLS}, got {self.memory!r}")

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
