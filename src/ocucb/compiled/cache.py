"""Where compiled code is kept, and when it is stale.

Numba looks only at the file a function stands in. A kernel whose callees or record layouts stand in another file would
then run on with what that file once said, and read memory by yesterday's layout. So a kernel, of the package or of a
file of one's own, is stale once its file, or any of the package that it imports, is edited.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

from numba.core import caching as _caching

from ocucb.sources import digest_of_sources

caching: Any = _caching


class _UnwritableFolders:
    """What is kept in a folder that may be read and not written is used: a cache that was filled for an image."""

    def ensure_cache_path(self: Any) -> None:
        try:
            super().ensure_cache_path()  # type: ignore[misc]
        except OSError:
            if not Path(self.get_cache_path()).is_dir():
                raise


def stamped(locator: Any) -> Any:
    """Return a locator that stamps functions by their file and all of the package that it imports."""

    def get_source_stamp(self: Any) -> Any:
        file = Path(self._py_file)
        return digest_of_sources(file) if file.is_file() else locator.get_source_stamp(self)  # a zip has no files

    members = {"get_source_stamp": get_source_stamp}
    return type(f"Ocucb{locator.__name__}", (_UnwritableFolders, locator), members)


class _KernelFiles(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = tuple(stamped(locator) for locator in caching.CacheImpl._locator_classes)


class CacheUse:
    """What this process has taken from disk, kept there, and could not keep: how often in each folder."""

    def __init__(self) -> None:
        self.loaded: Counter[Path] = Counter()
        self.saved: Counter[Path] = Counter()
        self.unsaved: Counter[Path] = Counter()


CACHE_USE = CacheUse()


def _kernels_within(function: Any) -> list[Any]:
    """Return the Python functions of the kernels that a function closes over."""
    values = [cell.cell_contents for cell in function.__closure__ or ()]
    return [getattr(value, "py_func", function) for value in values]  # of another value, itself: its name is local


def stamp_of(function: Any) -> str | None:
    """Return a digest of the sources of a Python function; None, if it was typed at a prompt and has none."""
    file = Path(function.__code__.co_filename)
    return digest_of_sources(file) if file.is_file() else None


class KernelCache(caching.Cache):  # type: ignore[misc]
    """The compiled forms of one function on disk."""

    _impl_class = _KernelFiles

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        """Tell functions made by one function apart by the kernels they close over; Numba's own key has process ids."""
        facts = repr([(one.__module__, one.__qualname__, stamp_of(one)) for one in _kernels_within(self._py_func)])
        code = hashlib.sha256(self._py_func.__code__.co_code + facts.encode()).hexdigest()
        return signature, codegen.magic_tuple(), code

    def load_overload(self, signature: Any, context: Any) -> Any:
        found = super().load_overload(signature, context)
        CACHE_USE.loaded[Path(self.cache_path)] += found is not None
        return found

    def save_overload(self, signature: Any, compiled: Any) -> None:
        try:
            super().save_overload(signature, compiled)
            CACHE_USE.saved[Path(self.cache_path)] += 1
        except OSError:  # read-only, or full: it is compiled again in the next process
            CACHE_USE.unsaved[Path(self.cache_path)] += 1


def cache_of(function: Any) -> Any:
    """Return the cache of a Python function; one that holds nothing, if it was typed at a prompt and has no file.

    It may close over kernels that stand in files, too, by names of their own, and over nothing else.
    """
    try:
        if any(stamp_of(one) is None or "<locals>" in one.__qualname__ for one in _kernels_within(function)):
            return caching.NullCache()
        return KernelCache(function)
    except RuntimeError as problem:
        if "cannot cache" not in str(problem):
            raise
        return caching.NullCache()
