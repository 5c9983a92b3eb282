"""The one place for Numba's CUDA: kernels that call the package's kernels as they are, on an NVIDIA GPU.

With NUMBA_ENABLE_CUDASIM=1 everything runs in Python on the CPU, one thread after another: that is how it is tested
where there is no GPU.
"""

from __future__ import annotations

import importlib
import os
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import cuda as _cuda

from ocucb.errors import ParameterError

cuda: Any = _cuda  # code on the GPU names it, and the simulator puts its own in that place

THREADS = 128  # of a block
ALL = 0xFFFFFFFF  # lanes of a warp
PARTS = 8  # of a launch, at most
PART_BYTES = 2**23  # that one part writes, at least, if there are several
SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM", "0") == "1"


def check_gpu() -> None:
    """Raise, in one line, if there is nothing to run on."""
    if SIMULATED:
        return
    try:
        importlib.import_module("numba_cuda")
    except ModuleNotFoundError:
        raise ParameterError("cuda needs the package numba-cuda; pip install 'ocucb[gpu]'") from None
    try:
        found = len(cuda.gpus)
    except Exception as problem:  # every version and every state of a driver has an error of its own
        reason = " ".join(str(problem).split()).split(". ")[0].strip(" .:") or type(problem).__name__
        raise ParameterError(f"cuda needs an NVIDIA GPU and its driver, got: {reason}; use threads") from None
    if found == 0:
        raise ParameterError("cuda needs an NVIDIA GPU, got none; use threads")


def device(function: Callable[..., Any]) -> Any:
    """Return a function that code on the GPU can call."""
    return cuda.jit(device=True)(function)


def inlined_device(function: Callable[..., Any]) -> Any:
    """Return one whose code becomes part of its caller, whose memory it may make."""
    return cuda.jit(device=True, inline="always")(function)


def rough_device(function: Callable[..., Any]) -> Any:
    """Return one whose logarithms and quotients in single precision are those of the hardware, good to some 22 bits."""
    return cuda.jit(device=True, fastmath=True)(function)


def _plain(array: Any) -> Any:
    return array._item._ary if SIMULATED else array


# An array as the package's kernels take it: the simulator hands out something else.
plain = _plain if SIMULATED else device(lambda array: array)


class Group(NamedTuple):
    """Lanes of a warp that work together, and how they tell each other what they have.

    The groups of a warp go in step: all of its lanes must call at once, also those whose group needs no answer.
    """

    lanes: int
    slot: Any  # (arm) -> its place among those of its lane: lane i has arms i, i + lanes, ...
    owner: Any  # (arm) -> its lane
    arm: Any  # (slot, lane) -> what stands there
    of_lane: Any  # (value, lane) -> what this lane has
    largest: Any  # (value) -> the largest
    sum: Any  # (value) -> the sum
    sum_of_words: Any  # the same, of whole numbers of 32 bits
    first_of_largest: Any  # (value, number) -> the lowest number of those with the largest value
    count: Any  # (flag) -> how many lanes have it set
    first: Any  # (flag) -> the first lane that has it set, -1 if none
    any_in_warp: Any  # (flag) -> whether any lane of any group of the warp has it set
    wait: Any  # () until all have written what others read


def group_of(lanes: int) -> Group:
    """Return a group of so many lanes: 1, 2, 4, 8, 16 or 32. Lanes that are alone do not wait for others."""
    steps = lanes.bit_length() - 1
    slot, owner = device(lambda arm: np.int32(arm >> steps)), device(lambda arm: np.int32(arm & (lanes - 1)))
    arm_at = device(lambda slot, lane: np.int32(slot * lanes + lane))
    if lanes == 1:
        same = device(lambda value: value)
        number = device(lambda value, number: number)
        one, here = device(lambda flag: 1 if flag else 0), device(lambda flag: 0 if flag else -1)
        own = device(lambda value, lane: value)
        return Group(1, slot, owner, arm_at, own, same, same, same, number, one, here, same, _nothing)
    exchange: Any = _simulated_exchange if SIMULATED else _make_exchange(lanes)
    flags: Any = _simulated_flags if SIMULATED else _make_flags(lanes)

    @device
    def of_lane(value: float, lane: int) -> Any:
        return exchange(value, lane, 0)

    @device
    def largest(value: Any) -> Any:
        for step in range(steps):
            value = max(value, exchange(value, -1, 1 << step))
        return value

    @device
    def total(value: Any) -> Any:
        for step in range(steps):
            value += exchange(value, -1, 1 << step)
        return value

    @device
    def total_of_words(value: Any) -> Any:
        for step in range(steps):
            value = np.int32(value + exchange(value, -1, 1 << step))
        return value

    @device
    def first_of_largest(value: Any, number: Any) -> Any:
        for step in range(steps):
            other, which = exchange(value, -1, 1 << step), exchange(np.int32(number), -1, 1 << step)
            if other > value or (other == value and which < number):
                value, number = other, which
        return number

    @device
    def count(flag: bool) -> Any:
        return cuda.popc(flags(flag))

    @device
    def first(flag: bool) -> Any:
        return np.int32(cuda.ffs(flags(flag)) - 1)

    any_in_warp, wait = (_simulated_any, _simulated_wait) if SIMULATED else (_any_in_warp, _wait)
    return Group(
        lanes, slot, owner, arm_at, of_lane, largest, total, total_of_words, first_of_largest, count, first,
        any_in_warp, wait,
    )  # fmt: skip


