"""The scalar forms of `elementary` for compiled code; importing this module registers them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba.extending import overload, register_jitable

from vtree_kernels.elementary import reference
from vtree_kernels.elementary.reference import (
    LEAST_EXP,
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    MOST_EXP,
    SQRT2,
)

log_mantissa = register_jitable(reference.log_mantissa)
exp_remainder = register_jitable(reference.exp_remainder)


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


@register_jitable
def _power_of_two(k: int) -> float:
    return math.ldexp(1.0, k)


@overload(reference.exp)
def _exp(x: Any) -> Any:
    def scalar(x: Any) -> Any:
        if x < LEAST_EXP:
            return 0.0
        if x > MOST_EXP:
            return np.inf
        k = math.floor(x * LOG2_E + 0.5)
        value = exp_remainder((x - k * LN2_HIGH) - k * LN2_LOW)
        half = int(k) // 2
        return value * _power_of_two(half) * _power_of_two(int(k) - half)

    return scalar


@overload(reference.choose)
def _choose(condition: Any, yes: Any, no: Any) -> Any:
    def scalar(condition: Any, yes: Any, no: Any) -> Any:
        return yes if condition else no

    return scalar
