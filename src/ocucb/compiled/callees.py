"""A kernel as other kernels call it: linked into them, and nothing more.

Numba optimises every function it compiles, makes machine code of it, wraps it for calls from Python and from C, and
saves all that, together with whatever it calls. Of the fifty kernels behind one choice only three are called from
Python. The others take half the time when they are only typed and turned into LLVM's language, and optimised where they
are used.
"""

from __future__ import annotations

from typing import Any

from numba.core import codegen as _codegen
from numba.core import compiler as _compiler
from numba.core import compiler_machinery as _machinery
from numba.core import sigutils as _sigutils
from numba.core import typed_passes as _typed_passes
from numba.core.compiler_lock import global_compiler_lock as _compiler_lock
from numba.core.registry import CPUDispatcher as _CPUDispatcher

from ocucb.compiled.types import types

codegen: Any = _codegen
compiler: Any = _compiler
machinery: Any = _machinery
sigutils: Any = _sigutils
compiler_lock: Any = _compiler_lock
typed_passes: Any = _typed_passes
Dispatcher: Any = _CPUDispatcher


RARE = "_ocucb_rare"  # marks a Python function that shall not be inlined


class _Linked(codegen.JITCodeLibrary):  # type: ignore[misc]
    """Code that is linked into its callers, and not made into machine code by itself."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalized = True

    def with_callees(self) -> list[Any]:
        """Return this code and all that it needs, each once."""
        return list(dict.fromkeys([self, *self._linking_libraries]))


@machinery.register_pass(mutates_CFG=True, analysis_only=False)
class _CalleeLowering(typed_passes.NativeLowering):  # type: ignore[misc]
    """Turn a typed function into LLVM's language, and make it known to its callers."""

    _name = "ocucb_callee_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _Linked(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        rare = getattr(state.func_id.func, RARE, False)
        if rare:
            state.flags.forceinline = False  # which it has from a caller that is `inlined`
        super().run_pass(state)
        if rare:
            name = state.cr.fndesc.llvm_func_name
            state.library._final_module.get_function(name).add_function_attribute("noinline")
        key = object()  # by which callers find it; for a function that Python can call, that is what Python calls
        state.targetctx.insert_user_function(key, state.cr.fndesc, state.library.with_callees())
        state.cr = state.cr._replace(cfunc=key)
        return True


def compiler_with(lowering: Any) -> Any:
    """Return Numba's compiler with this as its last step, which makes LLVM's language of a typed function."""

    class Compiler(compiler.CompilerBase):  # type: ignore[misc]
        def define_pipelines(self) -> list[Any]:
            manager = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
            manager.add_pass_after(lowering, typed_passes.NativeLowering)
            manager.passes = [one for one in manager.passes if one[0] is not typed_passes.NativeLowering]
            manager.finalize()
            return [manager]

    return Compiler


_COMPILER = compiler_with(_CalleeLowering)


class Callee(Dispatcher):  # type: ignore[misc]
    """A kernel as other kernels call it."""

    def __init__(self, function: Any, types_of_locals: Any, flags: dict[str, Any]) -> None:
        flags = {**flags, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, types_of_locals, flags, pipeline_class=_COMPILER)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile once for whole numbers of any size, known or not: callers convert what they have."""
        return super().get_call_template([_general(kind) for kind in args], kws)

    def compile(self, signature: Any) -> Any:
        """Compile for a signature, once. Numba's own also times it, by listeners that every step of LLVM calls."""
        args, returned = sigutils.normalize_signature(signature)
        with compiler_lock, self._compiling_counter:
            if args not in self.overloads:
                self.add_overload(self._compiler.compile(args, returned))
            return self.overloads[args].entry_point

    def add_overload(self, compiled: Any) -> None:
        self.overloads[tuple(compiled.signature.args)] = compiled  # and not for calls from Python


def _general(kind: Any) -> Any:
    kind = types.unliteral(kind)
    whole = isinstance(kind, types.Integer) and kind.signed and kind.bitwidth < 64
    return types.int64 if whole else kind
