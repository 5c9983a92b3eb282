"""Records, arrays and functions by their addresses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numba.extending
import numpy as np
from numba.core import cgutils as _cgutils
from numba.np import arrayobj as _arrayobj

from ocucb.compiled.types import (
    BOUND,
    DIVERGENCE,
    DRAWS,
    FIND,
    LEVEL,
    QUANTILE,
    REALS,
    REMEMBER_PULL,
    REMEMBER_REWARD,
    SCORE,
    types,
)

cgutils: Any = _cgutils
arrayobj: Any = _arrayobj
ir: Any = cgutils.ir  # llvmlite's
intrinsic: Callable[[Callable[..., Any]], Any] = numba.extending.intrinsic


def _caller(signature: Any) -> Any:
    """Make a compiled `call(address, (arguments...))` for functions of one signature."""

    @intrinsic
    def call(typing_context: Any, address: Any, arguments: Any) -> Any:
        def generate(context: Any, builder: Any, outer: Any, values: Any) -> Any:
            given = cgutils.unpack_tuple(builder, values[1])
            cast = [
                context.cast(builder, value, have, want)
                for value, have, want in zip(given, outer.args[1].types, signature.args, strict=True)
            ]
            kinds = [context.get_value_type(kind) for kind in signature.args]
            kind = ir.FunctionType(context.get_value_type(signature.return_type), kinds)
            return builder.call(builder.inttoptr(values[0], kind.as_pointer()), cast)

        return signature.return_type(types.int64, arguments), generate

    return call


call_level = _caller(LEVEL)
call_bound = _caller(BOUND)
call_divergence = _caller(DIVERGENCE)
call_quantile = _caller(QUANTILE)
call_draws = _caller(DRAWS)
call_score = _caller(SCORE)
call_find = _caller(FIND)
call_remember_pull = _caller(REMEMBER_PULL)
call_remember_reward = _caller(REMEMBER_REWARD)


def record_at(dtype: np.dtype[Any]) -> Any:
    """Make a compiled `at(address)` that returns the record of this type which stands there."""
    record = numba.from_dtype(dtype)

    @intrinsic
    def at(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return builder.inttoptr(values[0], context.get_value_type(record))

        return record(types.int64), generate

    return at


def array_at(dtype: np.dtype[Any] | type[np.number[Any]]) -> Any:
    """Make a compiled `at(address)` that returns the array which stands there. It does not know its length."""
    array = types.Array(numba.from_dtype(np.dtype(dtype)), 1, "C")

    @intrinsic
    def at(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            made = arrayobj.make_array(array)(context, builder)
            size = context.get_constant(types.intp, np.dtype(dtype).itemsize)
            length = context.get_constant(types.intp, 2**62)
            data = builder.inttoptr(values[0], context.get_data_type(array.dtype).as_pointer())
            arrayobj.populate_array(made, data=data, shape=[length], strides=[size], itemsize=size, meminfo=None)
            return made._getvalue()

        return array(types.int64), generate

    return at


@intrinsic
def reals(typing_context: Any, address: Any) -> Any:
    """Turn an address into a pointer to floats, as formulas take their parameters."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.inttoptr(values[0], context.get_value_type(REALS))

    return REALS(types.int64), generate


@intrinsic
def prefetch(typing_context: Any, address: Any) -> Any:
    """Ask for the cache line at an address, which is read soon. Nothing waits for it, and any address will do."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        reads, keeps, data = ir.Constant(word, 0), ir.Constant(word, 3), ir.Constant(word, 1)
        builder.call(function, [builder.inttoptr(values[0], byte), reads, keeps, data])
        return context.get_dummy_value()

    return types.void(types.int64), generate
