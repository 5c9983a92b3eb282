"""Many floats compared at once, and the bits that say how it came out.

A loop over the children of a tree node ends at a place no processor can foresee; a vector of them does not.
"""

from __future__ import annotations

from typing import Any

from ocucb.compiled.pointers import intrinsic, ir
from ocucb.compiled.types import types


def _floats_at(builder: Any, address: Any, count: int) -> Any:
    """Load `count` floats that stand side by side, as one vector."""
    vector = ir.VectorType(ir.DoubleType(), count)
    return builder.load(builder.inttoptr(address, vector.as_pointer()), align=8)


def reaching(count: int) -> Any:
    """Make a compiled `at(address, least)`: which of the `count` floats there are `least` or more, as bits."""

    @intrinsic
    def at(typing_context: Any, address: Any, least: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            floats = _floats_at(builder, values[0], count)
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
            floats, width = _floats_at(builder, values[0], count), count
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
