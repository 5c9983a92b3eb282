"""The memory of a selector: one record per arm, one for the whole, and the arrays that order them.

A kernel receives one pointer, to the STATE record, and finds the arrays through the addresses in it. A tuple of arrays
would read a little better, but Numba passes it as some seventy words at every call and counts references to each array:
five to ten times slower, measured.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ocucb.compiled import Integers, array_at, record_at

ARM = np.dtype(
    [
        ("pulls", np.float64),  # T: learned and pending
        ("mean", np.float64),  # of the learned rewards
        ("power", np.float64),  # T^rho
        ("total", np.float64),  # sum of the learned rewards
        ("effective", np.float64),  # arms, when the index was last computed
        ("learned", np.int64),
        ("place", np.int32),  # in the order by pulls
        ("group", np.int32),  # of the arms with the same pulls
        ("before", np.int32),  # neighbours in the bucket, or -1
        ("after", np.int32),
        ("next", np.int32),  # in the line of arms in the same state; itself if there is no other
        ("previous", np.int32),
        ("bucket", np.int8),  # of the bounds that expire together, or -1
        ("span", np.int8),  # the bound was last made for 2^span rounds
        ("active", np.int8),  # 0 once retired
        ("hidden", np.int8),  # not the first of its line
    ],
    align=True,
)

STATE = np.dtype(
    [
        ("rounds", np.int64),  # pulls of all arms, the retired included
        ("slots", np.int64),  # arms ever added
        ("active", np.int64),  # arms not retired
        ("fresh", np.int64),  # active arms never pulled
        ("cursor", np.int64),  # no fresh arm stands before this one
        ("leader", np.int64),  # the arm without a bound, whose index is computed anew each round; or -1
        ("hot", np.int64),  # another arm without a bound: the one that won last, if it is not the leader; or -1
        ("stale", np.int64),  # order and bounds must be rebuilt before the next selection
        ("check", np.int64),  # the round in which the first bucket expires
        ("free", np.int64),  # first free group
        ("ordered", np.int64),  # the level reads effective arms, so arms are kept in order of pulls
        ("trend", np.int64),
        ("shared", np.int64),  # the level is the same for all arms
        ("signed", np.int64),  # a negative level has a meaning
        ("seed", np.int64),
        ("horizon", np.int64),  # the last round that may be played, or 0
        ("looks", np.int64),  # indices and bounds computed so far, to see what a selection costs
        ("rho", np.float64),
        ("when", np.float64),  # the round for which a shared level was last computed, or 0
        ("common", np.float64),  # and that level
        ("level", np.int64),  # addresses
        ("score", np.int64),
        ("bound", np.int64),
        ("divergence", np.int64),
        ("posterior", np.int64),
        ("parameters", np.int64),
        ("family", np.int64),
        ("arms", np.int64),
        ("order", np.int64),
        ("groups", np.int64),
        ("offsets", np.int64),
        ("powers", np.int64),
        ("prefix", np.int64),
        ("bounds", np.int64),
        ("buckets", np.int64),
        ("due", np.int64),
        ("recent", np.int64),
        ("root", np.int64),  # level of the root of a tree
        ("capacity", np.int64),
    ],
    align=True,
)

GROUP = np.dtype([("start", np.int32), ("end", np.int32)], align=True)  # places; a free group's start is the next

FANOUT = 16  # children of a tree node: two cache lines
SHIFT = 4
BUCKETS = 120
RECENT = 64
NEVER = np.int64(2**62)


State: TypeAlias = Any  # a STATE record, as kernels see it

state_at = record_at(STATE)
arms_at = array_at(ARM)  # one per slot
order_at = array_at(np.int32)  # arms by place, fewest pulls first
groups_at = array_at(GROUP)
offsets_at = array_at(np.int64)  # where each level of a tree starts; the last level is one node
powers_at = array_at(np.float64)  # tree over places: T^rho, and sums of it
prefix_at = array_at(np.float64)  # the same tree: sums within each node up to and including a child
bounds_at = array_at(np.float64)  # tree over arms: upper bounds on their indices, and largest ones
buckets_at = array_at(np.int32)  # first arm of each bucket, or -1
due_at = array_at(np.int64)  # the round in which each bucket expires
recent_at = array_at(np.int32)  # by hash of its state, an arm that was looked at, or -1


def offsets(capacity: int) -> Integers:
    """Return where the levels of a tree with `capacity` leaves start, and as the last entry its size."""
    starts, width = [0], max(FANOUT, -(-capacity // FANOUT) * FANOUT)
    while width > FANOUT:
        starts.append(starts[-1] + width)
        width = -(-(width // FANOUT) // FANOUT) * FANOUT
    starts += [starts[-1] + width, starts[-1] + width + 1]
    return np.array(starts, dtype=np.int64)


class Memory:
    """The arrays of one selector, and the record by which kernels reach them. Empty, with room for `capacity` arms."""

    def __init__(self, capacity: int) -> None:
        starts = offsets(capacity)
        self.arms = np.zeros(capacity, ARM)
        self.arrays = {
            "arms": self.arms,
            "order": np.arange(capacity, dtype=np.int32),
            "groups": np.zeros(capacity + 1, GROUP),
            "offsets": starts,
            "powers": np.zeros(starts[-1]),
            "prefix": np.zeros(starts[-1]),
            "bounds": np.full(starts[-1], -np.inf),
            "buckets": np.full(BUCKETS, -1, np.int32),
            "due": np.zeros(BUCKETS, np.int64),
            "recent": np.full(RECENT, -1, np.int32),
        }
        self.state = np.zeros(1, STATE)
        for name, array in self.arrays.items():
            self.state[name] = array.ctypes.data
        self.state["root"], self.state["capacity"] = len(starts) - 2, capacity
        self.state["leader"], self.state["hot"], self.state["stale"] = -1, -1, 1
        self.arms["bucket"] = -1
        self.address = int(self.state.ctypes.data)
