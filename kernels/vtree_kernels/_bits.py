"""`bits_of` and `number_of` for compiled code: the 64 bits of a float as an integer, and back.

Taking an exponent off or putting it on is then one integer operation, of which a processor does
several at a time; the library's frexp and ldexp are calls. Lanes are taken as numbers are.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

from vtree_kernels._lanes import FLOATS, INTEGERS
from vtree_kernels._registered import register_jitable


def _same_bits(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))


def _bits_of(typing_context: Any, number: Any) -> Any:
    """Return the bits of a float64 as an int64."""
    if number == FLOATS:
        return INTEGERS(FLOATS), _same_bits
    return types.int64(types.float64), _same_bits


def _number_of(typing_context: Any, bits: Any) -> Any:
    """Return the float64 with the bits of an int64."""
    if bits == INTEGERS:
        return FLOATS(INTEGERS), _same_bits
    return types.float64(types.int64), _same_bits


bits_of: Any = intrinsic(_bits_of)
number_of: Any = intrinsic(_number_of)


@register_jitable(forceinline=True)
def reach_of(values: Any, before: Any) -> Any:
    """Return the bits of the largest |value|, or `before`. Those of NaN are above all others'."""
    most = before
    for i in range(values.size):
        most = max(most, bits_of(abs(values[i])))
    return most
