"""The scalar forms of `elementary` for compiled code; importing this module registers them."""

from __future__ import annotations

import math
from typing import Any

from numba.extending import overload, register_jitable

from vtree_kernels.elementary import reference
from vtree_kernels.elementary.reference import LN2_HIGH, LN2_LOW, LOG2_E, SQRT2

log_mantissa = register_jitable(reference.log_mantissa)


@register_jitable
def _decompose(x: float) -> tuple[float, int]:
    half, exponent = math.frexp(x)  # half in [½, 1)
    m, e = 2.0 * half, exponent - 1
    if m >= SQRT2:
        m, e = 0.5 * m, e + 1
    return m, e


@overload(reference.log)
def _log(x: Any) -> Any:
    def scalar(x: Any) -> Any:
        m, e = _decompose(x)
        return e * LN2_HIGH + (log_mantissa(m) + e * LN2_LOW)

    return scalar


@overload(reference.log2)
def _log2(x: Any) -> Any:
    def scalar(x: Any) -> Any:
        m, e = _decompose(x)
        return e + log_mantissa(m) * LOG2_E

    return scalar


@overload(reference.choose)
def _choose(condition: Any, yes: Any, no: Any) -> Any:
    def scalar(condition: Any, yes: Any, no: Any) -> Any:
        return yes if condition else no

    return scalar
