"""The memory of a selector: one record per arm, one for the whole, and the arrays that order them.

A kernel receives one pointer, to the STATE record, and finds the arrays through the addresses in it. A tuple of arrays
would read a little better, but Numba passes it as some seventy words at every call and counts references to each array:
five to ten times slower, measured.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats, Integers, array_at, kernel, prefetch, record_at

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
        ("next", np.int32),  # in the ring of arms in the same state; itself if there is no other
        ("previous", np.int32),
        ("climb", np.float32),  # of the index while t grows by a part of itself, over that part; 0 if unknown
        ("bucket", np.int8),  # of the bounds that expire together, or -1
        ("active", np.int8),  # 0 once retired
        ("hidden", np.int8),  # not the first of its ring
    ],
    align=True,
)

MOMENTS = np.dtype(
    [
        ("spread", np.float64),  # S: what bounds receive, so the first
        ("range", np.float64),  # of possible rewards, times a weight: what a policy's own bound receives, so the second
        ("total_rest", np.float64),  # what rounding took from the sum of the rewards
        ("squares", np.float64),  # sum of their squares
        ("squares_rest", np.float64),  # what rounding took from it
        ("least", np.float64),  # reward
        ("most", np.float64),
        ("least_count", np.float64),  # how many rewards are the least
        ("most_count", np.float64),
    ]
)

EVER = np.dtype(
    [
        ("pulls", np.int64),  # of all time, as the records have them where nothing is forgotten
        ("learned", np.int64),
        ("total", np.float64),
        ("total_rest", np.float64),  # what rounding took from the sum of the remembered rewards
        ("weight", np.float64),  # of the rewards under a discount
        ("waiting", np.float64),  # weight of the pending pulls under a discount
        ("least", np.float64),  # reward since the last start, under a restart
        ("most", np.float64),
        ("above", np.int64),  # the last corner of the hull of its rewards' sums, from 1; 0 if there is none
        ("below", np.int64),
    ]
)

CORNER = np.dtype([("count", np.float64), ("total", np.float64), ("next", np.int64)])  # next: of the stack, or free

EVENT = np.dtype([("when", np.int64), ("arm", np.int64), ("reward", np.float64)])  # a pull's reward is nan

STATE = np.dtype(
    [
        ("rounds", np.int64),  # pulls of all arms, the retired included
        ("slots", np.int64),  # arms ever added
        ("active", np.int64),  # arms not retired
        ("unpulled", np.int64),  # active arms never pulled
        ("cursor", np.int64),  # no such arm has a lower number
        ("leader", np.int64),  # the arm without a bound, whose index is computed anew each round; or -1
        ("lost", np.int64),  # rounds in a row that the leader has not won
        ("challenger", np.int64),  # another arm without a bound: the one that won last, if not the leader; or -1
        ("stale", np.int64),  # order and bounds must be rebuilt before the next selection
        ("changing", np.int64),  # arms may be retired and pulls forgotten, so bounds need slack for it
        ("clock_shift", np.int64),  # how far retired arms and forgotten pulls have moved the clock of bounds
        ("next_expiry", np.int64),  # when the first bucket expires, by that clock
        ("used_buckets", np.int64),  # as bits: no others have arms
        ("last_best", np.float64),  # the best index of the last selection
        ("fall", np.float64),  # of the best index while t grows by a part of itself, over that part
        ("fall_best", np.float64),  # the best index when it was last measured
        ("fall_round", np.int64),  # and the round, or 0
        ("fall_due", np.int64),  # the round from which it is measured again
        ("leads", np.int64),  # the leader may be pulled many times without selecting
        ("lead_pulls", np.int64),  # how many times to try next
        ("lead_width", np.float64),  # how far the leader's index was above its mean when it was last computed
        ("free_group", np.int64),  # the first of them
        ("reads_effective", np.int64),  # the level reads effective arms
        ("ordered", np.int64),  # and these are not all arms (rho > 0), so arms are kept in order of pulls
        ("trend", np.int64),  # of the level; NEITHER under a memory, where no bound of the lazy selector would hold
        ("own_trend", np.int64),  # of the level, whatever the memory
        ("ceilings", np.int64),  # under a memory bounds serve as ceilings (ceilings.py)
        ("ceilings_left", np.int64),  # ticks for which they still hold
        ("shared", np.int64),  # the level is the same for all arms
        ("samples", np.int64),  # scores fall as their uniforms rise, so arms keep caps
        ("signed", np.int64),  # a negative level has a meaning
        ("seed", np.int64),
        ("horizon", np.int64),  # the last round that may be played, or 0
        ("with_arms", np.int64),  # how the level moves with the number of arms
        ("evaluations", np.int64),  # indices and bounds computed so far, to see what a selection costs
        ("rho", np.float64),
        ("ticks_per_arm", np.float64),  # how far the clock moves when one effective arm is lost
        ("arms_per_tick", np.float64),  # its inverse; 0 if the level reads no number of arms that can fall
        ("shared_round", np.float64),  # the round for which a shared level was last computed, or 0
        ("shared_level", np.float64),  # and that level
        ("spreads", np.int64),  # bounds receive the spread of their arm's rewards: NO_SPREADS, GUARDED or PLAIN
        ("least", np.float64),  # reward of all arms, if there are spreads
        ("most", np.float64),
        ("memory", np.int64),  # EVERYTHING, WINDOW, DISCOUNT or RESTART
        ("window", np.int64),  # rounds
        ("now", np.int64),  # pulls ever made, those that were taken back included, if there is a memory
        ("events_first", np.int64),  # place of the oldest
        ("events_count", np.int64),
        ("events_size", np.int64),
        ("factor", np.float64),  # of a discount
        ("delta", np.float64),  # of a restart: how likely is one without a change
        ("exploration", np.float64),  # share of rounds that go to all arms in turn
        ("restarts", np.int64),  # so far
        ("corners_used", np.int64),  # corners ever used since the last start
        ("corners_free", np.int64),  # the first of those that are free again, or 0
        ("corners_size", np.int64),
        ("unit", np.float64),  # what a pull of 1 in the records counts now
        ("remembered", np.float64),  # pulls of all arms, in these records
        ("here", np.int64),  # addresses: of this record, of functions, of arrays
        ("find", np.int64),  # the arm of a round, where the lazy selector cannot
        ("remember_pull", np.int64),
        ("remember_reward", np.int64),
        ("level", np.int64),
        ("score", np.int64),
        ("bound", np.int64),
        ("upper", np.int64),
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
        ("caps", np.int64),
        ("moments", np.int64),
        ("ever", np.int64),
        ("events", np.int64),
        ("corners", np.int64),
        ("root", np.int64),  # level of the root of a tree
        ("capacity", np.int64),
    ],
    align=True,
)

GROUP = np.dtype([("start", np.int32), ("end", np.int32)], align=True)  # places; a free group's start is the next

ARM_BYTES = ARM.itemsize
LINE = 64  # bytes of the processor's cache
FANOUT = 16  # children of a tree node: two cache lines
SHIFT = 4
BUCKETS = 64  # as many as a word has bits
RECENT = 64
CAPS = 16  # of an arm
EVERYTHING, WINDOW, DISCOUNT, RESTART = 0, 1, 2, 3
NO_SPREADS, GUARDED, PLAIN = 0, 1, 2  # guarded: rewards that repeat do not make a spread small (moments.py)
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
due_at = array_at(np.int64)  # when each bucket expires
caps_at = array_at(np.float64)  # CAPS for each arm: what its score cannot exceed at uniforms of some size
moments_at = array_at(MOMENTS)  # one per slot, if there are spreads
ever_at = array_at(EVER)  # one per slot, if there is a memory
events_at = array_at(EVENT)  # a ring of what a window remembers
corners_at = array_at(CORNER)  # of the hulls by which a restart finds changes
recent_at = array_at(np.int32)  # by hash of its state, an arm that was evaluated, or -1


@kernel
def prefetch_arm(state: State, arm: int) -> None:
    """Ask for the record of an arm, if it is one, before it is read."""
    prefetch(state.arms + arm * ARM_BYTES)
    prefetch(state.arms + (arm + 1) * ARM_BYTES - 1)


def offsets(capacity: int) -> Integers:
    """Return where the levels of a tree with `capacity` leaves start, and as the last entry its size."""
    starts, width = [0], max(FANOUT, -(-capacity // FANOUT) * FANOUT)
    while width > FANOUT:
        starts.append(starts[-1] + width)
        width = -(-(width // FANOUT) // FANOUT) * FANOUT
    starts += [starts[-1] + width, starts[-1] + width + 1]
    return np.array(starts, dtype=np.int64)


def set_means(arms: npt.NDArray[Any], totals: Floats, counts: Floats | Integers) -> None:
    """Divide sums by counts, where something was counted; elsewhere means stay as they are."""
    np.divide(totals, counts, out=arms["mean"], where=counts > 0)


def _filled(count: int, dtype: npt.DTypeLike, value: float) -> npt.NDArray[Any]:
    """Return so many equal values from the start of a cache line on, where NumPy starts anywhere.

    So no record, and no node of a tree, lies in more lines than it must.
    """
    kind = np.dtype(dtype)
    block = np.zeros(count * kind.itemsize + LINE, np.uint8)
    first = -block.ctypes.data % LINE
    made = block[first : first + count * kind.itemsize].view(kind)
    if value:
        made[:] = value
    return made


class Memory:
    """The arrays of one selector, and the record by which kernels reach them. Empty, with room for `capacity` arms.

    Caps take memory only if there are `samples`, moments only if there are `spreads`, all-time statistics only if
    something `forgets`.
    """

    def __init__(self, capacity: int, samples: bool = False, spreads: bool = False, forgets: bool = False) -> None:
        starts = offsets(capacity)
        self.arms = _filled(capacity, ARM, 0)
        self.arrays = {
            "arms": self.arms,
            "order": np.arange(capacity, dtype=np.int32),
            "groups": _filled(capacity + 1, GROUP, 0),
            "offsets": starts,
            "powers": _filled(starts[-1], np.float64, 0),
            "prefix": _filled(starts[-1], np.float64, 0),
            "bounds": _filled(starts[-1], np.float64, -np.inf),
            "buckets": np.full(BUCKETS, -1, np.int32),
            "due": np.zeros(BUCKETS, np.int64),
            "recent": np.full(RECENT, -1, np.int32),
            "caps": np.full(CAPS * capacity if samples else 0, np.inf),
            "moments": np.zeros(capacity if spreads else 0, MOMENTS),
            "ever": np.zeros(capacity if forgets else 0, EVER),
            "events": np.zeros(0, EVENT),
            "corners": np.zeros(0, CORNER),
        }
        self.arrays["moments"]["least"], self.arrays["moments"]["most"] = np.inf, -np.inf
        self.state = _filled(1, STATE, 0)
        self.state["least"], self.state["most"], self.state["unit"] = np.inf, -np.inf, 1.0
        self.address = int(self.state.ctypes.data)
        self._point_at_arrays()
        self.state["leader"], self.state["challenger"], self.state["stale"] = -1, -1, 1
        self.arms["bucket"] = -1

    def _point_at_arrays(self) -> None:
        self.state["here"] = self.address
        for name, array in self.arrays.items():
            self.state[name] = array.ctypes.data
        self.state["root"], self.state["capacity"] = len(self.arrays["offsets"]) - 2, len(self.arms)

    def with_capacity(self, capacity: int) -> Memory:
        """Return larger memory with the same contents, in which sums and largest bounds must be made anew."""
        samples, spreads = len(self.arrays["caps"]) > 0, len(self.arrays["moments"]) > 0
        larger, old = Memory(capacity, samples, spreads, len(self.arrays["ever"]) > 0), len(self.arms)
        for name in ("arms", "order", "powers", "bounds"):  # of trees, the leaves
            larger.arrays[name][:old] = self.arrays[name][:old]
        for name in ("moments", "ever"):
            larger.arrays[name][:old] = self.arrays[name][:old]
        larger.arrays["events"], larger.arrays["corners"] = self.arrays["events"], self.arrays["corners"]
        for name in ("buckets", "due", "recent"):
            larger.arrays[name][:] = self.arrays[name]
        groups = larger.arrays["groups"]
        groups["start"] = np.arange(1, len(groups) + 1)  # the old ones' last free group has the first new one after it
        groups[: old + 1] = self.arrays["groups"]
        larger.state[:] = self.state
        larger._point_at_arrays()
        return larger

    def make_room_for_events(self, count: int) -> None:
        """Make the ring of events large enough for so many."""
        old, size, first = self.arrays["events"], len(self.arrays["events"]), int(self.state["events_first"][0])
        if count <= size:
            return
        self.arrays["events"] = np.zeros(max(count, 2 * size), EVENT)
        self.arrays["events"][:size] = np.roll(old, -first)
        self.state["events_first"], self.state["events_size"] = 0, len(self.arrays["events"])
        self.state["events"] = self.arrays["events"].ctypes.data

    def make_room_for_corners(self, count: int) -> None:
        """Make room for so many corners of hulls."""
        old, size = self.arrays["corners"], len(self.arrays["corners"])
        if count <= size:
            return
        self.arrays["corners"] = np.zeros(max(count, 2 * size), CORNER)
        self.arrays["corners"][:size] = old
        self.state["corners_size"] = len(self.arrays["corners"])
        self.state["corners"] = self.arrays["corners"].ctypes.data
