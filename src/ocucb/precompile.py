"""Compiles what bandits call before they call it: for an image, or before many processes start at once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from ocucb.bandit import Bandit
from ocucb.errors import GuaranteeWarning, ParameterError
from ocucb.memory import Discount, Restart, Window
from ocucb.noise import NOISES, Noise
from ocucb.policies import POLICIES, UCB, AdaUCB, Gittins, OCUCBn, Policy
from ocucb.registry import Registry, load_plugins
from ocucb.suitability import check_suitable

SAMPLE_HORIZON = 100  # small, for Gittins computes a table
ROUNDS = 12
MEMORIES = (Window(5), Discount(0.5), Restart(0.1))

Made = TypeVar("Made")


def all_policies() -> list[Policy]:
    """Return every registered policy, in each form that has a level of its own.

    One that has parameters without defaults, other than the horizon, is left out.
    """
    load_plugins()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuaranteeWarning)
        return [
            *_with_defaults(POLICIES),
            *(OCUCBn(shrink=shrink) for shrink in ("t", "log-plus", "all")),
            UCB("asymptotic"),
            AdaUCB(SAMPLE_HORIZON),
            Gittins(SAMPLE_HORIZON, approximate=True),
        ]


def all_noises() -> list[Noise]:
    """Return every registered noise family that has a default for each parameter."""
    load_plugins()
    return _with_defaults(NOISES)


def _with_defaults(registry: Registry[Made]) -> list[Made]:
    made = []
    for name in registry:
        cls: Any = registry[name]
        needed = {one.name for one in fields(cls) if one.default is MISSING and one.default_factory is MISSING}
        if needed <= {"horizon"}:
            made.append(cls(**dict.fromkeys(needed, SAMPLE_HORIZON)))
    return made


def compile_bandits(policies: Sequence[Policy], noises: Sequence[Noise]) -> Iterator[Policy]:
    """Compile all that a `Bandit` of each policy under each noise family calls; yield each policy that is done."""
    for policy in policies:
        for noise in noises:
            for bandit in _suitable_bandits(policy, noise):
                use_all(bandit)
        yield policy


def _suitable_bandits(policy: Policy, noise: Noise) -> Iterator[Bandit]:
    """Return bandits that remember all and that forget; none where these make no sense together."""
    for memory in (None, *MEMORIES):
        with suppress(ParameterError):
            check_suitable(policy, noise)
            yield Bandit(policy, arms=3, noise=noise, memory=memory)


def use_all(bandit: Bandit, reward: float = 1.0) -> None:
    """Do with a new bandit of numbered arms all that is compiled, or loaded, when it is done for the first time."""
    for _ in range(ROUNDS):
        bandit.learn(bandit.choose(), reward)
    bandit.learn(bandit.decide().arm, reward)
    bandit.learn_many([0, 1], [reward, reward])
    bandit.forget(bandit.choose())
    bandit.count_pull(bandit.peek())
    bandit.add_arm("another")
    bandit.retire_arm("another")
    bandit.add_arm("another")
    bandit.decide(among=[0, 1])
    bandit.choose(among=[bandit.peek(among=[0, 1]), 1])
    bandit.choose_many(2)
    bandit.set_shares({0: 0.5})
    bandit.decide()
    bandit.explain(bandit.peek())
    bandit.explain_many([0, 1])
    bandit.statistics()
    again = Bandit.from_dict(bandit.to_dict(), bandit.policy)
    if bandit.memory is None:
        again.intervals()
        again.best()
