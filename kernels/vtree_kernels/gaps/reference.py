"""The definition of `gaps`: all splits at once, their values found by halving."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Lines(NamedTuple):
    """The value of each bin, or the edges between bins that hold ranges, of F features.

    Counted from 1, those of feature f are values[begin[f]], …, size[f] of them; one more number
    stands behind all, for what is looked up of an empty line.
    """

    values: Floats
    begin: Integers  # (F,)
    size: Integers  # (F,)
    ranged: NDArray[np.bool_]  # (F,) whether they are edges
    n_bins: Integers  # (F,)
    is_categorical: NDArray[np.bool_]  # (F,)


def midpoints(low: Floats, high: Floats) -> Floats:
    """Return thresholds t with low <= t < high, halfway where floating point allows.

    >>> midpoints(np.array([1.0, 5e-324]), np.array([2.0, 1e-323])).tolist()
    [1.5, 5e-324]
    """
    with np.errstate(invalid="ignore"):
        middle = low / 2.0 + high / 2.0  # halves first: the sum of two large numbers overflows
        # Rounding (neighbouring floats, denormals) or an infinity may leave the interval.
        return np.where((middle >= low) & (middle < high), middle, low) + 0.0


def gaps(
    feature: NDArray[np.int32],
    bin: NDArray[np.int32],
    following: NDArray[np.int32],
    lines: Lines,
    drawn: Floats | None = None,
) -> tuple[NDArray[np.int32], Floats]:
    """Return (bin, threshold); see the package for the contract."""
    bin = np.where(feature >= 0, bin, 0).astype(np.int32)
    threshold = np.zeros(feature.size)
    own = np.flatnonzero((feature >= 0) & (bin > 0) & ~lines.is_categorical[feature])
    its, low, behind = feature[own], bin[own].astype(np.int64), following[own].astype(np.int64)
    last = behind == 0
    behind = np.where(last, low, behind)
    ranged, n_bins = lines.ranged[its], lines.n_bins[its]
    if drawn is not None:
        cut = drawn[own]
        code = _up_to(lines, its, cut, np.zeros_like(low), lines.size[its]) + ranged
    else:
        edge = np.minimum((low + behind - 1) // 2, n_bins - 1)
        middle = midpoints(_value(lines, its, low), _value(lines, its, behind))
        cut = np.where(ranged, _value(lines, its, edge), middle)
        code = np.where(ranged, edge, _up_to(lines, its, middle, low, behind - 1))
    threshold[own] = np.where(last, np.inf, cut)
    bin[own] = np.where(last, n_bins, code)
    return bin, threshold


def _value(lines: Lines, feature: NDArray[Any], number: Integers) -> Floats:
    """Return values number (Q,), of one a split."""
    found: Floats = lines.values[lines.begin[feature] + np.maximum(number, 1) - 1]
    return found


def _up_to(
    lines: Lines, feature: NDArray[Any], cut: Floats, least: Integers, most: Integers
) -> Integers:
    """Return how many values lie up to `cut`, and how many edges below it, `least` … `most`."""
    low, ranged = least.copy(), lines.ranged[feature]
    step = 1 << max(0, int((most - least).max(initial=0)).bit_length() - 1)
    while step:
        number = low + step
        value = _value(lines, feature, np.minimum(number, most))
        below = np.where(ranged, value < cut, value <= cut)
        np.add(low, step, out=low, where=(number <= most) & below)
        step >>= 1
    return low
