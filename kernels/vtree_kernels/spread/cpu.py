"""`spread` in Numba: chunks of leaves, or of a large table's rows in turn, a task each."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._segments import CHUNK
from vtree_kernels._tasks import batches, chunks
from vtree_kernels.numbered.cpu import row_segments


@numba.njit(cache=True, nogil=True)
def _add(sums, rows, tasks, first, last, value):  # type: ignore[no-untyped-def]
    for t in range(first, last):
        own = value[tasks[t, 0]]
        for position in range(np.uint64(tasks[t, 1]), np.uint64(tasks[t, 2])):
            sums[np.uint64(rows[position])] += own


@numba.njit(cache=True, nogil=True)
def _add_in_turn(sums, number, value):  # type: ignore[no-untyped-def]
    for row in range(sums.size):
        sums[row] += value[np.uint64(number[row])]


def spread(
    sums: NDArray[np.float64],
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    value: NDArray[np.float64],
    number: NDArray[Any] | None = None,
) -> None:
    """Change sums (N,); see the package for the contract."""
    if number is None:
        number = row_segments(rows, start, stop, sums.size)
    if number is not None:
        own = np.append(value, -0.0)  # changes no number, not even another −0

        def block(part: slice) -> None:
            _add_in_turn(sums[part], number[part], own)

        _threads.run_blocks(block, sums.size, each=4, times=4)
        return
    tasks = chunks(start, stop, CHUNK)
    borders = batches(tasks, CHUNK // 4, 0)

    def add(index: int) -> None:
        _add(sums, rows, tasks, borders[index], borders[index + 1], value)

    _threads.run(add, len(borders) - 1, work=8 * int((stop - start).sum()))
