"""Arms in equal states: they have the same index, so only the lowest of them needs to be evaluated.

Such arms form a *ring*, in order of their numbers. Its first arm competes, the others are hidden: they have no bound.
When the first is pulled or learns, the next takes its place. Rings are found by chance: an arm that is evaluated is
compared with the last one seen whose state had the same hash. An arm that would have to stand inside a ring stays out
of it, which costs evaluations and changes no choice.
"""

from __future__ import annotations

import numpy as np

from ocucb.compiled import array_at, kernel
from ocucb.selection.state import ARM, RECENT, State, arms_at, moments_at, recent_at

_words_at = array_at(np.int64)
_SIZE = ARM.itemsize // 8
_FIELDS = dict(ARM.fields or {})
_PULLS, _MEAN = _FIELDS["pulls"][1] // 8, _FIELDS["mean"][1] // 8


@kernel
def stand_alone(state: State, arm: int) -> None:
    """Put an arm into a ring of its own."""
    this = arms_at(state.arms)[arm]
    this.next = arm
    this.previous = arm
    this.hidden = 0


@kernel
def find_ring(state: State, arm: int) -> int:
    """Return the first arm of a ring that `arm` can join at its end; if none is known, -1, and note the arm."""
    arms = arms_at(state.arms)
    recent = recent_at(state.recent)
    this = arms[arm]
    place = _hash(state, arm)
    first = recent[place]
    if first >= 0 and first != arm and arms[first].active and arms[first].hidden == 0 and this.next == arm:
        that = arms[first]
        same = that.pulls == this.pulls and that.mean == this.mean and _same_spread(state, arm, first)
        if same and that.learned > 0 and that.previous < arm:
            return int(first)
    recent[place] = arm
    return -1


@kernel
def _same_spread(state: State, arm: int, other: int) -> bool:
    moments = moments_at(state.moments)
    return bool(state.spreads == 0 or moments[arm].spread == moments[other].spread)


@kernel
def join_ring(state: State, arm: int, first: int) -> None:
    """Hide an arm at the end of a ring."""
    arms = arms_at(state.arms)
    last = arms[first].previous
    arms[last].next = arm
    arms[arm].previous = last
    arms[arm].next = first
    arms[first].previous = arm
    arms[arm].hidden = 1


@kernel
def leave_ring(state: State, arm: int) -> int:
    """Take an arm out of its ring; return the arm that is now the first and was hidden, or -1."""
    arms = arms_at(state.arms)
    this = arms[arm]
    after = this.next
    if after == arm:
        return -1
    arms[after].previous = this.previous
    arms[this.previous].next = after
    hidden = this.hidden
    stand_alone(state, arm)
    if hidden:
        return -1
    arms[after].hidden = 0
    return int(after)


@kernel
def _hash(state: State, arm: int) -> int:
    words = _words_at(state.arms)
    mixed = words[arm * _SIZE + _PULLS] * 31 + words[arm * _SIZE + _MEAN]
    mixed ^= mixed >> 32
    mixed *= 0x9E3779B1
    return int((mixed >> 20) & (RECENT - 1))
