"""Waiting by looking again and again, for what is over before the system could wake anybody."""

from __future__ import annotations

from typing import Any

import numba
from numba import types
from numba.extending import intrinsic


def place_of(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return where numbers[place] lies, these being the first two arguments of an intrinsic."""
    view = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(view.data, [arguments[1]])


def _load(typing_context: Any, numbers: Any, place: Any) -> Any:
    """Return numbers[place], (n,) int64, and see what was written before it was."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(place_of(context, builder, signature, arguments), "acquire", 8)

    return types.int64(numbers, types.int64), codegen


now: Any = intrinsic(_load)


@numba.njit(cache=True, nogil=True)
def spin(number, least, times):  # type: ignore[no-untyped-def]
    """Look until number (1,) int64 is at least so much, `times` at most; return how often not."""
    for look in range(times):
        if now(number, 0) >= least:
            return look
    return times
