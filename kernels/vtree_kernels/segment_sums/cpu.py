"""`segment_sums` in Numba: chunks of segments, or of a large table's rows in turn, a task each."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._segments import CHUNK, summed
from vtree_kernels.numbered.cpu import row_segments


@numba.njit(cache=True, nogil=True)
def _add(part, values, rows, tasks, first, last):  # type: ignore[no-untyped-def]
    flat, width = values.reshape(-1), np.uint64(values.shape[1])
    for t in range(first, last):
        for p in range(np.uint64(0), width, np.uint64(2)):
            own, other, more = np.int64(0), np.int64(0), np.uint64(p + np.uint64(1) < width)
            for position in range(np.uint64(tasks[t, 1]), np.uint64(tasks[t, 2])):
                at = np.uint64(rows[position]) * width + p
                own += flat[at]
                other += flat[at + more]
            part[t, p] = own
            if more:
                part[t, p + more] = other


@numba.njit(cache=True, nogil=True)
def _add_in_turn(part, values, number):  # type: ignore[no-untyped-def]
    flat, width, sums = values.reshape(-1), np.uint64(values.shape[1]), part.reshape(-1)
    for row in range(np.uint64(number.size)):
        own = np.uint64(number[row]) * width
        for p in range(width):
            sums[own + p] += flat[row * width + p]


def segment_sums(
    values: NDArray[Any],
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    number: NDArray[Any] | None = None,
) -> NDArray[np.int64]:
    """Return sums (L, P); see the package for the contract."""
    n_rows, width = values.shape
    if number is None:
        number = row_segments(rows, start, stop, n_rows)
    if number is not None:
        size = max(CHUNK, 64 * start.size)  # so many rows that sums of tasks cost little beside
        parts = np.zeros((-(-n_rows // size), start.size + 1, width), np.int64)

        def add_in_turn(index: int) -> None:
            own = slice(index * size, (index + 1) * size)
            _add_in_turn(parts[index], values[own], number[own])

        _threads.run(add_in_turn, len(parts), work=8 * n_rows)
        whole: NDArray[np.int64] = parts.sum(axis=0)[:-1]
        return whole

    def add(part: NDArray[np.int64], tasks: NDArray[np.int64], first: int, last: int) -> None:
        _add(part, values, rows, tasks, first, last)

    return summed(add, start, stop, width)
