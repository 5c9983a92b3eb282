"""A bandit and the naive reference, playing the same game side by side and compared at every choice."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict

import reference
from ocucb import Bandit, Noise, Policy

Tape = Callable[[int, int], float]  # (arm, s) -> the s-th reward of the arm, s = 1, 2, ...


SEED = 0


def named(policy: Policy) -> tuple[str, dict[str, object]]:
    """Return a policy as the reference names it."""
    parameters = asdict(policy)
    if parameters.get("alpha") == "asymptotic":
        return "ucb-asymptotic", {}
    if policy.name in ("top-two", *reference.RANDOM):
        parameters["seed"] = SEED
    return policy.name, parameters


class SideBySide:
    """The same arms twice: in a bandit, and in the reference's plain records."""

    def __init__(self, policy: Policy, noise: Noise, arms: int, tape: Tape) -> None:
        self.bandit = Bandit(policy, arms, noise, seed=SEED)
        self.policy, self.noise, self.tape = named(policy), (noise.name, asdict(noise)), tape
        # Fractions are slow, so they are added up only for those who read them.
        self.reads = noise.family().spreads, policy.rule().variance_bound is not None
        self.rewards: list[list[float]] = [[] for _ in range(arms)]
        self.pending = [0] * arms
        self.retired = [False] * arms

    @property
    def rounds(self) -> int:
        return sum(map(len, self.rewards)) + sum(self.pending)

    def arms(self) -> list[reference.Arm]:
        of_all = [reward for got in self.rewards for reward in got]
        return [
            reference.Arm(
                len(got) + waiting,
                reference.added(got) / len(got) if got else None,
                gone,
                reference.spread(got, of_all) if self.reads[0] else None,
                reference.variance(got) if self.reads[1] else None,
            )
            for got, waiting, gone in zip(self.rewards, self.pending, self.retired, strict=True)
        ]

    def choose(self) -> int:
        """Choose in both, compare, and leave the reward pending."""
        arms = self.arms()
        expected, values = reference.choose(*self.policy, *self.noise, arms, self.rounds + 1)
        assert self.bandit.peek() == self.bandit.peek()
        chosen = self.bandit.choose()
        assert isinstance(chosen, int)
        assert chosen == expected, f"round {self.rounds + 1}: chose {chosen}, not {expected}, of {values}"
        self.pending[chosen] += 1
        return chosen

    def choose_among(self, named: list[int]) -> int:
        """Choose among some arms in both, compare, and leave the reward pending."""
        expected = reference.ranked(*self.policy, *self.noise, self.arms(), self.rounds + 1, named)[0]
        assert self.bandit.peek(named) == expected
        decided = self.bandit.decide(named)
        assert decided.arm == expected
        if self.policy[0] not in ("top-two", *reference.RANDOM):
            assert decided.probability == 1.0
        self.pending[expected] += 1
        return expected

    def choose_many(self, count: int) -> list[int]:
        """Choose several different arms in both, compare, and leave their rewards pending."""
        playing = [arm for arm, gone in enumerate(self.retired) if not gone]
        order = reference.ranked(*self.policy, *self.noise, self.arms(), self.rounds + 1, playing)
        chosen = self.bandit.choose_many(count)
        assert chosen == order[:count], (
            f"round {self.rounds + 1}: chose {chosen}, not {order[:count]}, of {self.arms()}"
        )
        for arm in order[:count]:
            self.pending[arm] += 1
        return order[:count]

    def learn(self, arm: int) -> None:
        """Give the arm its next reward."""
        self.pending[arm] = max(0, self.pending[arm] - 1)
        reward = self.tape(arm, len(self.rewards[arm]) + 1)
        self.rewards[arm].append(reward)
        self.bandit.learn(arm, reward)

    def step(self) -> int:
        arm = self.choose()
        self.learn(arm)
        return arm

    def count_pull(self, arm: int) -> None:
        """Pull an arm that nobody chose here."""
        self.pending[arm] += 1
        self.bandit.count_pull(arm)

    def forget(self, arm: int) -> None:
        self.pending[arm] -= 1
        self.bandit.forget(arm)

    def add(self) -> None:
        self.bandit.add_arm(len(self.rewards))
        self.rewards.append([])
        self.pending.append(0)
        self.retired.append(False)

    def retire(self, arm: int) -> None:
        self.bandit.retire_arm(arm)
        self.retired[arm] = True

    def bring_back(self, arm: int) -> None:
        self.bandit.add_arm(arm)
        self.retired[arm] = False

    def check_explanations(self) -> None:
        """Compare every index, mean and pull."""
        arms = [arm for arm in self.arms() if not arm.retired]
        values = reference.indices(*self.policy, *self.noise, self.arms(), self.rounds + 1)
        kept = [value for value, gone in zip(values, self.retired, strict=True) if not gone]
        for got, want in zip(self.bandit.indices().tolist(), kept, strict=True):
            assert math.isclose(got, want, rel_tol=1e-9, abs_tol=1e-9), (got, want)
        assert self.bandit.pulls.tolist() == [arm.pulls for arm in arms]
        means = [mean if not math.isnan(mean) else None for mean in self.bandit.means.tolist()]
        assert means == [arm.mean for arm in arms]
        assert self.bandit.rounds == self.rounds
