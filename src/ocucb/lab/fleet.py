"""A fleet: nodes that choose on their own, and share what they have learned only now and then.

Requests go to the nodes by turns. Each node knows what all had learned when they shared last, and what itself has
learned since. When they share, what each has learned since is added up, as `Bandit.merge` does, and all begin from
that. A choice whose reward is pending stays pending at its node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ocucb.checks import whole
from ocucb.errors import ParameterError
from ocucb.lab.remembering import Remembering
from ocucb.noise import Noise
from ocucb.policies import Policy
from ocucb.policies.policy import Rule

MAX_NODES = 10_000


@dataclass(frozen=True)
class Fleet(Policy):
    """A policy as several nodes play it: "ocucb-n on fleet(8, 1000)".

    Parameters
    ----------
    policy : of every node; any that a `Bandit` takes whose rewards can be merged.
    nodes : how many choose, by turns.
    every : after how many rounds of all together they share; 1 for always.
    """

    formula: ClassVar[str] = "that of its policy, of what a node knows"
    source: ClassVar[str] = "docs/scale.md"

    policy: Policy
    nodes: int
    every: int

    def __post_init__(self) -> None:
        if not isinstance(self.policy, Policy) or isinstance(self.policy, Fleet):
            raise ParameterError(f"policy must be a policy such as UCB(), got {self.policy!r}")
        if isinstance(self.policy, Remembering):
            raise ParameterError(
                f"a fleet merges what its nodes learned, and with {self.policy.memory} rounds have no common order; "
                "leave the memory out"
            )
        whole("nodes", self.nodes, 1, "a fleet needs a node", high=MAX_NODES)
        whole("every", self.every, 1, "use every=1 to share after each round")

    @property
    def name(self) -> str:
        """That of the policy, and that it is a fleet's."""
        return f"{self.policy.name} on fleet"

    def rule(self) -> Rule:
        return self.policy.rule()

    def to_dict(self) -> dict[str, Any]:
        fleet = {"name": "fleet", "parameters": {"nodes": self.nodes, "every": self.every}}
        return {"name": self.name, "policy": self.policy.to_dict(), "fleet": fleet}

    def __str__(self) -> str:
        return f"{self.policy} on fleet({self.nodes}, {self.every})"


def check_fleet(fleet: Fleet, noise: Noise) -> None:
    """Raise one clear line for a fleet whose nodes cannot share by sums alone."""
    if noise.family().spreads or fleet.policy.rule().variance_bound is not None:
        reader = noise if noise.family().spreads else fleet.policy
        raise ParameterError(
            f"nodes of a fleet share the sums of rewards, and {reader} needs their spread; "
            "use OCUCBn() under Gaussian(scale)"
        )
