"""`gaps` in Numba: one split after another."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels._registered import register_jitable
from vtree_kernels.gaps.reference import Floats, Lines


@register_jitable(forceinline=True)
def _midpoint(low: Any, high: Any) -> Any:
    middle = low / 2.0 + high / 2.0
    if not (middle >= low and middle < high):
        middle = low
    return middle + 0.0


@register_jitable(forceinline=True)
def _up_to(values: Any, base: Any, cut: Any, least: Any, most: Any, ranged: Any) -> Any:
    """Return how many of a line's values lie up to `cut`, or edges below it, `least` … `most`."""
    # Without a branch, which nobody could foretell; a value that lies beyond may be asked again.
    number, left = np.int64(least), np.int64(most - least)
    while left > 0:
        half = (left + 1) >> 1
        value = values[base + number + half - 1]
        number += half * np.int64((value < cut) | ((value == cut) & (not ranged)))
        left -= half
    return number


@numba.njit(cache=True, nogil=True)
def _cut(feature, bin, following, lines, drawn, code, threshold):  # type: ignore[no-untyped-def]
    values, begin, size, every_ranged, every_n_bins, is_categorical = lines
    for q in range(feature.size):
        f, low = feature[q], np.int64(bin[q])
        code[q], threshold[q] = 0, 0.0
        if f < 0:
            continue
        if low <= 0 or is_categorical[f]:
            code[q] = low
            continue
        base, ranged, n_bins = begin[f], every_ranged[f], every_n_bins[f]
        behind = np.int64(following[q])
        if behind == 0:
            code[q], threshold[q] = n_bins, np.inf
        elif drawn.size:
            cut = drawn[q]
            code[q] = _up_to(values, base, cut, 0, size[f], ranged) + np.int64(ranged)
            threshold[q] = cut
        elif ranged:
            edge = min((low + behind - 1) >> 1, n_bins - 1)
            code[q], threshold[q] = edge, values[base + max(edge, 1) - 1]
        else:
            cut = _midpoint(values[base + low - 1], values[base + behind - 1])
            code[q] = _up_to(values, base, cut, low, behind - 1, False)
            threshold[q] = cut


def gaps(
    feature: NDArray[np.int32],
    bin: NDArray[np.int32],
    following: NDArray[np.int32],
    lines: Lines,
    drawn: Floats | None = None,
) -> tuple[NDArray[np.int32], Floats]:
    """Return (bin, threshold); see the package for the contract."""
    code, threshold = np.empty(feature.size, np.int32), np.empty(feature.size)
    drawn = np.empty(0) if drawn is None else drawn
    _cut(feature, bin, following, tuple(lines), drawn, code, threshold)
    return code, threshold
