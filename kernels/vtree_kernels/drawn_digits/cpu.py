"""`drawn_digits` in Numba: a pass that looks for the largest numbers, and one that writes."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._bits import bits_of, number_of
from vtree_kernels.drawn_digits import reference
from vtree_kernels.drawn_digits.reference import unit_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_LEAST_UNIT = 2.0**-1022  # of smaller ones, the inverse is no finite number


@numba.njit(cache=True, nogil=True)
def _look(gradient, factor, weight):  # type: ignore[no-untyped-def]
    """Return the largest weight and product; sizes are compared by their bits, NaN the largest."""
    heaviest, steepest = np.int64(0), np.int64(0)
    for i in range(factor.size):
        own = factor[i] * weight[i] if weight.size else factor[i]
        heaviest = max(heaviest, bits_of(abs(own)))
    for k in range(gradient.shape[1]):
        column = gradient[:, k]
        for i in range(factor.size):
            own = factor[i] * weight[i] if weight.size else factor[i]
            steepest = max(steepest, bits_of(abs(column[i] * own)))
    return number_of(heaviest), number_of(steepest)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _write(plane, sums, gradient, factor, rounding, weight, unit, sums_unit):  # type: ignore[no-untyped-def]
    """Write both. Units are powers of two, so that it does not matter which way they multiply."""
    scale, sums_scale = 1.0 / unit, -1.0 / sums_unit
    for i in range(factor.size):
        own = factor[i] * weight[i] if weight.size else factor[i]
        plane[i] = np.int64(np.floor(own * scale + rounding[i]))
    for k in range(gradient.shape[1]):
        column, out = gradient[:, k], sums[:, k]
        for i in range(factor.size):
            own = factor[i] * weight[i] if weight.size else factor[i]
            out[i] = np.int64(np.floor(column[i] * own * sums_scale + rounding[i]))


def drawn_digits(
    gradient: Floats,
    factor: Floats,
    rounding: Floats,
    weight: Integers | None,
    bits: tuple[int, int],
) -> tuple[Integers, Integers, float, float]:
    """Return (plane, sums, heaviest, steepest); see the package for the contract."""
    plane, sums = np.empty(factor.size, np.int64), np.empty(gradient.shape, np.int64)
    whole = np.empty(0, np.int64) if weight is None else weight
    found: list[tuple[float, float]] = []

    def look(rows: slice) -> None:
        found.append(_look(gradient[rows], factor[rows], whole[rows]))

    _threads.run_blocks(look, factor.size, each=4)
    heaviest, steepest = (float(size) for size in np.max(found, axis=0))
    if not np.isfinite(steepest):
        return plane, sums, heaviest, steepest
    units = unit_of(heaviest, bits[0]), unit_of(steepest, bits[1])
    if min(units) < _LEAST_UNIT:
        return reference.drawn_digits(gradient, factor, rounding, weight, bits)

    def write(rows: slice) -> None:
        own = gradient[rows], factor[rows], rounding[rows], whole[rows]
        _write(plane[rows], sums[rows], *own, *units)

    _threads.run_blocks(write, factor.size, each=8)
    return plane, sums, heaviest, steepest
