"""One float: its bits, and tables of constants and of polynomials that code carries with it."""

from __future__ import annotations

import hashlib
from typing import Any

from ocucb.compiled.pointers import intrinsic, ir
from ocucb.compiled.types import Floats, types


@intrinsic
def bits_of(typing_context: Any, value: Any) -> Any:
    """Return the bits of a float as a whole number; of two positive floats the larger has the larger one."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.bitcast(values[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def float_of(typing_context: Any, bits: Any) -> Any:
    """Return the float that has these bits."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.bitcast(values[0], ir.DoubleType())

    return types.float64(types.int64), generate


@intrinsic
def bits_of_single(typing_context: Any, value: Any) -> Any:
    """Return the bits of a float of single precision."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.bitcast(values[0], ir.IntType(32))

    return types.int32(types.float32), generate


@intrinsic
def single_of(typing_context: Any, bits: Any) -> Any:
    """Return the float of single precision that has these bits."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.bitcast(values[0], ir.FloatType())

    return types.float32(types.int32), generate


@intrinsic
def fused(typing_context: Any, x: Any, y: Any, z: Any) -> Any:
    """Return x y + z, rounded once."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.fma(*values)

    return types.float64(types.float64, types.float64, types.float64), generate


def constants(table: Floats) -> Any:
    """Make a compiled `at(i)`: the i-th of these floats."""

    @intrinsic
    def at(typing_context: Any, place: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return _load(builder, _carried(builder, table), values[0])

        return types.float64(types.int64), generate

    return at


def polynomials(table: Floats) -> Any:
    """Make a compiled `at(row, x)`: the polynomial with the coefficients of a row, lowest first, at x.

    By Horner's rule, each product and sum rounded once, so that all machines agree to the last bit.
    """
    count = table.shape[1]

    @intrinsic
    def at(typing_context: Any, row: Any, x: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            floats, first = _carried(builder, table), builder.mul(values[0], ir.Constant(ir.IntType(64), count))
            places = [builder.add(first, ir.Constant(ir.IntType(64), power)) for power in range(count)]
            value = _load(builder, floats, places.pop())
            while places:
                value = builder.fma(value, values[1], _load(builder, floats, places.pop()))
            return value

        return types.float64(types.int64, types.float64), generate

    return at


def _carried(builder: Any, table: Floats) -> Any:
    """Return a pointer to floats that stand in the code itself, from the start of a cache line on."""
    name = "ocucb_" + hashlib.sha256(table.tobytes()).hexdigest()[:16]
    found = builder.module.globals.get(name)
    if found is None:
        kind = ir.ArrayType(ir.IntType(8), table.nbytes)
        found = ir.GlobalVariable(builder.module, kind, name)
        found.linkage, found.global_constant, found.align = "linkonce_odr", True, 64
        found.initializer = ir.Constant(kind, bytearray(table.tobytes()))
    return builder.bitcast(found, ir.DoubleType().as_pointer())


def _load(builder: Any, floats: Any, place: Any) -> Any:
    return builder.load(builder.gep(floats, [place]))
