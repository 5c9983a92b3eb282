"""What a lane of a GPU knows of its arms, and where that stands: in memory of its own, or in what a block shares.

Arm i stands in slot i // lanes of lane i % lanes. Where bounds are kept, all but the sums of rewards are numbers of 32
bits, which are read and compared in one instruction each:

- a bound, of single precision, as its bits in an order that whole numbers have, too; its last bits are those of the
  slot, so that the highest bounds are known with their arms;
- a power T^ρ, as a multiple of a unit, so that sums of them are exact, whatever the order in which they are added.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ocucb.compiled import Floats, Integers, bits_of_single, kernel, single_of
from ocucb.compiled.cuda import SIMULATED, cuda, device, inlined_device
from ocucb.selection.state import MOMENTS

word: Any = np.int32  # numbers of 64 bits take two registers and two instructions
single: Any = np.float32
SIGN = 0x7FFFFFFF  # all bits but that of the sign
LOWEST: Any = np.int32(-(2**31) + 2**23 - 1)  # of -inf, in order
HIGHEST: Any = np.int32(2**31 - 2**23)  # of inf
WORD: Any = np.dtype(np.int32)  # of what a block shares
SINGLE: Any = np.dtype(np.float32)
REAL: Any = np.dtype(np.float64)
RECORD: Any = np.dtype((np.record, MOMENTS))  # whose fields have names in the simulator, too
ROWS = 5  # numbers of 32 bits of an arm: pulls, bound, power, sum, mean
BYTES_PER_ARM = 4 * ROWS + 8  # the last of them for the sum of its rewards


class LaneArms(NamedTuple):
    """What a lane knows of its arms, by slot; what it has no use for, or what a block shares, has no room here."""

    pulls: Integers  # of 32 bits
    bounds: Any  # what no index or score exceeds: in order, where bounds are kept; else of single precision
    powers: Any  # T^ρ: multiples of a unit, where bounds are kept in single precision
    sums: Any  # Σ_j min(T, T_j)^ρ, likewise
    means: Any  # of rewards, in single precision if indices are estimated so
    totals: Floats  # of rewards
    moments: Any  # of rewards, where bounds read their spread
    spread: Floats  # of the arm that is looked at, the range of its law, and the least and largest reward of the run


class ArmAccess(NamedTuple):
    """Functions that read and write what is known of an arm of one lane: read(own, slot), write(own, slot, value)."""

    make: Any  # () -> LaneArms, of which nothing is known
    pulls: Any
    set_pulls: Any
    bound: Any
    set_bound: Any
    power: Any
    set_power: Any
    sum: Any
    set_sum: Any
    mean: Any
    set_mean: Any
    total: Any
    set_total: Any
    shared_bytes: int  # of a block


@kernel
def in_order(value: float) -> int:
    """Return a number for a float of single precision; of two floats the larger has the larger one."""
    bits: int = bits_of_single(value)
    return bits if bits >= 0 else bits ^ SIGN


@kernel
def bound_in_order(value: float, slot: int, slots: int) -> int:
    """Return a number whose float is no less than a bound, and whose last bits are those of its slot."""
    last = last_bits(slots)
    return (min(in_order(value) & ~last, 0x7FFFFFFF - 2 * last - 1) + last + 1) | (slot & last)


@kernel
def bound_of(number: int) -> float:
    """Return the float of a number that is a bound."""
    whole = np.int32(min(max(number, LOWEST), HIGHEST))
    return float(single_of(whole if whole >= 0 else np.int32(whole ^ SIGN)))


@kernel
def last_bits(slots: int) -> int:
    """Return the bits of a bound that say its slot, or of many slots the last bits of that: more make bounds loose."""
    last = 1
    while last < slots - 1 and last < 31:
        last = 2 * last + 1
    return last


def make_memory(
    lanes: int, slots: int, threads: int, *, ordered: bool, kept: bool, scored: bool, rough: bool, shared: bool,
    spreads: bool,
) -> ArmAccess:  # fmt: skip
    """Return the memory of arms.

    ordered : sums of powers are kept. kept : bounds of indices are. scored : estimates of scores are.
    rough : indices are estimated in single precision. shared : what is known stands in what a block shares.
    spreads : bounds read the spread of an arm's rewards.
    """
    threads = lanes if SIMULATED else threads
    whole = kept and rough
    sums = slots if ordered else 1
    real: Any = np.int32 if whole else np.float64
    bound: Any = np.int32 if kept else np.float32
    bounds = slots if kept or scored else 1
    own_slots, own_sums, own_bounds = (1, 1, 1) if shared else (slots, sums, bounds)
    moments = slots if spreads else 1
    mean: Any = np.float32 if rough else np.float64
    keeps_powers = whole or not rough
    own_powers = own_sums if keeps_powers else 1
    nothing: Any = LOWEST if kept else -math.inf
    rows = [_access(row, slots, threads, shared) for row in range(ROWS + 1)]
    set_pulls, set_bound, set_power, set_sum, set_mean, set_total = (write for _, write in rows)

    @device
    def clear(own: LaneArms) -> None:
        for slot in range(slots):
            set_total(own, slot, 0.0)
            set_pulls(own, slot, 0)
            if kept or scored:
                set_bound(own, slot, nothing)
            if ordered:
                set_sum(own, slot, 0)
            if ordered and keeps_powers:
                set_power(own, slot, 0)
            set_mean(own, slot, mean(0.0))

    @inlined_device
    def make() -> LaneArms:
        own = LaneArms(
            cuda.local.array(own_slots, np.int32), cuda.local.array(own_bounds, bound),
            cuda.local.array(own_powers, real), cuda.local.array(own_sums, real),
            cuda.local.array(own_slots, mean), cuda.local.array(own_slots, np.float64),
            cuda.local.array(moments, RECORD), cuda.local.array(4, np.float64),
        )  # fmt: skip
        clear(own)
        return own

    shared_bytes = BYTES_PER_ARM * slots * threads if shared else 0
    return ArmAccess._make((make, *(access for row in rows for access in row), shared_bytes))


def _access(row: int, slots: int, threads: int, shared: bool) -> tuple[Any, Any]:
    """Return functions that read and write a row. An index that has no sign is not looked at: it can't be negative."""
    kind = {ROWS - 1: SINGLE, ROWS: REAL}.get(row, WORD)
    first = row * slots * threads * WORD.itemsize // kind.itemsize

    @device
    def read_shared(own: LaneArms, slot: int) -> Any:
        return cuda.shared.array(0, kind)[np.uint64(first + slot * threads + cuda.threadIdx.x)]

    @device
    def write_shared(own: LaneArms, slot: int, value: Any) -> None:
        cuda.shared.array(0, kind)[np.uint64(first + slot * threads + cuda.threadIdx.x)] = value

    @device
    def read(own: LaneArms, slot: int) -> Any:
        return own[row][np.uint64(slot)]

    @device
    def write(own: LaneArms, slot: int, value: Any) -> None:
        own[row][np.uint64(slot)] = value

    return (read_shared, write_shared) if shared else (read, write)


def scale_of(arms: int, horizon: int, rho: float) -> float:
    """Return the number of units in 1, so that neither a power nor a sum of those of all arms is too large.

    For ρ at most 1 the sum of T^ρ is largest where all arms have equally many pulls.
    """
    largest, total = float(horizon) ** rho, float(arms) ** max(0.0, 1.0 - rho) * float(horizon) ** rho
    return float(math.floor(min(2.0**31 / largest, 2.0**32 / total) * (1.0 - 2.0**-10)))
