"""Shares: arms that get a part of all rounds, whatever the policy chooses. A control, a minimum, a holdout."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ocucb.checks import real
from ocucb.compiled import kernel
from ocucb.errors import ParameterError
from ocucb.uniforms import stream, uniform

# Rounds have streams of their own, by their numbers, which never come this far.
SHARES = 2**62
MUCH = 1e6  # in place of any larger share, whose sum might overflow


@kernel
def draw(seed: int, t: int) -> float:
    """Return the number by which shares are drawn in round t."""
    return uniform(stream(np.uint64(seed), SHARES), t)


class Shares:
    """Which slots get which part of all rounds, in the order of the slots.

    Arm i is chosen with probability f_i + (1 - Σ f) [the policy chooses i]. The share of an arm that may not be chosen
    goes to the policy.
    """

    def __init__(self, shares: Mapping[int, float]) -> None:
        self.by_slot = dict(sorted(shares.items()))

    def __bool__(self) -> bool:
        return bool(self.by_slot)

    def drawn(self, seed: int, t: int, allowed: Callable[[int], bool]) -> int:
        """Return the slot that has round t by its share, or -1 if the policy has it."""
        left = draw(seed, t)
        for slot, share in self.by_slot.items():
            if left < share:
                return slot if allowed(slot) else -1
            left -= share
        return -1

    def probability(self, slot: int, by_policy: float | None, allowed: Callable[[int], bool]) -> float | None:
        """Return the probability of a slot, given that with which the policy chooses it; None if that is not known."""
        if by_policy is None:
            return None
        rest = 1.0 - sum_of_shares(share for other, share in self.by_slot.items() if allowed(other))
        return (self.by_slot.get(slot, 0.0) if allowed(slot) else 0.0) + rest * by_policy


def sum_of_shares(shares: Iterable[float]) -> float:
    """Return the sum of shares, rounded once: that of Python is not the same in all versions, as a replay needs it."""
    return math.fsum(min(share, MUCH) for share in shares)


def clean_shares(shares: object, slot_of: Callable[[Any], int]) -> dict[int, float]:
    """Return shares by slot, those of 0 left out, after checking that they leave something for the policy."""
    if not isinstance(shares, Mapping):
        raise ParameterError(f'shares must be a mapping such as {{"control": 0.1}}, got {shares!r}')
    clean = {}
    for label, share in shares.items():
        slot = slot_of(label)
        value = real(f"the share of arm {label!r}", share, "use 0.1 for a tenth of all rounds")
        if value < 0.0:
            raise ParameterError(f"the share of arm {label!r} must be 0 or more, got {value:g}")
        if value > 0.0:
            clean[slot] = value
    total = sum_of_shares(clean.values())
    if total >= 1.0:
        raise ParameterError(f"shares must sum to less than 1, got {total:g}; the policy needs some rounds")
    return clean
