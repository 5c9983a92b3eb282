"""The one place for Numba's CUDA: kernels that call the package's kernels as they are, on an NVIDIA GPU.

With NUMBA_ENABLE_CUDASIM=1 everything runs in Python on the CPU, one thread after another: that is how it is tested
where there is no GPU.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import cuda as _cuda

from ocucb.errors import ParameterError

cuda: Any = _cuda  # code on the GPU names it, and the simulator puts its own in that place

THREADS = 128  # of a block
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
        reason = " ".join(str(problem).split()) or type(problem).__name__
        raise ParameterError(f"cuda needs an NVIDIA GPU and its driver, got: {reason}; use threads") from None
    if found == 0:
        raise ParameterError("cuda needs an NVIDIA GPU, got none; use threads")


def device(function: Callable[..., Any]) -> Any:
    """Return a function that code on the GPU can call."""
    return cuda.jit(device=True)(function)


def _plain(array: Any) -> Any:
    return array._item._ary if SIMULATED else array


# An array as the package's kernels take it: the simulator hands out something else.
plain = _plain if SIMULATED else device(lambda array: array)


def gpu_kernel(function: Callable[..., Any]) -> Callable[..., None]:
    """Return `launch(threads, *arguments)`, which runs a function in so many threads; arrays are written back."""
    made = cuda.jit(function)

    def launch(threads: int, *arguments: Any) -> None:
        given = [cuda.to_device(one) if isinstance(one, np.ndarray) else one for one in arguments]
        blocks = -(-threads // THREADS)
        size = min(THREADS, threads)
        made[blocks, size](*given)
        cuda.synchronize()
        for one, there in zip(arguments, given, strict=True):
            if isinstance(one, np.ndarray) and one.flags.writeable:
                there.copy_to_host(one)

    return launch


def scratch(count: int) -> Any:
    """Return memory of the GPU for floats, with nothing in it."""
    return cuda.device_array(count, np.float64)


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Mark an array that a launch shall not write back."""
    array.flags.writeable = False
    return array
