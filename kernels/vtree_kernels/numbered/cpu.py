"""`numbered` in Numba: one pass over the rows each, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._segments import CHUNK, in_turn_pays, segment_of_rows
from vtree_kernels.numbered.reference import Column, number_dtype

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_BLOCK = 512  # rows whose whole numbers are made before they are added
_NONE, _NO_WEIGHT = np.empty(0), np.empty(0, np.int64)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _round(whole, values, factor, least, weight, products):  # type: ignore[no-untyped-def]
    """Write the whole numbers of some rows; in loops of their own, several are made at a time."""
    if weight.size == 0:
        for i in range(values.size):
            whole[i] = max(np.int64(np.rint(values[i] * factor)), least)
    elif products:
        for i in range(values.size):
            whole[i] = max(np.int64(np.rint(values[i] * factor)) * weight[i], least)
    else:
        for i in range(values.size):
            whole[i] = max(np.int64(np.rint(values[i] * factor * weight[i])), least)


@numba.njit(cache=True, nogil=True)
def _add_up(  # type: ignore[no-untyped-def]
    sums, number, first, second, factors, least, weight, products, whole
):
    """Add some rows to sums (L, 4); whole (2, _BLOCK) is room to work in."""
    flat, own, other, four = sums.reshape(-1), whole[0], whole[1], np.uint64(4)
    weighted, both = weight.size > 0, second.size > 0
    for begin in range(0, number.size, _BLOCK):
        end = min(begin + _BLOCK, number.size)
        own_weight = weight[begin:end] if weighted else weight
        _round(own, first[begin:end], factors[0], least[0], own_weight, products)
        if both:
            _round(other, second[begin:end], factors[1], least[1], own_weight, products)
        for i in range(np.uint64(end - begin)):
            at = np.uint64(number[np.uint64(begin) + i]) * four
            flat[at] += 1
            flat[at + np.uint64(2)] += own[i]
            if both:
                flat[at + np.uint64(3)] += other[i]
            if weighted:
                flat[at + np.uint64(1)] += own_weight[i]


@numba.njit(cache=True, nogil=True)
def _give_back(sums, number, value):  # type: ignore[no-untyped-def]
    for k in range(sums.shape[1]):
        for i in range(number.size):
            sums[i, k] += value[np.uint64(number[i]), k]


def segment_numbers(
    rows: NDArray[np.int32], start: Integers, stop: Integers, n_rows: int
) -> NDArray[Any]:
    """Return the number of each row's segment; see the package for the contract."""
    return segment_of_rows(rows, start, stop, n_rows)


def row_segments(
    rows: NDArray[np.int32], start: Integers, stop: Integers, n_rows: int
) -> NDArray[Any] | None:
    """Return the number of each row's segment or None; see the package for the contract."""
    if not in_turn_pays(n_rows, start, stop):
        return None
    return segment_of_rows(rows, start, stop, n_rows)


def numbered_sums(
    number: NDArray[Any],
    n_segments: int,
    columns: Sequence[Column],
    weight: Integers | None,
    products: bool,
) -> Integers:
    """Return the sums (L, 2 + P); see the package for the contract."""
    first, second = (*columns, Column(_NONE, 1.0))[:2]
    values = [np.ascontiguousarray(each.values) for each in (first, second)]
    factors, least = (first.factor, second.factor), (first.least, second.least)
    number = number.astype(number_dtype(n_segments), copy=False)
    n_rows = max(CHUNK, 32 * n_segments)  # of a task, so that the sums of tasks cost little beside
    parts = np.zeros((max(1, -(-number.size // n_rows)), n_segments, 4), dtype=np.int64)

    def part(index: int) -> None:
        rows = slice(index * n_rows, (index + 1) * n_rows)
        own_weight = _NO_WEIGHT if weight is None else weight[rows]
        own = number[rows], values[0][rows], values[1][rows], factors, least, own_weight
        _add_up(parts[index], *own, products, np.empty((2, _BLOCK), np.int64))

    _threads.run(part, -(-number.size // n_rows), work=number.size * 8)
    sums: Integers = parts[0] if len(parts) == 1 else parts.sum(axis=0)
    if weight is None:
        sums[:, 1] = sums[:, 0]
    return sums[:, : 2 + len(columns)]


def numbered_add(sums: Floats, number: NDArray[Any], value: Floats) -> None:
    """Change sums (N, K); see the package for the contract."""
    number = number.astype(number_dtype(value.shape[0]), copy=False)

    def block(rows: slice) -> None:
        _give_back(sums[rows], number[rows], value)

    _threads.run_blocks(block, number.size, each=4)
