"""Logarithms and exponentials from + − × ÷ alone, within 4 units in the last place.

x = m · 2^e with m in [√½, √2); with s = (m − 1)/(m + 1), log m = 2 artanh s
  = 2s (1 + z/3 + z²/5 + …), z = s² ≤ 0.0295, so eleven terms reach double precision.
exp x = 2^k · exp r with k = ⌊x log2 e + ½⌋ and |r| ≤ ½ ln 2; exp r = 1 + r + r²/2 + … to r¹³/13!.
"""

from __future__ import annotations

import math
from typing import Any

from array_api_compat import array_namespace

SQRT2 = 1.4142135623730951
LN2_HIGH = 0.6931471803691238  # 32 bits of ln 2, so that e · LN2_HIGH is exact
LN2_LOW = 1.9082149292705877e-10
LOG2_E = 1.4426950408889634

# 1/3, 1/5, … 1/23
_SERIES = tuple(1.0 / (2 * k + 1) for k in range(1, 12))

LEAST_EXP = -708.0  # below, exp answers 0: the true value would soon be denormal
MOST_EXP = 709.782712893384  # above, it answers ∞

# 1/2!, 1/3!, … 1/13!
_EXP_SERIES = tuple(1.0 / math.factorial(k) for k in range(2, 14))


def log_mantissa(m: Any) -> Any:
    """Return log m for m in [√½, √2], by the series above; for arrays and for numbers."""
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = _SERIES[10]
    for k in range(9, -1, -1):
        p = p * z + _SERIES[k]
    twice = 2.0 * s
    return twice + twice * (z * p)


def _decompose(x: Any) -> tuple[Any, Any]:
    """Return (m, e), m in [√½, √2), by exact scalings: the standard has no frexp."""
    xp = array_namespace(x)
    m, e = x, xp.zeros_like(x)
    for power in (512, 256, 128, 64, 32, 16, 8, 4, 2, 1):
        large = m >= 2.0**power
        m = xp.where(large, m * 2.0**-power, m)
        e = xp.where(large, e + float(power), e)
    for power in (512, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1):
        small = m < 2.0 ** (1 - power)
        m = xp.where(small, m * 2.0**power, m)
        e = xp.where(small, e - float(power), e)
    upper = m >= SQRT2
    return xp.where(upper, m * 0.5, m), xp.where(upper, e + 1.0, e)


def log(x: Any) -> Any:
    """Return the natural logarithm of positive finite float64 values, shape kept."""
    m, e = _decompose(x)
    return e * LN2_HIGH + (log_mantissa(m) + e * LN2_LOW)


def log2(x: Any) -> Any:
    """Return the logarithm to base 2 of positive finite float64 values, shape kept."""
    m, e = _decompose(x)
    return e + log_mantissa(m) * LOG2_E


def exp_remainder(r: Any) -> Any:
    """Return exp r for |r| ≤ ½ ln 2, by the series above; for arrays and for numbers."""
    p = _EXP_SERIES[11]
    for k in range(10, -1, -1):
        p = p * r + _EXP_SERIES[k]
    return 1.0 + (r + r * r * p)


def exp(x: Any) -> Any:
    """Return the exponential of float64 values (no NaN), shape kept."""
    xp = array_namespace(x)
    inside = xp.where(x < LEAST_EXP, LEAST_EXP, xp.where(x > MOST_EXP, MOST_EXP, x))
    k = xp.floor(inside * LOG2_E + 0.5)
    value = exp_remainder((inside - k * LN2_HIGH) - k * LN2_LOW)
    one = xp.ones_like(x)
    for power in (512, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1):  # exact scalings
        up, down = k >= power, k <= -power
        value = value * xp.where(up, 2.0**power, xp.where(down, 2.0**-power, one))
        k = xp.where(up, k - float(power), xp.where(down, k + float(power), k))
    return xp.where(x < LEAST_EXP, 0.0, xp.where(x > MOST_EXP, float("inf"), value))


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """Return `yes` where `condition` holds and `no` elsewhere."""
    return array_namespace(condition).where(condition, yes, no)
