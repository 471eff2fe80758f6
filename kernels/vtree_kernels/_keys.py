"""Order keys: integers that compare as the floats that they stand for, compiled.

A loop takes the least or greatest of eight or sixteen integers at a time. Floats, among which a NaN
and two zeros must be told apart, it takes one by one.

    float32         −∞   …   −0.0, 0.0   …           ∞          NaN
    int32   −2139095041  …       0       …  2139095040   2147483647
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

BITS = {np.dtype(np.float32): np.int32, np.dtype(np.float64): np.int64}


def no_value(keys: NDArray[Any]) -> Any:
    """Return the key of NaN, which is greater than all others, as a number of their type."""
    return keys.dtype.type((1 << (8 * keys.dtype.itemsize - keys.dtype.kind.count("i"))) - 1)


def _flipped(builder: Any, bits: Any) -> Any:
    """Turn bits into a key, or back: the magnitudes of negative numbers run the other way."""
    width = bits.type.width
    negative = builder.ashr(bits, ir.Constant(bits.type, width - 1))
    return builder.xor(bits, builder.and_(negative, ir.Constant(bits.type, 2 ** (width - 1) - 1)))


def _narrowed(builder: Any, number: Any, width: int) -> Any:
    return number if width == 64 else builder.fptrunc(number, ir.FloatType())


def _widened(builder: Any, number: Any) -> Any:
    wide = ir.DoubleType()
    return number if number.type == wide else builder.fpext(number, wide)


def _key(builder: Any, bits: Any) -> Any:
    """Build the key of a float from its bits."""
    width = bits.type.width
    infinity = {32: 0x7F800000, 64: 0x7FF0000000000000}[width]
    key = _flipped(builder, bits)
    nothing, ends, zero, one = (
        ir.Constant(key.type, value) for value in (2 ** (width - 1) - 1, infinity, 0, 1)
    )
    # What would be below that of zero is that of a negative zero.
    negative_zero = builder.icmp_signed("==", key, builder.sub(zero, one))
    key = builder.select(negative_zero, zero, key)
    known = builder.and_(
        builder.icmp_signed("<=", key, ends),
        builder.icmp_signed(">=", key, builder.sub(builder.sub(zero, ends), one)),
    )
    return builder.select(known, key, nothing)


def _key_of(typing_context: Any, bits: Any) -> Any:
    """Return the key of a float from its bits."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _key(builder, arguments[0])

    return bits(bits), codegen


def _unsigned_key(typing_context: Any, x: Any, example: Any) -> Any:
    """Return the key of a float as an unsigned integer of `example`'s type; x if it is one already.

    Their order is the same, and whether one is greater is a carry, which an addition takes along.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if x == example:
            return arguments[0]
        number = _narrowed(builder, _widened(builder, arguments[0]), example.bitwidth)
        return _unsigned(builder, _key(builder, builder.bitcast(number, arguments[1].type)))

    return example(x, example), codegen


def _unsigned(builder: Any, key: Any) -> Any:
    return builder.xor(key, ir.Constant(key.type, 1 << (key.type.width - 1)))


def _number_of_key(typing_context: Any, key: Any) -> Any:
    """Return the float64 that a key stands for, signed or unsigned."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FloatType() if key.bitwidth == 32 else ir.DoubleType()
        own = arguments[0] if key.signed else _unsigned(builder, arguments[0])
        return _widened(builder, builder.bitcast(_flipped(builder, own), kind))

    return types.float64(key), codegen


def _last_key(typing_context: Any, cut: Any, example: Any) -> Any:
    """Return the greatest key of a number that is at most `cut`, float64; no NaN.

    example: any key, for its type.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        cut = arguments[0]
        near = _narrowed(builder, cut, example.bitwidth)
        near = builder.fadd(near, ir.Constant(near.type, 0.0))
        key = _flipped(builder, builder.bitcast(near, ir.IntType(example.bitwidth)))
        above = builder.fcmp_ordered(">", _widened(builder, near), cut)
        last = builder.sub(key, builder.zext(above, key.type))
        return last if example.signed else _unsigned(builder, last)

    return example(types.float64, example), codegen


key_of: Any = intrinsic(_key_of)
unsigned_key: Any = intrinsic(_unsigned_key)
number_of_key: Any = intrinsic(_number_of_key)
last_key: Any = intrinsic(_last_key)
