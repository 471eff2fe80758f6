"""The scalar forms of `elementary` for compiled code; importing this module registers them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba.extending import overload, register_jitable

from vtree_kernels._bits import bits_of, number_of
from vtree_kernels.elementary import reference
from vtree_kernels.elementary.reference import (
    LEAST_EXP,
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    MOST_EXP,
    SQRT2,
)

# Only what stands inside a loop can be worked out for several rows at a time.
_INSIDE: Any = {"forceinline": True}

log_mantissa = register_jitable(**_INSIDE)(reference.log_mantissa)
exp_remainder = register_jitable(**_INSIDE)(reference.exp_remainder)


_LEAST_NORMAL = 2.0**-1022
_BIAS = 1023  # of exponents
_FRACTION = (1 << 52) - 1
_ONE = _BIAS << 52  # the bits of 1.0


@register_jitable(**_INSIDE)
def _decompose(x: float) -> tuple[float, int]:
    denormal = x < _LEAST_NORMAL
    bits = bits_of(x * 2.0**54 if denormal else x)
    e = (bits >> 52) - (_BIAS + 54 if denormal else _BIAS)
    m = number_of((bits & _FRACTION) | _ONE)  # in [1, 2)
    upper = m >= SQRT2
    return 0.5 * m if upper else m, e + 1 if upper else e


@overload(reference.log, jit_options=_INSIDE)
def _log(x: Any) -> Any:
    def scalar(x: Any) -> Any:
        m, e = _decompose(x)
        return e * LN2_HIGH + (log_mantissa(m) + e * LN2_LOW)

    return scalar


@overload(reference.log2, jit_options=_INSIDE)
def _log2(x: Any) -> Any:
    def scalar(x: Any) -> Any:
        m, e = _decompose(x)
        return e + log_mantissa(m) * LOG2_E

    return scalar


@register_jitable(**_INSIDE)
def _power_of_two(k: int) -> Any:
    return number_of((k + _BIAS) << 52)


@overload(reference.exp, jit_options=_INSIDE)
def _exp(x: Any) -> Any:
    def scalar(x: Any) -> Any:
        # No branch, so that several rows are worked out at a time.
        inside = LEAST_EXP if x < LEAST_EXP else (MOST_EXP if x > MOST_EXP else x)
        k = math.floor(inside * LOG2_E + 0.5)
        value = exp_remainder((inside - k * LN2_HIGH) - k * LN2_LOW)
        half = k >> 1
        value = value * _power_of_two(half) * _power_of_two(k - half)
        return 0.0 if x < LEAST_EXP else (np.inf if x > MOST_EXP else value)

    return scalar


@overload(reference.choose, jit_options=_INSIDE)
def _choose(condition: Any, yes: Any, no: Any) -> Any:
    def scalar(condition: Any, yes: Any, no: Any) -> Any:
        return yes if condition else no

    return scalar