@device
def _nothing() -> None:
    pass


@device
def _any_in_warp(flag: bool) -> Any:
    return cuda.any_sync(ALL, flag)


@device
def _wait() -> None:
    cuda.syncwarp(ALL)


def _make_exchange(lanes: int) -> Any:
    """Return `exchange(value, lane, distance)`: the value of a lane of the group, or of the one so far from this."""

    @device
    def exchange(value: Any, lane: int, distance: int) -> Any:
        if distance:
            return cuda.shfl_xor_sync(ALL, value, distance)
        return cuda.shfl_sync(ALL, value, (cuda.laneid & ~(lanes - 1)) + lane)

    return exchange


def _make_flags(lanes: int) -> Any:
    """Return `flags(flag)`: a bit for each lane of the group that has it set."""
    members = (1 << lanes) - 1

    @device
    def flags(flag: bool) -> Any:
        return np.uint32((np.uint32(cuda.ballot_sync(ALL, flag)) >> np.uint32(cuda.laneid & ~(lanes - 1))) & members)

    return flags


def _simulated_boxes(value: Any) -> list[Any]:
    """Exchange values in the simulator, where a block is one group and its lanes are threads of Python."""
    thread: Any = threading.current_thread()
    boxes = thread._manager.__dict__.setdefault("boxes", {})
    boxes[thread.threadIdx.x] = value
    thread.syncthreads()
    got = [boxes[lane] for lane in range(thread._manager._block_dim[0])]
    thread.syncthreads()
    return got


def _simulated_exchange(value: Any, lane: int, distance: int) -> Any:
    thread: Any = threading.current_thread()
    return _simulated_boxes(value)[thread.threadIdx.x ^ distance if distance else lane]


def _simulated_flags(flag: bool) -> int:
    return sum(1 << lane for lane, one in enumerate(_simulated_boxes(bool(flag))) if one)


def _simulated_any(flag: bool) -> bool:
    return any(_simulated_boxes(bool(flag)))


def _simulated_wait() -> None:
    _simulated_boxes(None)


class GpuKernel:
    """A function in groups of lanes. Its own code, not what it calls, may be rearranged as if no number were rounded.

    key : stands for all that its code depends on but its source, so that it can be kept; None if there is no such key.
    """

    def __init__(
        self, function: Callable[..., Any], lanes: int, threads: int, registers: int, shared_bytes: int, key: str | None
    ) -> None:
        self._lanes, self._threads, self._shared_bytes = lanes, lanes if SIMULATED else threads, shared_bytes
        self._made = cuda.jit(function) if SIMULATED else cuda.jit(max_registers=registers, fastmath=True)(function)
        self._cache: Any = None
        if key is not None and not SIMULATED:
            self._cache = importlib.import_module("ocucb.compiled.gpu_cache").gpu_cache_of(function, key)
        if self._cache is not None:
            self._made._cache = self._cache

    @property
    def is_keepable(self) -> bool:
        """Whether another process could compile it, and has not yet."""
        return self._cache is not None and not self._made.overloads and not self._cache.is_kept

    def launch(self, groups: int, of_groups: Sequence[npt.NDArray[Any]], *others: Any) -> None:
        """Run the function in so many groups; arrays are read, or else written.

        of_groups : arrays with a row for each group. They are given in parts, so that what one part wrote can be copied
            while others are at work. What is written must be among them.
        """
        written = sum(one.nbytes for one in of_groups if one.flags.writeable)
        parts = 1 if SIMULATED else min(PARTS, 1 + written // PART_BYTES)
        blocks = -(-groups * self._lanes // (self._threads * parts))  # of a part
        rows = blocks * self._threads // self._lanes
        given, rest = [_on_gpu(one) for one in of_groups], [_on_gpu(one) for one in others]
        begun = []
        for first in range(0, groups, rows):
            stream = 0 if SIMULATED else cuda.stream()
            some = [one[first : first + rows] for one in given]
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", ".*Grid size")  # few runs are no fault of whoever asked for them
                self._made[blocks, self._threads, stream, self._shared_bytes](*some, *rest)
            begun.append((stream, first, some))
        for stream, first, some in begun:
            for one, there in zip(of_groups, some, strict=True):
                if one.flags.writeable:
                    there.copy_to_host(one[first : first + rows], stream)
        cuda.synchronize()


def free_bytes() -> int:
    """Return how much memory the GPU has left."""
    return int(cuda.current_context().get_memory_info().free)


def _on_gpu(given: Any) -> Any:
    """Return memory of the GPU with what is to be read, or with nothing if it is to be written; a number as it is."""
    if not isinstance(given, np.ndarray):
        return given
    return cuda.device_array_like(given) if given.flags.writeable else cuda.to_device(given)


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Mark an array that a launch shall not write back."""
    array.flags.writeable = False
    return array
