"""The forms of `elementary` for numbers and `Lanes` of them; importing this registers them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba.extending import overload

from vtree_kernels._bits import bits_of, number_of
from vtree_kernels._lanes import LanesType, select
from vtree_kernels._registered import part_options, register_jitable
from vtree_kernels.elementary import reference
from vtree_kernels.elementary.reference import (
    LEAST_EXP,
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    MOST_EXP,
    SQRT2,
    choose,
)

# Only what stands inside a loop can be worked out for several rows at a time.
_INSIDE = part_options(forceinline=True)

log_mantissa = register_jitable(forceinline=True)(reference.log_mantissa)
exp_remainder = register_jitable(forceinline=True)(reference.exp_remainder)


_LEAST_NORMAL = 2.0**-1022
_BIAS = 1023  # of exponents
_FRACTION = (1 << 52) - 1
_ONE = _BIAS << 52  # the bits of 1.0


@overload(reference.choose, jit_options=_INSIDE)
def _choose(condition: Any, yes: Any, no: Any) -> Any:
    def scalar(condition: Any, yes: Any, no: Any) -> Any:
        return yes if condition else no

    def lanes(condition: Any, yes: Any, no: Any) -> Any:
        return select(condition, yes, no)

    several = any(isinstance(kind, LanesType) for kind in (condition, yes, no))
    return lanes if several else scalar


@register_jitable(forceinline=True)
def _decompose(x: float) -> tuple[float, int]:
    denormal = x < _LEAST_NORMAL
    bits = bits_of(choose(denormal, x * 2.0**54, x))
    e = (bits >> 52) - choose(denormal, _BIAS + 54, _BIAS)
    m = number_of((bits & _FRACTION) | _ONE)  # in [1, 2)
    upper = m >= SQRT2
    return choose(upper, 0.5 * m, m), choose(upper, e + 1, e)


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


@register_jitable(forceinline=True)
def _power_of_two(k: int) -> Any:
    return number_of((k + _BIAS) << 52)


@overload(reference.exp, jit_options=_INSIDE)
def _exp(x: Any) -> Any:
    def scalar(x: Any) -> Any:
        # No branch, so that several rows are worked out at a time.
        inside = choose(x < LEAST_EXP, LEAST_EXP, choose(x > MOST_EXP, MOST_EXP, x))
        k = math.floor(inside * LOG2_E + 0.5)
        value = exp_remainder((inside - k * LN2_HIGH) - k * LN2_LOW)
        half = k >> 1
        value = value * _power_of_two(half) * _power_of_two(k - half)
        return choose(x < LEAST_EXP, 0.0, choose(x > MOST_EXP, np.inf, value))

    return scalar
