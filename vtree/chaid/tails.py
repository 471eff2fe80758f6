"""Upper tails of the chi-square and F distributions as logarithms, however small they are.

scipy.special gives the tails themselves, which end at 1e-308; below 1e-290 continued fractions take
over: Lentz's for the incomplete gamma (Abramowitz & Stegun 6.5.31) and beta functions (26.5.8).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special

from vtree_kernels.elementary.reference import LN2_HIGH, LN2_LOW, SQRT2, log_mantissa
from vtree_kernels.merging.reference import ENOUGH, SMALL, STEPS, TINY

Floats = NDArray[np.float64]

# terms(step) → (numerator, denominator) of a continued fraction, step = 1, 2, …
_Terms = Callable[[int], tuple[Floats, Floats]]


def log_chi_square_tail(x: Floats, df: Floats) -> Floats:
    """Return log P(X ≥ x) of a chi-square variable with df >= 1 degrees of freedom, elementwise.

    >>> log_chi_square_tail(np.array([3.841458820694124, 4000.0]), np.array([1.0, 1.0])).round(6)
    array([   -2.995732, -2004.373066])
    """
    # With one or two degrees, those of pairs of levels and up to three classes, there are formulas
    # that take a tenth of the time.
    tail = np.empty(x.shape)
    one, two = df == 1.0, df == 2.0
    tail[one] = special.erfc(np.sqrt(x[one] / 2.0))
    tail[two] = 1.0
    other = ~(one | two)
    tail[other] = special.chdtrc(df[other], x[other])
    result = _log_of(tail)
    result[two] = -x[two] / 2.0
    tiny = np.flatnonzero((tail < TINY) & np.isfinite(x))
    if not tiny.size:
        return result
    a, half = df[tiny] / 2.0, x[tiny] / 2.0
    # Q(a, x) = e^−x x^a / Γ(a) · 1/(x + 1 − a − 1(1 − a)/(x + 3 − a − …))
    fraction = _fraction(half + 1.0 - a, lambda k: (k * (a - k), half + (2.0 * k + 1.0) - a))
    result[tiny] = -half + a * log(half) - special.gammaln(a) - log(fraction)
    return result


def log_f_tail(x: Floats, df_between: Floats, df_within: Floats) -> Floats:
    """Return log P(X ≥ x) of an F variable, elementwise; both degrees of freedom positive.

    >>> log_f_tail(np.array([4.0, 1e6]), np.array([1.0, 3.0]), np.array([60.0, 200.0])).round(6)
    array([  -2.995072, -959.160143])
    """
    tail = special.fdtrc(df_between, df_within, x)
    result = _log_of(tail)
    tiny = np.flatnonzero((tail < TINY) & np.isfinite(x))
    if not tiny.size:
        return result
    a, b = df_within[tiny] / 2.0, df_between[tiny] / 2.0
    # I_z(a, b) with z = df_within / (df_within + df_between x), and 1 − z without a subtraction
    ratio = df_between[tiny] * x[tiny] / df_within[tiny]
    z = 1.0 / (1.0 + ratio)
    fraction = _fraction(np.ones(tiny.size), lambda k: (_beta_term(k, a, b, z), np.ones(tiny.size)))
    log_front = b * log(ratio) - (a + b) * special.log1p(ratio)
    result[tiny] = log_front - log(a) - special.betaln(a, b) - log(fraction)
    return result


def log(x: Floats) -> Floats:
    """Return the bits of `vtree.elementary.log`, faster, for here all arrays are NumPy's."""
    half, exponent = np.frexp(x)
    upper = 2.0 * half >= SQRT2
    mantissa = np.where(upper, half, 2.0 * half)
    power = exponent - np.where(upper, 0.0, 1.0)
    value: Floats = power * LN2_HIGH + (log_mantissa(mantissa) + power * LN2_LOW)
    return value


def _log_of(tail: Floats) -> Floats:
    return np.where(tail > 0.0, log(np.where(tail > 0.0, tail, 1.0)), -np.inf)


def _beta_term(step: int, a: Floats, b: Floats, z: Floats) -> Floats:
    """Return d of 1 + d_1/(1 + d_2/(1 + …)), the fraction of the incomplete beta function."""
    m = step // 2
    if step % 2:
        return -(a + m) * (a + b + m) * z / ((a + 2 * m) * (a + 2 * m + 1))
    return m * (b - m) * z / ((a + 2 * m - 1) * (a + 2 * m))


def _fraction(first: Floats, terms: _Terms) -> Floats:
    """Return first + n_1/(d_1 + n_2/(d_2 + …)) by the modified method of Lentz.

    Each fraction ends where it has converged, so that its bits do not depend on the others.
    """
    value, above, below = first.copy(), first.copy(), np.zeros(first.size)
    ended = np.zeros(first.size, dtype=np.bool_)
    for step in range(1, STEPS):
        numerator, denominator = terms(step)
        below = denominator + numerator * below
        above = denominator + numerator / above
        below = 1.0 / np.where(below == 0.0, SMALL, below)
        above = np.where(above == 0.0, SMALL, above)
        change = above * below
        value = np.where(ended, value, value * change)
        ended |= np.abs(change - 1.0) < ENOUGH
        if ended.all():
            break
    return value
