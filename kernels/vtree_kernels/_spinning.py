"""Waiting by looking again and again, for what is over before the system could wake anybody."""

from __future__ import annotations

from typing import Any

import numba
from numba import types
from numba.extending import intrinsic


def _loaded(typing_context: Any, numbers: Any) -> Any:
    """Return the first of some numbers (n,) int64 as it is now, whoever writes it."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.load_atomic(view.data, "acquire", 8)

    return types.int64(numbers), codegen


_now: Any = intrinsic(_loaded)


@numba.njit(cache=True, nogil=True)
def spin(number, least, times):  # type: ignore[no-untyped-def]
    """Look until number (1,) int64 is at least so much, `times` at most; return how often not."""
    for look in range(times):
        if _now(number) >= least:
            return look
    return times
