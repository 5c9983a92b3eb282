"""One choice, or several at once: by the policy or by a share, among all arms or some, and with which probability."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ocucb.arms import Arms
from ocucb.compiled import Integers
from ocucb.policies.policy import Chances, Rule
from ocucb.shares import Shares, sum_of_shares


class Chosen(NamedTuple):
    """A slot that was chosen, what was known of its arm before, and the probability with which it was chosen."""

    slot: int
    known: list[float]
    probability: float | None


class Chooser:
    """Chooses slots. A slot below 0 is none: the horizon has passed, or one of the arms named is retired."""

    def __init__(self, arms: Arms, rule: Rule, seed: int) -> None:
        self.shares = Shares({})
        self._selector, self._seed = arms.selector, seed
        self._chances = rule.chances if rule.level is None else Chances(coin=0.0)
        self._certain = self._chances is not None and self._chances.coin == 0.0

    def peek(self, among: Integers | None) -> int:
        """Return the slot that is next."""
        slot = self._by_policy(among)
        drawn = self._drawn(among) if slot >= 0 else -1
        return drawn if drawn >= 0 else slot

    def choose(self, among: Integers | None) -> int:
        """Return the slot that is next, and count its pull."""
        if not self.shares:
            return self._selector.choose() if among is None else self._selector.choose_among(among)
        slot = self.peek(among)
        if slot >= 0:
            self._selector.count_pull(slot)
        return slot

    def decide(self, among: Integers | None) -> Chosen:
        """Do as `choose`, and return all that is to be said of the choice."""
        if not self.shares.by_slot and (self._certain or self._chances is None):
            slot, known = self._selector.decide() if among is None else self._selector.decide_among(among)
            # Where no score was asked: an arm never pulled or forgotten, or all of them wait for rewards.
            certain = self._certain or known[1] == 0.0 or not math.isfinite(known[3])
            return Chosen(slot, known, 1.0 if certain else None)
        policys = self._by_policy(among)
        if policys < 0:
            return Chosen(policys, [], None)
        drawn = self._drawn(among)
        slot = drawn if drawn >= 0 else policys
        known = self._selector.describe(slot, among)
        probability = self.shares.probability(slot, self._chance(slot, policys, among), self._allowed(among))
        self._selector.count_pull(slot)
        return Chosen(slot, known, probability)

    def peek_many(self, count: int) -> list[Chosen]:
        """Return so many different slots that are next, at most those in play: none if the horizon would pass.

        A slot drawn by its share comes first; the others, by falling index.
        """
        ranked = self._selector.rank(count)
        if not ranked:
            return []
        drawn = self._drawn(None)
        slots = ranked if drawn < 0 else [drawn, *(slot for slot in ranked if slot != drawn)][:count]
        return [Chosen(slot, self._selector.describe(slot, None), self._chance_of_many(slot, ranked)) for slot in slots]

    def _by_policy(self, among: Integers | None) -> int:
        return self._selector.peek() if among is None else self._selector.peek_among(among)

    def _drawn(self, among: Integers | None) -> int:
        if not self.shares:
            return -1
        return self.shares.drawn(self._seed, self._selector.rounds + 1, self._allowed(among))

    def _allowed(self, among: Integers | None) -> Callable[[int], bool]:
        """Return whether a slot may be chosen."""
        if among is None:
            return lambda slot: not self._selector.is_retired(slot)
        return set(among.tolist()).__contains__

    def _chance(self, slot: int, policys: int, among: Integers | None) -> float | None:
        """Return how likely the policy chooses a slot, in a round in which it chooses `policys`."""
        arm = self._selector.arms[policys]
        if self._certain or arm["learned"] == 0 or arm["pulls"] == 0.0:
            return float(slot == policys)
        if self._chances is None:
            return None
        return self._selector.chance(slot, None if among is None else np.unique(among), self._chances)

    def _chance_of_many(self, slot: int, ranked: list[int]) -> float | None:
        """Return how likely a slot is among as many as are ranked.

        The last of these is, unless the share of an arm that is not ranked is drawn. Those before it always are.
        """
        if not self._certain:
            return None
        if slot != ranked[-1]:
            return 1.0 if slot in ranked else self.shares.by_slot[slot]
        allowed, others = self._allowed(None), set(ranked)
        return 1.0 - sum_of_shares(
            share for one, share in self.shares.by_slot.items() if one not in others and allowed(one)
        )
