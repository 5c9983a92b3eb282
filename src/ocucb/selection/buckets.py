"""Buckets: lists of the arms whose bounds expire at the same tick of the clock of `expiry.py`.

Bucket (span, parity) expires at a multiple of 2^span, one to two times 2^span ticks after its bounds were made; those
of span 0 also one tick after. So all arms of a bucket expire together, and joining and leaving are O(1).
"""

from __future__ import annotations

from ocucb.compiled import inlined, kernel, lowest_bit
from ocucb.selection.state import BUCKETS, NEVER, State, arms_at, buckets_at, due_at


@kernel
def empty_buckets(state: State) -> None:
    """Start with no arm in any bucket."""
    buckets = buckets_at(state.buckets)
    state.next_expiry = NEVER
    state.used_buckets = 0
    for bucket in range(BUCKETS):
        buckets[bucket] = -1


@inlined
def join_bucket(state: State, arm: int, end: int, span: int) -> None:
    """Let an arm that is in no bucket join the one that expires at this tick: the next, or the end of a span."""
    arms = arms_at(state.arms)
    buckets = buckets_at(state.buckets)
    due = due_at(state.due)
    bucket = 2 * span + ((end >> span) & 1)
    this = arms[arm]
    first = buckets[bucket]
    this.bucket = bucket
    this.before = -1
    this.after = first
    if first >= 0:
        arms[first].before = arm
    buckets[bucket] = arm
    due[bucket] = end
    state.used_buckets |= 1 << bucket
    state.next_expiry = min(state.next_expiry, end)


@inlined
def leave_bucket(state: State, arm: int) -> None:
    """Take an arm out of its bucket, if it is in one."""
    arms = arms_at(state.arms)
    buckets = buckets_at(state.buckets)
    this = arms[arm]
    if this.bucket < 0:
        return
    if this.before >= 0:
        arms[this.before].after = this.after
    else:
        buckets[this.bucket] = this.after
    if this.after >= 0:
        arms[this.after].before = this.before
    this.bucket = -1


@kernel
def take_expired(state: State, now: int) -> int:
    """Take all arms out of buckets that have expired; return the first of them, each of which has the next `after` it.

    All leave before the first joins another bucket, which may be the same.
    """
    arms = arms_at(state.arms)
    buckets = buckets_at(state.buckets)
    due = due_at(state.due)
    expired = -1
    left = state.used_buckets
    while left:
        bucket = lowest_bit(left)
        left &= left - 1
        if due[bucket] > now:
            continue
        state.used_buckets ^= 1 << bucket
        arm = buckets[bucket]
        buckets[bucket] = -1
        while arm >= 0:
            this = arms[arm]
            after = this.after
            this.bucket = -1
            this.after = expired
            expired = arm
            arm = after
    return expired


@kernel
def find_next_expiry(state: State) -> None:
    """Note when the first of the buckets expires, after some were emptied."""
    buckets = buckets_at(state.buckets)
    due = due_at(state.due)
    state.next_expiry = NEVER
    left = state.used_buckets
    while left:
        bucket = lowest_bit(left)
        left &= left - 1
        if buckets[bucket] >= 0:
            state.next_expiry = min(state.next_expiry, due[bucket])
        else:
            state.used_buckets ^= 1 << bucket
