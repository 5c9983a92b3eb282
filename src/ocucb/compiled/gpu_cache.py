"""Where code for a GPU is kept: a file of its own for each kernel, so that several processes can compile at once.

numba-cuda knows a kernel by the functions that it closes over, which have another name in every process. Here whoever
makes one gives it a key that stands for all that its code depends on.
"""

from __future__ import annotations

import hashlib
import importlib
from pathlib import Path
from typing import Any

from numba.cuda import dispatcher as _dispatcher

from ocucb.compiled.cache import CACHE_USE, stamped
from ocucb.compiled.cuda import cuda

dispatcher: Any = _dispatcher


class _GpuFiles(dispatcher.CUDACacheImpl):  # type: ignore[misc]
    _locator_classes = tuple(stamped(locator) for locator in dispatcher.CacheImpl._locator_classes)


class _GpuCache(dispatcher.CUDACache):  # type: ignore[misc]
    _impl_class = _GpuFiles

    def __init__(self, function: Any, key: str) -> None:
        self._key = key
        super().__init__(function)

    @property
    def is_kept(self) -> bool:
        """Whether the kernel was compiled before, by this process or another."""
        return Path(self.cache_path, f"{self._impl.filename_base}.nbi").exists()

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        return signature, codegen.magic_tuple(), self._key, self._launch_config_key

    def save_overload(self, signature: Any, compiled: Any) -> None:
        try:
            super().save_overload(signature, compiled)
            CACHE_USE.saved[Path(self.cache_path)] += 1
        except OSError:  # read-only, or full: it is compiled again in the next process
            CACHE_USE.unsaved[Path(self.cache_path)] += 1


def gpu_cache_of(function: Any, key: str) -> _GpuCache | None:
    """Return the cache of a function that is to be compiled; None, if there is no folder for one."""
    compiler = importlib.import_module("numba_cuda").__version__
    hardware = cuda.get_current_device().compute_capability
    key = hashlib.sha256(repr([key, compiler, hardware]).encode()).hexdigest()[:32]
    function.__qualname__ = f"{function.__name__}-{key}"  # of which the name of its file is made
    try:
        return _GpuCache(function, key)
    except RuntimeError as problem:
        if "cannot cache" not in str(problem):
            raise
        return None
