"""`bits_of` and `number_of` for compiled code: the 64 bits of a float as an integer, and back.

Taking an exponent off or putting it on is then one integer operation, of which a processor does
several at a time; the library's frexp and ldexp are calls.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _bits_of(typing_context: Any, number: Any) -> Any:
    """Return the bits of a float64 as an int64."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), codegen


def _number_of(typing_context: Any, bits: Any) -> Any:
    """Return the float64 with the bits of an int64."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), codegen


bits_of: Any = intrinsic(_bits_of)
number_of: Any = intrinsic(_number_of)
