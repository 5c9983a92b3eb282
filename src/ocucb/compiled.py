"""The one place for Numba: flags, function types, and calls through addresses.

A policy's level and a noise family's bound reach the compiled loops as plain function *addresses*. The loops are
then compiled once, cached on disk, and serve every policy and family, a user's own included, at about 2 ns per call
more than an inlined formula. Numba's own first-class functions cost the same inside a loop, but 55 µs each time one is
passed from Python, which the online bandit cannot pay (`docs/architecture.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numba
import numba.extending
import numpy as np
import numpy.typing as npt
from numba.core import caching as _caching
from numba.core import cgutils as _cgutils
from numba.np import arrayobj as _arrayobj

from ocucb.sources import PACKAGE, stamp

# Numba is typed in part only; to the type checker its inner parts are Any.
types: Any = numba.types
caching: Any = _caching
cgutils: Any = _cgutils
arrayobj: Any = _arrayobj
ir: Any = cgutils.ir  # llvmlite's
intrinsic: Callable[[Callable[..., Any]], Any] = numba.extending.intrinsic

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Parameters: TypeAlias = Sequence[float] | Floats

Function = TypeVar("Function", bound=Callable[..., Any])

# (t, pulls, effective, arms, parameters): how confident to be about an arm.
LevelFunction: TypeAlias = Callable[[float, float, float, float, Parameters], float]
# (mean, pulls, level, family): the index of an arm, from a noise family.
BoundFunction: TypeAlias = Callable[[float, float, float, Parameters], float]
# (p, q, family): the divergence of a noise family.
DivergenceFunction: TypeAlias = Callable[[float, float, Parameters], float]
# (mean, uniform, family): a reward of a noise family.
QuantileFunction: TypeAlias = Callable[[float, float, Parameters], float]
# (t, pulls, mean, best, coin, uniform, parameters, divergence, posterior, family): any other rule; largest wins.
ScoreFunction: TypeAlias = Callable[[float, float, float, float, float, float, Parameters, int, int, Parameters], float]

_real, _reals, _address = types.float64, types.CPointer(types.float64), types.int64
LEVEL = _real(_real, _real, _real, _real, _reals)
BOUND = _real(_real, _real, _real, _reals)
DIVERGENCE = _real(_real, _real, _reals)
QUANTILE = _real(_real, _real, _reals)
SCORE = _real(_real, _real, _real, _real, _real, _real, _reals, _address, _address, _reals)


def _stamp_by_imports() -> None:
    """Let a cached kernel of the package be stale once its file, or any that it imports, is edited.

    Numba looks only at the file a function stands in. A kernel whose callees or record layouts stand in another file
    would then run on with what that file once said, and read memory by yesterday's layout.
    """

    def stamped(base: Any) -> Any:
        def from_function(cls: Any, python: Any, file: str) -> Any:
            return base.from_function.__func__(cls, python, file) if Path(file).is_relative_to(PACKAGE) else None

        def get_source_stamp(self: Any) -> Any:
            file = Path(self._py_file)
            return stamp(file) if file.is_file() else base.get_source_stamp(self)  # a zip has no files to look at

        members = {"from_function": classmethod(from_function), "get_source_stamp": get_source_stamp}
        return type(f"Ocucb{base.__name__}", (base,), members)

    locators = caching.CacheImpl._locator_classes
    locators[:0] = [stamped(base) for base in locators]


_stamp_by_imports()


def kernel(function: Function) -> Function:
    """Compile `function` at its first call, without the GIL, cached on disk where it has a source file."""
    # _nrt=False: kernels make no arrays, so they need not count references to those they are given.
    compiled: Function = _compile(numba.njit, function, nogil=True, error_model="numpy", _nrt=False)
    return compiled


_callbacks: dict[tuple[object, object], Any] = {}


def address(function: Callable[..., float], signature: object) -> int:
    """Return the machine address of `function` compiled for `signature`, the same one at every call."""
    key = (function, signature)
    if key not in _callbacks:
        python = getattr(function, "py_func", function)
        made = _compile(lambda **flags: numba.cfunc(signature, error_model="numpy", **flags), python)
        _callbacks.setdefault(key, made)  # of two threads that make one, both use the first
    return int(_callbacks[key].address)


def _compile(compiler: Callable[..., Any], function: Any, **flags: Any) -> Any:
    try:
        return compiler(cache=True, **flags)(function)
    except RuntimeError as problem:  # typed at a prompt: no file, so nowhere to keep a cache
        if "cannot cache" not in str(problem):
            raise
        return compiler(**flags)(function)


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
call_score = _caller(SCORE)


def record_at(dtype: np.dtype[Any]) -> Any:
    """Make a compiled `at(address)` that returns the record of this type which stands there."""
    record = numba.from_dtype(dtype)

    @intrinsic
    def at(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return builder.inttoptr(values[0], context.get_value_type(record))

        return record(types.int64), generate

    return at


def array_at(dtype: npt.DTypeLike) -> Any:
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
        return builder.inttoptr(values[0], context.get_value_type(_reals))

    return _reals(types.int64), generate


def _eight_bytes_each(builder: Any, address: Any, count: int) -> Any:
    """Load `count` floats that stand side by side, as one vector."""
    vector = ir.VectorType(ir.DoubleType(), count)
    return builder.load(builder.inttoptr(address, vector.as_pointer()), align=8)


def reaching(count: int) -> Any:
    """Make a compiled `at(address, least)`: which of the `count` floats there are `least` or more, as bits."""

    @intrinsic
    def at(typing_context: Any, address: Any, least: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            floats = _eight_bytes_each(builder, values[0], count)
            spread = ir.Constant(floats.type, ir.Undefined)
            spread = builder.insert_element(spread, values[1], ir.Constant(ir.IntType(32), 0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), count), None)
            spread = builder.shuffle_vector(spread, spread, zeros)
            bits = builder.bitcast(builder.fcmp_ordered(">=", floats, spread), ir.IntType(count))
            return builder.zext(bits, ir.IntType(64))

        return types.int64(types.int64, types.float64), generate

    return at


def largest(count: int) -> Any:
    """Make a compiled `at(address)`: the largest of the 2, 4, 8, ... floats there, none nan."""

    @intrinsic
    def at(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            floats, width = _eight_bytes_each(builder, values[0], count), count
            while width > 1:
                width //= 2
                kind = ir.VectorType(ir.IntType(32), width)
                low = builder.shuffle_vector(floats, floats, ir.Constant(kind, list(range(width))))
                high = builder.shuffle_vector(floats, floats, ir.Constant(kind, list(range(width, 2 * width))))
                floats = builder.select(builder.fcmp_ordered(">", high, low), high, low)
            return builder.extract_element(floats, ir.Constant(ir.IntType(32), 0))

        return types.float64(types.int64), generate

    return at


@intrinsic
def lowest_bit(typing_context: Any, bits: Any) -> Any:
    """Return the place of the lowest bit that is set; 64 if none is."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.cttz(values[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), generate


@intrinsic
def bit_length(typing_context: Any, number: Any) -> Any:
    """Return how many bits a whole number has, 0 or more."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        zeros = builder.ctlz(values[0], ir.Constant(ir.IntType(1), 0))
        return builder.sub(ir.Constant(ir.IntType(64), 64), zeros)

    return types.int64(types.int64), generate
