"""Functions of scipy.special in compiled code, by the addresses that SciPy offers for this purpose.

They are the very functions behind those for arrays, so both give the same bits. An address holds
for one process only: compiled code, which outlives it on disk, takes it as an argument.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.extending import get_cython_function_address, intrinsic

_HOME = "scipy.special.cython_special"


class Addresses(NamedTuple):
    """Where this process has the functions."""

    erfc: int
    chdtrc: int
    gammaln: int


_NAMES = ("__pyx_fuse_1erfc", "chdtrc", "gammaln")  # the first for float64


def addresses() -> Addresses | None:
    """Look the functions up, which loads a part of SciPy; None where SciPy names them otherwise.

    Only the last two names are promised by SciPy; that of `erfc` for float64 is Cython's.
    """
    try:
        return Addresses(*(get_cython_function_address(_HOME, name) for name in _NAMES))
    except (ImportError, ValueError):
        return None


def _call(builder: Any, address: Any, arguments: list[Any]) -> Any:
    double, flag = ir.DoubleType(), ir.IntType(32)
    # The last argument of such functions asks whether to look for an override in Python.
    shape = ir.FunctionType(double, [double] * len(arguments) + [flag])
    function = builder.inttoptr(address, shape.as_pointer())
    return builder.call(function, [*arguments, ir.Constant(flag, 0)])


def _value_of(typing_context: Any, address: Any, x: Any) -> Any:
    """Return f(x) of the function at an address."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _call(builder, arguments[0], list(arguments[1:]))

    return types.float64(types.int64, types.float64), codegen


def _value_of_two(typing_context: Any, address: Any, x: Any, y: Any) -> Any:
    """Return f(x, y) of the function at an address."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _call(builder, arguments[0], list(arguments[1:]))

    return types.float64(types.int64, types.float64, types.float64), codegen


value_of: Any = intrinsic(_value_of)
value_of_two: Any = intrinsic(_value_of_two)
