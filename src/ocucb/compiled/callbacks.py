"""The address of a function, as C calls it.

A policy's level and a noise family's bound reach the compiled loops as plain function *addresses*. The loops are
then compiled once, cached on disk, and serve every policy and family, a user's own included, at about 2 ns per call
more than an inlined formula. Numba's own first-class functions cost the same inside a loop, but 55 µs each time one is
passed from Python, which the online bandit cannot pay (`docs/decisions.md`).

Numba puts a function for callers in C in front of the one it compiles, and forbids that this be inlined into it. For a
formula of a few lines the second call, and the way of its result through memory, are worth saving; and a longer one,
which LLVM would not inline by itself, is used nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import codegen as _codegen
from numba.core import compiler_machinery as _machinery
from numba.core import sigutils as _sigutils
from numba.core import typed_passes as _typed_passes
from numba.core.ccallback import CFunc as _CFunc

from ocucb.compiled.cache import cache_of
from ocucb.compiled.callees import compiler_with

codegen: Any = _codegen
machinery: Any = _machinery
sigutils: Any = _sigutils
typed_passes: Any = _typed_passes
CFunc: Any = _CFunc


class _Inlining(codegen.JITCodeLibrary):  # type: ignore[misc]
    """Code in which every call may be inlined, and the function itself is, into the one for callers in C."""

    def add_ir_module(self, module: Any) -> None:
        for function in module.functions:
            for block in function.blocks:
                for instruction in block.instructions:
                    if instruction.opname == "call":
                        instruction.attributes.discard("noinline")
                        if function.name.startswith("cfunc."):  # for callers in C
                            instruction.attributes.add("alwaysinline")
        super().add_ir_module(module)


@machinery.register_pass(mutates_CFG=True, analysis_only=False)
class _CallbackLowering(typed_passes.NativeLowering):  # type: ignore[misc]
    _name = "ocucb_callback_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _Inlining(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


_COMPILER = compiler_with(_CallbackLowering)


class _Callback(CFunc):  # type: ignore[misc]
    def enable_caching(self) -> None:
        self._cache = cache_of(self._pyfunc)


_callbacks: dict[tuple[object, object], _Callback] = {}


def address(function: Callable[..., float | None], signature: object) -> int:
    """Return the machine address of `function` compiled for `signature`, the same one at every call."""
    key = (function, signature)
    if key not in _callbacks:
        python = getattr(function, "py_func", function)
        given = sigutils.normalize_signature(signature)
        made = _Callback(python, given, {}, {"error_model": "numpy"}, pipeline_class=_COMPILER)
        made.enable_caching()
        made.compile()
        _callbacks.setdefault(key, made)  # of two threads that make one, both use the first
    return int(_callbacks[key].address)
