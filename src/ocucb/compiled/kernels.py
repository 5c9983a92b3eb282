"""How a function is compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar, cast

from numba.core.registry import CPUDispatcher as _CPUDispatcher

from ocucb.compiled.cache import cache_of
from ocucb.compiled.callees import RARE, Callee
from ocucb.compiled.types import types

Dispatcher: Any = _CPUDispatcher

Function = TypeVar("Function", bound=Callable[..., Any])

# nogil: kernels touch no Python objects. error_model: x/0 is infinite, without a check before each division.
# _nrt=False: kernels make no arrays, so they need not count references to those they are given.
FLAGS = {"nopython": True, "nogil": True, "error_model": "numpy", "_nrt": False}


class Kernel(Dispatcher):  # type: ignore[misc]
    """A function that is compiled at its first call from Python, or from another kernel (then as a `Callee`)."""

    def enable_caching(self) -> None:
        self._cache = cache_of(self.py_func)

    def add_overload(self, compiled: Any) -> None:
        # Python objects that its callees need, to print or to raise: they were not there to be told of any.
        for environment in compiled._find_referenced_environments():
            compiled.library.codegen.set_env(environment.env_name, environment)
        super().add_overload(compiled)

    @cached_property
    def _callee(self) -> Callee:
        return Callee(self.py_func, self.locals, self.targetoptions)

    @property
    def _numba_type_(self) -> Any:
        return types.Dispatcher(self._callee)


def kernel(function: Function) -> Function:
    """Compile `function` at its first call, without the GIL, cached on disk where it has a source file."""
    if isinstance(function, Dispatcher):
        raise TypeError(f"a kernel must be made of a plain function, got {function!r}, which is compiled already")
    made = Kernel(function, targetoptions=dict(FLAGS))
    made.enable_caching()
    return cast("Function", made)


def rare_kernel(function: Function) -> Function:
    """Compile as `kernel` does; kernels that call it do so, and stay small enough to be inlined themselves."""
    setattr(function, RARE, True)
    return kernel(function)


def inlined(function: Function) -> Function:
    """Return a kernel, or a plain function, as a kernel that is inlined wherever it is called, whatever its size.

    Otherwise what it returns goes through memory, which the caller waits for.
    """
    python = getattr(function, "py_func", function)
    return cast("Function", Kernel(python, targetoptions={**FLAGS, "forceinline": True}))
